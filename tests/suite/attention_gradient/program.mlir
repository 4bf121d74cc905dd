module @jit_result attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x8x8x2xf32>, %arg1: tensor<2x8x8x2xf32>, %arg2: tensor<2x8x8x2xf32>, %arg3: tensor<2x8x8x2xf32>) -> (tensor<2x8x8x2xf32> {jax.result_info = "result[0]"}, tensor<2x8x8x2xf32> {jax.result_info = "result[1]"}, tensor<2x8x8x2xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [HIGHEST, HIGHEST] : (tensor<2x8x8x2xf32>, tensor<2x8x8x2xf32>) -> tensor<2x8x8x8xf32>
    %cst = stablehlo.constant dense<1.41421354> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x8x8xf32>
    %2 = stablehlo.divide %0, %1 : tensor<2x8x8x8xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x8x8x8xf32>, tensor<f32>) -> tensor<2x8x8xf32>
    %4 = stablehlo.reshape %3 : (tensor<2x8x8xf32>) -> tensor<2x8x8x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2, 3] : (tensor<2x8x8x1xf32>) -> tensor<2x8x8x8xf32>
    %6 = stablehlo.compare EQ, %2, %5, FLOAT : (tensor<2x8x8x8xf32>, tensor<2x8x8x8xf32>) -> tensor<2x8x8x8xi1>
    %7 = stablehlo.convert %6 : (tensor<2x8x8x8xi1>) -> tensor<2x8x8x8xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_1) applies stablehlo.add across dimensions = [3] : (tensor<2x8x8x8xf32>, tensor<f32>) -> tensor<2x8x8xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x8x8xf32>
    %10 = stablehlo.maximum %9, %3 : tensor<2x8x8xf32>
    %11 = stablehlo.compare EQ, %3, %10, FLOAT : (tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xi1>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x8x8xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x8x8xf32>
    %14 = stablehlo.select %11, %12, %13 : tensor<2x8x8xi1>, tensor<2x8x8xf32>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x8x8xf32>
    %16 = stablehlo.compare EQ, %15, %10, FLOAT : (tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xi1>
    %cst_6 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x8x8xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x8x8xf32>
    %19 = stablehlo.select %16, %17, %18 : tensor<2x8x8xi1>, tensor<2x8x8xf32>
    %20 = stablehlo.divide %14, %19 : tensor<2x8x8xf32>
    %21 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<2x8x8xf32>) -> tensor<2x8x8x1xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2, 3] : (tensor<2x8x8x1xf32>) -> tensor<2x8x8x8xf32>
    %23 = stablehlo.subtract %2, %22 : tensor<2x8x8x8xf32>
    %24 = stablehlo.exponential %23 : tensor<2x8x8x8xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.reduce(%24 init: %cst_8) applies stablehlo.add across dimensions = [3] : (tensor<2x8x8x8xf32>, tensor<f32>) -> tensor<2x8x8xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2] : (tensor<2x8x8xf32>) -> tensor<2x8x8x1xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2, 3] : (tensor<2x8x8x1xf32>) -> tensor<2x8x8x8xf32>
    %28 = stablehlo.divide %24, %27 : tensor<2x8x8x8xf32>
    %29 = stablehlo.multiply %26, %26 : tensor<2x8x8x1xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<2x8x8x1xf32>
    %31 = stablehlo.divide %30, %29 : tensor<2x8x8x1xf32>
    %32 = stablehlo.dot_general %arg2, %28, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [HIGHEST, HIGHEST] : (tensor<2x8x8x2xf32>, tensor<2x8x8x8xf32>) -> tensor<2x8x2x8xf32>
    %33 = stablehlo.transpose %32, dims = [0, 3, 1, 2] : (tensor<2x8x2x8xf32>) -> tensor<2x8x8x2xf32>
    %34 = stablehlo.transpose %arg3, dims = [0, 2, 3, 1] : (tensor<2x8x8x2xf32>) -> tensor<2x8x2x8xf32>
    %35 = stablehlo.dot_general %34, %arg2, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [HIGHEST, HIGHEST] : (tensor<2x8x2x8xf32>, tensor<2x8x8x2xf32>) -> tensor<2x8x8x8xf32>
    %36 = stablehlo.dot_general %34, %28, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [HIGHEST, HIGHEST] : (tensor<2x8x2x8xf32>, tensor<2x8x8x8xf32>) -> tensor<2x8x2x8xf32>
    %37 = stablehlo.transpose %36, dims = [0, 3, 1, 2] : (tensor<2x8x2x8xf32>) -> tensor<2x8x8x2xf32>
    %38 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2, 3] : (tensor<2x8x8x1xf32>) -> tensor<2x8x8x8xf32>
    %39 = stablehlo.multiply %35, %38 : tensor<2x8x8x8xf32>
    %40 = stablehlo.multiply %39, %24 : tensor<2x8x8x8xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.reduce(%40 init: %cst_10) applies stablehlo.add across dimensions = [3] : (tensor<2x8x8x8xf32>, tensor<f32>) -> tensor<2x8x8xf32>
    %42 = stablehlo.reshape %41 : (tensor<2x8x8xf32>) -> tensor<2x8x8x1xf32>
    %43 = stablehlo.negate %42 : tensor<2x8x8x1xf32>
    %44 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2, 3] : (tensor<2x8x8x1xf32>) -> tensor<2x8x8x8xf32>
    %45 = stablehlo.divide %35, %44 : tensor<2x8x8x8xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.reduce(%43 init: %cst_11) applies stablehlo.add across dimensions = [3] : (tensor<2x8x8x1xf32>, tensor<f32>) -> tensor<2x8x8xf32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [0, 1, 2] : (tensor<2x8x8xf32>) -> tensor<2x8x8x8xf32>
    %48 = stablehlo.add %45, %47 : tensor<2x8x8x8xf32>
    %49 = stablehlo.multiply %48, %24 : tensor<2x8x8x8xf32>
    %cst_12 = stablehlo.constant dense<1.41421354> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<2x8x8x8xf32>
    %51 = stablehlo.divide %49, %50 : tensor<2x8x8x8xf32>
    %52 = stablehlo.dot_general %51, %arg0, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [HIGHEST, HIGHEST] : (tensor<2x8x8x8xf32>, tensor<2x8x8x2xf32>) -> tensor<2x8x8x2xf32>
    %53 = stablehlo.transpose %52, dims = [0, 2, 1, 3] : (tensor<2x8x8x2xf32>) -> tensor<2x8x8x2xf32>
    %54 = stablehlo.dot_general %51, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [HIGHEST, HIGHEST] : (tensor<2x8x8x8xf32>, tensor<2x8x8x2xf32>) -> tensor<2x8x8x2xf32>
    %55 = stablehlo.transpose %54, dims = [0, 2, 1, 3] : (tensor<2x8x8x2xf32>) -> tensor<2x8x8x2xf32>
    return %55, %53, %37 : tensor<2x8x8x2xf32>, tensor<2x8x8x2xf32>, tensor<2x8x8x2xf32>
  }
}
