module @jit_bf16_matmul attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x24xbf16>, %arg1: tensor<24x8xbf16>) -> (tensor<16x8xbf16> {jax.result_info = "result[0]"}, tensor<8xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<16x24xbf16>, tensor<24x8xbf16>) -> tensor<16x8xbf16>
    %1 = stablehlo.tanh %0 : tensor<16x8xbf16>
    %2 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<16x24xbf16>, tensor<24x8xbf16>) -> tensor<16x8xbf16>
    %3 = stablehlo.convert %2 : (tensor<16x8xbf16>) -> tensor<16x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<16x8xf32>, tensor<f32>) -> tensor<8xf32>
    return %1, %4 : tensor<16x8xbf16>, tensor<8xf32>
  }
}
