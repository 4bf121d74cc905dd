module {
  func.func @main(%x: tensor<4x6xf32>, %s: tensor<f32>, %i: tensor<i32>) {
    %0 = stablehlo.iota dim = 2 : tensor<4x6xi32>
    return
  }
}
