module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x16xf32>, %arg1: tensor<16x16xf32>) -> (tensor<16x48xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = call @_pad(%arg0, %c) : (tensor<16x16xf32>, tensor<i32>) -> tensor<16x19xf32>
    %1 = stablehlo.reverse %0, dims = [1] : tensor<16x19xf32>
    %2 = stablehlo.slice %arg1 [0:16, 3:16] : (tensor<16x16xf32>) -> tensor<16x13xf32>
    %3 = stablehlo.reverse %arg0, dims = [0] : tensor<16x16xf32>
    %4 = stablehlo.concatenate %1, %2, %3, dim = 1 : (tensor<16x19xf32>, tensor<16x13xf32>, tensor<16x16xf32>) -> tensor<16x48xf32>
    return %4 : tensor<16x48xf32>
  }
  func.func private @_pad(%arg0: tensor<16x16xf32>, %arg1: tensor<i32>) -> tensor<16x19xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.pad %arg0, %0, low = [0, 1], high = [0, 2], interior = [0, 0] : (tensor<16x16xf32>, tensor<f32>) -> tensor<16x19xf32>
    return %1 : tensor<16x19xf32>
  }
}
