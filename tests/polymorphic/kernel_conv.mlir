module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?x2xf32>, %arg1: tensor<?x2x3xf32>) -> (tensor<?x?x3xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<-1> : tensor<i32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?x2xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?x2xf32>) -> tensor<i32>
    %2 = stablehlo.get_dimension_size %arg1, dim = 0 : (tensor<?x2x3xf32>) -> tensor<i32>
    %3 = stablehlo.compare GE, %0, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%3, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, w, 2),args[1].shape = (k, 2, 3). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %4 = stablehlo.compare GE, %1, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%4, %0, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'w'. Using the following polymorphic shapes specifications: args[0].shape = (b, w, 2),args[1].shape = (k, 2, 3). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'w' = {1} from specification 'w' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %5 = stablehlo.compare GE, %2, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%5, %0, %1, %2) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'k'. Using the following polymorphic shapes specifications: args[0].shape = (b, w, 2),args[1].shape = (k, 2, 3). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'w' = {1} from specification 'w' for dimension args[0].shape[1] (= {1}), 'k' = {2} from specification 'k' for dimension args[1].shape[0] (= {2}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %6 = stablehlo.convert %2 : tensor<i32>
    %7 = stablehlo.multiply %6, %c_0 : tensor<i32>
    %8 = stablehlo.convert %1 : tensor<i32>
    %9 = stablehlo.add %7, %8 : tensor<i32>
    %10 = stablehlo.compare GE, %9, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %11 = stablehlo.convert %2 : tensor<i32>
    %12 = stablehlo.multiply %11, %c_0 : tensor<i32>
    %13 = stablehlo.convert %1 : tensor<i32>
    %14 = stablehlo.add %12, %13 : tensor<i32>
    stablehlo.custom_call @shape_assertion(%10, %14, %0, %1, %2) {api_version = 2 : i32, error_message = "Input shapes do not match the symbolic shape constraint w >= k. Expected 'w - k' to be greater or equal to 0, but found {0}.  Using the following polymorphic shapes specifications: args[0].shape = (b, w, 2),args[1].shape = (k, 2, 3). Obtained dimension variables: 'b' = {1} from specification 'b' for dimension args[0].shape[0] (= {1}), 'w' = {2} from specification 'w' for dimension args[0].shape[1] (= {2}), 'k' = {3} from specification 'k' for dimension args[1].shape[0] (= {3}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %15 = call @_wrapped_jax_export_main(%0, %2, %1, %arg0, %arg1) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?x2xf32>, tensor<?x2x3xf32>) -> tensor<?x?x3xf32>
    return %15 : tensor<?x?x3xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "k"}, %arg2: tensor<i32> {jax.global_constant = "w"}, %arg3: tensor<?x?x2xf32>, %arg4: tensor<?x2x3xf32>) -> (tensor<?x?x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg3, %arg4) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<?x?x2xf32>, tensor<?x2x3xf32>) -> tensor<?x?x3xf32>
    return %0 : tensor<?x?x3xf32>
  }
}
