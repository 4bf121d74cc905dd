module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?xf32>, %arg1: tensor<?xf32>, %arg2: tensor<?xf32>) -> (tensor<?x?xf32> {jax.result_info = "result[0]"}, tensor<?xf32> {jax.result_info = "result[1]"}, tensor<?xf32> {jax.result_info = "result[2]"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %2 = stablehlo.get_dimension_size %arg1, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %3 = stablehlo.get_dimension_size %arg2, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %4 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%4, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'a'. Using the following polymorphic shapes specifications: args[0].shape = (a, b),args[1].shape = (b,),args[2].shape = (b,). Obtained dimension variables: 'a' = {0} from specification 'a' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %5 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%5, %0, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (a, b),args[1].shape = (b,),args[2].shape = (b,). Obtained dimension variables: 'a' = {0} from specification 'a' for dimension args[0].shape[0] (= {0}), 'b' = {1} from specification 'b' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %6 = stablehlo.compare EQ, %2, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%6, %2, %1, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Found inconsistency between dimension size args[1].shape[0] (= {0}) and the specification 'b' (= {1}). Using the following polymorphic shapes specifications: args[0].shape = (a, b),args[1].shape = (b,),args[2].shape = (b,). Obtained dimension variables: 'a' = {2} from specification 'a' for dimension args[0].shape[0] (= {2}), 'b' = {1} from specification 'b' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %7 = stablehlo.compare EQ, %3, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%7, %3, %1, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Found inconsistency between dimension size args[2].shape[0] (= {0}) and the specification 'b' (= {1}). Using the following polymorphic shapes specifications: args[0].shape = (a, b),args[1].shape = (b,),args[2].shape = (b,). Obtained dimension variables: 'a' = {2} from specification 'a' for dimension args[0].shape[0] (= {2}), 'b' = {1} from specification 'b' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %8:3 = call @_wrapped_jax_export_main(%0, %1, %arg0, %arg1, %arg2) : (tensor<i32>, tensor<i32>, tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>)
    return %8#0, %8#1, %8#2 : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "a"}, %arg1: tensor<i32> {jax.global_constant = "b"}, %arg2: tensor<?x?xf32>, %arg3: tensor<?xf32>, %arg4: tensor<?xf32>) -> (tensor<?x?xf32> {jax.result_info = "result[0]"}, tensor<?xf32> {jax.result_info = "result[1]"}, tensor<?xf32> {jax.result_info = "result[2]"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %cst_1 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<1> : tensor<1xi32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.reduce(%arg2 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
    %2 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.concatenate %2, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %4 = stablehlo.dynamic_broadcast_in_dim %1, %3, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %5 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %6 = stablehlo.concatenate %5, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %7 = stablehlo.dynamic_broadcast_in_dim %0, %6, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x1xf32>
    %8 = stablehlo.divide %4, %7 : tensor<?x1xf32>
    %9 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %10 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %11 = stablehlo.concatenate %9, %10, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %12 = stablehlo.dynamic_broadcast_in_dim %8, %11, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %13 = stablehlo.subtract %arg2, %12 : tensor<?x?xf32>
    %14 = stablehlo.multiply %13, %13 : tensor<?x?xf32>
    %15 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %16 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %17 = stablehlo.concatenate %15, %16, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %18 = stablehlo.dynamic_broadcast_in_dim %cst_2, %17, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %19 = stablehlo.multiply %18, %13 : tensor<?x?xf32>
    %20 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %21 = stablehlo.reduce(%14 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
    %22 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %23 = stablehlo.concatenate %22, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %24 = stablehlo.dynamic_broadcast_in_dim %21, %23, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %25 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %26 = stablehlo.concatenate %25, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %27 = stablehlo.dynamic_broadcast_in_dim %20, %26, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x1xf32>
    %28 = stablehlo.divide %24, %27 : tensor<?x1xf32>
    %29 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %30 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %31 = stablehlo.concatenate %29, %30, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %32 = stablehlo.dynamic_broadcast_in_dim %8, %31, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %33 = stablehlo.subtract %arg2, %32 : tensor<?x?xf32>
    %34 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %35 = stablehlo.concatenate %34, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %36 = stablehlo.dynamic_broadcast_in_dim %cst_1, %35, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x1xf32>
    %37 = stablehlo.add %28, %36 : tensor<?x1xf32>
    %38 = stablehlo.sqrt %37 : tensor<?x1xf32>
    %39 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %40 = stablehlo.concatenate %39, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %41 = stablehlo.dynamic_broadcast_in_dim %cst_0, %40, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x1xf32>
    %42 = stablehlo.divide %41, %38 : tensor<?x1xf32>
    %43 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %44 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %45 = stablehlo.concatenate %43, %44, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %46 = stablehlo.dynamic_broadcast_in_dim %38, %45, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %47 = stablehlo.divide %33, %46 : tensor<?x?xf32>
    %48 = stablehlo.multiply %38, %38 : tensor<?x1xf32>
    %49 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %50 = stablehlo.concatenate %49, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %51 = stablehlo.dynamic_broadcast_in_dim %cst, %50, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x1xf32>
    %52 = stablehlo.divide %51, %48 : tensor<?x1xf32>
    %53 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %54 = stablehlo.concatenate %c, %53, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %55 = stablehlo.dynamic_broadcast_in_dim %arg3, %54, dims = [1] : (tensor<?xf32>, tensor<2xi32>) -> tensor<1x?xf32>
    %56 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %57 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %58 = stablehlo.concatenate %56, %57, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %59 = stablehlo.dynamic_broadcast_in_dim %55, %58, dims = [0, 1] : (tensor<1x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %60 = stablehlo.multiply %47, %59 : tensor<?x?xf32>
    %61 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %62 = stablehlo.concatenate %c, %61, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %63 = stablehlo.dynamic_broadcast_in_dim %arg4, %62, dims = [1] : (tensor<?xf32>, tensor<2xi32>) -> tensor<1x?xf32>
    %64 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %65 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %66 = stablehlo.concatenate %64, %65, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %67 = stablehlo.dynamic_broadcast_in_dim %63, %66, dims = [0, 1] : (tensor<1x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %68 = stablehlo.add %60, %67 : tensor<?x?xf32>
    %69 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %70 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %71 = stablehlo.concatenate %69, %70, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %72 = stablehlo.dynamic_broadcast_in_dim %cst_2, %71, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %73 = stablehlo.multiply %72, %68 : tensor<?x?xf32>
    %74 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %75 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %76 = stablehlo.concatenate %74, %75, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %77 = stablehlo.dynamic_broadcast_in_dim %cst, %76, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %78 = stablehlo.multiply %77, %73 : tensor<?x?xf32>
    %79 = stablehlo.reduce(%78 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
    %80 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %81 = stablehlo.concatenate %c, %80, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %82 = stablehlo.dynamic_reshape %79, %81 : (tensor<?xf32>, tensor<2xi32>) -> tensor<1x?xf32>
    %83 = stablehlo.reduce(%82 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<1x?xf32>, tensor<f32>) -> tensor<?xf32>
    %84 = stablehlo.multiply %47, %78 : tensor<?x?xf32>
    %85 = stablehlo.reduce(%84 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
    %86 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %87 = stablehlo.concatenate %c, %86, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %88 = stablehlo.dynamic_reshape %85, %87 : (tensor<?xf32>, tensor<2xi32>) -> tensor<1x?xf32>
    %89 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %90 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %91 = stablehlo.concatenate %89, %90, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %92 = stablehlo.dynamic_broadcast_in_dim %55, %91, dims = [0, 1] : (tensor<1x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %93 = stablehlo.multiply %78, %92 : tensor<?x?xf32>
    %94 = stablehlo.reduce(%88 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<1x?xf32>, tensor<f32>) -> tensor<?xf32>
    %95 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %96 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %97 = stablehlo.concatenate %95, %96, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %98 = stablehlo.dynamic_broadcast_in_dim %52, %97, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %99 = stablehlo.multiply %93, %98 : tensor<?x?xf32>
    %100 = stablehlo.multiply %99, %33 : tensor<?x?xf32>
    %101 = stablehlo.reduce(%100 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
    %102 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %103 = stablehlo.concatenate %102, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %104 = stablehlo.dynamic_reshape %101, %103 : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %105 = stablehlo.negate %104 : tensor<?x1xf32>
    %106 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %107 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %108 = stablehlo.concatenate %106, %107, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %109 = stablehlo.dynamic_broadcast_in_dim %38, %108, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %110 = stablehlo.divide %93, %109 : tensor<?x?xf32>
    %111 = stablehlo.multiply %105, %42 : tensor<?x1xf32>
    %112 = stablehlo.negate %110 : tensor<?x?xf32>
    %113 = stablehlo.reduce(%112 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
    %114 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %115 = stablehlo.concatenate %114, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %116 = stablehlo.dynamic_reshape %113, %115 : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %117 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %118 = stablehlo.concatenate %117, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %119 = stablehlo.dynamic_broadcast_in_dim %20, %118, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x1xf32>
    %120 = stablehlo.divide %111, %119 : tensor<?x1xf32>
    %121 = stablehlo.reduce(%120 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<?x1xf32>, tensor<f32>) -> tensor<?xf32>
    %122 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %123 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %124 = stablehlo.concatenate %122, %123, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %125 = stablehlo.dynamic_broadcast_in_dim %121, %124, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %126 = stablehlo.multiply %125, %19 : tensor<?x?xf32>
    %127 = stablehlo.negate %126 : tensor<?x?xf32>
    %128 = stablehlo.reduce(%127 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
    %129 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %130 = stablehlo.concatenate %129, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %131 = stablehlo.dynamic_reshape %128, %130 : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %132 = stablehlo.add %110, %126 : tensor<?x?xf32>
    %133 = stablehlo.add %116, %131 : tensor<?x1xf32>
    %134 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %135 = stablehlo.concatenate %134, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %136 = stablehlo.dynamic_broadcast_in_dim %0, %135, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x1xf32>
    %137 = stablehlo.divide %133, %136 : tensor<?x1xf32>
    %138 = stablehlo.reduce(%137 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<?x1xf32>, tensor<f32>) -> tensor<?xf32>
    %139 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %140 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %141 = stablehlo.concatenate %139, %140, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %142 = stablehlo.dynamic_broadcast_in_dim %138, %141, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %143 = stablehlo.add %132, %142 : tensor<?x?xf32>
    return %143, %94, %83 : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>
  }
}
