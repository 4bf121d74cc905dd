module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x2x2xf32>, %arg1: tensor<1x2x1xf32>) -> (tensor<1x2x1xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
    %1 = stablehlo.reshape %arg1 : (tensor<1x2x1xf32>) -> tensor<2x1xf32>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [1, 2] : (tensor<2x1xf32>) -> tensor<1x2x1xf32>
    return %3 : tensor<1x2x1xf32>
  }
}
