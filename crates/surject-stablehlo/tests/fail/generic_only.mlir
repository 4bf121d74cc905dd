module {
  func.func @main(%x: tensor<4x6xf32>, %s: tensor<f32>, %i: tensor<i32>) {
    %0 = stablehlo.gather %x, %i : (tensor<4x6xf32>, tensor<i32>) -> tensor<4x6xf32>
    return
  }
}
