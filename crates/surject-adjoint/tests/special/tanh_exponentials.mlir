module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<38xf32>) -> (tensor<38xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.exponential %arg0 : tensor<38xf32>
    %1 = stablehlo.negate %arg0 : tensor<38xf32>
    %2 = stablehlo.exponential %1 : tensor<38xf32>
    %3 = stablehlo.subtract %0, %2 : tensor<38xf32>
    %4 = stablehlo.exponential %arg0 : tensor<38xf32>
    %5 = stablehlo.negate %arg0 : tensor<38xf32>
    %6 = stablehlo.exponential %5 : tensor<38xf32>
    %7 = stablehlo.add %4, %6 : tensor<38xf32>
    %8 = stablehlo.divide %3, %7 : tensor<38xf32>
    return %8 : tensor<38xf32>
  }
}
