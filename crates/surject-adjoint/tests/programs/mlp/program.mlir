module @jit_mlp attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x6xf64>, %arg1: tensor<6x8xf64>, %arg2: tensor<8xf64>, %arg3: tensor<8x3xf64>, %arg4: tensor<3xf64>, %arg5: tensor<4x3xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6xf64>, tensor<6x8xf64>) -> tensor<4x8xf64>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<8xf64>) -> tensor<1x8xf64>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x8xf64>) -> tensor<4x8xf64>
    %3 = stablehlo.add %0, %2 : tensor<4x8xf64>
    %4 = stablehlo.tanh %3 : tensor<4x8xf64>
    %5 = stablehlo.dot_general %4, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xf64>, tensor<8x3xf64>) -> tensor<4x3xf64>
    %6 = stablehlo.broadcast_in_dim %arg4, dims = [1] : (tensor<3xf64>) -> tensor<1x3xf64>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x3xf64>) -> tensor<4x3xf64>
    %8 = stablehlo.add %5, %7 : tensor<4x3xf64>
    %9 = stablehlo.subtract %8, %arg5 : tensor<4x3xf64>
    %10 = stablehlo.multiply %9, %9 : tensor<4x3xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %11 = stablehlo.reduce(%10 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x3xf64>, tensor<f64>) -> tensor<f64>
    %cst_0 = stablehlo.constant dense<1.200000e+01> : tensor<f64>
    %12 = stablehlo.divide %11, %cst_0 : tensor<f64>
    return %12 : tensor<f64>
  }
}
