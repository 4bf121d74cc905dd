// Bodies that join in a wider type than that of their operands, with initial values of either; commas that MLIR
// accepts behind the last field of an attribute; a comparator that ends as a region does.
module {
  func.func @comparator(%a: tensor<f32>, %b: tensor<f32>, %p: tensor<i32>, %q: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }
  func.func @main(%h: tensor<4xf16>, %i: tensor<4xi8>, %h0: tensor<f16>, %f0: tensor<f32>, %i0: tensor<i32>, %at: tensor<2x1xi32>, %u: tensor<2xf16>, %s: tensor<2xf16>, %x: tensor<3x5xf32>, %p: tensor<3x5xi32>) {
    %0 = "stablehlo.reduce"(%h, %h0) <{dimensions = array<i64: 0>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<4xf16>, tensor<f16>) -> tensor<f32>
    %1 = stablehlo.reduce(%i init: %i0) across dimensions = [0] : (tensor<4xi8>, tensor<i32>) -> tensor<i32>
     reducer(%a: tensor<i32>, %b: tensor<i32>)  {
      %r = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %r : tensor<i32>
    }
    %2 = "stablehlo.reduce_window"(%h, %f0) <{window_dimensions = array<i64: 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<4xf16>, tensor<f32>) -> tensor<3xf32>
    %3 = "stablehlo.scatter"(%h, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1,>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<4xf16>, tensor<2x1xi32>, tensor<2xf16>) -> tensor<4xf32>
    %4 = "stablehlo.select_and_scatter"(%h, %s, %h0) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
    ^bb0(%a: tensor<f16>, %b: tensor<f16>):
      %r = stablehlo.compare GE, %a, %b : (tensor<f16>, tensor<f16>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %r = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<4xf16>, tensor<2xf16>, tensor<f16>) -> tensor<4xf32>
    %5 = "stablehlo.gather"(%h, %at) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1,>, slice_sizes = array<i64: 1>}> : (tensor<4xf16>, tensor<2x1xi32>) -> tensor<2xf16>
    %6:2 = stablehlo.custom_call @ApproxTopK(%x, %p, %f0, %i0) {backend_config = "", called_computations = [@comparator], mhlo.backend_config = {aggregate_to_topk = true, reduction_dim = 1 : i64, top_k = 2 : i64}} : (tensor<3x5xf32>, tensor<3x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<3x2xf32>, tensor<3x2xi32>)
    return
  }
}
