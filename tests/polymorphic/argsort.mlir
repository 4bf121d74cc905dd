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
    %0 = call @argsort(%arg0, %arg1, %arg2) : (tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?x?xi32>
    %1 = call @take_along_axis(%arg0, %arg1, %arg2, %0) : (tensor<i32>, tensor<i32>, tensor<?x?xf32>, tensor<?x?xi32>) -> tensor<?x?xf32>
    return %1 : tensor<?x?xf32>
  }
  func.func private @argsort(%arg0: tensor<i32> {jax.global_constant = "a"}, %arg1: tensor<i32> {jax.global_constant = "b"}, %arg2: tensor<?x?xf32>) -> tensor<?x?xi32> {
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %3 = stablehlo.dynamic_iota %2, dim = 1 : (tensor<2xi32>) -> tensor<?x?xi32>
    %4:2 = "stablehlo.sort"(%arg2, %3) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<i32>, %arg6: tensor<i32>):
      %5 = stablehlo.compare EQ, %arg3, %cst_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.select %5, %cst_0, %arg3 : tensor<i1>, tensor<f32>
      %7 = stablehlo.compare NE, %arg3, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %8 = stablehlo.select %7, %cst, %6 : tensor<i1>, tensor<f32>
      %9 = stablehlo.compare EQ, %arg4, %cst_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %10 = stablehlo.select %9, %cst_0, %arg4 : tensor<i1>, tensor<f32>
      %11 = stablehlo.compare NE, %arg4, %arg4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %12 = stablehlo.select %11, %cst, %10 : tensor<i1>, tensor<f32>
      %13 = stablehlo.compare LT, %8, %12, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %13 : tensor<i1>
    }) : (tensor<?x?xf32>, tensor<?x?xi32>) -> (tensor<?x?xf32>, tensor<?x?xi32>)
    return %4#1 : tensor<?x?xi32>
  }
  func.func private @take_along_axis(%arg0: tensor<i32> {jax.global_constant = "a"}, %arg1: tensor<i32> {jax.global_constant = "b"}, %arg2: tensor<?x?xf32>, %arg3: tensor<?x?xi32>) -> tensor<?x?xf32> {
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %c_1 = stablehlo.constant dense<false> : tensor<1xi1>
    %c_2 = stablehlo.constant dense<1> : tensor<1xi32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.concatenate %1, %2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %4 = stablehlo.dynamic_broadcast_in_dim %c_3, %3, dims = [] : (tensor<i32>, tensor<2xi32>) -> tensor<?x?xi32>
    %5 = stablehlo.compare LT, %arg3, %4, SIGNED : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?xi1>
    %6 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %8 = stablehlo.concatenate %6, %7, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %9 = stablehlo.dynamic_broadcast_in_dim %0, %8, dims = [] : (tensor<i32>, tensor<2xi32>) -> tensor<?x?xi32>
    %10 = stablehlo.add %arg3, %9 : tensor<?x?xi32>
    %11 = stablehlo.select %5, %10, %arg3 : tensor<?x?xi1>, tensor<?x?xi32>
    %12 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %13 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %14 = stablehlo.concatenate %12, %13, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %15 = stablehlo.dynamic_reshape %11, %14 : (tensor<?x?xi32>, tensor<3xi32>) -> tensor<?x?x1xi32>
    %16 = stablehlo.convert %arg0 : tensor<i32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %18 = stablehlo.convert %arg1 : tensor<i32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %20 = stablehlo.concatenate %17, %19, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %21 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %22 = stablehlo.add %c_2, %21 : tensor<1xi32>
    %23 = stablehlo.select %c_1, %22, %c_2 : tensor<1xi1>, tensor<1xi32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0] : (tensor<1xi32>) -> tensor<1x1xi32>
    %25 = "stablehlo.gather"(%20, %24) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<2xi32>, tensor<1x1xi32>) -> tensor<1xi32>
    %26 = stablehlo.subtract %25, %c_2 : tensor<1xi32>
    %27 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %28 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %29 = stablehlo.concatenate %27, %28, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %30 = stablehlo.dynamic_broadcast_in_dim %c_3, %29, dims = [] : (tensor<i32>, tensor<3xi32>) -> tensor<?x?x1xi32>
    %31 = stablehlo.compare GE, %15, %30, SIGNED : (tensor<?x?x1xi32>, tensor<?x?x1xi32>) -> tensor<?x?x1xi1>
    %32 = stablehlo.broadcast_in_dim %26, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %33 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %34 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %35 = stablehlo.concatenate %33, %34, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %36 = stablehlo.dynamic_broadcast_in_dim %32, %35, dims = [0, 1, 2] : (tensor<1x1x1xi32>, tensor<3xi32>) -> tensor<?x?x1xi32>
    %37 = stablehlo.compare LE, %15, %36, SIGNED : (tensor<?x?x1xi32>, tensor<?x?x1xi32>) -> tensor<?x?x1xi1>
    %38 = stablehlo.and %31, %37 : tensor<?x?x1xi1>
    %39 = stablehlo.reduce(%38 init: %c) applies stablehlo.and across dimensions = [2] : (tensor<?x?x1xi1>, tensor<i1>) -> tensor<?x?xi1>
    %40 = "stablehlo.gather"(%arg2, %15) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<?x?xf32>, tensor<?x?x1xi32>) -> tensor<?x?xf32>
    %41 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %42 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %43 = stablehlo.concatenate %41, %42, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %44 = stablehlo.dynamic_broadcast_in_dim %cst, %43, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %45 = stablehlo.select %39, %40, %44 : tensor<?x?xi1>, tensor<?x?xf32>
    return %45 : tensor<?x?xf32>
  }
}
