module @jit_scatters attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x3xf64>, %arg1: tensor<4x3xf64>, %arg2: tensor<4xi32>) -> (tensor<f64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<[0, 3]> : tensor<2xi64>
    %c_0 = stablehlo.constant dense<[2, 0, 2, 7]> : tensor<4xi64>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %1 = stablehlo.compare LT, %arg2, %0, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_2 = stablehlo.constant dense<5> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %3 = stablehlo.add %arg2, %2 : tensor<4xi32>
    %4 = stablehlo.select %1, %3, %arg2 : tensor<4xi1>, tensor<4xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %6 = "stablehlo.scatter"(%arg0, %5, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f64>, %arg4: tensor<f64>):
      %43 = stablehlo.add %arg3, %arg4 : tensor<f64>
      stablehlo.return %43 : tensor<f64>
    }) : (tensor<5x3xf64>, tensor<4x1xi32>, tensor<4x3xf64>) -> tensor<5x3xf64>
    %7 = stablehlo.slice %arg2 [1:3] : (tensor<4xi32>) -> tensor<2xi32>
    %8 = stablehlo.slice %arg1 [0:2, 0:3] : (tensor<4x3xf64>) -> tensor<2x3xf64>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %10 = stablehlo.compare LT, %7, %9, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_4 = stablehlo.constant dense<5> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %12 = stablehlo.add %7, %11 : tensor<2xi32>
    %13 = stablehlo.select %10, %12, %7 : tensor<2xi1>, tensor<2xi32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %15 = "stablehlo.scatter"(%arg0, %14, %8) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f64>, %arg4: tensor<f64>):
      stablehlo.return %arg4 : tensor<f64>
    }) : (tensor<5x3xf64>, tensor<2x1xi32>, tensor<2x3xf64>) -> tensor<5x3xf64>
    %16 = stablehlo.slice %arg1 [0:2, 0:3] : (tensor<4x3xf64>) -> tensor<2x3xf64>
    %c_5 = stablehlo.constant dense<0> : tensor<i64>
    %17 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i64>) -> tensor<2xi64>
    %18 = stablehlo.compare LT, %c, %17, SIGNED : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi1>
    %c_6 = stablehlo.constant dense<5> : tensor<i64>
    %19 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i64>) -> tensor<2xi64>
    %20 = stablehlo.add %c, %19 : tensor<2xi64>
    %21 = stablehlo.select %18, %20, %c : tensor<2xi1>, tensor<2xi64>
    %22 = stablehlo.convert %21 : (tensor<2xi64>) -> tensor<2xi32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %24 = "stablehlo.scatter"(%arg0, %23, %16) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<f64>, %arg4: tensor<f64>):
      %43 = stablehlo.multiply %arg3, %arg4 : tensor<f64>
      stablehlo.return %43 : tensor<f64>
    }) : (tensor<5x3xf64>, tensor<2x1xi32>, tensor<2x3xf64>) -> tensor<5x3xf64>
    %cst = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %25 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3x3xf64>
    %26 = stablehlo.convert %c_0 : (tensor<4xi64>) -> tensor<4xi32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %28 = "stablehlo.scatter"(%25, %27, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f64>, %arg4: tensor<f64>):
      %43 = stablehlo.maximum %arg3, %arg4 : tensor<f64>
      stablehlo.return %43 : tensor<f64>
    }) : (tensor<3x3xf64>, tensor<4x1xi32>, tensor<4x3xf64>) -> tensor<3x3xf64>
    %29 = stablehlo.multiply %6, %6 : tensor<5x3xf64>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %30 = stablehlo.reduce(%29 init: %cst_7) applies stablehlo.add across dimensions = [0, 1] : (tensor<5x3xf64>, tensor<f64>) -> tensor<f64>
    %31 = stablehlo.multiply %15, %15 : tensor<5x3xf64>
    %32 = stablehlo.multiply %31, %15 : tensor<5x3xf64>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %33 = stablehlo.reduce(%32 init: %cst_8) applies stablehlo.add across dimensions = [0, 1] : (tensor<5x3xf64>, tensor<f64>) -> tensor<f64>
    %34 = stablehlo.add %30, %33 : tensor<f64>
    %35 = stablehlo.sine %24 : tensor<5x3xf64>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %36 = stablehlo.reduce(%35 init: %cst_9) applies stablehlo.add across dimensions = [0, 1] : (tensor<5x3xf64>, tensor<f64>) -> tensor<f64>
    %37 = stablehlo.add %34, %36 : tensor<f64>
    %cst_10 = stablehlo.constant dense<-5.000000e+00> : tensor<f64>
    %38 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f64>) -> tensor<3x3xf64>
    %39 = stablehlo.maximum %28, %38 : tensor<3x3xf64>
    %40 = stablehlo.multiply %39, %39 : tensor<3x3xf64>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %41 = stablehlo.reduce(%40 init: %cst_11) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x3xf64>, tensor<f64>) -> tensor<f64>
    %42 = stablehlo.add %37, %41 : tensor<f64>
    return %42 : tensor<f64>
  }
}
