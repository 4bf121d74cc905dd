module @jit_gradient_of_pooling attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x1x6x6xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<f64>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %10 = stablehlo.maximum %arg1, %arg2 : tensor<f64>
      stablehlo.return %10 : tensor<f64>
    }) : (tensor<2x1x6x6xf64>, tensor<f64>) -> tensor<2x1x3x3xf64>
    %2 = stablehlo.cosine %1 : tensor<2x1x3x3xf64>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<2x1x3x3xf64>
    %4 = stablehlo.multiply %3, %2 : tensor<2x1x3x3xf64>
    %cst_1 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %5 = stablehlo.pad %arg0, %cst_1, low = [0, 0, 0, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<2x1x6x6xf64>, tensor<f64>) -> tensor<2x1x6x6xf64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %6 = "stablehlo.select_and_scatter"(%5, %4, %cst_2) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %10 = stablehlo.compare GE, %arg1, %arg2, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      stablehlo.return %10 : tensor<i1>
    }, {
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %10 = stablehlo.add %arg1, %arg2 : tensor<f64>
      stablehlo.return %10 : tensor<f64>
    }) : (tensor<2x1x6x6xf64>, tensor<2x1x3x3xf64>, tensor<f64>) -> tensor<2x1x6x6xf64>
    %7 = stablehlo.slice %6 [0:2, 0:1, 0:6, 0:6] : (tensor<2x1x6x6xf64>) -> tensor<2x1x6x6xf64>
    %8 = stablehlo.multiply %7, %7 : tensor<2x1x6x6xf64>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %9 = stablehlo.reduce(%8 init: %cst_3) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<2x1x6x6xf64>, tensor<f64>) -> tensor<f64>
    return %9 : tensor<f64>
  }
}
