module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<36xf32>) -> (tensor<36xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<36xf32>
    %cst = stablehlo.constant dense<9.99999974E-5> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<36xf32>
    %2 = stablehlo.add %0, %1 : tensor<36xf32>
    %3 = stablehlo.sqrt %2 : tensor<36xf32>
    return %3 : tensor<36xf32>
  }
}
