module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?xf32>, %arg1: tensor<?xi32>, %arg2: tensor<?x?xf32>) -> (tensor<?x?xf32> {jax.result_info = "result[0]"}, tensor<?x?xf32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %2 = stablehlo.get_dimension_size %arg1, dim = 0 : (tensor<?xi32>) -> tensor<i32>
    %3 = stablehlo.get_dimension_size %arg2, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %4 = stablehlo.get_dimension_size %arg2, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %5 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%5, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'a'. Using the following polymorphic shapes specifications: args[0].shape = (a, b),args[1].shape = (n,),args[2].shape = (n, b). Obtained dimension variables: 'a' = {0} from specification 'a' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %6 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%6, %0, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (a, b),args[1].shape = (n,),args[2].shape = (n, b). Obtained dimension variables: 'a' = {0} from specification 'a' for dimension args[0].shape[0] (= {0}), 'b' = {1} from specification 'b' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %7 = stablehlo.compare GE, %2, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%7, %0, %1, %2) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (a, b),args[1].shape = (n,),args[2].shape = (n, b). Obtained dimension variables: 'a' = {0} from specification 'a' for dimension args[0].shape[0] (= {0}), 'b' = {1} from specification 'b' for dimension args[0].shape[1] (= {1}), 'n' = {2} from specification 'n' for dimension args[1].shape[0] (= {2}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %8 = stablehlo.compare EQ, %3, %2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%8, %3, %2, %0, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Found inconsistency between dimension size args[2].shape[0] (= {0}) and the specification 'n' (= {1}). Using the following polymorphic shapes specifications: args[0].shape = (a, b),args[1].shape = (n,),args[2].shape = (n, b). Obtained dimension variables: 'a' = {2} from specification 'a' for dimension args[0].shape[0] (= {2}), 'b' = {3} from specification 'b' for dimension args[0].shape[1] (= {3}), 'n' = {1} from specification 'n' for dimension args[1].shape[0] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %9 = stablehlo.compare EQ, %4, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%9, %4, %1, %0, %2) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Found inconsistency between dimension size args[2].shape[1] (= {0}) and the specification 'b' (= {1}). Using the following polymorphic shapes specifications: args[0].shape = (a, b),args[1].shape = (n,),args[2].shape = (n, b). Obtained dimension variables: 'a' = {2} from specification 'a' for dimension args[0].shape[0] (= {2}), 'b' = {1} from specification 'b' for dimension args[0].shape[1] (= {1}), 'n' = {3} from specification 'n' for dimension args[1].shape[0] (= {3}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %10:2 = call @_wrapped_jax_export_main(%0, %1, %2, %arg0, %arg1, %arg2) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?xf32>, tensor<?xi32>, tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>)
    return %10#0, %10#1 : tensor<?x?xf32>, tensor<?x?xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "a"}, %arg1: tensor<i32> {jax.global_constant = "b"}, %arg2: tensor<i32> {jax.global_constant = "n"}, %arg3: tensor<?x?xf32>, %arg4: tensor<?xi32>, %arg5: tensor<?x?xf32>) -> (tensor<?x?xf32> {jax.result_info = "result[0]"}, tensor<?x?xf32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<true> : tensor<i1>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %c_1 = stablehlo.constant dense<false> : tensor<1xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<1xi32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_4 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %c_5 = stablehlo.constant dense<1> : tensor<1xi32>
    %c_6 = stablehlo.constant dense<1> : tensor<i32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.convert %arg0 : tensor<i32>
    %1 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.dynamic_broadcast_in_dim %c_7, %1, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %3 = stablehlo.compare LT, %arg4, %2, SIGNED : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi1>
    %4 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %5 = stablehlo.dynamic_broadcast_in_dim %0, %4, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %6 = stablehlo.add %arg4, %5 : tensor<?xi32>
    %7 = stablehlo.select %3, %6, %arg4 : tensor<?xi1>, tensor<?xi32>
    %8 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %9 = stablehlo.concatenate %8, %c_5, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %10 = stablehlo.dynamic_broadcast_in_dim %7, %9, dims = [0] : (tensor<?xi32>, tensor<2xi32>) -> tensor<?x1xi32>
    %11 = "stablehlo.scatter"(%arg3, %10, %arg5) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %65 = stablehlo.add %arg6, %arg7 : tensor<f32>
      stablehlo.return %65 : tensor<f32>
    }) : (tensor<?x?xf32>, tensor<?x1xi32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    %12 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %13 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %14 = stablehlo.concatenate %12, %13, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %15 = stablehlo.dynamic_broadcast_in_dim %cst_4, %14, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %16 = stablehlo.multiply %15, %11 : tensor<?x?xf32>
    %17 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %18 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %19 = stablehlo.concatenate %17, %18, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %20 = stablehlo.dynamic_broadcast_in_dim %cst, %19, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %21 = stablehlo.multiply %20, %16 : tensor<?x?xf32>
    %22 = stablehlo.convert %arg0 : tensor<i32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %24 = stablehlo.convert %arg1 : tensor<i32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %26 = stablehlo.concatenate %23, %25, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %27 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %28 = stablehlo.add %c_2, %27 : tensor<1xi32>
    %29 = stablehlo.select %c_1, %28, %c_2 : tensor<1xi1>, tensor<1xi32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0] : (tensor<1xi32>) -> tensor<1x1xi32>
    %31 = "stablehlo.gather"(%26, %30) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<2xi32>, tensor<1x1xi32>) -> tensor<1xi32>
    %32 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %33 = stablehlo.convert %arg1 : tensor<i32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %35 = stablehlo.concatenate %32, %34, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %36 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %37 = stablehlo.add %c_2, %36 : tensor<1xi32>
    %38 = stablehlo.select %c_1, %37, %c_2 : tensor<1xi1>, tensor<1xi32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0] : (tensor<1xi32>) -> tensor<1x1xi32>
    %40 = "stablehlo.gather"(%35, %39) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<2xi32>, tensor<1x1xi32>) -> tensor<1xi32>
    %41 = stablehlo.subtract %31, %40 : tensor<1xi32>
    %42 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %43 = stablehlo.concatenate %42, %c_5, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %44 = stablehlo.dynamic_broadcast_in_dim %c_7, %43, dims = [] : (tensor<i32>, tensor<2xi32>) -> tensor<?x1xi32>
    %45 = stablehlo.compare GE, %10, %44, SIGNED : (tensor<?x1xi32>, tensor<?x1xi32>) -> tensor<?x1xi1>
    %46 = stablehlo.broadcast_in_dim %41, dims = [1] : (tensor<1xi32>) -> tensor<1x1xi32>
    %47 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %48 = stablehlo.concatenate %47, %c_5, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %49 = stablehlo.dynamic_broadcast_in_dim %46, %48, dims = [0, 1] : (tensor<1x1xi32>, tensor<2xi32>) -> tensor<?x1xi32>
    %50 = stablehlo.compare LE, %10, %49, SIGNED : (tensor<?x1xi32>, tensor<?x1xi32>) -> tensor<?x1xi1>
    %51 = stablehlo.and %45, %50 : tensor<?x1xi1>
    %52 = stablehlo.reduce(%51 init: %c) applies stablehlo.and across dimensions = [1] : (tensor<?x1xi1>, tensor<i1>) -> tensor<?xi1>
    %53 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %54 = stablehlo.concatenate %c_5, %53, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %55 = "stablehlo.dynamic_gather"(%21, %10, %54) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<?x?xf32>, tensor<?x1xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    %56 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %57 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %58 = stablehlo.concatenate %56, %57, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %59 = stablehlo.dynamic_broadcast_in_dim %52, %58, dims = [0] : (tensor<?xi1>, tensor<2xi32>) -> tensor<?x?xi1>
    %60 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %61 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %62 = stablehlo.concatenate %60, %61, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %63 = stablehlo.dynamic_broadcast_in_dim %cst_3, %62, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %64 = stablehlo.select %59, %55, %63 : tensor<?x?xi1>, tensor<?x?xf32>
    return %21, %64 : tensor<?x?xf32>, tensor<?x?xf32>
  }
}
