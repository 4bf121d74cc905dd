module {
  func.func @main(%x: tensor<4x6xf32>, %s: tensor<f32>, %i: tensor<i32>) {
    %0 = "stablehlo.case"(%i) ({
      %in = stablehlo.negate %s : tensor<f32>
      stablehlo.return %in : tensor<f32>
    }) : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.negate %in : tensor<f32>
    return
  }
}
