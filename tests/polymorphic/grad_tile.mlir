module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?xf32>) -> (tensor<?x?xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %2 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%2, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'a'. Using the following polymorphic shapes specifications: args[0].shape = (a, b). Obtained dimension variables: 'a' = {0} from specification 'a' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %3 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%3, %0, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (a, b). Obtained dimension variables: 'a' = {0} from specification 'a' for dimension args[0].shape[0] (= {0}), 'b' = {1} from specification 'b' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %4 = call @_wrapped_jax_export_main(%0, %1, %arg0) : (tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    return %4 : tensor<?x?xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "a"}, %arg1: tensor<i32> {jax.global_constant = "b"}, %arg2: tensor<?x?xf32>) -> (tensor<?x?xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<3> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<2> : tensor<1xi32>
    %c_3 = stablehlo.constant dense<3> : tensor<i32>
    %c_4 = stablehlo.constant dense<2> : tensor<i32>
    %c_5 = stablehlo.constant dense<1> : tensor<1xi32>
    %0 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.concatenate %c_5, %0, %c_5, %1, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %3 = stablehlo.dynamic_reshape %arg2, %2 : (tensor<?x?xf32>, tensor<4xi32>) -> tensor<1x?x1x?xf32>
    %4 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %5 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %6 = stablehlo.concatenate %c_2, %4, %c, %5, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %7 = stablehlo.dynamic_broadcast_in_dim %3, %6, dims = [0, 1, 2, 3] : (tensor<1x?x1x?xf32>, tensor<4xi32>) -> tensor<2x?x3x?xf32>
    %8 = stablehlo.convert %arg0 : tensor<i32>
    %9 = stablehlo.multiply %8, %c_4 : tensor<i32>
    %10 = stablehlo.convert %arg1 : tensor<i32>
    %11 = stablehlo.multiply %10, %c_3 : tensor<i32>
    %12 = stablehlo.reshape %9 : (tensor<i32>) -> tensor<1xi32>
    %13 = stablehlo.reshape %11 : (tensor<i32>) -> tensor<1xi32>
    %14 = stablehlo.concatenate %12, %13, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %15 = stablehlo.dynamic_reshape %7, %14 : (tensor<2x?x3x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %16 = stablehlo.multiply %15, %15 : tensor<?x?xf32>
    %17 = stablehlo.convert %arg0 : tensor<i32>
    %18 = stablehlo.multiply %17, %c_4 : tensor<i32>
    %19 = stablehlo.convert %arg1 : tensor<i32>
    %20 = stablehlo.multiply %19, %c_3 : tensor<i32>
    %21 = stablehlo.reshape %18 : (tensor<i32>) -> tensor<1xi32>
    %22 = stablehlo.reshape %20 : (tensor<i32>) -> tensor<1xi32>
    %23 = stablehlo.concatenate %21, %22, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %24 = stablehlo.dynamic_broadcast_in_dim %cst_1, %23, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %25 = stablehlo.multiply %24, %16 : tensor<?x?xf32>
    %26 = stablehlo.convert %arg0 : tensor<i32>
    %27 = stablehlo.multiply %26, %c_4 : tensor<i32>
    %28 = stablehlo.convert %arg1 : tensor<i32>
    %29 = stablehlo.multiply %28, %c_3 : tensor<i32>
    %30 = stablehlo.reshape %27 : (tensor<i32>) -> tensor<1xi32>
    %31 = stablehlo.reshape %29 : (tensor<i32>) -> tensor<1xi32>
    %32 = stablehlo.concatenate %30, %31, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %33 = stablehlo.dynamic_broadcast_in_dim %cst, %32, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %34 = stablehlo.multiply %33, %25 : tensor<?x?xf32>
    %35 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %36 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %37 = stablehlo.concatenate %c_2, %35, %c, %36, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %38 = stablehlo.dynamic_reshape %34, %37 : (tensor<?x?xf32>, tensor<4xi32>) -> tensor<2x?x3x?xf32>
    %39 = stablehlo.reduce(%38 init: %cst_0) applies stablehlo.add across dimensions = [0, 2] : (tensor<2x?x3x?xf32>, tensor<f32>) -> tensor<?x?xf32>
    return %39 : tensor<?x?xf32>
  }
}
