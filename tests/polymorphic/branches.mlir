module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x2xf32>, %arg1: tensor<i32>) -> (tensor<?x2xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
    %1 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%1, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'a'. Using the following polymorphic shapes specifications: args[0].shape = (a, 2). Obtained dimension variables: 'a' = {0} from specification 'a' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %2 = call @_wrapped_jax_export_main(%0, %arg0, %arg1) : (tensor<i32>, tensor<?x2xf32>, tensor<i32>) -> tensor<?x2xf32>
    return %2 : tensor<?x2xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "a"}, %arg1: tensor<?x2xf32>, %arg2: tensor<i32>) -> (tensor<?x2xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<1xi32>
    %c_0 = stablehlo.constant dense<-1> : tensor<i32>
    %c_1 = stablehlo.constant dense<2> : tensor<1xi32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %c_3 = stablehlo.constant dense<2> : tensor<i32>
    %0 = stablehlo.clamp %c_2, %arg2, %c_3 : tensor<i32>
    %1 = "stablehlo.case"(%0) ({
      %2 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
      %3 = stablehlo.concatenate %2, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %4 = stablehlo.dynamic_broadcast_in_dim %cst, %3, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x2xf32>
      %5 = stablehlo.add %arg1, %4 : tensor<?x2xf32>
      stablehlo.return %5 : tensor<?x2xf32>
    }, {
      %2 = stablehlo.convert %arg0 : (tensor<i32>) -> tensor<f32>
      %3 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
      %4 = stablehlo.concatenate %3, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %5 = stablehlo.dynamic_broadcast_in_dim %2, %4, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x2xf32>
      %6 = stablehlo.multiply %arg1, %5 : tensor<?x2xf32>
      stablehlo.return %6 : tensor<?x2xf32>
    }, {
      %2 = stablehlo.convert %arg0 : tensor<i32>
      %3 = stablehlo.add %2, %c_0 : tensor<i32>
      %4 = stablehlo.convert %3 : tensor<i32>
      %5 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
      %6 = stablehlo.dynamic_iota %5, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
      %7 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
      %8 = stablehlo.dynamic_broadcast_in_dim %c_0, %7, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
      %9 = stablehlo.multiply %8, %6 : tensor<?xi32>
      %10 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
      %11 = stablehlo.dynamic_broadcast_in_dim %4, %10, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
      %12 = stablehlo.add %11, %9 : tensor<?xi32>
      %13 = stablehlo.reverse %12, dims = [0] : tensor<?xi32>
      %14 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
      %15 = stablehlo.concatenate %14, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %16 = stablehlo.dynamic_broadcast_in_dim %13, %15, dims = [0] : (tensor<?xi32>, tensor<2xi32>) -> tensor<?x1xi32>
      %17 = "stablehlo.gather"(%arg1, %16) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 2>}> : (tensor<?x2xf32>, tensor<?x1xi32>) -> tensor<?x2xf32>
      %18 = stablehlo.reverse %17, dims = [0] : tensor<?x2xf32>
      stablehlo.return %18 : tensor<?x2xf32>
    }) : (tensor<i32>) -> tensor<?x2xf32>
    return %1 : tensor<?x2xf32>
  }
}
