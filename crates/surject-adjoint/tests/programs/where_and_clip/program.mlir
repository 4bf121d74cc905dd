module @jit_where_and_clip attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x5xf64>, %arg1: tensor<4x5xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.compare GT, %arg0, %arg1, FLOAT : (tensor<4x5xf64>, tensor<4x5xf64>) -> tensor<4x5xi1>
    %1 = stablehlo.multiply %arg0, %arg1 : tensor<4x5xf64>
    %2 = stablehlo.sine %arg0 : tensor<4x5xf64>
    %3 = call @_where(%0, %1, %2) : (tensor<4x5xi1>, tensor<4x5xf64>, tensor<4x5xf64>) -> tensor<4x5xf64>
    %cst = stablehlo.constant dense<-5.000000e-01> : tensor<f64>
    %cst_0 = stablehlo.constant dense<0.69999999999999996> : tensor<f64>
    %4 = call @clip(%3, %cst, %cst_0) : (tensor<4x5xf64>, tensor<f64>, tensor<f64>) -> tensor<4x5xf64>
    %5 = stablehlo.multiply %4, %4 : tensor<4x5xf64>
    %6 = stablehlo.maximum %arg0, %arg1 : tensor<4x5xf64>
    %cst_1 = stablehlo.constant dense<1.000000e-01> : tensor<f64>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<4x5xf64>
    %8 = stablehlo.minimum %arg0, %7 : tensor<4x5xf64>
    %9 = stablehlo.multiply %6, %8 : tensor<4x5xf64>
    %10 = stablehlo.add %5, %9 : tensor<4x5xf64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %11 = stablehlo.reduce(%10 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x5xf64>, tensor<f64>) -> tensor<f64>
    return %11 : tensor<f64>
  }
  func.func private @_where(%arg0: tensor<4x5xi1>, %arg1: tensor<4x5xf64>, %arg2: tensor<4x5xf64>) -> tensor<4x5xf64> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<4x5xi1>, tensor<4x5xf64>
    return %0 : tensor<4x5xf64>
  }
  func.func private @clip(%arg0: tensor<4x5xf64>, %arg1: tensor<f64>, %arg2: tensor<f64>) -> tensor<4x5xf64> {
    %0 = stablehlo.convert %arg1 : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f64>) -> tensor<4x5xf64>
    %2 = stablehlo.maximum %1, %arg0 : tensor<4x5xf64>
    %3 = stablehlo.convert %arg2 : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f64>) -> tensor<4x5xf64>
    %5 = stablehlo.minimum %4, %2 : tensor<4x5xf64>
    return %5 : tensor<4x5xf64>
  }
}
