module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x8x8x8xf32>, %arg1: tensor<2x8x8x2xf32>) -> (tensor<2x8x8x2xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg1, %arg0, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [HIGHEST, HIGHEST] : (tensor<2x8x8x2xf32>, tensor<2x8x8x8xf32>) -> tensor<2x8x2x8xf32>
    %1 = stablehlo.transpose %0, dims = [0, 3, 1, 2] : (tensor<2x8x2x8xf32>) -> tensor<2x8x8x2xf32>
    return %1 : tensor<2x8x8x2xf32>
  }
}
