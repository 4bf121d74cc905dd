module @jit_average attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
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
  func.func @reduce_window_float32_reducer(%arg0: tensor<f32>, %arg1: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "a"}, %arg1: tensor<i32> {jax.global_constant = "b"}, %arg2: tensor<?x?xf32>) -> (tensor<?x?xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<2> : tensor<1xi32>
    %c_0 = stablehlo.constant dense<3> : tensor<1xi32>
    %c_1 = stablehlo.constant dense<1> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<1> : tensor<i32>
    %c_3 = stablehlo.constant dense<-2> : tensor<i32>
    %c_4 = stablehlo.constant dense<2> : tensor<i32>
    %c_5 = stablehlo.constant dense<-1> : tensor<i32>
    %c_6 = stablehlo.constant dense<0> : tensor<1xi32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = stablehlo.concatenate %c_6, %c_6, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %2 = stablehlo.reshape %1 : (tensor<2xi32>) -> tensor<1x2xi32>
    %3 = stablehlo.convert %arg1 : tensor<i32>
    %4 = stablehlo.multiply %3, %c_5 : tensor<i32>
    %5:2 = call @divmod(%arg0, %arg1, %4, %c_4) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %6 = stablehlo.multiply %5#0, %c_3 : tensor<i32>
    %7 = stablehlo.convert %arg1 : tensor<i32>
    %8 = stablehlo.multiply %7, %c_5 : tensor<i32>
    %9 = stablehlo.add %6, %8 : tensor<i32>
    %10 = stablehlo.add %9, %c_2 : tensor<i32>
    %11:2 = call @divmod(%arg0, %arg1, %10, %c_4) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %12 = stablehlo.convert %arg1 : tensor<i32>
    %13 = stablehlo.multiply %12, %c_5 : tensor<i32>
    %14:2 = call @divmod(%arg0, %arg1, %13, %c_4) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %15 = stablehlo.multiply %14#0, %c_3 : tensor<i32>
    %16 = stablehlo.convert %arg1 : tensor<i32>
    %17 = stablehlo.multiply %16, %c_5 : tensor<i32>
    %18 = stablehlo.add %15, %17 : tensor<i32>
    %19 = stablehlo.add %18, %c_2 : tensor<i32>
    %20:2 = call @divmod(%arg0, %arg1, %19, %c_4) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %21 = stablehlo.multiply %20#0, %c_5 : tensor<i32>
    %22 = stablehlo.convert %arg1 : tensor<i32>
    %23 = stablehlo.multiply %22, %c_5 : tensor<i32>
    %24:2 = call @divmod(%arg0, %arg1, %23, %c_4) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %25 = stablehlo.multiply %24#0, %c_3 : tensor<i32>
    %26 = stablehlo.convert %arg1 : tensor<i32>
    %27 = stablehlo.multiply %26, %c_5 : tensor<i32>
    %28 = stablehlo.add %21, %25 : tensor<i32>
    %29 = stablehlo.add %28, %27 : tensor<i32>
    %30 = stablehlo.add %29, %c_2 : tensor<i32>
    %31 = stablehlo.reshape %11#0 : (tensor<i32>) -> tensor<1xi32>
    %32 = stablehlo.reshape %30 : (tensor<i32>) -> tensor<1xi32>
    %33 = stablehlo.concatenate %31, %32, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %34 = stablehlo.reshape %33 : (tensor<2xi32>) -> tensor<1x2xi32>
    %35 = stablehlo.concatenate %2, %34, dim = 0 : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<2x2xi32>
    %36 = stablehlo.concatenate %c_1, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %37 = stablehlo.concatenate %c_1, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %38 = stablehlo.concatenate %c_1, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %39 = stablehlo.concatenate %c_1, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %40 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%arg2, %0, %36, %37, %38, %39, %35) {api_version = 2 : i32, called_computations = [@reduce_window_float32_reducer]} : (tensor<?x?xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<?x?xf32>
    %41 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %42 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %43 = stablehlo.concatenate %41, %42, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %44 = stablehlo.dynamic_broadcast_in_dim %cst, %43, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %45 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<f32>
    %46 = stablehlo.concatenate %c_6, %c_6, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %47 = stablehlo.reshape %46 : (tensor<2xi32>) -> tensor<1x2xi32>
    %48 = stablehlo.convert %arg1 : tensor<i32>
    %49 = stablehlo.multiply %48, %c_5 : tensor<i32>
    %50:2 = call @divmod(%arg0, %arg1, %49, %c_4) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %51 = stablehlo.multiply %50#0, %c_3 : tensor<i32>
    %52 = stablehlo.convert %arg1 : tensor<i32>
    %53 = stablehlo.multiply %52, %c_5 : tensor<i32>
    %54 = stablehlo.add %51, %53 : tensor<i32>
    %55 = stablehlo.add %54, %c_2 : tensor<i32>
    %56:2 = call @divmod(%arg0, %arg1, %55, %c_4) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %57 = stablehlo.convert %arg1 : tensor<i32>
    %58 = stablehlo.multiply %57, %c_5 : tensor<i32>
    %59:2 = call @divmod(%arg0, %arg1, %58, %c_4) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %60 = stablehlo.multiply %59#0, %c_3 : tensor<i32>
    %61 = stablehlo.convert %arg1 : tensor<i32>
    %62 = stablehlo.multiply %61, %c_5 : tensor<i32>
    %63 = stablehlo.add %60, %62 : tensor<i32>
    %64 = stablehlo.add %63, %c_2 : tensor<i32>
    %65:2 = call @divmod(%arg0, %arg1, %64, %c_4) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %66 = stablehlo.multiply %65#0, %c_5 : tensor<i32>
    %67 = stablehlo.convert %arg1 : tensor<i32>
    %68 = stablehlo.multiply %67, %c_5 : tensor<i32>
    %69:2 = call @divmod(%arg0, %arg1, %68, %c_4) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %70 = stablehlo.multiply %69#0, %c_3 : tensor<i32>
    %71 = stablehlo.convert %arg1 : tensor<i32>
    %72 = stablehlo.multiply %71, %c_5 : tensor<i32>
    %73 = stablehlo.add %66, %70 : tensor<i32>
    %74 = stablehlo.add %73, %72 : tensor<i32>
    %75 = stablehlo.add %74, %c_2 : tensor<i32>
    %76 = stablehlo.reshape %56#0 : (tensor<i32>) -> tensor<1xi32>
    %77 = stablehlo.reshape %75 : (tensor<i32>) -> tensor<1xi32>
    %78 = stablehlo.concatenate %76, %77, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %79 = stablehlo.reshape %78 : (tensor<2xi32>) -> tensor<1x2xi32>
    %80 = stablehlo.concatenate %47, %79, dim = 0 : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<2x2xi32>
    %81 = stablehlo.concatenate %c_1, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %82 = stablehlo.concatenate %c_1, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %83 = stablehlo.concatenate %c_1, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %84 = stablehlo.concatenate %c_1, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %85 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%44, %45, %81, %82, %83, %84, %80) {api_version = 2 : i32, called_computations = [@reduce_window_float32_reducer]} : (tensor<?x?xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<?x?xf32>
    %86 = stablehlo.divide %40, %85 : tensor<?x?xf32>
    return %86 : tensor<?x?xf32>
  }
  func.func private @divmod(%arg0: tensor<i32> {jax.global_constant = "a"}, %arg1: tensor<i32> {jax.global_constant = "b"}, %arg2: tensor<i32>, %arg3: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
    %0 = call @floor_divide(%arg0, %arg1, %arg2, %arg3) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %1 = call @remainder(%arg0, %arg1, %arg2, %arg3) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    return %0, %1 : tensor<i32>, tensor<i32>
  }
  func.func private @floor_divide(%arg0: tensor<i32> {jax.global_constant = "a"}, %arg1: tensor<i32> {jax.global_constant = "b"}, %arg2: tensor<i32>, %arg3: tensor<i32>) -> tensor<i32> {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.divide %arg2, %arg3 : tensor<i32>
    %1 = stablehlo.sign %arg2 : tensor<i32>
    %2 = stablehlo.sign %arg3 : tensor<i32>
    %3 = stablehlo.compare NE, %1, %2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.remainder %arg2, %arg3 : tensor<i32>
    %5 = stablehlo.compare NE, %4, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.and %3, %5 : tensor<i1>
    %7 = stablehlo.subtract %0, %c : tensor<i32>
    %8 = call @_where(%arg0, %arg1, %6, %7, %0) : (tensor<i32>, tensor<i32>, tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    return %8 : tensor<i32>
  }
  func.func private @_where(%arg0: tensor<i32> {jax.global_constant = "a"}, %arg1: tensor<i32> {jax.global_constant = "b"}, %arg2: tensor<i1>, %arg3: tensor<i32>, %arg4: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg2, %arg3, %arg4 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @remainder(%arg0: tensor<i32> {jax.global_constant = "a"}, %arg1: tensor<i32> {jax.global_constant = "b"}, %arg2: tensor<i32>, %arg3: tensor<i32>) -> tensor<i32> {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare EQ, %arg3, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %1 = call @_where(%arg0, %arg1, %0, %c, %arg3) : (tensor<i32>, tensor<i32>, tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = stablehlo.remainder %arg2, %1 : tensor<i32>
    %3 = stablehlo.compare NE, %2, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.compare LT, %2, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.compare LT, %1, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.compare NE, %4, %5, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %7 = stablehlo.and %6, %3 : tensor<i1>
    %8 = stablehlo.add %2, %1 : tensor<i32>
    %9 = stablehlo.select %7, %8, %2 : tensor<i1>, tensor<i32>
    return %9 : tensor<i32>
  }
}
