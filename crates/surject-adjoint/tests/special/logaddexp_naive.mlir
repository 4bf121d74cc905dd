module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<108xf32>, %arg1: tensor<108xf32>) -> (tensor<108xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.exponential %arg0 : tensor<108xf32>
    %1 = stablehlo.exponential %arg1 : tensor<108xf32>
    %2 = stablehlo.add %0, %1 : tensor<108xf32>
    %3 = stablehlo.log %2 : tensor<108xf32>
    return %3 : tensor<108xf32>
  }
}
