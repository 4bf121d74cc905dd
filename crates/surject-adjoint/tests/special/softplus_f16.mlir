module @jit_softplus attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<34xf16>) -> (tensor<34xf16> {jax.result_info = "result"}) {
    %0 = call @softplus(%arg0) : (tensor<34xf16>) -> tensor<34xf16>
    return %0 : tensor<34xf16>
  }
  func.func private @softplus(%arg0: tensor<34xf16>) -> tensor<34xf16> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f16>) -> tensor<34xf16>
    %1 = stablehlo.maximum %arg0, %0 : tensor<34xf16>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f16>) -> tensor<34xf16>
    %3 = stablehlo.subtract %arg0, %2 : tensor<34xf16>
    %4 = stablehlo.compare NE, %3, %3, FLOAT : (tensor<34xf16>, tensor<34xf16>) -> tensor<34xi1>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f16>) -> tensor<34xf16>
    %6 = stablehlo.add %arg0, %5 : tensor<34xf16>
    %7 = stablehlo.abs %3 : tensor<34xf16>
    %8 = stablehlo.negate %7 : tensor<34xf16>
    %9 = stablehlo.exponential %8 : tensor<34xf16>
    %10 = stablehlo.log_plus_one %9 : tensor<34xf16>
    %11 = stablehlo.add %1, %10 : tensor<34xf16>
    %12 = stablehlo.select %4, %6, %11 : tensor<34xi1>, tensor<34xf16>
    return %12 : tensor<34xf16>
  }
}
