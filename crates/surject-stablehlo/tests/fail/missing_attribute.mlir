module {
  func.func @main(%x: tensor<4x6xf32>, %s: tensor<f32>, %i: tensor<i32>) {
    %0 = "stablehlo.transpose"(%x) : (tensor<4x6xf32>) -> tensor<6x4xf32>
    return
  }
}
