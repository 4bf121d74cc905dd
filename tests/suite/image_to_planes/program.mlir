module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x3x3x3xf32>) -> (tensor<16x3x3x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.transpose %arg0, dims = [0, 3, 1, 2] : (tensor<16x3x3x3xf32>) -> tensor<16x3x3x3xf32>
    return %0 : tensor<16x3x3x3xf32>
  }
}
