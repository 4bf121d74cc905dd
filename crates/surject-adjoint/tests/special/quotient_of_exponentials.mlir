module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<180xf32>, %arg1: tensor<180xf32>) -> (tensor<180xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.exponential %arg0 : tensor<180xf32>
    %1 = stablehlo.exponential %arg0 : tensor<180xf32>
    %2 = stablehlo.exponential %arg1 : tensor<180xf32>
    %3 = stablehlo.add %1, %2 : tensor<180xf32>
    %4 = stablehlo.divide %0, %3 : tensor<180xf32>
    return %4 : tensor<180xf32>
  }
}
