module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<34xf16>) -> (tensor<34xf16> {jax.result_info = "result"}) {
    %0 = stablehlo.negate %arg0 : tensor<34xf16>
    %1 = stablehlo.exponential %0 : tensor<34xf16>
    %2 = stablehlo.negate %1 : tensor<34xf16>
    %3 = stablehlo.exponential %2 : tensor<34xf16>
    return %3 : tensor<34xf16>
  }
}
