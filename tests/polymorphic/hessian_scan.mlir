module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x2xf32>, %arg1: tensor<?x2xf32>) -> (tensor<?x2xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg1, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
    %2 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%2, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (n, 2),args[1].shape = (n, 2). Obtained dimension variables: 'n' = {0} from specification 'n' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %3 = stablehlo.compare EQ, %1, %0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%3, %1, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Found inconsistency between dimension size args[1].shape[0] (= {0}) and the specification 'n' (= {1}). Using the following polymorphic shapes specifications: args[0].shape = (n, 2),args[1].shape = (n, 2). Obtained dimension variables: 'n' = {1} from specification 'n' for dimension args[0].shape[0] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %4 = call @_wrapped_jax_export_main(%0, %arg0, %arg1) : (tensor<i32>, tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
    return %4 : tensor<?x2xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "n"}, %arg1: tensor<?x2xf32>, %arg2: tensor<?x2xf32>) -> (tensor<?x2xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<2> : tensor<1xi32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %1 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.dynamic_broadcast_in_dim %cst_2, %1, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %3 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.concatenate %3, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %5 = stablehlo.dynamic_broadcast_in_dim %cst_2, %4, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x2xf32>
    %6 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.concatenate %6, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %8 = stablehlo.dynamic_broadcast_in_dim %cst_2, %7, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x2xf32>
    %9 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %10 = stablehlo.concatenate %9, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %11 = stablehlo.dynamic_broadcast_in_dim %cst_2, %10, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x2xf32>
    %12 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %13 = stablehlo.concatenate %12, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %14 = stablehlo.dynamic_broadcast_in_dim %cst_2, %13, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x2xf32>
    %15:8 = stablehlo.while(%iterArg = %arg1, %iterArg_3 = %c_0, %iterArg_4 = %0, %iterArg_5 = %2, %iterArg_6 = %5, %iterArg_7 = %8, %iterArg_8 = %11, %iterArg_9 = %14) : tensor<?x2xf32>, tensor<i32>, tensor<2xf32>, tensor<?xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>
    cond {
      %47 = stablehlo.compare LT, %iterArg_3, %arg0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %47 : tensor<i1>
    } do {
      %47 = func.call @dynamic_index_in_dim(%arg0, %iterArg, %iterArg_3) : (tensor<i32>, tensor<?x2xf32>, tensor<i32>) -> tensor<2xf32>
      %48:6 = func.call @closed_call(%arg0, %iterArg_4, %47) : (tensor<i32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
      %49 = func.call @dynamic_update_index_in_dim(%arg0, %iterArg_5, %48#1, %iterArg_3) : (tensor<i32>, tensor<?xf32>, tensor<f32>, tensor<i32>) -> tensor<?xf32>
      %50 = func.call @dynamic_update_index_in_dim_0(%arg0, %iterArg_6, %48#2, %iterArg_3) : (tensor<i32>, tensor<?x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<?x2xf32>
      %51 = func.call @dynamic_update_index_in_dim_0(%arg0, %iterArg_7, %48#3, %iterArg_3) : (tensor<i32>, tensor<?x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<?x2xf32>
      %52 = func.call @dynamic_update_index_in_dim_0(%arg0, %iterArg_8, %48#4, %iterArg_3) : (tensor<i32>, tensor<?x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<?x2xf32>
      %53 = func.call @dynamic_update_index_in_dim_0(%arg0, %iterArg_9, %48#5, %iterArg_3) : (tensor<i32>, tensor<?x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<?x2xf32>
      %54 = stablehlo.add %iterArg_3, %c : tensor<i32>
      stablehlo.return %iterArg, %54, %48#0, %49, %50, %51, %52, %53 : tensor<?x2xf32>, tensor<i32>, tensor<2xf32>, tensor<?xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>
    }
    %16 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %17 = stablehlo.dynamic_broadcast_in_dim %cst, %16, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %18 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %19 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %20 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %21 = stablehlo.concatenate %20, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %22 = stablehlo.dynamic_broadcast_in_dim %cst_2, %21, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x2xf32>
    %23 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %24 = stablehlo.concatenate %23, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %25 = stablehlo.dynamic_broadcast_in_dim %cst_2, %24, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x2xf32>
    %26 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %27 = stablehlo.concatenate %26, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %28 = stablehlo.dynamic_broadcast_in_dim %cst_2, %27, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x2xf32>
    %29:8 = stablehlo.while(%iterArg = %17, %iterArg_3 = %15#4, %iterArg_4 = %15#5, %iterArg_5 = %c_0, %iterArg_6 = %18, %iterArg_7 = %22, %iterArg_8 = %25, %iterArg_9 = %28) : tensor<?xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<i32>, tensor<2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>
    cond {
      %47 = stablehlo.compare LT, %iterArg_5, %arg0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %47 : tensor<i1>
    } do {
      %47 = stablehlo.subtract %arg0, %iterArg_5 : tensor<i32>
      %48 = stablehlo.subtract %47, %c : tensor<i32>
      %49 = func.call @dynamic_index_in_dim_1(%arg0, %iterArg, %48) : (tensor<i32>, tensor<?xf32>, tensor<i32>) -> tensor<f32>
      %50 = func.call @dynamic_index_in_dim(%arg0, %iterArg_3, %48) : (tensor<i32>, tensor<?x2xf32>, tensor<i32>) -> tensor<2xf32>
      %51 = func.call @dynamic_index_in_dim(%arg0, %iterArg_4, %48) : (tensor<i32>, tensor<?x2xf32>, tensor<i32>) -> tensor<2xf32>
      %52:4 = func.call @closed_call_2(%arg0, %iterArg_6, %49, %50, %51) : (tensor<i32>, tensor<2xf32>, tensor<f32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
      %53 = func.call @dynamic_update_index_in_dim_0(%arg0, %iterArg_7, %52#1, %48) : (tensor<i32>, tensor<?x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<?x2xf32>
      %54 = func.call @dynamic_update_index_in_dim_0(%arg0, %iterArg_8, %52#2, %48) : (tensor<i32>, tensor<?x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<?x2xf32>
      %55 = func.call @dynamic_update_index_in_dim_0(%arg0, %iterArg_9, %52#3, %48) : (tensor<i32>, tensor<?x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<?x2xf32>
      %56 = stablehlo.add %iterArg_5, %c : tensor<i32>
      stablehlo.return %iterArg, %iterArg_3, %iterArg_4, %56, %52#0, %53, %54, %55 : tensor<?xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<i32>, tensor<2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>
    }
    %30 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %31 = stablehlo.concatenate %30, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %32 = stablehlo.dynamic_broadcast_in_dim %cst, %31, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x2xf32>
    %33 = stablehlo.multiply %32, %arg2 : tensor<?x2xf32>
    %34 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %35 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %36 = stablehlo.concatenate %35, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %37 = stablehlo.dynamic_broadcast_in_dim %cst_2, %36, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x2xf32>
    %38 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %39 = stablehlo.concatenate %38, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %40 = stablehlo.dynamic_broadcast_in_dim %cst_2, %39, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x2xf32>
    %41:10 = stablehlo.while(%iterArg = %33, %iterArg_3 = %15#5, %iterArg_4 = %29#6, %iterArg_5 = %15#4, %iterArg_6 = %29#7, %iterArg_7 = %19, %iterArg_8 = %c_0, %iterArg_9 = %34, %iterArg_10 = %37, %iterArg_11 = %40) : tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<2xf32>, tensor<i32>, tensor<2xf32>, tensor<?x2xf32>, tensor<?x2xf32>
    cond {
      %47 = stablehlo.compare LT, %iterArg_8, %arg0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %47 : tensor<i1>
    } do {
      %47 = func.call @dynamic_index_in_dim(%arg0, %iterArg, %iterArg_8) : (tensor<i32>, tensor<?x2xf32>, tensor<i32>) -> tensor<2xf32>
      %48 = func.call @dynamic_index_in_dim(%arg0, %iterArg_3, %iterArg_8) : (tensor<i32>, tensor<?x2xf32>, tensor<i32>) -> tensor<2xf32>
      %49 = func.call @dynamic_index_in_dim(%arg0, %iterArg_4, %iterArg_8) : (tensor<i32>, tensor<?x2xf32>, tensor<i32>) -> tensor<2xf32>
      %50 = func.call @dynamic_index_in_dim(%arg0, %iterArg_5, %iterArg_8) : (tensor<i32>, tensor<?x2xf32>, tensor<i32>) -> tensor<2xf32>
      %51 = func.call @dynamic_index_in_dim(%arg0, %iterArg_6, %iterArg_8) : (tensor<i32>, tensor<?x2xf32>, tensor<i32>) -> tensor<2xf32>
      %52:3 = func.call @closed_call_3(%arg0, %iterArg_7, %iterArg_9, %47, %48, %49, %50, %51) : (tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
      %53 = func.call @dynamic_update_index_in_dim_0(%arg0, %iterArg_10, %52#1, %iterArg_8) : (tensor<i32>, tensor<?x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<?x2xf32>
      %54 = func.call @dynamic_update_index_in_dim_0(%arg0, %iterArg_11, %52#2, %iterArg_8) : (tensor<i32>, tensor<?x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<?x2xf32>
      %55 = stablehlo.add %iterArg_8, %c : tensor<i32>
      stablehlo.return %iterArg, %iterArg_3, %iterArg_4, %iterArg_5, %iterArg_6, %iterArg_7, %55, %52#0, %53, %54 : tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<2xf32>, tensor<i32>, tensor<2xf32>, tensor<?x2xf32>, tensor<?x2xf32>
    }
    %42 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %43 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %44 = stablehlo.concatenate %43, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %45 = stablehlo.dynamic_broadcast_in_dim %cst_2, %44, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x2xf32>
    %46:7 = stablehlo.while(%iterArg = %41#8, %iterArg_3 = %41#9, %iterArg_4 = %15#6, %iterArg_5 = %15#7, %iterArg_6 = %c_0, %iterArg_7 = %42, %iterArg_8 = %45) : tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<i32>, tensor<2xf32>, tensor<?x2xf32>
    cond {
      %47 = stablehlo.compare LT, %iterArg_6, %arg0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %47 : tensor<i1>
    } do {
      %47 = stablehlo.subtract %arg0, %iterArg_6 : tensor<i32>
      %48 = stablehlo.subtract %47, %c : tensor<i32>
      %49 = func.call @dynamic_index_in_dim(%arg0, %iterArg, %48) : (tensor<i32>, tensor<?x2xf32>, tensor<i32>) -> tensor<2xf32>
      %50 = func.call @dynamic_index_in_dim(%arg0, %iterArg_3, %48) : (tensor<i32>, tensor<?x2xf32>, tensor<i32>) -> tensor<2xf32>
      %51 = func.call @dynamic_index_in_dim(%arg0, %iterArg_4, %48) : (tensor<i32>, tensor<?x2xf32>, tensor<i32>) -> tensor<2xf32>
      %52 = func.call @dynamic_index_in_dim(%arg0, %iterArg_5, %48) : (tensor<i32>, tensor<?x2xf32>, tensor<i32>) -> tensor<2xf32>
      %53:2 = func.call @closed_call_4(%arg0, %iterArg_7, %49, %50, %51, %52) : (tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
      %54 = func.call @dynamic_update_index_in_dim_0(%arg0, %iterArg_8, %53#1, %48) : (tensor<i32>, tensor<?x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<?x2xf32>
      %55 = stablehlo.add %iterArg_6, %c : tensor<i32>
      stablehlo.return %iterArg, %iterArg_3, %iterArg_4, %iterArg_5, %55, %53#0, %54 : tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<i32>, tensor<2xf32>, tensor<?x2xf32>
    }
    return %46#6 : tensor<?x2xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<i32> {jax.global_constant = "n"}, %arg1: tensor<?x2xf32>, %arg2: tensor<i32>) -> tensor<2xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg1, %arg2, %c, sizes = [1, 2] : (tensor<?x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
  func.func private @closed_call(%arg0: tensor<i32> {jax.global_constant = "n"}, %arg1: tensor<2xf32>, %arg2: tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.add %arg1, %arg2 : tensor<2xf32>
    %1 = stablehlo.tanh %0 : tensor<2xf32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %3 = stablehlo.subtract %2, %1 : tensor<2xf32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %5 = stablehlo.subtract %4, %1 : tensor<2xf32>
    %6 = stablehlo.reduce(%arg1 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    return %1, %6, %1, %5, %1, %3 : tensor<2xf32>, tensor<f32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<i32> {jax.global_constant = "n"}, %arg1: tensor<?xf32>, %arg2: tensor<f32>, %arg3: tensor<i32>) -> tensor<?xf32> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %1 = stablehlo.dynamic_update_slice %arg1, %0, %arg3 : (tensor<?xf32>, tensor<1xf32>, tensor<i32>) -> tensor<?xf32>
    return %1 : tensor<?xf32>
  }
  func.func private @dynamic_update_index_in_dim_0(%arg0: tensor<i32> {jax.global_constant = "n"}, %arg1: tensor<?x2xf32>, %arg2: tensor<2xf32>, %arg3: tensor<i32>) -> tensor<?x2xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<2xf32>) -> tensor<1x2xf32>
    %1 = stablehlo.dynamic_update_slice %arg1, %0, %arg3, %c : (tensor<?x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<?x2xf32>
    return %1 : tensor<?x2xf32>
  }
  func.func private @dynamic_index_in_dim_1(%arg0: tensor<i32> {jax.global_constant = "n"}, %arg1: tensor<?xf32>, %arg2: tensor<i32>) -> tensor<f32> {
    %0 = stablehlo.dynamic_slice %arg1, %arg2, sizes = [1] : (tensor<?xf32>, tensor<i32>) -> tensor<1xf32>
    %1 = stablehlo.reshape %0 : (tensor<1xf32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
  func.func private @closed_call_2(%arg0: tensor<i32> {jax.global_constant = "n"}, %arg1: tensor<2xf32>, %arg2: tensor<f32>, %arg3: tensor<2xf32>, %arg4: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %1 = stablehlo.multiply %arg1, %arg4 : tensor<2xf32>
    %2 = stablehlo.multiply %1, %arg3 : tensor<2xf32>
    %3 = stablehlo.add %1, %2 : tensor<2xf32>
    %4 = stablehlo.add %0, %3 : tensor<2xf32>
    return %4, %3, %arg1, %1 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  }
  func.func private @closed_call_3(%arg0: tensor<i32> {jax.global_constant = "n"}, %arg1: tensor<2xf32>, %arg2: tensor<2xf32>, %arg3: tensor<2xf32>, %arg4: tensor<2xf32>, %arg5: tensor<2xf32>, %arg6: tensor<2xf32>, %arg7: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
    %0 = stablehlo.add %arg3, %arg2 : tensor<2xf32>
    %1 = stablehlo.multiply %arg7, %0 : tensor<2xf32>
    %2 = stablehlo.multiply %0, %arg6 : tensor<2xf32>
    %3 = stablehlo.add %0, %2 : tensor<2xf32>
    %4 = stablehlo.multiply %arg5, %3 : tensor<2xf32>
    %5 = stablehlo.multiply %3, %arg4 : tensor<2xf32>
    return %5, %1, %4 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  }
  func.func private @closed_call_4(%arg0: tensor<i32> {jax.global_constant = "n"}, %arg1: tensor<2xf32>, %arg2: tensor<2xf32>, %arg3: tensor<2xf32>, %arg4: tensor<2xf32>, %arg5: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %0 = stablehlo.add %arg1, %arg2 : tensor<2xf32>
    %1 = stablehlo.negate %arg3 : tensor<2xf32>
    %2 = stablehlo.add %0, %1 : tensor<2xf32>
    %3 = stablehlo.multiply %2, %arg5 : tensor<2xf32>
    %4 = stablehlo.multiply %3, %arg4 : tensor<2xf32>
    %5 = stablehlo.add %3, %4 : tensor<2xf32>
    return %5, %5 : tensor<2xf32>, tensor<2xf32>
  }
}
