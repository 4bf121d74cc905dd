module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x3xf32>, %arg1: tensor<?x3xf32>) -> (tensor<?x3xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg1, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %2 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%2, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'a'. Using the following polymorphic shapes specifications: args[0].shape = (a, 3),args[1].shape = (a, 3). Obtained dimension variables: 'a' = {0} from specification 'a' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %3 = stablehlo.compare EQ, %1, %0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%3, %1, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Found inconsistency between dimension size args[1].shape[0] (= {0}) and the specification 'a' (= {1}). Using the following polymorphic shapes specifications: args[0].shape = (a, 3),args[1].shape = (a, 3). Obtained dimension variables: 'a' = {1} from specification 'a' for dimension args[0].shape[0] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %4 = call @_wrapped_jax_export_main(%0, %arg0, %arg1) : (tensor<i32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    return %4 : tensor<?x3xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "a"}, %arg1: tensor<?x3xf32>, %arg2: tensor<?x3xf32>) -> (tensor<?x3xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<1xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<1xi32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c_2 = stablehlo.constant dense<3> : tensor<1xi32>
    %c_3 = stablehlo.constant dense<1> : tensor<i32>
    %c_4 = stablehlo.constant dense<2> : tensor<i32>
    %cst_5 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %cst_6 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %1 = "stablehlo.gather"(%arg1, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0]>, indices_are_sorted = true, slice_sizes = array<i64: 1, 3>}> : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<1x3xf32>
    %2 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<1x3xf32>
    %3 = stablehlo.multiply %1, %2 : tensor<1x3xf32>
    %4 = stablehlo.concatenate %arg1, %3, %arg1, dim = 0 : (tensor<?x3xf32>, tensor<1x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    %5 = stablehlo.convert %arg0 : tensor<i32>
    %6 = stablehlo.multiply %5, %c_4 : tensor<i32>
    %7 = stablehlo.add %6, %c_3 : tensor<i32>
    %8 = stablehlo.reshape %7 : (tensor<i32>) -> tensor<1xi32>
    %9 = stablehlo.concatenate %8, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %10 = stablehlo.dynamic_broadcast_in_dim %cst_6, %9, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %11 = stablehlo.multiply %10, %4 : tensor<?x3xf32>
    %12 = stablehlo.convert %arg0 : tensor<i32>
    %13 = stablehlo.multiply %12, %c_4 : tensor<i32>
    %14 = stablehlo.add %13, %c_3 : tensor<i32>
    %15 = stablehlo.reshape %14 : (tensor<i32>) -> tensor<1xi32>
    %16 = stablehlo.concatenate %15, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %17 = stablehlo.dynamic_broadcast_in_dim %cst, %16, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %18 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %19 = stablehlo.concatenate %18, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %20 = stablehlo.dynamic_broadcast_in_dim %cst, %19, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %21 = stablehlo.multiply %20, %arg2 : tensor<?x3xf32>
    %22 = "stablehlo.gather"(%21, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0]>, slice_sizes = array<i64: 1, 3>}> : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<1x3xf32>
    %23 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<1x3xf32>
    %24 = stablehlo.multiply %22, %23 : tensor<1x3xf32>
    %25 = stablehlo.concatenate %21, %24, %21, dim = 0 : (tensor<?x3xf32>, tensor<1x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    %26 = stablehlo.multiply %17, %25 : tensor<?x3xf32>
    %27 = stablehlo.convert %arg0 : tensor<i32>
    %28 = stablehlo.multiply %27, %c_4 : tensor<i32>
    %29 = stablehlo.add %28, %c_3 : tensor<i32>
    %30 = stablehlo.reshape %29 : (tensor<i32>) -> tensor<1xi32>
    %31 = stablehlo.concatenate %30, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %32 = stablehlo.dynamic_broadcast_in_dim %cst_5, %31, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %33 = stablehlo.multiply %32, %26 : tensor<?x3xf32>
    %34 = stablehlo.multiply %33, %11 : tensor<?x3xf32>
    %35 = stablehlo.concatenate %c_0, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %36 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %37 = stablehlo.concatenate %36, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %38 = stablehlo.concatenate %c, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %39 = stablehlo.real_dynamic_slice %34, %35, %37, %38 : (tensor<?x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x3xf32>
    %40 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %41 = stablehlo.concatenate %40, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %42 = stablehlo.convert %arg0 : tensor<i32>
    %43 = stablehlo.add %42, %c_3 : tensor<i32>
    %44 = stablehlo.reshape %43 : (tensor<i32>) -> tensor<1xi32>
    %45 = stablehlo.concatenate %44, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %46 = stablehlo.concatenate %c, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %47 = stablehlo.real_dynamic_slice %34, %41, %45, %46 : (tensor<?x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<1x3xf32>
    %48 = stablehlo.convert %arg0 : tensor<i32>
    %49 = stablehlo.add %48, %c_3 : tensor<i32>
    %50 = stablehlo.reshape %49 : (tensor<i32>) -> tensor<1xi32>
    %51 = stablehlo.concatenate %50, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %52 = stablehlo.convert %arg0 : tensor<i32>
    %53 = stablehlo.multiply %52, %c_4 : tensor<i32>
    %54 = stablehlo.add %53, %c_3 : tensor<i32>
    %55 = stablehlo.reshape %54 : (tensor<i32>) -> tensor<1xi32>
    %56 = stablehlo.concatenate %55, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %57 = stablehlo.concatenate %c, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %58 = stablehlo.real_dynamic_slice %34, %51, %56, %57 : (tensor<?x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x3xf32>
    %59 = stablehlo.add %39, %58 : tensor<?x3xf32>
    %60 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<1x3xf32>
    %61 = stablehlo.multiply %47, %60 : tensor<1x3xf32>
    %62 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %63 = stablehlo.concatenate %62, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %64 = stablehlo.dynamic_broadcast_in_dim %cst_1, %63, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %65 = "stablehlo.scatter"(%64, %0, %61) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %67 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %67 : tensor<f32>
    }) : (tensor<?x3xf32>, tensor<1xi32>, tensor<1x3xf32>) -> tensor<?x3xf32>
    %66 = stablehlo.add %59, %65 : tensor<?x3xf32>
    return %66 : tensor<?x3xf32>
  }
}
