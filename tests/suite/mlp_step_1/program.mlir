module @jit_mlp_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x12xf32>, %arg1: tensor<1x10xf32>, %arg2: tensor<12x8xf32>, %arg3: tensor<8xf32>, %arg4: tensor<8x10xf32>, %arg5: tensor<10xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<12x8xf32> {jax.result_info = "result[1]"}, tensor<8xf32> {jax.result_info = "result[2]"}, tensor<8x10xf32> {jax.result_info = "result[3]"}, tensor<10xf32> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.dot_general %arg0, %arg2, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<1x12xf32>, tensor<12x8xf32>) -> tensor<1x8xf32>
    %cst = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x8xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<1x8xf32>
    %3 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %4 = stablehlo.add %2, %3 : tensor<1x8xf32>
    %5 = stablehlo.tanh %4 : tensor<1x8xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x8xf32>
    %7 = stablehlo.subtract %6, %5 : tensor<1x8xf32>
    %8 = stablehlo.dot_general %5, %arg4, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<1x8xf32>, tensor<8x10xf32>) -> tensor<1x10xf32>
    %9 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %10 = stablehlo.add %8, %9 : tensor<1x10xf32>
    %11 = stablehlo.subtract %10, %arg1 : tensor<1x10xf32>
    %12 = stablehlo.multiply %11, %11 : tensor<1x10xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x10xf32>
    %14 = stablehlo.multiply %13, %11 : tensor<1x10xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.reduce(%12 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x10xf32>, tensor<f32>) -> tensor<f32>
    %cst_3 = stablehlo.constant dense<1.000000e+01> : tensor<f32>
    %16 = stablehlo.divide %15, %cst_3 : tensor<f32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_5 = stablehlo.constant dense<1.000000e+01> : tensor<f32>
    %17 = stablehlo.divide %cst_4, %cst_5 : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [] : (tensor<f32>) -> tensor<1x10xf32>
    %19 = stablehlo.multiply %18, %14 : tensor<1x10xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_6) applies stablehlo.add across dimensions = [0] : (tensor<1x10xf32>, tensor<f32>) -> tensor<10xf32>
    %21 = stablehlo.dot_general %19, %5, contracting_dims = [0] x [0], precision = [HIGHEST, HIGHEST] : (tensor<1x10xf32>, tensor<1x8xf32>) -> tensor<10x8xf32>
    %22 = stablehlo.transpose %21, dims = [1, 0] : (tensor<10x8xf32>) -> tensor<8x10xf32>
    %23 = stablehlo.dot_general %19, %arg4, contracting_dims = [1] x [1], precision = [HIGHEST, HIGHEST] : (tensor<1x10xf32>, tensor<8x10xf32>) -> tensor<1x8xf32>
    %24 = stablehlo.multiply %23, %7 : tensor<1x8xf32>
    %25 = stablehlo.multiply %24, %5 : tensor<1x8xf32>
    %26 = stablehlo.add %24, %25 : tensor<1x8xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.reduce(%26 init: %cst_7) applies stablehlo.add across dimensions = [0] : (tensor<1x8xf32>, tensor<f32>) -> tensor<8xf32>
    %cst_8 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<1x8xf32>
    %29 = stablehlo.multiply %26, %28 : tensor<1x8xf32>
    %30 = stablehlo.dot_general %29, %arg0, contracting_dims = [0] x [0], precision = [HIGHEST, HIGHEST] : (tensor<1x8xf32>, tensor<1x12xf32>) -> tensor<8x12xf32>
    %31 = stablehlo.transpose %30, dims = [1, 0] : (tensor<8x12xf32>) -> tensor<12x8xf32>
    %cst_9 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %33 = stablehlo.multiply %32, %31 : tensor<12x8xf32>
    %34 = stablehlo.subtract %arg2, %33 : tensor<12x8xf32>
    %cst_10 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %36 = stablehlo.multiply %35, %27 : tensor<8xf32>
    %37 = stablehlo.subtract %arg3, %36 : tensor<8xf32>
    %cst_11 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<8x10xf32>
    %39 = stablehlo.multiply %38, %22 : tensor<8x10xf32>
    %40 = stablehlo.subtract %arg4, %39 : tensor<8x10xf32>
    %cst_12 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %42 = stablehlo.multiply %41, %20 : tensor<10xf32>
    %43 = stablehlo.subtract %arg5, %42 : tensor<10xf32>
    return %16, %34, %37, %40, %43 : tensor<f32>, tensor<12x8xf32>, tensor<8xf32>, tensor<8x10xf32>, tensor<10xf32>
  }
}
