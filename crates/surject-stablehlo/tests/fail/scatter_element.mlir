module {
  func.func @main(%x: tensor<4xf32>, %at: tensor<2x1xi32>, %u: tensor<2xi32>) -> tensor<4xf32> {
    %0 = "stablehlo.scatter"(%x, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<4xf32>, tensor<2x1xi32>, tensor<2xi32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
