module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x2x?x?xf32>, %arg1: tensor<3x2x3x3xf32>) -> (tensor<?x2x?x?xf32> {jax.result_info = "result[0]"}, tensor<3x2x3x3xf32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x2x?x?xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg0, dim = 2 : (tensor<?x2x?x?xf32>) -> tensor<i32>
    %2 = stablehlo.get_dimension_size %arg0, dim = 3 : (tensor<?x2x?x?xf32>) -> tensor<i32>
    %3 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%3, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, 2, h, w). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %4 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%4, %0, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'h'. Using the following polymorphic shapes specifications: args[0].shape = (b, 2, h, w). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'h' = {1} from specification 'h' for dimension args[0].shape[2] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %5 = stablehlo.compare GE, %2, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%5, %0, %1, %2) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'w'. Using the following polymorphic shapes specifications: args[0].shape = (b, 2, h, w). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'h' = {1} from specification 'h' for dimension args[0].shape[2] (= {1}), 'w' = {2} from specification 'w' for dimension args[0].shape[3] (= {2}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %6:2 = call @_wrapped_jax_export_main(%0, %1, %2, %arg0, %arg1) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x2x?x?xf32>, tensor<3x2x3x3xf32>) -> (tensor<?x2x?x?xf32>, tensor<3x2x3x3xf32>)
    return %6#0, %6#1 : tensor<?x2x?x?xf32>, tensor<3x2x3x3xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "h"}, %arg2: tensor<i32> {jax.global_constant = "w"}, %arg3: tensor<?x2x?x?xf32>, %arg4: tensor<3x2x3x3xf32>) -> (tensor<?x2x?x?xf32> {jax.result_info = "result[0]"}, tensor<3x2x3x3xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<3> : tensor<1xi32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0 = stablehlo.convolution(%arg3, %arg4) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[2, 2], [1, 1]], rhs_dilate = [2, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<?x2x?x?xf32>, tensor<3x2x3x3xf32>) -> tensor<?x3x?x?xf32>
    %1 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.concatenate %1, %c, %2, %3, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %5 = stablehlo.dynamic_broadcast_in_dim %cst_0, %4, dims = [] : (tensor<f32>, tensor<4xi32>) -> tensor<?x3x?x?xf32>
    %6 = stablehlo.multiply %5, %0 : tensor<?x3x?x?xf32>
    %7 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %8 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %9 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %10 = stablehlo.concatenate %7, %c, %8, %9, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %11 = stablehlo.dynamic_broadcast_in_dim %cst, %10, dims = [] : (tensor<f32>, tensor<4xi32>) -> tensor<?x3x?x?xf32>
    %12 = stablehlo.multiply %11, %6 : tensor<?x3x?x?xf32>
    %13 = stablehlo.convolution(%arg3, %12) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], window = {stride = [2, 1], pad = [[2, 2], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<?x2x?x?xf32>, tensor<?x3x?x?xf32>) -> tensor<3x2x3x3xf32>
    %14 = stablehlo.reverse %arg4, dims = [2, 3] : tensor<3x2x3x3xf32>
    %15 = stablehlo.convolution(%12, %14) dim_numbers = [b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1], window = {pad = [[2, 2], [1, 1]], rhs_dilate = [2, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<?x3x?x?xf32>, tensor<3x2x3x3xf32>) -> tensor<?x2x?x?xf32>
    return %15, %13 : tensor<?x2x?x?xf32>, tensor<3x2x3x3xf32>
  }
}
