module @jit_instance_norm attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?x?x2xf32>) -> (tensor<?x?x?x2xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?x?x2xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?x?x2xf32>) -> tensor<i32>
    %2 = stablehlo.get_dimension_size %arg0, dim = 2 : (tensor<?x?x?x2xf32>) -> tensor<i32>
    %3 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%3, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, h, w, 2). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %4 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%4, %0, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'h'. Using the following polymorphic shapes specifications: args[0].shape = (b, h, w, 2). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'h' = {1} from specification 'h' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %5 = stablehlo.compare GE, %2, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%5, %0, %1, %2) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'w'. Using the following polymorphic shapes specifications: args[0].shape = (b, h, w, 2). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'h' = {1} from specification 'h' for dimension args[0].shape[1] (= {1}), 'w' = {2} from specification 'w' for dimension args[0].shape[2] (= {2}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %6 = call @_wrapped_jax_export_main(%0, %1, %2, %arg0) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?x?x2xf32>) -> tensor<?x?x?x2xf32>
    return %6 : tensor<?x?x?x2xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "h"}, %arg2: tensor<i32> {jax.global_constant = "w"}, %arg3: tensor<?x?x?x2xf32>) -> (tensor<?x?x?x2xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<2> : tensor<1xi32>
    %c_1 = stablehlo.constant dense<1> : tensor<1xi32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.multiply %arg2, %arg1 : tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<f32>
    %2 = stablehlo.reduce(%arg3 init: %cst_2) applies stablehlo.add across dimensions = [1, 2] : (tensor<?x?x?x2xf32>, tensor<f32>) -> tensor<?x2xf32>
    %3 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.concatenate %3, %c_1, %c_1, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %5 = stablehlo.dynamic_broadcast_in_dim %2, %4, dims = [0, 3] : (tensor<?x2xf32>, tensor<4xi32>) -> tensor<?x1x1x2xf32>
    %6 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.concatenate %6, %c_1, %c_1, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %8 = stablehlo.dynamic_broadcast_in_dim %1, %7, dims = [] : (tensor<f32>, tensor<4xi32>) -> tensor<?x1x1x2xf32>
    %9 = stablehlo.divide %5, %8 : tensor<?x1x1x2xf32>
    %10 = call @_var(%arg0, %arg1, %arg2, %arg3, %c) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?x?x2xf32>, tensor<i32>) -> tensor<?x1x1x2xf32>
    %11 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %12 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %13 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %14 = stablehlo.concatenate %11, %12, %13, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %15 = stablehlo.dynamic_broadcast_in_dim %9, %14, dims = [0, 1, 2, 3] : (tensor<?x1x1x2xf32>, tensor<4xi32>) -> tensor<?x?x?x2xf32>
    %16 = stablehlo.subtract %arg3, %15 : tensor<?x?x?x2xf32>
    %17 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %18 = stablehlo.concatenate %17, %c_1, %c_1, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %19 = stablehlo.dynamic_broadcast_in_dim %cst, %18, dims = [] : (tensor<f32>, tensor<4xi32>) -> tensor<?x1x1x2xf32>
    %20 = stablehlo.add %10, %19 : tensor<?x1x1x2xf32>
    %21 = stablehlo.sqrt %20 : tensor<?x1x1x2xf32>
    %22 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %23 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %24 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %25 = stablehlo.concatenate %22, %23, %24, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %26 = stablehlo.dynamic_broadcast_in_dim %21, %25, dims = [0, 1, 2, 3] : (tensor<?x1x1x2xf32>, tensor<4xi32>) -> tensor<?x?x?x2xf32>
    %27 = stablehlo.divide %16, %26 : tensor<?x?x?x2xf32>
    return %27 : tensor<?x?x?x2xf32>
  }
  func.func private @_var(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "h"}, %arg2: tensor<i32> {jax.global_constant = "w"}, %arg3: tensor<?x?x?x2xf32>, %arg4: tensor<i32>) -> tensor<?x1x1x2xf32> {
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %c = stablehlo.constant dense<2> : tensor<1xi32>
    %c_0 = stablehlo.constant dense<1> : tensor<1xi32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.multiply %arg2, %arg1 : tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<f32>
    %2 = stablehlo.reduce(%arg3 init: %cst_1) applies stablehlo.add across dimensions = [1, 2] : (tensor<?x?x?x2xf32>, tensor<f32>) -> tensor<?x2xf32>
    %3 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.concatenate %3, %c_0, %c_0, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %5 = stablehlo.dynamic_broadcast_in_dim %2, %4, dims = [0, 3] : (tensor<?x2xf32>, tensor<4xi32>) -> tensor<?x1x1x2xf32>
    %6 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.concatenate %6, %c_0, %c_0, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %8 = stablehlo.dynamic_broadcast_in_dim %1, %7, dims = [] : (tensor<f32>, tensor<4xi32>) -> tensor<?x1x1x2xf32>
    %9 = stablehlo.divide %5, %8 : tensor<?x1x1x2xf32>
    %10 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %11 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %12 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %13 = stablehlo.concatenate %10, %11, %12, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %14 = stablehlo.dynamic_broadcast_in_dim %9, %13, dims = [0, 1, 2, 3] : (tensor<?x1x1x2xf32>, tensor<4xi32>) -> tensor<?x?x?x2xf32>
    %15 = stablehlo.subtract %arg3, %14 : tensor<?x?x?x2xf32>
    %16 = stablehlo.multiply %15, %15 : tensor<?x?x?x2xf32>
    %17 = stablehlo.multiply %arg2, %arg1 : tensor<i32>
    %18 = stablehlo.convert %17 : (tensor<i32>) -> tensor<f32>
    %19 = stablehlo.convert %arg4 : (tensor<i32>) -> tensor<f32>
    %20 = stablehlo.subtract %18, %19 : tensor<f32>
    %21 = stablehlo.reduce(%16 init: %cst_1) applies stablehlo.add across dimensions = [1, 2] : (tensor<?x?x?x2xf32>, tensor<f32>) -> tensor<?x2xf32>
    %22 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %23 = stablehlo.concatenate %22, %c_0, %c_0, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %24 = stablehlo.dynamic_broadcast_in_dim %21, %23, dims = [0, 3] : (tensor<?x2xf32>, tensor<4xi32>) -> tensor<?x1x1x2xf32>
    %25 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %26 = stablehlo.concatenate %25, %c_0, %c_0, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %27 = stablehlo.dynamic_broadcast_in_dim %20, %26, dims = [] : (tensor<f32>, tensor<4xi32>) -> tensor<?x1x1x2xf32>
    %28 = stablehlo.divide %24, %27 : tensor<?x1x1x2xf32>
    %29 = stablehlo.compare GT, %20, %cst_1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %30 = call @_where(%arg0, %arg1, %arg2, %29, %28, %cst) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i1>, tensor<?x1x1x2xf32>, tensor<f32>) -> tensor<?x1x1x2xf32>
    return %30 : tensor<?x1x1x2xf32>
  }
  func.func private @_where(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "h"}, %arg2: tensor<i32> {jax.global_constant = "w"}, %arg3: tensor<i1>, %arg4: tensor<?x1x1x2xf32>, %arg5: tensor<f32>) -> tensor<?x1x1x2xf32> {
    %c = stablehlo.constant dense<2> : tensor<1xi32>
    %c_0 = stablehlo.constant dense<1> : tensor<1xi32>
    %0 = stablehlo.convert %arg5 : tensor<f32>
    %1 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.concatenate %1, %c_0, %c_0, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %3 = stablehlo.dynamic_broadcast_in_dim %0, %2, dims = [] : (tensor<f32>, tensor<4xi32>) -> tensor<?x1x1x2xf32>
    %4 = stablehlo.select %arg3, %arg4, %3 : tensor<i1>, tensor<?x1x1x2xf32>
    return %4 : tensor<?x1x1x2xf32>
  }
}
