module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<38xf32>) -> (tensor<38xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.negate %arg0 : tensor<38xf32>
    %1 = stablehlo.multiply %0, %arg0 : tensor<38xf32>
    %2 = stablehlo.exponential %1 : tensor<38xf32>
    return %2 : tensor<38xf32>
  }
}
