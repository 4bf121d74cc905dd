module @jit_relu6 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<39xf32>) -> (tensor<39xf32> {jax.result_info = "result"}) {
    %0 = call @relu6(%arg0) : (tensor<39xf32>) -> tensor<39xf32>
    return %0 : tensor<39xf32>
  }
  func.func private @relu6(%arg0: tensor<39xf32>) -> tensor<39xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<39xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<39xf32>
    %cst_0 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<39xf32>
    %3 = stablehlo.minimum %1, %2 : tensor<39xf32>
    return %3 : tensor<39xf32>
  }
}
