// Written by generate.py.
func.func @reduce_add() {
  %0 = stablehlo.constant dense<[[[0x0, 0xC0300000, 0x3FC00000, 0x40700000], [0x40000000, 0x40400000, 0x40100000, 0x40300000], [0x40100000, 0xBFA00000, 0xC0800000, 0xBF400000]], [[0xC0000000, 0xC0800000, 0x40600000, 0xC0800000], [0x3F400000, 0x3FE00000, 0x3F800000, 0xBF000000], [0x40200000, 0xC0600000, 0x3FE00000, 0x40200000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x0> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [1] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %w0 = stablehlo.constant dense<[[0x40880000, 0xBF800000, 0xBE800000, 0x40B80000], [0x3FA00000, 0xC0B80000, 0x40C80000, 0xC0000000]]> : tensor<2x4xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x4xf32>
  return
}
// -----
func.func @reduce_add_2() {
  %0 = stablehlo.constant dense<[[[0x0, 0xC0300000, 0x3FC00000, 0x40700000], [0x40000000, 0x40400000, 0x40100000, 0x40300000], [0x40100000, 0xBFA00000, 0xC0800000, 0xBF400000]], [[0xC0000000, 0xC0800000, 0x40600000, 0xC0800000], [0x3F400000, 0x3FE00000, 0x3F800000, 0xBF000000], [0x40200000, 0xC0600000, 0x3FE00000, 0x40200000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x0> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<3xf32>
  %w0 = stablehlo.constant dense<[0xC0800000, 0x41500000, 0xBF000000]> : tensor<3xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<3xf32>
  return
}
// -----
func.func @reduce_add_3() {
  %0 = stablehlo.constant dense<[[[0x0, 0xC0300000, 0x3FC00000, 0x40700000], [0x40000000, 0x40400000, 0x40100000, 0x40300000], [0x40100000, 0xBFA00000, 0xC0800000, 0xBF400000]], [[0xC0000000, 0xC0800000, 0x40600000, 0xC0800000], [0x3F400000, 0x3FE00000, 0x3F800000, 0xBF000000], [0x40200000, 0xC0600000, 0x3FE00000, 0x40200000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x0> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<f32>
  %w0 = stablehlo.constant dense<0x41080000> : tensor<f32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<f32>
  return
}
// -----
func.func @reduce_add_4() {
  %0 = stablehlo.constant dense<[[[0x0, 0xC0300000, 0x3FC00000, 0x40700000], [0x40000000, 0x40400000, 0x40100000, 0x40300000], [0x40100000, 0xBFA00000, 0xC0800000, 0xBF400000]], [[0xC0000000, 0xC0800000, 0x40600000, 0xC0800000], [0x3F400000, 0x3FE00000, 0x3F800000, 0xBF000000], [0x40200000, 0xC0600000, 0x3FE00000, 0x40200000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x0> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  %w0 = stablehlo.constant dense<[[[0x0, 0xC0300000, 0x3FC00000, 0x40700000], [0x40000000, 0x40400000, 0x40100000, 0x40300000], [0x40100000, 0xBFA00000, 0xC0800000, 0xBF400000]], [[0xC0000000, 0xC0800000, 0x40600000, 0xC0800000], [0x3F400000, 0x3FE00000, 0x3F800000, 0xBF000000], [0x40200000, 0xC0600000, 0x3FE00000, 0x40200000]]]> : tensor<2x3x4xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x3x4xf32>
  return
}
// -----
func.func @reduce_maximum() {
  %0 = stablehlo.constant dense<[[[0x0, 0xC0300000, 0x3FC00000, 0x40700000], [0x40000000, 0x40400000, 0x40100000, 0x40300000], [0x40100000, 0xBFA00000, 0xC0800000, 0xBF400000]], [[0xC0000000, 0xC0800000, 0x40600000, 0xC0800000], [0x3F400000, 0x3FE00000, 0x3F800000, 0xBF000000], [0x40200000, 0xC0600000, 0x3FE00000, 0x40200000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0xC0A00000> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %w0 = stablehlo.constant dense<[[0x40100000, 0x40400000, 0x40100000, 0x40700000], [0x40200000, 0x3FE00000, 0x40600000, 0x40200000]]> : tensor<2x4xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x4xf32>
  return
}
// -----
func.func @reduce_maximum_2() {
  %0 = stablehlo.constant dense<[[[0x0, 0xC0300000, 0x3FC00000, 0x40700000], [0x40000000, 0x40400000, 0x40100000, 0x40300000], [0x40100000, 0xBFA00000, 0xC0800000, 0xBF400000]], [[0xC0000000, 0xC0800000, 0x40600000, 0xC0800000], [0x3F400000, 0x3FE00000, 0x3F800000, 0xBF000000], [0x40200000, 0xC0600000, 0x3FE00000, 0x40200000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0xC0A00000> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [0, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<3xf32>
  %w0 = stablehlo.constant dense<[0x40700000, 0x40400000, 0x40200000]> : tensor<3xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<3xf32>
  return
}
// -----
func.func @reduce_maximum_3() {
  %0 = stablehlo.constant dense<[[[0x0, 0xC0300000, 0x3FC00000, 0x40700000], [0x40000000, 0x40400000, 0x40100000, 0x40300000], [0x40100000, 0xBFA00000, 0xC0800000, 0xBF400000]], [[0xC0000000, 0xC0800000, 0x40600000, 0xC0800000], [0x3F400000, 0x3FE00000, 0x3F800000, 0xBF000000], [0x40200000, 0xC0600000, 0x3FE00000, 0x40200000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0xC0A00000> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<f32>
  %w0 = stablehlo.constant dense<0x40700000> : tensor<f32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<f32>
  return
}
// -----
func.func @reduce_maximum_4() {
  %0 = stablehlo.constant dense<[[[0x0, 0xC0300000, 0x3FC00000, 0x40700000], [0x40000000, 0x40400000, 0x40100000, 0x40300000], [0x40100000, 0xBFA00000, 0xC0800000, 0xBF400000]], [[0xC0000000, 0xC0800000, 0x40600000, 0xC0800000], [0x3F400000, 0x3FE00000, 0x3F800000, 0xBF000000], [0x40200000, 0xC0600000, 0x3FE00000, 0x40200000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0xC0A00000> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  %w0 = stablehlo.constant dense<[[[0x0, 0xC0300000, 0x3FC00000, 0x40700000], [0x40000000, 0x40400000, 0x40100000, 0x40300000], [0x40100000, 0xBFA00000, 0xC0800000, 0xBF400000]], [[0xC0000000, 0xC0800000, 0x40600000, 0xC0800000], [0x3F400000, 0x3FE00000, 0x3F800000, 0xBF000000], [0x40200000, 0xC0600000, 0x3FE00000, 0x40200000]]]> : tensor<2x3x4xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x3x4xf32>
  return
}
// -----
func.func @reduce_multiply() {
  %0 = stablehlo.constant dense<[[[0x0, 0xC0300000, 0x3FC00000, 0x40700000], [0x40000000, 0x40400000, 0x40100000, 0x40300000], [0x40100000, 0xBFA00000, 0xC0800000, 0xBF400000]], [[0xC0000000, 0xC0800000, 0x40600000, 0xC0800000], [0x3F400000, 0x3FE00000, 0x3F800000, 0xBF000000], [0x40200000, 0xC0600000, 0x3FE00000, 0x40200000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x3F800000> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %w0 = stablehlo.constant dense<[[0x0, 0x41250000, 0xC1580000, 0xC0F78000], [0xC0700000, 0x41C40000, 0x40C40000, 0x40A00000]]> : tensor<2x4xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.01 : tensor<2x4xf32>
  return
}
// -----
func.func @reduce_multiply_2() {
  %0 = stablehlo.constant dense<[[[0x0, 0xC0300000, 0x3FC00000, 0x40700000], [0x40000000, 0x40400000, 0x40100000, 0x40300000], [0x40100000, 0xBFA00000, 0xC0800000, 0xBF400000]], [[0xC0000000, 0xC0800000, 0x40600000, 0xC0800000], [0x3F400000, 0x3FE00000, 0x3F800000, 0xBF000000], [0x40200000, 0xC0600000, 0x3FE00000, 0x40200000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x3F800000> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [0, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<3xf32>
  %w0 = stablehlo.constant dense<[0x0, 0xC1C2E800, 0x43A17FC0]> : tensor<3xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.01 : tensor<3xf32>
  return
}
// -----
func.func @reduce_multiply_3() {
  %0 = stablehlo.constant dense<[[[0x0, 0xC0300000, 0x3FC00000, 0x40700000], [0x40000000, 0x40400000, 0x40100000, 0x40300000], [0x40100000, 0xBFA00000, 0xC0800000, 0xBF400000]], [[0xC0000000, 0xC0800000, 0x40600000, 0xC0800000], [0x3F400000, 0x3FE00000, 0x3F800000, 0xBF000000], [0x40200000, 0xC0600000, 0x3FE00000, 0x40200000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x3F800000> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [0, 1, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<f32>
  %w0 = stablehlo.constant dense<0x80000000> : tensor<f32>
  check.expect_almost_eq %r, %w0, tolerance = 0.01 : tensor<f32>
  return
}
// -----
func.func @reduce_multiply_4() {
  %0 = stablehlo.constant dense<[[[0x0, 0xC0300000, 0x3FC00000, 0x40700000], [0x40000000, 0x40400000, 0x40100000, 0x40300000], [0x40100000, 0xBFA00000, 0xC0800000, 0xBF400000]], [[0xC0000000, 0xC0800000, 0x40600000, 0xC0800000], [0x3F400000, 0x3FE00000, 0x3F800000, 0xBF000000], [0x40200000, 0xC0600000, 0x3FE00000, 0x40200000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x3F800000> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  %w0 = stablehlo.constant dense<[[[0x0, 0xC0300000, 0x3FC00000, 0x40700000], [0x40000000, 0x40400000, 0x40100000, 0x40300000], [0x40100000, 0xBFA00000, 0xC0800000, 0xBF400000]], [[0xC0000000, 0xC0800000, 0x40600000, 0xC0800000], [0x3F400000, 0x3FE00000, 0x3F800000, 0xBF000000], [0x40200000, 0xC0600000, 0x3FE00000, 0x40200000]]]> : tensor<2x3x4xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.01 : tensor<2x3x4xf32>
  return
}
// -----
func.func @reduce_minimum() {
  %0 = stablehlo.constant dense<[[[0x0, 0xC0300000, 0x3FC00000, 0x40700000], [0x40000000, 0x40400000, 0x40100000, 0x40300000], [0x40100000, 0xBFA00000, 0xC0800000, 0xBF400000]], [[0xC0000000, 0xC0800000, 0x40600000, 0xC0800000], [0x3F400000, 0x3FE00000, 0x3F800000, 0xBF000000], [0x40200000, 0xC0600000, 0x3FE00000, 0x40200000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x41100000> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %w0 = stablehlo.constant dense<[[0x0, 0xC0300000, 0xC0800000, 0xBF400000], [0xC0000000, 0xC0800000, 0x3F800000, 0xC0800000]]> : tensor<2x4xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x4xf32>
  return
}
// -----
func.func @reduce_minimum_2() {
  %0 = stablehlo.constant dense<[[[0x0, 0xC0300000, 0x3FC00000, 0x40700000], [0x40000000, 0x40400000, 0x40100000, 0x40300000], [0x40100000, 0xBFA00000, 0xC0800000, 0xBF400000]], [[0xC0000000, 0xC0800000, 0x40600000, 0xC0800000], [0x3F400000, 0x3FE00000, 0x3F800000, 0xBF000000], [0x40200000, 0xC0600000, 0x3FE00000, 0x40200000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x41100000> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [0, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<3xf32>
  %w0 = stablehlo.constant dense<[0xC0800000, 0xBF000000, 0xC0800000]> : tensor<3xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<3xf32>
  return
}
// -----
func.func @reduce_minimum_3() {
  %0 = stablehlo.constant dense<[[[0x0, 0xC0300000, 0x3FC00000, 0x40700000], [0x40000000, 0x40400000, 0x40100000, 0x40300000], [0x40100000, 0xBFA00000, 0xC0800000, 0xBF400000]], [[0xC0000000, 0xC0800000, 0x40600000, 0xC0800000], [0x3F400000, 0x3FE00000, 0x3F800000, 0xBF000000], [0x40200000, 0xC0600000, 0x3FE00000, 0x40200000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x41100000> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [0, 1, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<f32>
  %w0 = stablehlo.constant dense<0xC0800000> : tensor<f32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<f32>
  return
}
// -----
func.func @reduce_minimum_4() {
  %0 = stablehlo.constant dense<[[[0x0, 0xC0300000, 0x3FC00000, 0x40700000], [0x40000000, 0x40400000, 0x40100000, 0x40300000], [0x40100000, 0xBFA00000, 0xC0800000, 0xBF400000]], [[0xC0000000, 0xC0800000, 0x40600000, 0xC0800000], [0x3F400000, 0x3FE00000, 0x3F800000, 0xBF000000], [0x40200000, 0xC0600000, 0x3FE00000, 0x40200000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x41100000> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  %w0 = stablehlo.constant dense<[[[0x0, 0xC0300000, 0x3FC00000, 0x40700000], [0x40000000, 0x40400000, 0x40100000, 0x40300000], [0x40100000, 0xBFA00000, 0xC0800000, 0xBF400000]], [[0xC0000000, 0xC0800000, 0x40600000, 0xC0800000], [0x3F400000, 0x3FE00000, 0x3F800000, 0xBF000000], [0x40200000, 0xC0600000, 0x3FE00000, 0x40200000]]]> : tensor<2x3x4xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x3x4xf32>
  return
}
// -----
func.func @reduce_empty() {
  %0 = stablehlo.constant dense<> : tensor<0x3xf32>
  %1 = stablehlo.constant dense<0x40000000> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0] : (tensor<0x3xf32>, tensor<f32>) -> tensor<3xf32>
  %w0 = stablehlo.constant dense<[0x40000000, 0x40000000, 0x40000000]> : tensor<3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3xf32>, tensor<3xf32>
  return
}
// -----
func.func @reduce_add_5() {
  %0 = stablehlo.constant dense<[[[0x0, 0x4000000000000000, 0x400C000000000000, 0x3FFC000000000000], [0x3FFC000000000000, 0xBFE8000000000000, 0x3FD0000000000000, 0xBFD0000000000000], [0x400E000000000000, 0xBFE0000000000000, 0x400C000000000000, 0xBFE8000000000000]], [[0xC000000000000000, 0x4002000000000000, 0x400A000000000000, 0xBFFC000000000000], [0xC00C000000000000, 0xC000000000000000, 0xC002000000000000, 0xBFF8000000000000], [0x3FF0000000000000, 0x4000000000000000, 0x3FE8000000000000, 0x3FFC000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0x0> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [1] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<2x4xf64>
  %w0 = stablehlo.constant dense<[[0x4016000000000000, 0x3FE8000000000000, 0x401D000000000000, 0x3FE8000000000000], [0xC012000000000000, 0x4002000000000000, 0x3FFC000000000000, 0xBFF8000000000000]]> : tensor<2x4xf64>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x4xf64>
  return
}
// -----
func.func @reduce_add_6() {
  %0 = stablehlo.constant dense<[[[0x0, 0x4000000000000000, 0x400C000000000000, 0x3FFC000000000000], [0x3FFC000000000000, 0xBFE8000000000000, 0x3FD0000000000000, 0xBFD0000000000000], [0x400E000000000000, 0xBFE0000000000000, 0x400C000000000000, 0xBFE8000000000000]], [[0xC000000000000000, 0x4002000000000000, 0x400A000000000000, 0xBFFC000000000000], [0xC00C000000000000, 0xC000000000000000, 0xC002000000000000, 0xBFF8000000000000], [0x3FF0000000000000, 0x4000000000000000, 0x3FE8000000000000, 0x3FFC000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0x0> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0, 2] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<3xf64>
  %w0 = stablehlo.constant dense<[0x4022000000000000, 0xC020800000000000, 0x4027000000000000]> : tensor<3xf64>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<3xf64>
  return
}
// -----
func.func @reduce_add_7() {
  %0 = stablehlo.constant dense<[[[0x0, 0x4000000000000000, 0x400C000000000000, 0x3FFC000000000000], [0x3FFC000000000000, 0xBFE8000000000000, 0x3FD0000000000000, 0xBFD0000000000000], [0x400E000000000000, 0xBFE0000000000000, 0x400C000000000000, 0xBFE8000000000000]], [[0xC000000000000000, 0x4002000000000000, 0x400A000000000000, 0xBFFC000000000000], [0xC00C000000000000, 0xC000000000000000, 0xC002000000000000, 0xBFF8000000000000], [0x3FF0000000000000, 0x4000000000000000, 0x3FE8000000000000, 0x3FFC000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0x0> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<f64>
  %w0 = stablehlo.constant dense<0x4028800000000000> : tensor<f64>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<f64>
  return
}
// -----
func.func @reduce_add_8() {
  %0 = stablehlo.constant dense<[[[0x0, 0x4000000000000000, 0x400C000000000000, 0x3FFC000000000000], [0x3FFC000000000000, 0xBFE8000000000000, 0x3FD0000000000000, 0xBFD0000000000000], [0x400E000000000000, 0xBFE0000000000000, 0x400C000000000000, 0xBFE8000000000000]], [[0xC000000000000000, 0x4002000000000000, 0x400A000000000000, 0xBFFC000000000000], [0xC00C000000000000, 0xC000000000000000, 0xC002000000000000, 0xBFF8000000000000], [0x3FF0000000000000, 0x4000000000000000, 0x3FE8000000000000, 0x3FFC000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0x0> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<2x3x4xf64>
  %w0 = stablehlo.constant dense<[[[0x0, 0x4000000000000000, 0x400C000000000000, 0x3FFC000000000000], [0x3FFC000000000000, 0xBFE8000000000000, 0x3FD0000000000000, 0xBFD0000000000000], [0x400E000000000000, 0xBFE0000000000000, 0x400C000000000000, 0xBFE8000000000000]], [[0xC000000000000000, 0x4002000000000000, 0x400A000000000000, 0xBFFC000000000000], [0xC00C000000000000, 0xC000000000000000, 0xC002000000000000, 0xBFF8000000000000], [0x3FF0000000000000, 0x4000000000000000, 0x3FE8000000000000, 0x3FFC000000000000]]]> : tensor<2x3x4xf64>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x3x4xf64>
  return
}
// -----
func.func @reduce_maximum_5() {
  %0 = stablehlo.constant dense<[[[0x0, 0x4000000000000000, 0x400C000000000000, 0x3FFC000000000000], [0x3FFC000000000000, 0xBFE8000000000000, 0x3FD0000000000000, 0xBFD0000000000000], [0x400E000000000000, 0xBFE0000000000000, 0x400C000000000000, 0xBFE8000000000000]], [[0xC000000000000000, 0x4002000000000000, 0x400A000000000000, 0xBFFC000000000000], [0xC00C000000000000, 0xC000000000000000, 0xC002000000000000, 0xBFF8000000000000], [0x3FF0000000000000, 0x4000000000000000, 0x3FE8000000000000, 0x3FFC000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0xC014000000000000> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<2x4xf64>
  %w0 = stablehlo.constant dense<[[0x400E000000000000, 0x4000000000000000, 0x400C000000000000, 0x3FFC000000000000], [0x3FF0000000000000, 0x4002000000000000, 0x400A000000000000, 0x3FFC000000000000]]> : tensor<2x4xf64>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x4xf64>
  return
}
// -----
func.func @reduce_maximum_6() {
  %0 = stablehlo.constant dense<[[[0x0, 0x4000000000000000, 0x400C000000000000, 0x3FFC000000000000], [0x3FFC000000000000, 0xBFE8000000000000, 0x3FD0000000000000, 0xBFD0000000000000], [0x400E000000000000, 0xBFE0000000000000, 0x400C000000000000, 0xBFE8000000000000]], [[0xC000000000000000, 0x4002000000000000, 0x400A000000000000, 0xBFFC000000000000], [0xC00C000000000000, 0xC000000000000000, 0xC002000000000000, 0xBFF8000000000000], [0x3FF0000000000000, 0x4000000000000000, 0x3FE8000000000000, 0x3FFC000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0xC014000000000000> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [0, 2] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<3xf64>
  %w0 = stablehlo.constant dense<[0x400C000000000000, 0x3FFC000000000000, 0x400E000000000000]> : tensor<3xf64>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<3xf64>
  return
}
// -----
func.func @reduce_maximum_7() {
  %0 = stablehlo.constant dense<[[[0x0, 0x4000000000000000, 0x400C000000000000, 0x3FFC000000000000], [0x3FFC000000000000, 0xBFE8000000000000, 0x3FD0000000000000, 0xBFD0000000000000], [0x400E000000000000, 0xBFE0000000000000, 0x400C000000000000, 0xBFE8000000000000]], [[0xC000000000000000, 0x4002000000000000, 0x400A000000000000, 0xBFFC000000000000], [0xC00C000000000000, 0xC000000000000000, 0xC002000000000000, 0xBFF8000000000000], [0x3FF0000000000000, 0x4000000000000000, 0x3FE8000000000000, 0x3FFC000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0xC014000000000000> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<f64>
  %w0 = stablehlo.constant dense<0x400E000000000000> : tensor<f64>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<f64>
  return
}
// -----
func.func @reduce_maximum_8() {
  %0 = stablehlo.constant dense<[[[0x0, 0x4000000000000000, 0x400C000000000000, 0x3FFC000000000000], [0x3FFC000000000000, 0xBFE8000000000000, 0x3FD0000000000000, 0xBFD0000000000000], [0x400E000000000000, 0xBFE0000000000000, 0x400C000000000000, 0xBFE8000000000000]], [[0xC000000000000000, 0x4002000000000000, 0x400A000000000000, 0xBFFC000000000000], [0xC00C000000000000, 0xC000000000000000, 0xC002000000000000, 0xBFF8000000000000], [0x3FF0000000000000, 0x4000000000000000, 0x3FE8000000000000, 0x3FFC000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0xC014000000000000> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<2x3x4xf64>
  %w0 = stablehlo.constant dense<[[[0x0, 0x4000000000000000, 0x400C000000000000, 0x3FFC000000000000], [0x3FFC000000000000, 0xBFE8000000000000, 0x3FD0000000000000, 0xBFD0000000000000], [0x400E000000000000, 0xBFE0000000000000, 0x400C000000000000, 0xBFE8000000000000]], [[0xC000000000000000, 0x4002000000000000, 0x400A000000000000, 0xBFFC000000000000], [0xC00C000000000000, 0xC000000000000000, 0xC002000000000000, 0xBFF8000000000000], [0x3FF0000000000000, 0x4000000000000000, 0x3FE8000000000000, 0x3FFC000000000000]]]> : tensor<2x3x4xf64>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x3x4xf64>
  return
}
// -----
func.func @reduce_multiply_5() {
  %0 = stablehlo.constant dense<[[[0x0, 0x4000000000000000, 0x400C000000000000, 0x3FFC000000000000], [0x3FFC000000000000, 0xBFE8000000000000, 0x3FD0000000000000, 0xBFD0000000000000], [0x400E000000000000, 0xBFE0000000000000, 0x400C000000000000, 0xBFE8000000000000]], [[0xC000000000000000, 0x4002000000000000, 0x400A000000000000, 0xBFFC000000000000], [0xC00C000000000000, 0xC000000000000000, 0xC002000000000000, 0xBFF8000000000000], [0x3FF0000000000000, 0x4000000000000000, 0x3FE8000000000000, 0x3FFC000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0x3FF0000000000000> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<2x4xf64>
  %w0 = stablehlo.constant dense<[[0x0, 0x3FE8000000000000, 0x4008800000000000, 0x3FD5000000000000], [0x401C000000000000, 0xC022000000000000, 0xC015F00000000000, 0x4012600000000000]]> : tensor<2x4xf64>
  check.expect_almost_eq %r, %w0, tolerance = 0.01 : tensor<2x4xf64>
  return
}
// -----
func.func @reduce_multiply_6() {
  %0 = stablehlo.constant dense<[[[0x0, 0x4000000000000000, 0x400C000000000000, 0x3FFC000000000000], [0x3FFC000000000000, 0xBFE8000000000000, 0x3FD0000000000000, 0xBFD0000000000000], [0x400E000000000000, 0xBFE0000000000000, 0x400C000000000000, 0xBFE8000000000000]], [[0xC000000000000000, 0x4002000000000000, 0x400A000000000000, 0xBFFC000000000000], [0xC00C000000000000, 0xC000000000000000, 0xC002000000000000, 0xBFF8000000000000], [0x3FF0000000000000, 0x4000000000000000, 0x3FE8000000000000, 0x3FFC000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0x3FF0000000000000> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [0, 2] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<3xf64>
  %w0 = stablehlo.constant dense<[0x0, 0x3FFF020000000000, 0x4029D70000000000]> : tensor<3xf64>
  check.expect_almost_eq %r, %w0, tolerance = 0.01 : tensor<3xf64>
  return
}
// -----
func.func @reduce_multiply_7() {
  %0 = stablehlo.constant dense<[[[0x0, 0x4000000000000000, 0x400C000000000000, 0x3FFC000000000000], [0x3FFC000000000000, 0xBFE8000000000000, 0x3FD0000000000000, 0xBFD0000000000000], [0x400E000000000000, 0xBFE0000000000000, 0x400C000000000000, 0xBFE8000000000000]], [[0xC000000000000000, 0x4002000000000000, 0x400A000000000000, 0xBFFC000000000000], [0xC00C000000000000, 0xC000000000000000, 0xC002000000000000, 0xBFF8000000000000], [0x3FF0000000000000, 0x4000000000000000, 0x3FE8000000000000, 0x3FFC000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0x3FF0000000000000> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [0, 1, 2] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<f64>
  %w0 = stablehlo.constant dense<0x0> : tensor<f64>
  check.expect_almost_eq %r, %w0, tolerance = 0.01 : tensor<f64>
  return
}
// -----
func.func @reduce_multiply_8() {
  %0 = stablehlo.constant dense<[[[0x0, 0x4000000000000000, 0x400C000000000000, 0x3FFC000000000000], [0x3FFC000000000000, 0xBFE8000000000000, 0x3FD0000000000000, 0xBFD0000000000000], [0x400E000000000000, 0xBFE0000000000000, 0x400C000000000000, 0xBFE8000000000000]], [[0xC000000000000000, 0x4002000000000000, 0x400A000000000000, 0xBFFC000000000000], [0xC00C000000000000, 0xC000000000000000, 0xC002000000000000, 0xBFF8000000000000], [0x3FF0000000000000, 0x4000000000000000, 0x3FE8000000000000, 0x3FFC000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0x3FF0000000000000> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<2x3x4xf64>
  %w0 = stablehlo.constant dense<[[[0x0, 0x4000000000000000, 0x400C000000000000, 0x3FFC000000000000], [0x3FFC000000000000, 0xBFE8000000000000, 0x3FD0000000000000, 0xBFD0000000000000], [0x400E000000000000, 0xBFE0000000000000, 0x400C000000000000, 0xBFE8000000000000]], [[0xC000000000000000, 0x4002000000000000, 0x400A000000000000, 0xBFFC000000000000], [0xC00C000000000000, 0xC000000000000000, 0xC002000000000000, 0xBFF8000000000000], [0x3FF0000000000000, 0x4000000000000000, 0x3FE8000000000000, 0x3FFC000000000000]]]> : tensor<2x3x4xf64>
  check.expect_almost_eq %r, %w0, tolerance = 0.01 : tensor<2x3x4xf64>
  return
}
// -----
func.func @reduce_minimum_5() {
  %0 = stablehlo.constant dense<[[[0x0, 0x4000000000000000, 0x400C000000000000, 0x3FFC000000000000], [0x3FFC000000000000, 0xBFE8000000000000, 0x3FD0000000000000, 0xBFD0000000000000], [0x400E000000000000, 0xBFE0000000000000, 0x400C000000000000, 0xBFE8000000000000]], [[0xC000000000000000, 0x4002000000000000, 0x400A000000000000, 0xBFFC000000000000], [0xC00C000000000000, 0xC000000000000000, 0xC002000000000000, 0xBFF8000000000000], [0x3FF0000000000000, 0x4000000000000000, 0x3FE8000000000000, 0x3FFC000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0x4022000000000000> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<2x4xf64>
  %w0 = stablehlo.constant dense<[[0x0, 0xBFE8000000000000, 0x3FD0000000000000, 0xBFE8000000000000], [0xC00C000000000000, 0xC000000000000000, 0xC002000000000000, 0xBFFC000000000000]]> : tensor<2x4xf64>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x4xf64>
  return
}
// -----
func.func @reduce_minimum_6() {
  %0 = stablehlo.constant dense<[[[0x0, 0x4000000000000000, 0x400C000000000000, 0x3FFC000000000000], [0x3FFC000000000000, 0xBFE8000000000000, 0x3FD0000000000000, 0xBFD0000000000000], [0x400E000000000000, 0xBFE0000000000000, 0x400C000000000000, 0xBFE8000000000000]], [[0xC000000000000000, 0x4002000000000000, 0x400A000000000000, 0xBFFC000000000000], [0xC00C000000000000, 0xC000000000000000, 0xC002000000000000, 0xBFF8000000000000], [0x3FF0000000000000, 0x4000000000000000, 0x3FE8000000000000, 0x3FFC000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0x4022000000000000> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [0, 2] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<3xf64>
  %w0 = stablehlo.constant dense<[0xC000000000000000, 0xC00C000000000000, 0xBFE8000000000000]> : tensor<3xf64>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<3xf64>
  return
}
// -----
func.func @reduce_minimum_7() {
  %0 = stablehlo.constant dense<[[[0x0, 0x4000000000000000, 0x400C000000000000, 0x3FFC000000000000], [0x3FFC000000000000, 0xBFE8000000000000, 0x3FD0000000000000, 0xBFD0000000000000], [0x400E000000000000, 0xBFE0000000000000, 0x400C000000000000, 0xBFE8000000000000]], [[0xC000000000000000, 0x4002000000000000, 0x400A000000000000, 0xBFFC000000000000], [0xC00C000000000000, 0xC000000000000000, 0xC002000000000000, 0xBFF8000000000000], [0x3FF0000000000000, 0x4000000000000000, 0x3FE8000000000000, 0x3FFC000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0x4022000000000000> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [0, 1, 2] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<f64>
  %w0 = stablehlo.constant dense<0xC00C000000000000> : tensor<f64>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<f64>
  return
}
// -----
func.func @reduce_minimum_8() {
  %0 = stablehlo.constant dense<[[[0x0, 0x4000000000000000, 0x400C000000000000, 0x3FFC000000000000], [0x3FFC000000000000, 0xBFE8000000000000, 0x3FD0000000000000, 0xBFD0000000000000], [0x400E000000000000, 0xBFE0000000000000, 0x400C000000000000, 0xBFE8000000000000]], [[0xC000000000000000, 0x4002000000000000, 0x400A000000000000, 0xBFFC000000000000], [0xC00C000000000000, 0xC000000000000000, 0xC002000000000000, 0xBFF8000000000000], [0x3FF0000000000000, 0x4000000000000000, 0x3FE8000000000000, 0x3FFC000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0x4022000000000000> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<2x3x4xf64>
  %w0 = stablehlo.constant dense<[[[0x0, 0x4000000000000000, 0x400C000000000000, 0x3FFC000000000000], [0x3FFC000000000000, 0xBFE8000000000000, 0x3FD0000000000000, 0xBFD0000000000000], [0x400E000000000000, 0xBFE0000000000000, 0x400C000000000000, 0xBFE8000000000000]], [[0xC000000000000000, 0x4002000000000000, 0x400A000000000000, 0xBFFC000000000000], [0xC00C000000000000, 0xC000000000000000, 0xC002000000000000, 0xBFF8000000000000], [0x3FF0000000000000, 0x4000000000000000, 0x3FE8000000000000, 0x3FFC000000000000]]]> : tensor<2x3x4xf64>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x3x4xf64>
  return
}
// -----
func.func @reduce_empty_2() {
  %0 = stablehlo.constant dense<> : tensor<0x3xf64>
  %1 = stablehlo.constant dense<0x4000000000000000> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0] : (tensor<0x3xf64>, tensor<f64>) -> tensor<3xf64>
  %w0 = stablehlo.constant dense<[0x4000000000000000, 0x4000000000000000, 0x4000000000000000]> : tensor<3xf64>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3xf64>, tensor<3xf64>
  return
}
// -----
func.func @reduce_add_9() {
  %0 = stablehlo.constant dense<[[[-2, 8, 8, 7], [4, 4, -9, 3], [-3, 6, -9, -1]], [[0, 9, 5, 4], [-2, 8, -6, -8], [-7, 5, -7, -4]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<0> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [1] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<2x4xi32>
  %w0 = stablehlo.constant dense<[[-1, 18, -10, 9], [-9, 22, -8, -8]]> : tensor<2x4xi32>
  check.expect_eq %r, %w0 : tensor<2x4xi32>
  return
}
// -----
func.func @reduce_add_10() {
  %0 = stablehlo.constant dense<[[[-2, 8, 8, 7], [4, 4, -9, 3], [-3, 6, -9, -1]], [[0, 9, 5, 4], [-2, 8, -6, -8], [-7, 5, -7, -4]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<0> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0, 2] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<3xi32>
  %w0 = stablehlo.constant dense<[39, -6, -20]> : tensor<3xi32>
  check.expect_eq %r, %w0 : tensor<3xi32>
  return
}
// -----
func.func @reduce_add_11() {
  %0 = stablehlo.constant dense<[[[-2, 8, 8, 7], [4, 4, -9, 3], [-3, 6, -9, -1]], [[0, 9, 5, 4], [-2, 8, -6, -8], [-7, 5, -7, -4]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<0> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<i32>
  %w0 = stablehlo.constant dense<13> : tensor<i32>
  check.expect_eq %r, %w0 : tensor<i32>
  return
}
// -----
func.func @reduce_add_12() {
  %0 = stablehlo.constant dense<[[[-2, 8, 8, 7], [4, 4, -9, 3], [-3, 6, -9, -1]], [[0, 9, 5, 4], [-2, 8, -6, -8], [-7, 5, -7, -4]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<0> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<2x3x4xi32>
  %w0 = stablehlo.constant dense<[[[-2, 8, 8, 7], [4, 4, -9, 3], [-3, 6, -9, -1]], [[0, 9, 5, 4], [-2, 8, -6, -8], [-7, 5, -7, -4]]]> : tensor<2x3x4xi32>
  check.expect_eq %r, %w0 : tensor<2x3x4xi32>
  return
}
// -----
func.func @reduce_maximum_9() {
  %0 = stablehlo.constant dense<[[[-2, 8, 8, 7], [4, 4, -9, 3], [-3, 6, -9, -1]], [[0, 9, 5, 4], [-2, 8, -6, -8], [-7, 5, -7, -4]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<-5> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<2x4xi32>
  %w0 = stablehlo.constant dense<[[4, 8, 8, 7], [0, 9, 5, 4]]> : tensor<2x4xi32>
  check.expect_eq %r, %w0 : tensor<2x4xi32>
  return
}
// -----
func.func @reduce_maximum_10() {
  %0 = stablehlo.constant dense<[[[-2, 8, 8, 7], [4, 4, -9, 3], [-3, 6, -9, -1]], [[0, 9, 5, 4], [-2, 8, -6, -8], [-7, 5, -7, -4]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<-5> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [0, 2] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<3xi32>
  %w0 = stablehlo.constant dense<[9, 8, 6]> : tensor<3xi32>
  check.expect_eq %r, %w0 : tensor<3xi32>
  return
}
// -----
func.func @reduce_maximum_11() {
  %0 = stablehlo.constant dense<[[[-2, 8, 8, 7], [4, 4, -9, 3], [-3, 6, -9, -1]], [[0, 9, 5, 4], [-2, 8, -6, -8], [-7, 5, -7, -4]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<-5> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<i32>
  %w0 = stablehlo.constant dense<9> : tensor<i32>
  check.expect_eq %r, %w0 : tensor<i32>
  return
}
// -----
func.func @reduce_maximum_12() {
  %0 = stablehlo.constant dense<[[[-2, 8, 8, 7], [4, 4, -9, 3], [-3, 6, -9, -1]], [[0, 9, 5, 4], [-2, 8, -6, -8], [-7, 5, -7, -4]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<-5> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<2x3x4xi32>
  %w0 = stablehlo.constant dense<[[[-2, 8, 8, 7], [4, 4, -9, 3], [-3, 6, -9, -1]], [[0, 9, 5, 4], [-2, 8, -6, -8], [-7, 5, -7, -4]]]> : tensor<2x3x4xi32>
  check.expect_eq %r, %w0 : tensor<2x3x4xi32>
  return
}
// -----
func.func @reduce_multiply_9() {
  %0 = stablehlo.constant dense<[[[-2, 8, 8, 7], [4, 4, -9, 3], [-3, 6, -9, -1]], [[0, 9, 5, 4], [-2, 8, -6, -8], [-7, 5, -7, -4]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<2x4xi32>
  %w0 = stablehlo.constant dense<[[24, 192, 648, -21], [0, 360, 210, 128]]> : tensor<2x4xi32>
  check.expect_eq %r, %w0 : tensor<2x4xi32>
  return
}
// -----
func.func @reduce_multiply_10() {
  %0 = stablehlo.constant dense<[[[-2, 8, 8, 7], [4, 4, -9, 3], [-3, 6, -9, -1]], [[0, 9, 5, 4], [-2, 8, -6, -8], [-7, 5, -7, -4]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [0, 2] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<3xi32>
  %w0 = stablehlo.constant dense<[0, 331776, 158760]> : tensor<3xi32>
  check.expect_eq %r, %w0 : tensor<3xi32>
  return
}
// -----
func.func @reduce_multiply_11() {
  %0 = stablehlo.constant dense<[[[-2, 8, 8, 7], [4, 4, -9, 3], [-3, 6, -9, -1]], [[0, 9, 5, 4], [-2, 8, -6, -8], [-7, 5, -7, -4]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [0, 1, 2] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<i32>
  %w0 = stablehlo.constant dense<0> : tensor<i32>
  check.expect_eq %r, %w0 : tensor<i32>
  return
}
// -----
func.func @reduce_multiply_12() {
  %0 = stablehlo.constant dense<[[[-2, 8, 8, 7], [4, 4, -9, 3], [-3, 6, -9, -1]], [[0, 9, 5, 4], [-2, 8, -6, -8], [-7, 5, -7, -4]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<2x3x4xi32>
  %w0 = stablehlo.constant dense<[[[-2, 8, 8, 7], [4, 4, -9, 3], [-3, 6, -9, -1]], [[0, 9, 5, 4], [-2, 8, -6, -8], [-7, 5, -7, -4]]]> : tensor<2x3x4xi32>
  check.expect_eq %r, %w0 : tensor<2x3x4xi32>
  return
}
// -----
func.func @reduce_minimum_9() {
  %0 = stablehlo.constant dense<[[[-2, 8, 8, 7], [4, 4, -9, 3], [-3, 6, -9, -1]], [[0, 9, 5, 4], [-2, 8, -6, -8], [-7, 5, -7, -4]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<9> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<2x4xi32>
  %w0 = stablehlo.constant dense<[[-3, 4, -9, -1], [-7, 5, -7, -8]]> : tensor<2x4xi32>
  check.expect_eq %r, %w0 : tensor<2x4xi32>
  return
}
// -----
func.func @reduce_minimum_10() {
  %0 = stablehlo.constant dense<[[[-2, 8, 8, 7], [4, 4, -9, 3], [-3, 6, -9, -1]], [[0, 9, 5, 4], [-2, 8, -6, -8], [-7, 5, -7, -4]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<9> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [0, 2] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<3xi32>
  %w0 = stablehlo.constant dense<[-2, -9, -9]> : tensor<3xi32>
  check.expect_eq %r, %w0 : tensor<3xi32>
  return
}
// -----
func.func @reduce_minimum_11() {
  %0 = stablehlo.constant dense<[[[-2, 8, 8, 7], [4, 4, -9, 3], [-3, 6, -9, -1]], [[0, 9, 5, 4], [-2, 8, -6, -8], [-7, 5, -7, -4]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<9> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [0, 1, 2] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<i32>
  %w0 = stablehlo.constant dense<-9> : tensor<i32>
  check.expect_eq %r, %w0 : tensor<i32>
  return
}
// -----
func.func @reduce_minimum_12() {
  %0 = stablehlo.constant dense<[[[-2, 8, 8, 7], [4, 4, -9, 3], [-3, 6, -9, -1]], [[0, 9, 5, 4], [-2, 8, -6, -8], [-7, 5, -7, -4]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<9> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<2x3x4xi32>
  %w0 = stablehlo.constant dense<[[[-2, 8, 8, 7], [4, 4, -9, 3], [-3, 6, -9, -1]], [[0, 9, 5, 4], [-2, 8, -6, -8], [-7, 5, -7, -4]]]> : tensor<2x3x4xi32>
  check.expect_eq %r, %w0 : tensor<2x3x4xi32>
  return
}
// -----
func.func @reduce_empty_3() {
  %0 = stablehlo.constant dense<> : tensor<0x3xi32>
  %1 = stablehlo.constant dense<2> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0] : (tensor<0x3xi32>, tensor<i32>) -> tensor<3xi32>
  %w0 = stablehlo.constant dense<[2, 2, 2]> : tensor<3xi32>
  check.expect_eq %r, %w0 : tensor<3xi32>
  return
}
// -----
func.func @reduce_add_13() {
  %0 = stablehlo.constant dense<[[[6, 1, 3, 1], [0, 2, 9, 2], [5, 7, 9, 2]], [[4, 6, 9, 3], [2, 6, 5, 8], [1, 2, 5, 1]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<0> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [1] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<2x4xui8>
  %w0 = stablehlo.constant dense<[[11, 10, 21, 5], [7, 14, 19, 12]]> : tensor<2x4xui8>
  check.expect_eq %r, %w0 : tensor<2x4xui8>
  return
}
// -----
func.func @reduce_add_14() {
  %0 = stablehlo.constant dense<[[[6, 1, 3, 1], [0, 2, 9, 2], [5, 7, 9, 2]], [[4, 6, 9, 3], [2, 6, 5, 8], [1, 2, 5, 1]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<0> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0, 2] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<3xui8>
  %w0 = stablehlo.constant dense<[33, 34, 32]> : tensor<3xui8>
  check.expect_eq %r, %w0 : tensor<3xui8>
  return
}
// -----
func.func @reduce_add_15() {
  %0 = stablehlo.constant dense<[[[6, 1, 3, 1], [0, 2, 9, 2], [5, 7, 9, 2]], [[4, 6, 9, 3], [2, 6, 5, 8], [1, 2, 5, 1]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<0> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<ui8>
  %w0 = stablehlo.constant dense<99> : tensor<ui8>
  check.expect_eq %r, %w0 : tensor<ui8>
  return
}
// -----
func.func @reduce_add_16() {
  %0 = stablehlo.constant dense<[[[6, 1, 3, 1], [0, 2, 9, 2], [5, 7, 9, 2]], [[4, 6, 9, 3], [2, 6, 5, 8], [1, 2, 5, 1]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<0> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<2x3x4xui8>
  %w0 = stablehlo.constant dense<[[[6, 1, 3, 1], [0, 2, 9, 2], [5, 7, 9, 2]], [[4, 6, 9, 3], [2, 6, 5, 8], [1, 2, 5, 1]]]> : tensor<2x3x4xui8>
  check.expect_eq %r, %w0 : tensor<2x3x4xui8>
  return
}
// -----
func.func @reduce_maximum_13() {
  %0 = stablehlo.constant dense<[[[6, 1, 3, 1], [0, 2, 9, 2], [5, 7, 9, 2]], [[4, 6, 9, 3], [2, 6, 5, 8], [1, 2, 5, 1]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<0> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<2x4xui8>
  %w0 = stablehlo.constant dense<[[6, 7, 9, 2], [4, 6, 9, 8]]> : tensor<2x4xui8>
  check.expect_eq %r, %w0 : tensor<2x4xui8>
  return
}
// -----
func.func @reduce_maximum_14() {
  %0 = stablehlo.constant dense<[[[6, 1, 3, 1], [0, 2, 9, 2], [5, 7, 9, 2]], [[4, 6, 9, 3], [2, 6, 5, 8], [1, 2, 5, 1]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<0> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [0, 2] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<3xui8>
  %w0 = stablehlo.constant dense<[9, 9, 9]> : tensor<3xui8>
  check.expect_eq %r, %w0 : tensor<3xui8>
  return
}
// -----
func.func @reduce_maximum_15() {
  %0 = stablehlo.constant dense<[[[6, 1, 3, 1], [0, 2, 9, 2], [5, 7, 9, 2]], [[4, 6, 9, 3], [2, 6, 5, 8], [1, 2, 5, 1]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<0> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<ui8>
  %w0 = stablehlo.constant dense<9> : tensor<ui8>
  check.expect_eq %r, %w0 : tensor<ui8>
  return
}
// -----
func.func @reduce_maximum_16() {
  %0 = stablehlo.constant dense<[[[6, 1, 3, 1], [0, 2, 9, 2], [5, 7, 9, 2]], [[4, 6, 9, 3], [2, 6, 5, 8], [1, 2, 5, 1]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<0> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<2x3x4xui8>
  %w0 = stablehlo.constant dense<[[[6, 1, 3, 1], [0, 2, 9, 2], [5, 7, 9, 2]], [[4, 6, 9, 3], [2, 6, 5, 8], [1, 2, 5, 1]]]> : tensor<2x3x4xui8>
  check.expect_eq %r, %w0 : tensor<2x3x4xui8>
  return
}
// -----
func.func @reduce_multiply_13() {
  %0 = stablehlo.constant dense<[[[6, 1, 3, 1], [0, 2, 9, 2], [5, 7, 9, 2]], [[4, 6, 9, 3], [2, 6, 5, 8], [1, 2, 5, 1]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<1> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<2x4xui8>
  %w0 = stablehlo.constant dense<[[0, 14, 243, 4], [8, 72, 225, 24]]> : tensor<2x4xui8>
  check.expect_eq %r, %w0 : tensor<2x4xui8>
  return
}
// -----
func.func @reduce_multiply_14() {
  %0 = stablehlo.constant dense<[[[6, 1, 3, 1], [0, 2, 9, 2], [5, 7, 9, 2]], [[4, 6, 9, 3], [2, 6, 5, 8], [1, 2, 5, 1]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<1> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [0, 2] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<3xui8>
  %w0 = stablehlo.constant dense<[144, 0, 156]> : tensor<3xui8>
  check.expect_eq %r, %w0 : tensor<3xui8>
  return
}
// -----
func.func @reduce_multiply_15() {
  %0 = stablehlo.constant dense<[[[6, 1, 3, 1], [0, 2, 9, 2], [5, 7, 9, 2]], [[4, 6, 9, 3], [2, 6, 5, 8], [1, 2, 5, 1]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<1> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [0, 1, 2] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<ui8>
  %w0 = stablehlo.constant dense<0> : tensor<ui8>
  check.expect_eq %r, %w0 : tensor<ui8>
  return
}
// -----
func.func @reduce_multiply_16() {
  %0 = stablehlo.constant dense<[[[6, 1, 3, 1], [0, 2, 9, 2], [5, 7, 9, 2]], [[4, 6, 9, 3], [2, 6, 5, 8], [1, 2, 5, 1]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<1> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<2x3x4xui8>
  %w0 = stablehlo.constant dense<[[[6, 1, 3, 1], [0, 2, 9, 2], [5, 7, 9, 2]], [[4, 6, 9, 3], [2, 6, 5, 8], [1, 2, 5, 1]]]> : tensor<2x3x4xui8>
  check.expect_eq %r, %w0 : tensor<2x3x4xui8>
  return
}
// -----
func.func @reduce_minimum_13() {
  %0 = stablehlo.constant dense<[[[6, 1, 3, 1], [0, 2, 9, 2], [5, 7, 9, 2]], [[4, 6, 9, 3], [2, 6, 5, 8], [1, 2, 5, 1]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<9> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<2x4xui8>
  %w0 = stablehlo.constant dense<[[0, 1, 3, 1], [1, 2, 5, 1]]> : tensor<2x4xui8>
  check.expect_eq %r, %w0 : tensor<2x4xui8>
  return
}
// -----
func.func @reduce_minimum_14() {
  %0 = stablehlo.constant dense<[[[6, 1, 3, 1], [0, 2, 9, 2], [5, 7, 9, 2]], [[4, 6, 9, 3], [2, 6, 5, 8], [1, 2, 5, 1]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<9> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [0, 2] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<3xui8>
  %w0 = stablehlo.constant dense<[1, 0, 1]> : tensor<3xui8>
  check.expect_eq %r, %w0 : tensor<3xui8>
  return
}
// -----
func.func @reduce_minimum_15() {
  %0 = stablehlo.constant dense<[[[6, 1, 3, 1], [0, 2, 9, 2], [5, 7, 9, 2]], [[4, 6, 9, 3], [2, 6, 5, 8], [1, 2, 5, 1]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<9> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [0, 1, 2] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<ui8>
  %w0 = stablehlo.constant dense<0> : tensor<ui8>
  check.expect_eq %r, %w0 : tensor<ui8>
  return
}
// -----
func.func @reduce_minimum_16() {
  %0 = stablehlo.constant dense<[[[6, 1, 3, 1], [0, 2, 9, 2], [5, 7, 9, 2]], [[4, 6, 9, 3], [2, 6, 5, 8], [1, 2, 5, 1]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<9> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<2x3x4xui8>
  %w0 = stablehlo.constant dense<[[[6, 1, 3, 1], [0, 2, 9, 2], [5, 7, 9, 2]], [[4, 6, 9, 3], [2, 6, 5, 8], [1, 2, 5, 1]]]> : tensor<2x3x4xui8>
  check.expect_eq %r, %w0 : tensor<2x3x4xui8>
  return
}
// -----
func.func @reduce_empty_4() {
  %0 = stablehlo.constant dense<> : tensor<0x3xui8>
  %1 = stablehlo.constant dense<2> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0] : (tensor<0x3xui8>, tensor<ui8>) -> tensor<3xui8>
  %w0 = stablehlo.constant dense<[2, 2, 2]> : tensor<3xui8>
  check.expect_eq %r, %w0 : tensor<3xui8>
  return
}
// -----
func.func @reduce_maximum_17() {
  %0 = stablehlo.constant dense<[[[0x4000, 0xC070, 0x4040, 0x4040], [0x3F80, 0xBF80, 0x4080, 0x3F80], [0x3F40, 0x3FA0, 0x3F40, 0xBF40]], [[0x3F80, 0x3F00, 0xC020, 0x3F00], [0xC020, 0xBFE0, 0x3F00, 0xC070], [0x3FA0, 0xC000, 0xBE80, 0x3F00]]]> : tensor<2x3x4xbf16>
  %1 = stablehlo.constant dense<0xC0A0> : tensor<bf16>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3x4xbf16>, tensor<bf16>) -> tensor<2x4xbf16>
  %w0 = stablehlo.constant dense<[[0x4000, 0x3FA0, 0x4080, 0x4040], [0x3FA0, 0x3F00, 0x3F00, 0x3F00]]> : tensor<2x4xbf16>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x4xbf16>
  return
}
// -----
func.func @reduce_maximum_18() {
  %0 = stablehlo.constant dense<[[[0x4000, 0xC070, 0x4040, 0x4040], [0x3F80, 0xBF80, 0x4080, 0x3F80], [0x3F40, 0x3FA0, 0x3F40, 0xBF40]], [[0x3F80, 0x3F00, 0xC020, 0x3F00], [0xC020, 0xBFE0, 0x3F00, 0xC070], [0x3FA0, 0xC000, 0xBE80, 0x3F00]]]> : tensor<2x3x4xbf16>
  %1 = stablehlo.constant dense<0xC0A0> : tensor<bf16>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [0, 2] : (tensor<2x3x4xbf16>, tensor<bf16>) -> tensor<3xbf16>
  %w0 = stablehlo.constant dense<[0x4040, 0x4080, 0x3FA0]> : tensor<3xbf16>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<3xbf16>
  return
}
// -----
func.func @reduce_maximum_19() {
  %0 = stablehlo.constant dense<[[[0x4000, 0xC070, 0x4040, 0x4040], [0x3F80, 0xBF80, 0x4080, 0x3F80], [0x3F40, 0x3FA0, 0x3F40, 0xBF40]], [[0x3F80, 0x3F00, 0xC020, 0x3F00], [0xC020, 0xBFE0, 0x3F00, 0xC070], [0x3FA0, 0xC000, 0xBE80, 0x3F00]]]> : tensor<2x3x4xbf16>
  %1 = stablehlo.constant dense<0xC0A0> : tensor<bf16>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<2x3x4xbf16>, tensor<bf16>) -> tensor<bf16>
  %w0 = stablehlo.constant dense<0x4080> : tensor<bf16>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<bf16>
  return
}
// -----
func.func @reduce_maximum_20() {
  %0 = stablehlo.constant dense<[[[0x4000, 0xC070, 0x4040, 0x4040], [0x3F80, 0xBF80, 0x4080, 0x3F80], [0x3F40, 0x3FA0, 0x3F40, 0xBF40]], [[0x3F80, 0x3F00, 0xC020, 0x3F00], [0xC020, 0xBFE0, 0x3F00, 0xC070], [0x3FA0, 0xC000, 0xBE80, 0x3F00]]]> : tensor<2x3x4xbf16>
  %1 = stablehlo.constant dense<0xC0A0> : tensor<bf16>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [] : (tensor<2x3x4xbf16>, tensor<bf16>) -> tensor<2x3x4xbf16>
  %w0 = stablehlo.constant dense<[[[0x4000, 0xC070, 0x4040, 0x4040], [0x3F80, 0xBF80, 0x4080, 0x3F80], [0x3F40, 0x3FA0, 0x3F40, 0xBF40]], [[0x3F80, 0x3F00, 0xC020, 0x3F00], [0xC020, 0xBFE0, 0x3F00, 0xC070], [0x3FA0, 0xC000, 0xBE80, 0x3F00]]]> : tensor<2x3x4xbf16>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x3x4xbf16>
  return
}
// -----
func.func @reduce_minimum_17() {
  %0 = stablehlo.constant dense<[[[0x4000, 0xC070, 0x4040, 0x4040], [0x3F80, 0xBF80, 0x4080, 0x3F80], [0x3F40, 0x3FA0, 0x3F40, 0xBF40]], [[0x3F80, 0x3F00, 0xC020, 0x3F00], [0xC020, 0xBFE0, 0x3F00, 0xC070], [0x3FA0, 0xC000, 0xBE80, 0x3F00]]]> : tensor<2x3x4xbf16>
  %1 = stablehlo.constant dense<0x4110> : tensor<bf16>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3x4xbf16>, tensor<bf16>) -> tensor<2x4xbf16>
  %w0 = stablehlo.constant dense<[[0x3F40, 0xC070, 0x3F40, 0xBF40], [0xC020, 0xC000, 0xC020, 0xC070]]> : tensor<2x4xbf16>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x4xbf16>
  return
}
// -----
func.func @reduce_minimum_18() {
  %0 = stablehlo.constant dense<[[[0x4000, 0xC070, 0x4040, 0x4040], [0x3F80, 0xBF80, 0x4080, 0x3F80], [0x3F40, 0x3FA0, 0x3F40, 0xBF40]], [[0x3F80, 0x3F00, 0xC020, 0x3F00], [0xC020, 0xBFE0, 0x3F00, 0xC070], [0x3FA0, 0xC000, 0xBE80, 0x3F00]]]> : tensor<2x3x4xbf16>
  %1 = stablehlo.constant dense<0x4110> : tensor<bf16>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [0, 2] : (tensor<2x3x4xbf16>, tensor<bf16>) -> tensor<3xbf16>
  %w0 = stablehlo.constant dense<[0xC070, 0xC070, 0xC000]> : tensor<3xbf16>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<3xbf16>
  return
}
// -----
func.func @reduce_minimum_19() {
  %0 = stablehlo.constant dense<[[[0x4000, 0xC070, 0x4040, 0x4040], [0x3F80, 0xBF80, 0x4080, 0x3F80], [0x3F40, 0x3FA0, 0x3F40, 0xBF40]], [[0x3F80, 0x3F00, 0xC020, 0x3F00], [0xC020, 0xBFE0, 0x3F00, 0xC070], [0x3FA0, 0xC000, 0xBE80, 0x3F00]]]> : tensor<2x3x4xbf16>
  %1 = stablehlo.constant dense<0x4110> : tensor<bf16>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [0, 1, 2] : (tensor<2x3x4xbf16>, tensor<bf16>) -> tensor<bf16>
  %w0 = stablehlo.constant dense<0xC070> : tensor<bf16>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<bf16>
  return
}
// -----
func.func @reduce_minimum_20() {
  %0 = stablehlo.constant dense<[[[0x4000, 0xC070, 0x4040, 0x4040], [0x3F80, 0xBF80, 0x4080, 0x3F80], [0x3F40, 0x3FA0, 0x3F40, 0xBF40]], [[0x3F80, 0x3F00, 0xC020, 0x3F00], [0xC020, 0xBFE0, 0x3F00, 0xC070], [0x3FA0, 0xC000, 0xBE80, 0x3F00]]]> : tensor<2x3x4xbf16>
  %1 = stablehlo.constant dense<0x4110> : tensor<bf16>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [] : (tensor<2x3x4xbf16>, tensor<bf16>) -> tensor<2x3x4xbf16>
  %w0 = stablehlo.constant dense<[[[0x4000, 0xC070, 0x4040, 0x4040], [0x3F80, 0xBF80, 0x4080, 0x3F80], [0x3F40, 0x3FA0, 0x3F40, 0xBF40]], [[0x3F80, 0x3F00, 0xC020, 0x3F00], [0xC020, 0xBFE0, 0x3F00, 0xC070], [0x3FA0, 0xC000, 0xBE80, 0x3F00]]]> : tensor<2x3x4xbf16>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x3x4xbf16>
  return
}
// -----
func.func @reduce_empty_5() {
  %0 = stablehlo.constant dense<> : tensor<0x3xbf16>
  %1 = stablehlo.constant dense<0x4000> : tensor<bf16>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0] : (tensor<0x3xbf16>, tensor<bf16>) -> tensor<3xbf16>
  %w0 = stablehlo.constant dense<[0x4000, 0x4000, 0x4000]> : tensor<3xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3xbf16>, tensor<3xbf16>
  return
}
// -----
func.func @reduce_and() {
  %0 = stablehlo.constant dense<[[true, false, true, false], [true, true, false, false], [true, true, false, true]]> : tensor<3x4xi1>
  %1 = stablehlo.constant dense<true> : tensor<i1>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.and across dimensions = [1] : (tensor<3x4xi1>, tensor<i1>) -> tensor<3xi1>
  %w0 = stablehlo.constant dense<[false, false, false]> : tensor<3xi1>
  check.expect_eq %r, %w0 : tensor<3xi1>
  return
}
// -----
func.func @reduce_or() {
  %0 = stablehlo.constant dense<[[true, true, false, true], [true, false, false, true], [true, true, true, false]]> : tensor<3x4xi1>
  %1 = stablehlo.constant dense<false> : tensor<i1>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.or across dimensions = [1] : (tensor<3x4xi1>, tensor<i1>) -> tensor<3xi1>
  %w0 = stablehlo.constant dense<[true, true, true]> : tensor<3xi1>
  check.expect_eq %r, %w0 : tensor<3xi1>
  return
}
// -----
func.func @reduce_xor() {
  %0 = stablehlo.constant dense<[[true, false, false, true], [false, true, false, true], [true, false, true, false]]> : tensor<3x4xi1>
  %1 = stablehlo.constant dense<false> : tensor<i1>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.xor across dimensions = [1] : (tensor<3x4xi1>, tensor<i1>) -> tensor<3xi1>
  %w0 = stablehlo.constant dense<[false, false, false]> : tensor<3xi1>
  check.expect_eq %r, %w0 : tensor<3xi1>
  return
}
// -----
func.func @reduce_argmax() {
  %0 = stablehlo.constant dense<[[0xC0200000, 0xBF800000, 0xC0800000, 0x3F800000, 0xBF400000], [0x40600000, 0x3F800000, 0xC0200000, 0xC0000000, 0xBF800000], [0xC0500000, 0x40100000, 0x40200000, 0x40100000, 0x40400000]]> : tensor<3x5xf32>
  %1 = stablehlo.constant dense<[[0, 1, 2, 3, 4], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]> : tensor<3x5xi32>
  %2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %3 = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.reduce(%0 init: %2), (%1 init: %3) across dimensions = [1] : (tensor<3x5xf32>, tensor<3x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
   reducer(%a: tensor<f32>, %c: tensor<f32>) (%b: tensor<i32>, %d: tensor<i32>)  {
    %p = stablehlo.compare GE, %a, %c, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %v = stablehlo.select %p, %a, %c : tensor<i1>, tensor<f32>
    %i = stablehlo.select %p, %b, %d : tensor<i1>, tensor<i32>
    stablehlo.return %v, %i : tensor<f32>, tensor<i32>
  }
  %w0 = stablehlo.constant dense<[0x3F800000, 0x40600000, 0x40400000]> : tensor<3xf32>
  check.expect_close %r#0, %w0, max_ulp_difference = 0 : tensor<3xf32>, tensor<3xf32>
  %w1 = stablehlo.constant dense<[3, 0, 4]> : tensor<3xi32>
  check.expect_eq %r#1, %w1 : tensor<3xi32>
  return
}
// -----
func.func @reduce_window_sum() {
  %0 = stablehlo.constant dense<[[0x3FA00000, 0x40600000, 0x3FE00000, 0xC0300000, 0x3F800000, 0xBFC00000], [0xC0400000, 0xC0500000, 0xC0400000, 0x3FC00000, 0x40500000, 0x3E800000], [0xC0200000, 0x0, 0x3FA00000, 0x3F400000, 0x3FE00000, 0xBFE00000], [0xBF400000, 0x3F800000, 0xBFA00000, 0xBFE00000, 0x40800000, 0x40800000], [0x40200000, 0xBE800000, 0x3E800000, 0x40200000, 0xC0000000, 0x40800000]]> : tensor<5x6xf32>
  %1 = stablehlo.constant dense<0x0> : tensor<f32>
  %r = "stablehlo.reduce_window"(%0, %1) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<5x6xf32>, tensor<f32>) -> tensor<4x5xf32>
  %w0 = stablehlo.constant dense<[[0xBFC00000, 0xBF800000, 0xC0200000, 0x40400000, 0x40400000], [0xC10C0000, 0xC0A00000, 0x3F000000, 0x40E80000, 0x40600000], [0xC0100000, 0x3F800000, 0xBF800000, 0x40980000, 0x41000000], [0x40200000, 0xBE800000, 0xBE800000, 0x40300000, 0x41200000]]> : tensor<4x5xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<4x5xf32>
  return
}
// -----
func.func @reduce_window_strides() {
  %0 = stablehlo.constant dense<[[0x3FA00000, 0x40600000, 0x3FE00000, 0xC0300000, 0x3F800000, 0xBFC00000], [0xC0400000, 0xC0500000, 0xC0400000, 0x3FC00000, 0x40500000, 0x3E800000], [0xC0200000, 0x0, 0x3FA00000, 0x3F400000, 0x3FE00000, 0xBFE00000], [0xBF400000, 0x3F800000, 0xBFA00000, 0xBFE00000, 0x40800000, 0x40800000], [0x40200000, 0xBE800000, 0x3E800000, 0x40200000, 0xC0000000, 0x40800000]]> : tensor<5x6xf32>
  %1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %r = "stablehlo.reduce_window"(%0, %1) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<5x6xf32>, tensor<f32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x40600000, 0x3FE00000, 0x40500000], [0x3F800000, 0x3FA00000, 0x40800000]]> : tensor<2x3xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x3xf32>
  return
}
// -----
func.func @reduce_window_pad() {
  %0 = stablehlo.constant dense<[[0x3FA00000, 0x40600000, 0x3FE00000, 0xC0300000, 0x3F800000, 0xBFC00000], [0xC0400000, 0xC0500000, 0xC0400000, 0x3FC00000, 0x40500000, 0x3E800000], [0xC0200000, 0x0, 0x3FA00000, 0x3F400000, 0x3FE00000, 0xBFE00000], [0xBF400000, 0x3F800000, 0xBFA00000, 0xBFE00000, 0x40800000, 0x40800000], [0x40200000, 0xBE800000, 0x3E800000, 0x40200000, 0xC0000000, 0x40800000]]> : tensor<5x6xf32>
  %1 = stablehlo.constant dense<0x0> : tensor<f32>
  %r = "stablehlo.reduce_window"(%0, %1) <{window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 1, 1>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[1, 1], [2, 1]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<5x6xf32>, tensor<f32>) -> tensor<6x7xf32>
  %w0 = stablehlo.constant dense<[[0x3FA00000, 0x40980000, 0x40D00000, 0x40200000, 0x0, 0xC0500000, 0xBF000000], [0xBFE00000, 0xBFC00000, 0xC0300000, 0xC0100000, 0x3FE00000, 0x3FE00000, 0x40400000], [0xC0B00000, 0xC10C0000, 0xC1280000, 0xC0300000, 0x40B00000, 0x40B80000, 0x40600000], [0xC0500000, 0xC0100000, 0xC0100000, 0x0, 0x40980000, 0x40E00000, 0x41000000], [0x3FE00000, 0x40200000, 0x3FC00000, 0x3F000000, 0x3FE00000, 0x412C0000, 0x41200000], [0x40200000, 0x40100000, 0x40200000, 0x40200000, 0x3F400000, 0x40900000, 0x40000000]]> : tensor<6x7xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<6x7xf32>
  return
}
// -----
func.func @reduce_window_negative_pad() {
  %0 = stablehlo.constant dense<[[0x3FA00000, 0x40600000, 0x3FE00000, 0xC0300000, 0x3F800000, 0xBFC00000], [0xC0400000, 0xC0500000, 0xC0400000, 0x3FC00000, 0x40500000, 0x3E800000], [0xC0200000, 0x0, 0x3FA00000, 0x3F400000, 0x3FE00000, 0xBFE00000], [0xBF400000, 0x3F800000, 0xBFA00000, 0xBFE00000, 0x40800000, 0x40800000], [0x40200000, 0xBE800000, 0x3E800000, 0x40200000, 0xC0000000, 0x40800000]]> : tensor<5x6xf32>
  %1 = stablehlo.constant dense<0x0> : tensor<f32>
  %r = "stablehlo.reduce_window"(%0, %1) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[-1, 0], [0, -1]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<5x6xf32>, tensor<f32>) -> tensor<3x4xf32>
  %w0 = stablehlo.constant dense<[[0xC10C0000, 0xC0A00000, 0x3F000000, 0x40E80000], [0xC0100000, 0x3F800000, 0xBF800000, 0x40980000], [0x40200000, 0xBE800000, 0xBE800000, 0x40300000]]> : tensor<3x4xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<3x4xf32>
  return
}
// -----
func.func @reduce_window_dilations() {
  %0 = stablehlo.constant dense<[[0x3FA00000, 0x40600000, 0x3FE00000, 0xC0300000, 0x3F800000, 0xBFC00000], [0xC0400000, 0xC0500000, 0xC0400000, 0x3FC00000, 0x40500000, 0x3E800000], [0xC0200000, 0x0, 0x3FA00000, 0x3F400000, 0x3FE00000, 0xBFE00000], [0xBF400000, 0x3F800000, 0xBFA00000, 0xBFE00000, 0x40800000, 0x40800000], [0x40200000, 0xBE800000, 0x3E800000, 0x40200000, 0xC0000000, 0x40800000]]> : tensor<5x6xf32>
  %1 = stablehlo.constant dense<0x0> : tensor<f32>
  %r = "stablehlo.reduce_window"(%0, %1) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>, base_dilations = array<i64: 2, 2>, window_dilations = array<i64: 1, 2>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<5x6xf32>, tensor<f32>) -> tensor<8x9xf32>
  %w0 = stablehlo.constant dense<[[0x40980000, 0x0, 0x40A80000, 0x0, 0xBF800000, 0x0, 0xBFE00000, 0x0, 0xBF000000], [0xC0C80000, 0x0, 0xC0C80000, 0x0, 0xBFC00000, 0x0, 0x40980000, 0x0, 0x40600000], [0xC0C80000, 0x0, 0xC0C80000, 0x0, 0xBFC00000, 0x0, 0x40980000, 0x0, 0x40600000], [0xC0200000, 0x0, 0x3FA00000, 0x0, 0x40000000, 0x0, 0x40200000, 0x0, 0x0], [0xC0200000, 0x0, 0x3FA00000, 0x0, 0x40000000, 0x0, 0x40200000, 0x0, 0x0], [0x3E800000, 0x0, 0xBE800000, 0x0, 0xC0400000, 0x0, 0x40100000, 0x0, 0x41000000], [0x3E800000, 0x0, 0xBE800000, 0x0, 0xC0400000, 0x0, 0x40100000, 0x0, 0x41000000], [0x40100000, 0x0, 0x0, 0x0, 0x40300000, 0x0, 0x3F000000, 0x0, 0x40000000]]> : tensor<8x9xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<8x9xf32>
  return
}
// -----
func.func @reduce_window_window_dilation() {
  %0 = stablehlo.constant dense<[[0x3FA00000, 0x40600000, 0x3FE00000, 0xC0300000, 0x3F800000, 0xBFC00000], [0xC0400000, 0xC0500000, 0xC0400000, 0x3FC00000, 0x40500000, 0x3E800000], [0xC0200000, 0x0, 0x3FA00000, 0x3F400000, 0x3FE00000, 0xBFE00000], [0xBF400000, 0x3F800000, 0xBFA00000, 0xBFE00000, 0x40800000, 0x40800000], [0x40200000, 0xBE800000, 0x3E800000, 0x40200000, 0xC0000000, 0x40800000]]> : tensor<5x6xf32>
  %1 = stablehlo.constant dense<0x41100000> : tensor<f32>
  %r = "stablehlo.reduce_window"(%0, %1) <{window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 1, 1>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 2, 2>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.minimum %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<5x6xf32>, tensor<f32>) -> tensor<3x2xf32>
  %w0 = stablehlo.constant dense<[[0xC0200000, 0xC0300000], [0xC0400000, 0xC0500000], [0xC0200000, 0xBFE00000]]> : tensor<3x2xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<3x2xf32>
  return
}
// -----
func.func @reduce_window_integers() {
  %0 = stablehlo.constant dense<[[8, 3, 1, 1, 4, 3], [4, 0, -9, 8, 1, -5], [-7, 7, 3, -2, -3, 7], [-7, -1, -8, -1, -7, -1], [-6, 4, -4, 2, 1, -7]]> : tensor<5x6xi32>
  %1 = stablehlo.constant dense<0> : tensor<i32>
  %r = "stablehlo.reduce_window"(%0, %1) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<5x6xi32>, tensor<i32>) -> tensor<4x5xi32>
  %w0 = stablehlo.constant dense<[[15, -5, 1, 14, 3], [4, 1, 0, 4, 0], [-8, 1, -8, -13, -4], [-10, -9, -11, -5, -14]]> : tensor<4x5xi32>
  check.expect_eq %r, %w0 : tensor<4x5xi32>
  return
}
// -----
func.func @reduce_window_cumsum() {
  %0 = stablehlo.constant dense<[0x40600000, 0xBFC00000, 0x3F400000, 0xC0800000, 0xBF000000, 0x40000000]> : tensor<6xf32>
  %1 = stablehlo.constant dense<0x0> : tensor<f32>
  %r = "stablehlo.reduce_window"(%0, %1) <{window_dimensions = array<i64: 6>, window_strides = array<i64: 1>, base_dilations = array<i64: 1>, window_dilations = array<i64: 1>, padding = dense<[[5, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
  %w0 = stablehlo.constant dense<[0x40600000, 0x40000000, 0x40300000, 0xBFA00000, 0xBFE00000, 0x3E800000]> : tensor<6xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<6xf32>
  return
}
// -----
func.func @reduce_window_none() {
  %0 = stablehlo.constant dense<[[0xC0700000, 0x3FA00000], [0x40500000, 0xC0400000]]> : tensor<2x2xf32>
  %1 = stablehlo.constant dense<0x0> : tensor<f32>
  %r = "stablehlo.reduce_window"(%0, %1) <{window_dimensions = array<i64: 3, 3>, window_strides = array<i64: 1, 1>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x2xf32>, tensor<f32>) -> tensor<0x0xf32>
  %w0 = stablehlo.constant dense<> : tensor<0x0xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<0x0xf32>
  return
}
// -----
func.func @select_and_scatter() {
  %0 = stablehlo.constant dense<[[0xC0500000, 0xBE800000, 0xC0700000, 0xC0100000, 0xC0100000, 0xC0800000], [0x3E800000, 0xBFA00000, 0x3FC00000, 0x0, 0xBF400000, 0x40600000], [0xC0400000, 0xC0500000, 0xC0600000, 0xBF800000, 0xC0800000, 0xC0000000], [0xBF800000, 0xC0400000, 0xBF800000, 0xBFE00000, 0xC0100000, 0xBE800000], [0x3FC00000, 0x3FC00000, 0x40800000, 0xBF400000, 0x3F800000, 0xC0800000]]> : tensor<5x6xf32>
  %1 = stablehlo.constant dense<[[0x3FA00000, 0x40700000, 0xBFE00000], [0xBE800000, 0x40700000, 0x40800000]]> : tensor<2x3xf32>
  %2 = stablehlo.constant dense<0x0> : tensor<f32>
  %r = "stablehlo.select_and_scatter"(%0, %1, %2) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<5x6xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<5x6xf32>
  %w0 = stablehlo.constant dense<[[0x0, 0x0, 0x0, 0x0, 0x0, 0x0], [0x3FA00000, 0x0, 0x40700000, 0x0, 0x0, 0xBFE00000], [0x0, 0x0, 0x0, 0x40700000, 0x0, 0x0], [0xBE800000, 0x0, 0x0, 0x0, 0x0, 0x40800000], [0x0, 0x0, 0x0, 0x0, 0x0, 0x0]]> : tensor<5x6xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<5x6xf32>, tensor<5x6xf32>
  return
}
// -----
func.func @select_and_scatter_2() {
  %0 = stablehlo.constant dense<[[0xC0100000, 0x40700000, 0xC0400000, 0x3FC00000, 0x3FE00000, 0xC0000000], [0xBF000000, 0x40700000, 0xC0500000, 0x3FA00000, 0x40500000, 0xC0800000], [0x0, 0x3E800000, 0xBFA00000, 0xBF000000, 0x40200000, 0x3F400000], [0x40300000, 0x3FE00000, 0x3E800000, 0x3F800000, 0x3FE00000, 0x3FC00000], [0xBFC00000, 0xC0400000, 0x40400000, 0x40600000, 0xC0100000, 0xC0700000]]> : tensor<5x6xf32>
  %1 = stablehlo.constant dense<[[0x3FA00000, 0xC0400000, 0x0], [0x3FE00000, 0xBFE00000, 0x3E800000], [0x40500000, 0x3E800000, 0x40400000], [0xBF800000, 0xBF800000, 0x40000000], [0xBFE00000, 0xBFC00000, 0xC0000000]]> : tensor<5x3xf32>
  %2 = stablehlo.constant dense<0x0> : tensor<f32>
  %r = "stablehlo.select_and_scatter"(%0, %1, %2) <{window_dimensions = array<i64: 3, 2>, window_strides = array<i64: 1, 2>, padding = dense<[[1, 1], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<5x6xf32>, tensor<5x3xf32>, tensor<f32>) -> tensor<5x6xf32>
  %w0 = stablehlo.constant dense<[[0x0, 0x40400000, 0x0, 0xC0980000, 0x0, 0x0], [0x0, 0x40500000, 0x0, 0x3E800000, 0x40500000, 0x0], [0x0, 0x0, 0x0, 0x0, 0x40000000, 0x0], [0xC0300000, 0x0, 0x0, 0x0, 0xC0000000, 0x0], [0x0, 0x0, 0x0, 0xC0200000, 0x0, 0x0]]> : tensor<5x6xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<5x6xf32>, tensor<5x6xf32>
  return
}
// -----
func.func @select_and_scatter_3() {
  %0 = stablehlo.constant dense<[[0xC0800000, 0x3FC00000, 0x40000000, 0xBE800000, 0x40600000, 0xBFA00000], [0xC0200000, 0x3FA00000, 0x3E800000, 0xBE800000, 0xC0800000, 0xC0100000], [0xBF800000, 0x40300000, 0x40600000, 0xBF800000, 0xBF400000, 0x40600000], [0x3E800000, 0xC0000000, 0xBF400000, 0x3FA00000, 0x40400000, 0xC0400000], [0xC0400000, 0x40500000, 0xC0800000, 0x40800000, 0x40600000, 0xC0600000]]> : tensor<5x6xf32>
  %1 = stablehlo.constant dense<[[0xBF400000, 0x3FA00000, 0xC0200000], [0x40800000, 0xC0200000, 0xBFC00000], [0x3FC00000, 0x40200000, 0xC0800000]]> : tensor<3x3xf32>
  %2 = stablehlo.constant dense<0x0> : tensor<f32>
  %r = "stablehlo.select_and_scatter"(%0, %1, %2) <{window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 2>, padding = dense<[[0, 1], [1, 1]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<5x6xf32>, tensor<3x3xf32>, tensor<f32>) -> tensor<5x6xf32>
  %w0 = stablehlo.constant dense<[[0x0, 0xBF400000, 0x3FA00000, 0x0, 0xC0200000, 0x0], [0x0, 0x0, 0x0, 0x0, 0x0, 0x0], [0x0, 0x40800000, 0xC0200000, 0x0, 0x0, 0xBFC00000], [0x0, 0x0, 0x0, 0x0, 0x0, 0x0], [0x0, 0x3FC00000, 0x0, 0xBFC00000, 0x0, 0x0]]> : tensor<5x6xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<5x6xf32>, tensor<5x6xf32>
  return
}
// -----
func.func @select_and_scatter_4() {
  %0 = stablehlo.constant dense<[[2, 7, -3, -7, -7, 4], [-5, -5, -1, -1, 4, 6], [-8, 9, -4, 3, -9, -5], [-6, -3, 6, -7, 9, -2], [3, 2, 3, 9, 9, 9]]> : tensor<5x6xi32>
  %1 = stablehlo.constant dense<[[-5, 1, -4], [2, -7, -2]]> : tensor<2x3xi32>
  %2 = stablehlo.constant dense<0> : tensor<i32>
  %r = "stablehlo.select_and_scatter"(%0, %1, %2) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.compare GE, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }, {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<5x6xi32>, tensor<2x3xi32>, tensor<i32>) -> tensor<5x6xi32>
  %w0 = stablehlo.constant dense<[[0, -5, 0, 0, 0, 0], [0, 0, 1, 0, 0, -4], [0, 2, 0, 0, 0, 0], [0, 0, -7, 0, -2, 0], [0, 0, 0, 0, 0, 0]]> : tensor<5x6xi32>
  check.expect_eq %r, %w0 : tensor<5x6xi32>
  return
}
// -----
func.func @select_and_scatter_5() {
  %0 = stablehlo.constant dense<[[9, 7, 7, 5, -8, -2], [-9, 1, 5, 0, -3, -5], [5, 9, 7, 0, 9, -4], [-6, -4, -3, 7, 3, 7], [1, 6, 3, -6, -8, -8]]> : tensor<5x6xi32>
  %1 = stablehlo.constant dense<[[2, -4, 8], [-3, -6, -1], [7, -9, -4], [-1, -5, 4], [-8, -3, 6]]> : tensor<5x3xi32>
  %2 = stablehlo.constant dense<0> : tensor<i32>
  %r = "stablehlo.select_and_scatter"(%0, %1, %2) <{window_dimensions = array<i64: 3, 2>, window_strides = array<i64: 1, 2>, padding = dense<[[1, 1], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.compare GE, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }, {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<5x6xi32>, tensor<5x3xi32>, tensor<i32>) -> tensor<5x6xi32>
  %w0 = stablehlo.constant dense<[[-1, 0, -10, 0, 0, 8], [0, 0, 0, 0, 0, 0], [0, 6, -14, 0, -1, 0], [0, 0, 0, -3, 0, 6], [0, -8, 0, 0, 0, 0]]> : tensor<5x6xi32>
  check.expect_eq %r, %w0 : tensor<5x6xi32>
  return
}
// -----
func.func @select_and_scatter_6() {
  %0 = stablehlo.constant dense<[[-2, -9, -7, 4, -9, 9], [-3, -3, -1, 4, 2, 4], [-5, 0, 0, -4, -1, 0], [-5, -9, 1, 4, 0, -1], [0, 0, -9, 1, 8, 3]]> : tensor<5x6xi32>
  %1 = stablehlo.constant dense<[[0, 1, 4], [-3, -2, -4], [0, 4, -5]]> : tensor<3x3xi32>
  %2 = stablehlo.constant dense<0> : tensor<i32>
  %r = "stablehlo.select_and_scatter"(%0, %1, %2) <{window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 2>, padding = dense<[[0, 1], [1, 1]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.compare GE, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }, {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<5x6xi32>, tensor<3x3xi32>, tensor<i32>) -> tensor<5x6xi32>
  %w0 = stablehlo.constant dense<[[0, 0, 0, 1, 0, 4], [0, 0, 0, 0, 0, 0], [0, -3, 0, 0, 0, 0], [0, 0, 0, -6, 0, 0], [0, 0, 0, 4, -5, 0]]> : tensor<5x6xi32>
  check.expect_eq %r, %w0 : tensor<5x6xi32>
  return
}
