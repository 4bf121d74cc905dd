module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?xf32>, %arg1: tensor<?x?xf32>) -> (tensor<?x?xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %2 = stablehlo.get_dimension_size %arg1, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %3 = stablehlo.get_dimension_size %arg1, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %4 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%4, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'a'. Using the following polymorphic shapes specifications: args[0].shape = (a, b),args[1].shape = (a, b). Obtained dimension variables: 'a' = {0} from specification 'a' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %5 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%5, %0, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (a, b),args[1].shape = (a, b). Obtained dimension variables: 'a' = {0} from specification 'a' for dimension args[0].shape[0] (= {0}), 'b' = {1} from specification 'b' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %6 = stablehlo.compare EQ, %2, %0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%6, %2, %0, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Found inconsistency between dimension size args[1].shape[0] (= {0}) and the specification 'a' (= {1}). Using the following polymorphic shapes specifications: args[0].shape = (a, b),args[1].shape = (a, b). Obtained dimension variables: 'a' = {1} from specification 'a' for dimension args[0].shape[0] (= {1}), 'b' = {2} from specification 'b' for dimension args[0].shape[1] (= {2}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %7 = stablehlo.compare EQ, %3, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%7, %3, %1, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Found inconsistency between dimension size args[1].shape[1] (= {0}) and the specification 'b' (= {1}). Using the following polymorphic shapes specifications: args[0].shape = (a, b),args[1].shape = (a, b). Obtained dimension variables: 'a' = {2} from specification 'a' for dimension args[0].shape[0] (= {2}), 'b' = {1} from specification 'b' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %8 = call @_wrapped_jax_export_main(%0, %1, %arg0, %arg1) : (tensor<i32>, tensor<i32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    return %8 : tensor<?x?xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "a"}, %arg1: tensor<i32> {jax.global_constant = "b"}, %arg2: tensor<?x?xf32>, %arg3: tensor<?x?xf32>) -> (tensor<?x?xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<-2.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<1> : tensor<1xi32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg2 init: %cst_3) applies stablehlo.maximum across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
    %1 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.dynamic_broadcast_in_dim %cst_3, %1, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %3 = stablehlo.maximum %2, %0 : tensor<?xf32>
    %4 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %5 = stablehlo.concatenate %4, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %6 = stablehlo.dynamic_broadcast_in_dim %3, %5, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %7 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %8 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %9 = stablehlo.concatenate %7, %8, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %10 = stablehlo.dynamic_broadcast_in_dim %6, %9, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %11 = stablehlo.subtract %arg2, %10 : tensor<?x?xf32>
    %12 = stablehlo.exponential %11 : tensor<?x?xf32>
    %13 = stablehlo.reduce(%12 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
    %14 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %15 = stablehlo.concatenate %14, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %16 = stablehlo.dynamic_broadcast_in_dim %13, %15, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %17 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %18 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %19 = stablehlo.concatenate %17, %18, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %20 = stablehlo.dynamic_broadcast_in_dim %16, %19, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %21 = stablehlo.divide %12, %20 : tensor<?x?xf32>
    %22 = stablehlo.multiply %16, %16 : tensor<?x1xf32>
    %23 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %24 = stablehlo.concatenate %23, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %25 = stablehlo.dynamic_broadcast_in_dim %cst_1, %24, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x1xf32>
    %26 = stablehlo.divide %25, %22 : tensor<?x1xf32>
    %27 = stablehlo.multiply %16, %16 : tensor<?x1xf32>
    %28 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %29 = stablehlo.concatenate %28, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %30 = stablehlo.dynamic_broadcast_in_dim %cst_1, %29, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x1xf32>
    %31 = stablehlo.divide %30, %27 : tensor<?x1xf32>
    %32 = stablehlo.multiply %16, %16 : tensor<?x1xf32>
    %33 = stablehlo.multiply %16, %32 : tensor<?x1xf32>
    %34 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %35 = stablehlo.concatenate %34, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %36 = stablehlo.dynamic_broadcast_in_dim %cst_1, %35, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x1xf32>
    %37 = stablehlo.divide %36, %33 : tensor<?x1xf32>
    %38 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %39 = stablehlo.concatenate %38, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %40 = stablehlo.dynamic_broadcast_in_dim %cst, %39, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x1xf32>
    %41 = stablehlo.multiply %40, %37 : tensor<?x1xf32>
    %42 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %43 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %44 = stablehlo.concatenate %42, %43, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %45 = stablehlo.dynamic_broadcast_in_dim %cst_0, %44, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %46 = stablehlo.multiply %45, %21 : tensor<?x?xf32>
    %47 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %48 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %49 = stablehlo.concatenate %47, %48, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %50 = stablehlo.dynamic_broadcast_in_dim %cst_1, %49, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %51 = stablehlo.multiply %50, %46 : tensor<?x?xf32>
    %52 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %53 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %54 = stablehlo.concatenate %52, %53, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %55 = stablehlo.dynamic_broadcast_in_dim %31, %54, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %56 = stablehlo.multiply %51, %55 : tensor<?x?xf32>
    %57 = stablehlo.multiply %56, %12 : tensor<?x?xf32>
    %58 = stablehlo.reduce(%57 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
    %59 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %60 = stablehlo.concatenate %59, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %61 = stablehlo.dynamic_reshape %58, %60 : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %62 = stablehlo.negate %61 : tensor<?x1xf32>
    %63 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %64 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %65 = stablehlo.concatenate %63, %64, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %66 = stablehlo.dynamic_broadcast_in_dim %16, %65, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %67 = stablehlo.divide %51, %66 : tensor<?x?xf32>
    %68 = stablehlo.multiply %16, %16 : tensor<?x1xf32>
    %69 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %70 = stablehlo.concatenate %69, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %71 = stablehlo.dynamic_broadcast_in_dim %cst_1, %70, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x1xf32>
    %72 = stablehlo.divide %71, %68 : tensor<?x1xf32>
    %73 = stablehlo.reduce(%62 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<?x1xf32>, tensor<f32>) -> tensor<?xf32>
    %74 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %75 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %76 = stablehlo.concatenate %74, %75, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %77 = stablehlo.dynamic_broadcast_in_dim %73, %76, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %78 = stablehlo.add %67, %77 : tensor<?x?xf32>
    %79 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %80 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %81 = stablehlo.concatenate %79, %80, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %82 = stablehlo.dynamic_broadcast_in_dim %cst_1, %81, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %83 = stablehlo.multiply %82, %arg3 : tensor<?x?xf32>
    %84 = stablehlo.multiply %78, %83 : tensor<?x?xf32>
    %85 = stablehlo.multiply %83, %12 : tensor<?x?xf32>
    %86 = stablehlo.reduce(%85 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
    %87 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %88 = stablehlo.concatenate %87, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %89 = stablehlo.dynamic_broadcast_in_dim %86, %88, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %90 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %91 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %92 = stablehlo.concatenate %90, %91, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %93 = stablehlo.dynamic_broadcast_in_dim %72, %92, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %94 = stablehlo.multiply %85, %93 : tensor<?x?xf32>
    %95 = stablehlo.multiply %94, %51 : tensor<?x?xf32>
    %96 = stablehlo.reduce(%95 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
    %97 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %98 = stablehlo.concatenate %97, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %99 = stablehlo.dynamic_reshape %96, %98 : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %100 = stablehlo.negate %99 : tensor<?x1xf32>
    %101 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %102 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %103 = stablehlo.concatenate %101, %102, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %104 = stablehlo.dynamic_broadcast_in_dim %16, %103, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %105 = stablehlo.divide %85, %104 : tensor<?x?xf32>
    %106 = stablehlo.negate %89 : tensor<?x1xf32>
    %107 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %108 = stablehlo.dynamic_reshape %106, %107 : (tensor<?x1xf32>, tensor<1xi32>) -> tensor<?xf32>
    %109 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %110 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %111 = stablehlo.concatenate %109, %110, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %112 = stablehlo.dynamic_broadcast_in_dim %108, %111, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %113 = stablehlo.multiply %56, %112 : tensor<?x?xf32>
    %114 = stablehlo.add %84, %113 : tensor<?x?xf32>
    %115 = stablehlo.multiply %112, %12 : tensor<?x?xf32>
    %116 = stablehlo.multiply %51, %115 : tensor<?x?xf32>
    %117 = stablehlo.reduce(%116 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
    %118 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %119 = stablehlo.concatenate %118, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %120 = stablehlo.dynamic_reshape %117, %119 : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %121 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %122 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %123 = stablehlo.concatenate %121, %122, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %124 = stablehlo.dynamic_broadcast_in_dim %31, %123, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %125 = stablehlo.multiply %115, %124 : tensor<?x?xf32>
    %126 = stablehlo.add %105, %125 : tensor<?x?xf32>
    %127 = stablehlo.multiply %50, %126 : tensor<?x?xf32>
    %128 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %129 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %130 = stablehlo.concatenate %128, %129, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %131 = stablehlo.dynamic_broadcast_in_dim %cst_0, %130, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %132 = stablehlo.multiply %131, %127 : tensor<?x?xf32>
    %133 = stablehlo.multiply %120, %41 : tensor<?x1xf32>
    %134 = stablehlo.add %100, %133 : tensor<?x1xf32>
    %135 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %136 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %137 = stablehlo.concatenate %135, %136, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %138 = stablehlo.dynamic_broadcast_in_dim %26, %137, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %139 = stablehlo.multiply %132, %138 : tensor<?x?xf32>
    %140 = stablehlo.multiply %139, %12 : tensor<?x?xf32>
    %141 = stablehlo.reduce(%140 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
    %142 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %143 = stablehlo.concatenate %142, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %144 = stablehlo.dynamic_reshape %141, %143 : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %145 = stablehlo.negate %144 : tensor<?x1xf32>
    %146 = stablehlo.add %134, %145 : tensor<?x1xf32>
    %147 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %148 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %149 = stablehlo.concatenate %147, %148, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %150 = stablehlo.dynamic_broadcast_in_dim %16, %149, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %151 = stablehlo.divide %132, %150 : tensor<?x?xf32>
    %152 = stablehlo.add %114, %151 : tensor<?x?xf32>
    %153 = stablehlo.reduce(%146 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<?x1xf32>, tensor<f32>) -> tensor<?xf32>
    %154 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %155 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %156 = stablehlo.concatenate %154, %155, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %157 = stablehlo.dynamic_broadcast_in_dim %153, %156, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %158 = stablehlo.add %152, %157 : tensor<?x?xf32>
    %159 = stablehlo.multiply %158, %12 : tensor<?x?xf32>
    return %159 : tensor<?x?xf32>
  }
}
