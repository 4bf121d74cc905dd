module @jit_activations attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x7xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<3x7xf64>
    %1 = stablehlo.multiply %0, %arg0 : tensor<3x7xf64>
    %cst = stablehlo.constant dense<4.471500e-02> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3x7xf64>
    %3 = stablehlo.multiply %2, %1 : tensor<3x7xf64>
    %4 = stablehlo.add %arg0, %3 : tensor<3x7xf64>
    %cst_0 = stablehlo.constant dense<0.79788456080286541> : tensor<f64>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<3x7xf64>
    %6 = stablehlo.multiply %5, %4 : tensor<3x7xf64>
    %7 = stablehlo.tanh %6 : tensor<3x7xf64>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<3x7xf64>
    %9 = stablehlo.add %8, %7 : tensor<3x7xf64>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<f64>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f64>) -> tensor<3x7xf64>
    %11 = stablehlo.multiply %10, %9 : tensor<3x7xf64>
    %12 = stablehlo.multiply %arg0, %11 : tensor<3x7xf64>
    %cst_3 = stablehlo.constant dense<5.000000e-01> : tensor<f64>
    %13 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f64>) -> tensor<3x7xf64>
    %14 = stablehlo.multiply %13, %arg0 : tensor<3x7xf64>
    %15 = stablehlo.negate %arg0 : tensor<3x7xf64>
    %cst_4 = stablehlo.constant dense<0.70710678118654757> : tensor<f64>
    %16 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f64>) -> tensor<3x7xf64>
    %17 = stablehlo.multiply %15, %16 : tensor<3x7xf64>
    %18 = chlo.erfc %17 : tensor<3x7xf64> -> tensor<3x7xf64>
    %19 = stablehlo.multiply %14, %18 : tensor<3x7xf64>
    %20 = stablehlo.add %12, %19 : tensor<3x7xf64>
    %21 = call @silu(%arg0) : (tensor<3x7xf64>) -> tensor<3x7xf64>
    %22 = call @softplus(%arg0) : (tensor<3x7xf64>) -> tensor<3x7xf64>
    %23 = stablehlo.multiply %21, %22 : tensor<3x7xf64>
    %24 = stablehlo.add %20, %23 : tensor<3x7xf64>
    %25 = call @elu(%arg0) : (tensor<3x7xf64>) -> tensor<3x7xf64>
    %26 = stablehlo.add %24, %25 : tensor<3x7xf64>
    %27 = stablehlo.negate %arg0 : tensor<3x7xf64>
    %28 = stablehlo.exponential %27 : tensor<3x7xf64>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %29 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f64>) -> tensor<3x7xf64>
    %30 = stablehlo.add %29, %28 : tensor<3x7xf64>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %31 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f64>) -> tensor<3x7xf64>
    %32 = stablehlo.divide %31, %30 : tensor<3x7xf64>
    %33 = stablehlo.add %26, %32 : tensor<3x7xf64>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %34 = stablehlo.reduce(%33 init: %cst_7) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x7xf64>, tensor<f64>) -> tensor<f64>
    return %34 : tensor<f64>
  }
  func.func private @silu(%arg0: tensor<3x7xf64>) -> tensor<3x7xf64> {
    %0 = stablehlo.negate %arg0 : tensor<3x7xf64>
    %1 = stablehlo.exponential %0 : tensor<3x7xf64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3x7xf64>
    %3 = stablehlo.add %2, %1 : tensor<3x7xf64>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<3x7xf64>
    %5 = stablehlo.divide %4, %3 : tensor<3x7xf64>
    %6 = stablehlo.multiply %arg0, %5 : tensor<3x7xf64>
    return %6 : tensor<3x7xf64>
  }
  func.func private @softplus(%arg0: tensor<3x7xf64>) -> tensor<3x7xf64> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3x7xf64>
    %1 = stablehlo.maximum %arg0, %0 : tensor<3x7xf64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3x7xf64>
    %3 = stablehlo.subtract %arg0, %2 : tensor<3x7xf64>
    %4 = stablehlo.compare NE, %3, %3, FLOAT : (tensor<3x7xf64>, tensor<3x7xf64>) -> tensor<3x7xi1>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3x7xf64>
    %6 = stablehlo.add %arg0, %5 : tensor<3x7xf64>
    %7 = stablehlo.abs %3 : tensor<3x7xf64>
    %8 = stablehlo.negate %7 : tensor<3x7xf64>
    %9 = stablehlo.exponential %8 : tensor<3x7xf64>
    %10 = stablehlo.log_plus_one %9 : tensor<3x7xf64>
    %11 = stablehlo.add %1, %10 : tensor<3x7xf64>
    %12 = stablehlo.select %4, %6, %11 : tensor<3x7xi1>, tensor<3x7xf64>
    return %12 : tensor<3x7xf64>
  }
  func.func private @elu(%arg0: tensor<3x7xf64>) -> tensor<3x7xf64> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3x7xf64>
    %1 = stablehlo.compare GT, %arg0, %0, FLOAT : (tensor<3x7xf64>, tensor<3x7xf64>) -> tensor<3x7xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<3x7xf64>
    %3 = stablehlo.compare GT, %arg0, %2, FLOAT : (tensor<3x7xf64>, tensor<3x7xf64>) -> tensor<3x7xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %4 = call @_where(%3, %cst_1, %arg0) : (tensor<3x7xi1>, tensor<f64>, tensor<3x7xf64>) -> tensor<3x7xf64>
    %5 = stablehlo.exponential_minus_one %4 : tensor<3x7xf64>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %6 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f64>) -> tensor<3x7xf64>
    %7 = stablehlo.multiply %6, %5 : tensor<3x7xf64>
    %8 = call @_where_0(%1, %arg0, %7) : (tensor<3x7xi1>, tensor<3x7xf64>, tensor<3x7xf64>) -> tensor<3x7xf64>
    return %8 : tensor<3x7xf64>
  }
  func.func private @_where(%arg0: tensor<3x7xi1>, %arg1: tensor<f64>, %arg2: tensor<3x7xf64>) -> tensor<3x7xf64> {
    %0 = stablehlo.convert %arg1 : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f64>) -> tensor<3x7xf64>
    %2 = stablehlo.select %arg0, %1, %arg2 : tensor<3x7xi1>, tensor<3x7xf64>
    return %2 : tensor<3x7xf64>
  }
  func.func private @_where_0(%arg0: tensor<3x7xi1>, %arg1: tensor<3x7xf64>, %arg2: tensor<3x7xf64>) -> tensor<3x7xf64> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<3x7xi1>, tensor<3x7xf64>
    return %0 : tensor<3x7xf64>
  }
}
