module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x16xf32>, %arg1: tensor<16x16xf32>) -> (tensor<16x16xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.reverse %arg0, dims = [0, 1] : tensor<16x16xf32>
    %1 = stablehlo.slice %arg1 [1:16, 0:15] : (tensor<16x16xf32>) -> tensor<15x15xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = call @_pad(%1, %c) : (tensor<15x15xf32>, tensor<i32>) -> tensor<16x16xf32>
    %3 = stablehlo.reverse %2, dims = [0] : tensor<16x16xf32>
    %4 = stablehlo.add %0, %3 : tensor<16x16xf32>
    return %4 : tensor<16x16xf32>
  }
  func.func private @_pad(%arg0: tensor<15x15xf32>, %arg1: tensor<i32>) -> tensor<16x16xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.pad %arg0, %0, low = [0, 1], high = [1, 0], interior = [0, 0] : (tensor<15x15xf32>, tensor<f32>) -> tensor<16x16xf32>
    return %1 : tensor<16x16xf32>
  }
}
