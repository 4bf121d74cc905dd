module @jit_mlp_forward attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<9x14xf32>, %arg1: tensor<14x20xf32>, %arg2: tensor<20xf32>, %arg3: tensor<20x6xf32>, %arg4: tensor<6xf32>) -> (tensor<9x6xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<9x14xf32>, tensor<14x20xf32>) -> tensor<9x20xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<20xf32>) -> tensor<1x20xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x20xf32>) -> tensor<9x20xf32>
    %3 = stablehlo.add %0, %2 : tensor<9x20xf32>
    %4 = stablehlo.tanh %3 : tensor<9x20xf32>
    %5 = stablehlo.dot_general %4, %arg3, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<9x20xf32>, tensor<20x6xf32>) -> tensor<9x6xf32>
    %6 = stablehlo.broadcast_in_dim %arg4, dims = [1] : (tensor<6xf32>) -> tensor<1x6xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x6xf32>) -> tensor<9x6xf32>
    %8 = stablehlo.add %5, %7 : tensor<9x6xf32>
    return %8 : tensor<9x6xf32>
  }
}
