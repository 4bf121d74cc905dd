module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x16xf32>, %arg1: tensor<16x16xf32>) -> (tensor<38x16xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg1 [0:16:2, 0:16] : (tensor<16x16xf32>) -> tensor<8x16xf32>
    %1 = stablehlo.reverse %arg0, dims = [1] : tensor<16x16xf32>
    %2 = stablehlo.slice %1 [5:16, 0:16] : (tensor<16x16xf32>) -> tensor<11x16xf32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %3 = call @_pad(%arg1, %c) : (tensor<16x16xf32>, tensor<i32>) -> tensor<19x16xf32>
    %4 = stablehlo.concatenate %0, %2, %3, dim = 0 : (tensor<8x16xf32>, tensor<11x16xf32>, tensor<19x16xf32>) -> tensor<38x16xf32>
    return %4 : tensor<38x16xf32>
  }
  func.func private @_pad(%arg0: tensor<16x16xf32>, %arg1: tensor<i32>) -> tensor<19x16xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.pad %arg0, %0, low = [3, 0], high = [0, 0], interior = [0, 0] : (tensor<16x16xf32>, tensor<f32>) -> tensor<19x16xf32>
    return %1 : tensor<19x16xf32>
  }
}
