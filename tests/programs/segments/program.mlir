module @jit_segments attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<40x5xf32>, %arg1: tensor<40xi32>, %arg2: tensor<6x5xf32>) -> (tensor<7x5xf32> {jax.result_info = "result[0]"}, tensor<6xi64> {jax.result_info = "result[1]"}, tensor<6x5xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<40x5xf32>) -> tensor<40x1x5xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [1, 2] : (tensor<6x5xf32>) -> tensor<1x6x5xf32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<40x1x5xf32>) -> tensor<40x6x5xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x6x5xf32>) -> tensor<40x6x5xf32>
    %4 = stablehlo.subtract %2, %3 : tensor<40x6x5xf32>
    %5 = stablehlo.multiply %4, %4 : tensor<40x6x5xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<40x6x5xf32>, tensor<f32>) -> tensor<40x6xf32>
    %7 = call @argmin(%6) : (tensor<40x6xf32>) -> tensor<40xi64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<7x5xf32>
    %9 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<40xi32>) -> tensor<40x1xi32>
    %10 = "stablehlo.scatter"(%8, %9, %arg0) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %26 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %26 : tensor<f32>
    }) : (tensor<7x5xf32>, tensor<40x1xi32>, tensor<40x5xf32>) -> tensor<7x5xf32>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %11 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<6xi64>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %12 = call @clip(%7, %c_1) : (tensor<40xi64>, tensor<i64>) -> tensor<40xi64>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %13 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i64>) -> tensor<40xi64>
    %14 = stablehlo.compare LT, %12, %13, SIGNED : (tensor<40xi64>, tensor<40xi64>) -> tensor<40xi1>
    %c_3 = stablehlo.constant dense<6> : tensor<i64>
    %15 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i64>) -> tensor<40xi64>
    %16 = stablehlo.add %12, %15 : tensor<40xi64>
    %17 = stablehlo.select %14, %16, %12 : tensor<40xi1>, tensor<40xi64>
    %18 = stablehlo.convert %17 : (tensor<40xi64>) -> tensor<40xi32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0] : (tensor<40xi32>) -> tensor<40x1xi32>
    %c_4 = stablehlo.constant dense<1> : tensor<i64>
    %20 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i64>) -> tensor<40xi64>
    %21 = "stablehlo.scatter"(%11, %19, %20) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<i64>, %arg4: tensor<i64>):
      %26 = stablehlo.add %arg3, %arg4 : tensor<i64>
      stablehlo.return %26 : tensor<i64>
    }) : (tensor<6xi64>, tensor<40x1xi32>, tensor<40xi64>) -> tensor<6xi64>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<6x5xf32>
    %23 = stablehlo.convert %7 : (tensor<40xi64>) -> tensor<40xi32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0] : (tensor<40xi32>) -> tensor<40x1xi32>
    %25 = "stablehlo.scatter"(%22, %24, %arg0) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %26 = stablehlo.maximum %arg3, %arg4 : tensor<f32>
      stablehlo.return %26 : tensor<f32>
    }) : (tensor<6x5xf32>, tensor<40x1xi32>, tensor<40x5xf32>) -> tensor<6x5xf32>
    return %10, %21, %25 : tensor<7x5xf32>, tensor<6xi64>, tensor<6x5xf32>
  }
  func.func private @argmin(%arg0: tensor<40x6xf32>) -> tensor<40xi64> {
    %0 = stablehlo.iota dim = 1 : tensor<40x6xi64>
    %cst = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<40x6xf32>, tensor<40x6xi64>, tensor<f32>, tensor<i64>) -> (tensor<40xf32>, tensor<40xi64>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i64>, %arg4: tensor<i64>)  {
      %2 = stablehlo.compare LT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i64>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i64>
    }
    return %1#1 : tensor<40xi64>
  }
  func.func private @clip(%arg0: tensor<40xi64>, %arg1: tensor<i64>) -> tensor<40xi64> {
    %0 = stablehlo.convert %arg1 : tensor<i64>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i64>) -> tensor<40xi64>
    %2 = stablehlo.maximum %1, %arg0 : tensor<40xi64>
    return %2 : tensor<40xi64>
  }
}
