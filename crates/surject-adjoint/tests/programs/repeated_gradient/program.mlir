module @jit_repeated_gradient attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.tanh %arg0 : tensor<6xf64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<6xf64>
    %2 = stablehlo.subtract %1, %0 : tensor<6xf64>
    %3 = stablehlo.multiply %0, %0 : tensor<6xf64>
    %4 = stablehlo.multiply %3, %0 : tensor<6xf64>
    %5 = stablehlo.multiply %0, %0 : tensor<6xf64>
    %cst_0 = stablehlo.constant dense<3.000000e+00> : tensor<f64>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<6xf64>
    %7 = stablehlo.multiply %6, %5 : tensor<6xf64>
    %8 = call @_roll_static(%arg0) : (tensor<6xf64>) -> tensor<6xf64>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<6xf64>
    %10 = stablehlo.multiply %4, %9 : tensor<6xf64>
    %11 = stablehlo.multiply %9, %8 : tensor<6xf64>
    %12 = call @_roll_static_0(%10) : (tensor<6xf64>) -> tensor<6xf64>
    %13 = stablehlo.multiply %11, %7 : tensor<6xf64>
    %14 = stablehlo.multiply %13, %2 : tensor<6xf64>
    %15 = stablehlo.add %12, %14 : tensor<6xf64>
    %16 = stablehlo.multiply %14, %0 : tensor<6xf64>
    %17 = stablehlo.add %15, %16 : tensor<6xf64>
    %18 = stablehlo.multiply %17, %17 : tensor<6xf64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %19 = stablehlo.reduce(%18 init: %cst_2) applies stablehlo.add across dimensions = [0] : (tensor<6xf64>, tensor<f64>) -> tensor<f64>
    return %19 : tensor<f64>
  }
  func.func private @_roll_static(%arg0: tensor<6xf64>) -> tensor<6xf64> {
    %0 = stablehlo.slice %arg0 [5:6] : (tensor<6xf64>) -> tensor<1xf64>
    %1 = stablehlo.slice %arg0 [0:5] : (tensor<6xf64>) -> tensor<5xf64>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1xf64>, tensor<5xf64>) -> tensor<6xf64>
    return %2 : tensor<6xf64>
  }
  func.func private @_roll_static_0(%arg0: tensor<6xf64>) -> tensor<6xf64> {
    %0 = stablehlo.slice %arg0 [0:1] : (tensor<6xf64>) -> tensor<1xf64>
    %1 = stablehlo.slice %arg0 [1:6] : (tensor<6xf64>) -> tensor<5xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %2 = stablehlo.pad %1, %cst, low = [0], high = [1], interior = [0] : (tensor<5xf64>, tensor<f64>) -> tensor<6xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %3 = stablehlo.pad %0, %cst_0, low = [5], high = [0], interior = [0] : (tensor<1xf64>, tensor<f64>) -> tensor<6xf64>
    %4 = stablehlo.add %2, %3 : tensor<6xf64>
    return %4 : tensor<6xf64>
  }
}
