module @jit_movement attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x4xf64>, %arg1: tensor<2x4xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.concatenate %arg0, %arg1, dim = 0 : (tensor<3x4xf64>, tensor<2x4xf64>) -> tensor<5x4xf64>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f64>
    %1 = stablehlo.pad %0, %cst, low = [1, 2], high = [-1, 0], interior = [1, 0] : (tensor<5x4xf64>, tensor<f64>) -> tensor<9x6xf64>
    %2 = stablehlo.slice %1 [0:9, 1:6:2] : (tensor<9x6xf64>) -> tensor<9x3xf64>
    %3 = stablehlo.reverse %2, dims = [0] : tensor<9x3xf64>
    %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<9x3xf64>) -> tensor<3x9xf64>
    %5 = stablehlo.reshape %4 : (tensor<3x9xf64>) -> tensor<27xf64>
    %6 = call @_roll_static(%arg0) : (tensor<3x4xf64>) -> tensor<3x4xf64>
    %7 = stablehlo.slice %6 [1:3, 0:3] : (tensor<3x4xf64>) -> tensor<2x3xf64>
    %8 = stablehlo.multiply %5, %5 : tensor<27xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %9 = stablehlo.reduce(%8 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<27xf64>, tensor<f64>) -> tensor<f64>
    %10 = stablehlo.multiply %7, %7 : tensor<2x3xf64>
    %11 = stablehlo.multiply %10, %7 : tensor<2x3xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %12 = stablehlo.reduce(%11 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<f64>
    %13 = stablehlo.add %9, %12 : tensor<f64>
    %14 = stablehlo.reshape %arg0 : (tensor<3x4xf64>) -> tensor<1x3x1x4xf64>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<1x3x1x4xf64>) -> tensor<2x3x3x4xf64>
    %16 = stablehlo.reshape %15 : (tensor<2x3x3x4xf64>) -> tensor<6x12xf64>
    %17 = stablehlo.multiply %16, %16 : tensor<6x12xf64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %18 = stablehlo.reduce(%17 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x12xf64>, tensor<f64>) -> tensor<f64>
    %19 = stablehlo.add %13, %18 : tensor<f64>
    %20 = call @_flip(%arg1) : (tensor<2x4xf64>) -> tensor<2x4xf64>
    %21 = stablehlo.multiply %20, %arg1 : tensor<2x4xf64>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %22 = stablehlo.reduce(%21 init: %cst_3) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf64>, tensor<f64>) -> tensor<f64>
    %23 = stablehlo.add %19, %22 : tensor<f64>
    return %23 : tensor<f64>
  }
  func.func private @_roll_static(%arg0: tensor<3x4xf64>) -> tensor<3x4xf64> {
    %0 = stablehlo.slice %arg0 [0:3, 3:4] : (tensor<3x4xf64>) -> tensor<3x1xf64>
    %1 = stablehlo.slice %arg0 [0:3, 0:3] : (tensor<3x4xf64>) -> tensor<3x3xf64>
    %2 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<3x1xf64>, tensor<3x3xf64>) -> tensor<3x4xf64>
    return %2 : tensor<3x4xf64>
  }
  func.func private @_flip(%arg0: tensor<2x4xf64>) -> tensor<2x4xf64> {
    %0 = stablehlo.reverse %arg0, dims = [0, 1] : tensor<2x4xf64>
    return %0 : tensor<2x4xf64>
  }
}
