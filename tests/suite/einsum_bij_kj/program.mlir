module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x2x4xf32>, %arg1: tensor<2x4xf32>) -> (tensor<2x2x16xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [2], precision = [HIGHEST, HIGHEST] : (tensor<2x4xf32>, tensor<16x2x4xf32>) -> tensor<2x16x2xf32>
    %1 = stablehlo.transpose %0, dims = [2, 0, 1] : (tensor<2x16x2xf32>) -> tensor<2x2x16xf32>
    return %1 : tensor<2x2x16xf32>
  }
}
