module @jit_moments attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x6xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = call @_var(%arg0, %c) : (tensor<4x6xf64>, tensor<i64>) -> tensor<6xf64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %1 = call @_std(%arg0, %c_0) : (tensor<4x6xf64>, tensor<i64>) -> tensor<6xf64>
    %2 = stablehlo.multiply %0, %1 : tensor<6xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<6xf64>, tensor<f64>) -> tensor<f64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %4 = stablehlo.reduce(%arg0 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6xf64>, tensor<f64>) -> tensor<f64>
    %cst_2 = stablehlo.constant dense<2.400000e+01> : tensor<f64>
    %5 = stablehlo.divide %4, %cst_2 : tensor<f64>
    %6 = stablehlo.multiply %5, %5 : tensor<f64>
    %7 = stablehlo.multiply %6, %5 : tensor<f64>
    %8 = stablehlo.add %3, %7 : tensor<f64>
    %9 = stablehlo.slice %arg0 [0:1, 0:6] : (tensor<4x6xf64>) -> tensor<1x6xf64>
    %10 = stablehlo.reshape %9 : (tensor<1x6xf64>) -> tensor<6xf64>
    %11 = call @median(%10) : (tensor<6xf64>) -> tensor<f64>
    %12 = stablehlo.add %8, %11 : tensor<f64>
    return %12 : tensor<f64>
  }
  func.func private @_var(%arg0: tensor<4x6xf64>, %arg1: tensor<i64>) -> tensor<6xf64> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<4x6xf64>, tensor<f64>) -> tensor<6xf64>
    %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<6xf64>) -> tensor<1x6xf64>
    %cst_0 = stablehlo.constant dense<4.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<1x6xf64>
    %3 = stablehlo.divide %1, %2 : tensor<1x6xf64>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x6xf64>) -> tensor<4x6xf64>
    %5 = stablehlo.subtract %arg0, %4 : tensor<4x6xf64>
    %6 = chlo.square %5 : tensor<4x6xf64> -> tensor<4x6xf64>
    %7 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<f64>
    %cst_1 = stablehlo.constant dense<4.000000e+00> : tensor<f64>
    %8 = stablehlo.subtract %cst_1, %7 : tensor<f64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %9 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [0] : (tensor<4x6xf64>, tensor<f64>) -> tensor<6xf64>
    %10 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f64>) -> tensor<6xf64>
    %11 = stablehlo.divide %9, %10 : tensor<6xf64>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %12 = stablehlo.compare GT, %8, %cst_3, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
    %cst_4 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %13 = call @_where(%12, %11, %cst_4) : (tensor<i1>, tensor<6xf64>, tensor<f64>) -> tensor<6xf64>
    return %13 : tensor<6xf64>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<6xf64>, %arg2: tensor<f64>) -> tensor<6xf64> {
    %0 = stablehlo.convert %arg2 : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f64>) -> tensor<6xf64>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<6xf64>
    return %2 : tensor<6xf64>
  }
  func.func private @_std(%arg0: tensor<4x6xf64>, %arg1: tensor<i64>) -> tensor<6xf64> {
    %0 = call @_var(%arg0, %arg1) : (tensor<4x6xf64>, tensor<i64>) -> tensor<6xf64>
    %1 = stablehlo.sqrt %0 : tensor<6xf64>
    return %1 : tensor<6xf64>
  }
  func.func private @median(%arg0: tensor<6xf64>) -> tensor<f64> {
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f64>
    %0 = call @quantile(%arg0, %cst) : (tensor<6xf64>, tensor<f64>) -> tensor<f64>
    return %0 : tensor<f64>
  }
  func.func private @quantile(%arg0: tensor<6xf64>, %arg1: tensor<f64>) -> tensor<f64> {
    %0 = stablehlo.compare NE, %arg0, %arg0, FLOAT : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xi1>
    %c = stablehlo.constant dense<false> : tensor<i1>
    %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.or across dimensions = [0] : (tensor<6xi1>, tensor<i1>) -> tensor<i1>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %3 = call @_where_0(%2, %cst, %arg0) : (tensor<1xi1>, tensor<f64>, tensor<6xf64>) -> tensor<6xf64>
    %4 = "stablehlo.sort"(%3) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg2: tensor<f64>, %arg3: tensor<f64>):
      %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %21 = stablehlo.compare EQ, %arg2, %cst_9, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %22 = stablehlo.select %21, %cst_10, %arg2 : tensor<i1>, tensor<f64>
      %23 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_11 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
      %24 = stablehlo.select %23, %cst_11, %22 : tensor<i1>, tensor<f64>
      %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %25 = stablehlo.compare EQ, %arg3, %cst_12, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %26 = stablehlo.select %25, %cst_13, %arg3 : tensor<i1>, tensor<f64>
      %27 = stablehlo.compare NE, %arg3, %arg3, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_14 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
      %28 = stablehlo.select %27, %cst_14, %26 : tensor<i1>, tensor<f64>
      %29 = stablehlo.compare LT, %24, %28, TOTALORDER : (tensor<f64>, tensor<f64>) -> tensor<i1>
      stablehlo.return %29 : tensor<i1>
    }) : (tensor<6xf64>) -> tensor<6xf64>
    %cst_0 = stablehlo.constant dense<6.000000e+00> : tensor<f64>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %5 = stablehlo.subtract %cst_0, %cst_1 : tensor<f64>
    %6 = stablehlo.multiply %arg1, %5 : tensor<f64>
    %7 = stablehlo.floor %6 : tensor<f64>
    %8 = stablehlo.ceil %6 : tensor<f64>
    %cst_2 = stablehlo.constant dense<6.000000e+00> : tensor<f64>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %9 = stablehlo.subtract %cst_2, %cst_3 : tensor<f64>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %10 = stablehlo.clamp %cst_4, %7, %9 : tensor<f64>
    %cst_5 = stablehlo.constant dense<6.000000e+00> : tensor<f64>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %11 = stablehlo.subtract %cst_5, %cst_6 : tensor<f64>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %12 = stablehlo.clamp %cst_7, %8, %11 : tensor<f64>
    %13 = stablehlo.convert %10 : (tensor<f64>) -> tensor<i64>
    %14 = stablehlo.convert %12 : (tensor<f64>) -> tensor<i64>
    %15 = stablehlo.broadcast_in_dim %13, dims = [] : (tensor<i64>) -> tensor<1xi64>
    %16 = "stablehlo.gather"(%4, %15) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<6xf64>, tensor<1xi64>) -> tensor<f64>
    %17 = stablehlo.broadcast_in_dim %14, dims = [] : (tensor<i64>) -> tensor<1xi64>
    %18 = "stablehlo.gather"(%4, %17) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<6xf64>, tensor<1xi64>) -> tensor<f64>
    %19 = stablehlo.add %16, %18 : tensor<f64>
    %cst_8 = stablehlo.constant dense<5.000000e-01> : tensor<f64>
    %20 = stablehlo.multiply %19, %cst_8 : tensor<f64>
    return %20 : tensor<f64>
  }
  func.func private @_where_0(%arg0: tensor<1xi1>, %arg1: tensor<f64>, %arg2: tensor<6xf64>) -> tensor<6xf64> {
    %0 = stablehlo.convert %arg1 : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<1xi1>) -> tensor<6xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f64>) -> tensor<6xf64>
    %3 = stablehlo.select %1, %2, %arg2 : tensor<6xi1>, tensor<6xf64>
    return %3 : tensor<6xf64>
  }
}
