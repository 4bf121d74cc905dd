module @jit_arctan attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<38xf32>) -> (tensor<38xf32> {jax.result_info = "result"}) {
    %0 = chlo.atan %arg0 : tensor<38xf32> -> tensor<38xf32>
    return %0 : tensor<38xf32>
  }
}
