module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<38xf32>) -> (tensor<38xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<38xf32>
    %1 = stablehlo.multiply %0, %arg0 : tensor<38xf32>
    %2 = stablehlo.exponential %1 : tensor<38xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<38xf32>
    %4 = stablehlo.subtract %2, %3 : tensor<38xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<38xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<38xf32>
    %7 = stablehlo.exponential %6 : tensor<38xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<38xf32>
    %9 = stablehlo.add %7, %8 : tensor<38xf32>
    %10 = stablehlo.divide %4, %9 : tensor<38xf32>
    return %10 : tensor<38xf32>
  }
}
