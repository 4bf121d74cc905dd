module {
  func.func @main(%x: tensor<4x6xf32>, %s: tensor<f32>, %i: tensor<i32>) {
    %0 = "stablehlo.sort"(%x) ({
    ^bb0(%a: tensor<f32>):
      stablehlo.return %a : tensor<f32>
    }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
}
