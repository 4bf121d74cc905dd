module {
  func.func @main(%x: tensor<4x6xf32>, %s: tensor<f32>, %i: tensor<i32>) {
    %0 = stablehlo.while(%it = %i) : tensor<i32>
    cond {
      stablehlo.return %it : tensor<i32>
    } do {
      stablehlo.return %it : tensor<i32>
    }
    return
  }
}
