module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<38xf32>) -> (tensor<38xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.000000e+01> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<38xf32>
    %1 = stablehlo.compare LT, %arg0, %0, FLOAT : (tensor<38xf32>, tensor<38xf32>) -> tensor<38xi1>
    %2 = stablehlo.exponential %arg0 : tensor<38xf32>
    %3 = stablehlo.multiply %2, %arg0 : tensor<38xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<38xf32>
    %5 = stablehlo.multiply %4, %arg0 : tensor<38xf32>
    %6 = call @_where(%1, %3, %5) : (tensor<38xi1>, tensor<38xf32>, tensor<38xf32>) -> tensor<38xf32>
    return %6 : tensor<38xf32>
  }
  func.func private @_where(%arg0: tensor<38xi1>, %arg1: tensor<38xf32>, %arg2: tensor<38xf32>) -> tensor<38xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<38xi1>, tensor<38xf32>
    return %0 : tensor<38xf32>
  }
}
