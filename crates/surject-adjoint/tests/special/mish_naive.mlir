module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<38xf32>) -> (tensor<38xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.exponential %arg0 : tensor<38xf32>
    %1 = stablehlo.log_plus_one %0 : tensor<38xf32>
    %2 = stablehlo.tanh %1 : tensor<38xf32>
    %3 = stablehlo.multiply %arg0, %2 : tensor<38xf32>
    return %3 : tensor<38xf32>
  }
}
