module @jit_causal_attention attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x5x4xf64>, %arg1: tensor<4x12xf64>, %arg2: tensor<4x4xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x5x4xf64>, tensor<4x12xf64>) -> tensor<2x5x12xf64>
    %1 = stablehlo.slice %0 [0:2, 0:5, 0:4] : (tensor<2x5x12xf64>) -> tensor<2x5x4xf64>
    %2 = stablehlo.slice %0 [0:2, 0:5, 4:8] : (tensor<2x5x12xf64>) -> tensor<2x5x4xf64>
    %3 = stablehlo.slice %0 [0:2, 0:5, 8:12] : (tensor<2x5x12xf64>) -> tensor<2x5x4xf64>
    %4 = stablehlo.reshape %1 : (tensor<2x5x4xf64>) -> tensor<2x5x2x2xf64>
    %5 = stablehlo.transpose %4, dims = [0, 2, 1, 3] : (tensor<2x5x2x2xf64>) -> tensor<2x2x5x2xf64>
    %6 = stablehlo.reshape %2 : (tensor<2x5x4xf64>) -> tensor<2x5x2x2xf64>
    %7 = stablehlo.transpose %6, dims = [0, 2, 1, 3] : (tensor<2x5x2x2xf64>) -> tensor<2x2x5x2xf64>
    %8 = stablehlo.reshape %3 : (tensor<2x5x4xf64>) -> tensor<2x5x2x2xf64>
    %9 = stablehlo.transpose %8, dims = [0, 2, 1, 3] : (tensor<2x5x2x2xf64>) -> tensor<2x2x5x2xf64>
    %10 = stablehlo.transpose %7, dims = [0, 1, 3, 2] : (tensor<2x2x5x2xf64>) -> tensor<2x2x2x5xf64>
    %11 = stablehlo.dot_general %5, %10, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x2x5x2xf64>, tensor<2x2x2x5xf64>) -> tensor<2x2x5x5xf64>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %12 = stablehlo.sqrt %cst : tensor<f64>
    %13 = stablehlo.convert %12 : tensor<f64>
    %14 = stablehlo.broadcast_in_dim %13, dims = [] : (tensor<f64>) -> tensor<2x2x5x5xf64>
    %15 = stablehlo.divide %11, %14 : tensor<2x2x5x5xf64>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %16 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<5x5xi1>
    %17 = call @tril(%16) : (tensor<5x5xi1>) -> tensor<5x5xi1>
    %cst_0 = stablehlo.constant dense<-1.000000e+30> : tensor<f64>
    %18 = call @_where(%17, %15, %cst_0) : (tensor<5x5xi1>, tensor<2x2x5x5xf64>, tensor<f64>) -> tensor<2x2x5x5xf64>
    %cst_1 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %19 = stablehlo.reduce(%18 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x2x5x5xf64>, tensor<f64>) -> tensor<2x2x5xf64>
    %cst_2 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %20 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f64>) -> tensor<2x2x5xf64>
    %21 = stablehlo.maximum %20, %19 : tensor<2x2x5xf64>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<2x2x5xf64>) -> tensor<2x2x5x1xf64>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2, 3] : (tensor<2x2x5x1xf64>) -> tensor<2x2x5x5xf64>
    %24 = stablehlo.subtract %18, %23 : tensor<2x2x5x5xf64>
    %25 = stablehlo.exponential %24 : tensor<2x2x5x5xf64>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %26 = stablehlo.reduce(%25 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<2x2x5x5xf64>, tensor<f64>) -> tensor<2x2x5xf64>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2] : (tensor<2x2x5xf64>) -> tensor<2x2x5x1xf64>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0, 1, 2, 3] : (tensor<2x2x5x1xf64>) -> tensor<2x2x5x5xf64>
    %29 = stablehlo.divide %25, %28 : tensor<2x2x5x5xf64>
    %30 = stablehlo.dot_general %29, %9, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x2x5x5xf64>, tensor<2x2x5x2xf64>) -> tensor<2x2x5x2xf64>
    %31 = stablehlo.transpose %30, dims = [0, 2, 1, 3] : (tensor<2x2x5x2xf64>) -> tensor<2x5x2x2xf64>
    %32 = stablehlo.reshape %31 : (tensor<2x5x2x2xf64>) -> tensor<2x5x4xf64>
    %33 = stablehlo.dot_general %32, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x5x4xf64>, tensor<4x4xf64>) -> tensor<2x5x4xf64>
    %34 = stablehlo.multiply %33, %33 : tensor<2x5x4xf64>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %35 = stablehlo.reduce(%34 init: %cst_4) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x5x4xf64>, tensor<f64>) -> tensor<f64>
    return %35 : tensor<f64>
  }
  func.func private @tril(%arg0: tensor<5x5xi1>) -> tensor<5x5xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<5x5xi64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<5x5xi64>
    %2 = stablehlo.add %0, %1 : tensor<5x5xi64>
    %3 = stablehlo.iota dim = 1 : tensor<5x5xi64>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<5x5xi64>, tensor<5x5xi64>) -> tensor<5x5xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<5x5xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<5x5xi1>, tensor<5x5xi1>
    return %6 : tensor<5x5xi1>
  }
  func.func private @_where(%arg0: tensor<5x5xi1>, %arg1: tensor<2x2x5x5xf64>, %arg2: tensor<f64>) -> tensor<2x2x5x5xf64> {
    %0 = stablehlo.convert %arg2 : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<5x5xi1>) -> tensor<2x2x5x5xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f64>) -> tensor<2x2x5x5xf64>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x2x5x5xi1>, tensor<2x2x5x5xf64>
    return %3 : tensor<2x2x5x5xf64>
  }
}
