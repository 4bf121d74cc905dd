module @jit_slices attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x10xf32>, %arg1: tensor<i32>) -> (tensor<4x10xf32> {jax.result_info = "result[0]"}, tensor<11x12xf32> {jax.result_info = "result[1]"}, tensor<6x10xf32> {jax.result_info = "result[2]"}, tensor<3x4xf32> {jax.result_info = "result[3]"}, tensor<5x12xf32> {jax.result_info = "result[4]"}) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0 = stablehlo.pad %arg0, %cst, low = [1, 0], high = [-1, 2], interior = [1, 0] : (tensor<6x10xf32>, tensor<f32>) -> tensor<11x12xf32>
    %1 = stablehlo.slice %arg0 [1:5:2, 0:10] : (tensor<6x10xf32>) -> tensor<2x10xf32>
    %2 = stablehlo.reverse %1, dims = [1] : tensor<2x10xf32>
    %3 = stablehlo.slice %arg0 [0:2, 0:10] : (tensor<6x10xf32>) -> tensor<2x10xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x10xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<2x10xf32>
    %6 = stablehlo.concatenate %2, %5, dim = 0 : (tensor<2x10xf32>, tensor<2x10xf32>) -> tensor<4x10xf32>
    %7 = call @cumsum(%arg0) : (tensor<6x10xf32>) -> tensor<6x10xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %8 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_1 = stablehlo.constant dense<6> : tensor<i32>
    %9 = stablehlo.add %arg1, %c_1 : tensor<i32>
    %10 = stablehlo.select %8, %9, %arg1 : tensor<i1>, tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %11 = stablehlo.compare LT, %arg1, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_3 = stablehlo.constant dense<10> : tensor<i32>
    %12 = stablehlo.add %arg1, %c_3 : tensor<i32>
    %13 = stablehlo.select %11, %12, %arg1 : tensor<i1>, tensor<i32>
    %14 = stablehlo.dynamic_slice %arg0, %10, %13, sizes = [3, 4] : (tensor<6x10xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
    %15 = stablehlo.reshape %arg0 : (tensor<6x10xf32>) -> tensor<4x15xf32>
    %16 = stablehlo.transpose %15, dims = [1, 0] : (tensor<4x15xf32>) -> tensor<15x4xf32>
    %17 = stablehlo.reshape %16 : (tensor<15x4xf32>) -> tensor<5x12xf32>
    return %6, %0, %7, %14, %17 : tensor<4x10xf32>, tensor<11x12xf32>, tensor<6x10xf32>, tensor<3x4xf32>, tensor<5x12xf32>
  }
  func.func private @cumsum(%arg0: tensor<6x10xf32>) -> tensor<6x10xf32> {
    %0 = call @cumsum_0(%arg0) : (tensor<6x10xf32>) -> tensor<6x10xf32>
    return %0 : tensor<6x10xf32>
  }
  func.func private @cumsum_0(%arg0: tensor<6x10xf32>) -> tensor<6x10xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [9, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 10>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<6x10xf32>, tensor<f32>) -> tensor<6x10xf32>
    return %1 : tensor<6x10xf32>
  }
}
