module {
  func.func @main(%x: tensor<4x6xf32>, %s: tensor<f32>, %i: tensor<i32>) {
    %0 = "stablehlo.case"(%i) ({
      stablehlo.return %i : tensor<i32>
    }) : (tensor<i32>) -> tensor<f32>
    return
  }
}
