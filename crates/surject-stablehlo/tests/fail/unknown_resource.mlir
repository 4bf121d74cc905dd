module {
  func.func @main(%x: tensor<4x6xf32>, %s: tensor<f32>, %i: tensor<i32>) {
    %0 = stablehlo.constant dense_resource<w> : tensor<2xf32>
    return
  }
}
