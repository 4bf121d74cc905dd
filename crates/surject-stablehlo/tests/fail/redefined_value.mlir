module {
  func.func @main(%x: tensor<4x6xf32>, %s: tensor<f32>, %i: tensor<i32>) {
    %x = stablehlo.negate %s : tensor<f32>
    return
  }
}
