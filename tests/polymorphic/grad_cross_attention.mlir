module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?x4xf32>, %arg1: tensor<?x?x4xf32>, %arg2: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32> {jax.result_info = "result[0]"}, tensor<?x?x4xf32> {jax.result_info = "result[1]"}, tensor<?x?x4xf32> {jax.result_info = "result[2]"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?x4xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?x4xf32>) -> tensor<i32>
    %2 = stablehlo.get_dimension_size %arg1, dim = 0 : (tensor<?x?x4xf32>) -> tensor<i32>
    %3 = stablehlo.get_dimension_size %arg1, dim = 1 : (tensor<?x?x4xf32>) -> tensor<i32>
    %4 = stablehlo.get_dimension_size %arg2, dim = 0 : (tensor<?x?x4xf32>) -> tensor<i32>
    %5 = stablehlo.get_dimension_size %arg2, dim = 1 : (tensor<?x?x4xf32>) -> tensor<i32>
    %6 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%6, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, q, 4),args[1].shape = (b, k, 4),args[2].shape = (b, k, 4). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %7 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%7, %0, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'q'. Using the following polymorphic shapes specifications: args[0].shape = (b, q, 4),args[1].shape = (b, k, 4),args[2].shape = (b, k, 4). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'q' = {1} from specification 'q' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %8 = stablehlo.compare EQ, %2, %0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%8, %2, %0, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Found inconsistency between dimension size args[1].shape[0] (= {0}) and the specification 'b' (= {1}). Using the following polymorphic shapes specifications: args[0].shape = (b, q, 4),args[1].shape = (b, k, 4),args[2].shape = (b, k, 4). Obtained dimension variables: 'b' = {1} from specification 'b' for dimension args[0].shape[0] (= {1}), 'q' = {2} from specification 'q' for dimension args[0].shape[1] (= {2}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %9 = stablehlo.compare GE, %3, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%9, %0, %1, %3) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'k'. Using the following polymorphic shapes specifications: args[0].shape = (b, q, 4),args[1].shape = (b, k, 4),args[2].shape = (b, k, 4). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'q' = {1} from specification 'q' for dimension args[0].shape[1] (= {1}), 'k' = {2} from specification 'k' for dimension args[1].shape[1] (= {2}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %10 = stablehlo.compare EQ, %4, %0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%10, %4, %0, %1, %3) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Found inconsistency between dimension size args[2].shape[0] (= {0}) and the specification 'b' (= {1}). Using the following polymorphic shapes specifications: args[0].shape = (b, q, 4),args[1].shape = (b, k, 4),args[2].shape = (b, k, 4). Obtained dimension variables: 'b' = {1} from specification 'b' for dimension args[0].shape[0] (= {1}), 'q' = {2} from specification 'q' for dimension args[0].shape[1] (= {2}), 'k' = {3} from specification 'k' for dimension args[1].shape[1] (= {3}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %11 = stablehlo.compare EQ, %5, %3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%11, %5, %3, %0, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Found inconsistency between dimension size args[2].shape[1] (= {0}) and the specification 'k' (= {1}). Using the following polymorphic shapes specifications: args[0].shape = (b, q, 4),args[1].shape = (b, k, 4),args[2].shape = (b, k, 4). Obtained dimension variables: 'b' = {2} from specification 'b' for dimension args[0].shape[0] (= {2}), 'q' = {3} from specification 'q' for dimension args[0].shape[1] (= {3}), 'k' = {1} from specification 'k' for dimension args[1].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %12:3 = call @_wrapped_jax_export_main(%0, %3, %1, %arg0, %arg1, %arg2) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>)
    return %12#0, %12#1, %12#2 : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "k"}, %arg2: tensor<i32> {jax.global_constant = "q"}, %arg3: tensor<?x?x4xf32>, %arg4: tensor<?x?x4xf32>, %arg5: tensor<?x?x4xf32>) -> (tensor<?x?x4xf32> {jax.result_info = "result[0]"}, tensor<?x?x4xf32> {jax.result_info = "result[1]"}, tensor<?x?x4xf32> {jax.result_info = "result[2]"}) {
    %c = stablehlo.constant dense<4> : tensor<1xi32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c_2 = stablehlo.constant dense<1> : tensor<1xi32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_4 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %0 = stablehlo.dot_general %arg3, %arg4, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<?x?x4xf32>, tensor<?x?x4xf32>) -> tensor<?x?x?xf32>
    %1 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.concatenate %1, %2, %3, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %5 = stablehlo.dynamic_broadcast_in_dim %cst_4, %4, dims = [] : (tensor<f32>, tensor<3xi32>) -> tensor<?x?x?xf32>
    %6 = stablehlo.multiply %0, %5 : tensor<?x?x?xf32>
    %7 = stablehlo.reduce(%6 init: %cst_3) applies stablehlo.maximum across dimensions = [2] : (tensor<?x?x?xf32>, tensor<f32>) -> tensor<?x?xf32>
    %8 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %9 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %10 = stablehlo.concatenate %8, %9, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %11 = stablehlo.dynamic_broadcast_in_dim %cst_3, %10, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %12 = stablehlo.maximum %11, %7 : tensor<?x?xf32>
    %13 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %14 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %15 = stablehlo.concatenate %13, %14, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %16 = stablehlo.dynamic_broadcast_in_dim %12, %15, dims = [0, 1] : (tensor<?x?xf32>, tensor<3xi32>) -> tensor<?x?x1xf32>
    %17 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %18 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %19 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %20 = stablehlo.concatenate %17, %18, %19, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %21 = stablehlo.dynamic_broadcast_in_dim %16, %20, dims = [0, 1, 2] : (tensor<?x?x1xf32>, tensor<3xi32>) -> tensor<?x?x?xf32>
    %22 = stablehlo.subtract %6, %21 : tensor<?x?x?xf32>
    %23 = stablehlo.exponential %22 : tensor<?x?x?xf32>
    %24 = stablehlo.reduce(%23 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<?x?x?xf32>, tensor<f32>) -> tensor<?x?xf32>
    %25 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %26 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %27 = stablehlo.concatenate %25, %26, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %28 = stablehlo.dynamic_broadcast_in_dim %24, %27, dims = [0, 1] : (tensor<?x?xf32>, tensor<3xi32>) -> tensor<?x?x1xf32>
    %29 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %30 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %31 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %32 = stablehlo.concatenate %29, %30, %31, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %33 = stablehlo.dynamic_broadcast_in_dim %28, %32, dims = [0, 1, 2] : (tensor<?x?x1xf32>, tensor<3xi32>) -> tensor<?x?x?xf32>
    %34 = stablehlo.divide %23, %33 : tensor<?x?x?xf32>
    %35 = stablehlo.multiply %28, %28 : tensor<?x?x1xf32>
    %36 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %37 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %38 = stablehlo.concatenate %36, %37, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %39 = stablehlo.dynamic_broadcast_in_dim %cst_0, %38, dims = [] : (tensor<f32>, tensor<3xi32>) -> tensor<?x?x1xf32>
    %40 = stablehlo.divide %39, %35 : tensor<?x?x1xf32>
    %41 = stablehlo.dot_general %34, %arg5, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<?x?x?xf32>, tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
    %42 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %43 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %44 = stablehlo.concatenate %42, %43, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %45 = stablehlo.dynamic_broadcast_in_dim %cst, %44, dims = [] : (tensor<f32>, tensor<3xi32>) -> tensor<?x?x4xf32>
    %46 = stablehlo.multiply %45, %41 : tensor<?x?x4xf32>
    %47 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %48 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %49 = stablehlo.concatenate %47, %48, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %50 = stablehlo.dynamic_broadcast_in_dim %cst_0, %49, dims = [] : (tensor<f32>, tensor<3xi32>) -> tensor<?x?x4xf32>
    %51 = stablehlo.multiply %50, %46 : tensor<?x?x4xf32>
    %52 = stablehlo.dot_general %51, %34, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<?x?x4xf32>, tensor<?x?x?xf32>) -> tensor<?x4x?xf32>
    %53 = stablehlo.transpose %52, dims = [0, 2, 1] : (tensor<?x4x?xf32>) -> tensor<?x?x4xf32>
    %54 = stablehlo.dot_general %51, %arg5, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<?x?x4xf32>, tensor<?x?x4xf32>) -> tensor<?x?x?xf32>
    %55 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %56 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %57 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %58 = stablehlo.concatenate %55, %56, %57, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %59 = stablehlo.dynamic_broadcast_in_dim %40, %58, dims = [0, 1, 2] : (tensor<?x?x1xf32>, tensor<3xi32>) -> tensor<?x?x?xf32>
    %60 = stablehlo.multiply %54, %59 : tensor<?x?x?xf32>
    %61 = stablehlo.multiply %60, %23 : tensor<?x?x?xf32>
    %62 = stablehlo.reduce(%61 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<?x?x?xf32>, tensor<f32>) -> tensor<?x?xf32>
    %63 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %64 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %65 = stablehlo.concatenate %63, %64, %c_2, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %66 = stablehlo.dynamic_reshape %62, %65 : (tensor<?x?xf32>, tensor<3xi32>) -> tensor<?x?x1xf32>
    %67 = stablehlo.negate %66 : tensor<?x?x1xf32>
    %68 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %69 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %70 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %71 = stablehlo.concatenate %68, %69, %70, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %72 = stablehlo.dynamic_broadcast_in_dim %28, %71, dims = [0, 1, 2] : (tensor<?x?x1xf32>, tensor<3xi32>) -> tensor<?x?x?xf32>
    %73 = stablehlo.divide %54, %72 : tensor<?x?x?xf32>
    %74 = stablehlo.reduce(%67 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<?x?x1xf32>, tensor<f32>) -> tensor<?x?xf32>
    %75 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %76 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %77 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %78 = stablehlo.concatenate %75, %76, %77, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %79 = stablehlo.dynamic_broadcast_in_dim %74, %78, dims = [0, 1] : (tensor<?x?xf32>, tensor<3xi32>) -> tensor<?x?x?xf32>
    %80 = stablehlo.add %73, %79 : tensor<?x?x?xf32>
    %81 = stablehlo.multiply %80, %23 : tensor<?x?x?xf32>
    %82 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %83 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %84 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %85 = stablehlo.concatenate %82, %83, %84, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %86 = stablehlo.dynamic_broadcast_in_dim %cst_4, %85, dims = [] : (tensor<f32>, tensor<3xi32>) -> tensor<?x?x?xf32>
    %87 = stablehlo.multiply %81, %86 : tensor<?x?x?xf32>
    %88 = stablehlo.dot_general %87, %arg3, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<?x?x?xf32>, tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
    %89 = stablehlo.dot_general %87, %arg4, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<?x?x?xf32>, tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
    return %89, %88, %53 : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>
  }
}
