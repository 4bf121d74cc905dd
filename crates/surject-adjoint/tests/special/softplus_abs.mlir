module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<38xf32>) -> (tensor<38xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<38xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<38xf32>
    %2 = stablehlo.abs %arg0 : tensor<38xf32>
    %3 = stablehlo.negate %2 : tensor<38xf32>
    %4 = stablehlo.exponential %3 : tensor<38xf32>
    %5 = stablehlo.log_plus_one %4 : tensor<38xf32>
    %6 = stablehlo.add %1, %5 : tensor<38xf32>
    return %6 : tensor<38xf32>
  }
}
