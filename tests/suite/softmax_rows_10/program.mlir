module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<937x1xf32>) -> (tensor<937x1xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<937x1xf32>, tensor<f32>) -> tensor<937xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<937xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<937xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<937xf32>) -> tensor<937x1xf32>
    %4 = stablehlo.subtract %arg0, %3 : tensor<937x1xf32>
    %5 = stablehlo.exponential %4 : tensor<937x1xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<937x1xf32>, tensor<f32>) -> tensor<937xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<937xf32>) -> tensor<937x1xf32>
    %8 = stablehlo.divide %5, %7 : tensor<937x1xf32>
    return %8 : tensor<937x1xf32>
  }
}
