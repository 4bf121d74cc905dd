module {
  func.func @main(%x: tensor<4x6xf32>, %s: tensor<f32>, %i: tensor<i32>) {
    %0 = stablehlo.constant dense<1> : tensor<99999999999999999999xi32>
    return
  }
}
