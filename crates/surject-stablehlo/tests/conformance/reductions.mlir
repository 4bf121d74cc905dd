// Written by generate.py.
func.func @reduce_add() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x0> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [1] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %w0 = stablehlo.constant dense<[[0xC0500000, 0x40F00000, 0xBFA00000, 0x3F000000], [0xC1180000, 0xC0500000, 0xC0E80000, 0xC0100000]]> : tensor<2x4xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x4xf32>
  return
}
// -----
func.func @reduce_add_2() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x0> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<3xf32>
  %w0 = stablehlo.constant dense<[0xC15C0000, 0x40600000, 0xC1080000]> : tensor<3xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<3xf32>
  return
}
// -----
func.func @reduce_add_3() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x0> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<f32>
  %w0 = stablehlo.constant dense<0xC1960000> : tensor<f32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<f32>
  return
}
// -----
func.func @reduce_add_4() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x0> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  %w0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x3x4xf32>
  return
}
// -----
func.func @reduce_maximum() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0xC1100000> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %w0 = stablehlo.constant dense<[[0x3FE00000, 0x40400000, 0x40200000, 0x3FE00000], [0xC0200000, 0x3F400000, 0xBF000000, 0x40000000]]> : tensor<2x4xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x4xf32>
  return
}
// -----
func.func @reduce_maximum_2() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0xC1100000> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [0, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<3xf32>
  %w0 = stablehlo.constant dense<[0x40100000, 0x40400000, 0x40200000]> : tensor<3xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<3xf32>
  return
}
// -----
func.func @reduce_maximum_3() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0xC1100000> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<f32>
  %w0 = stablehlo.constant dense<0x40400000> : tensor<f32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<f32>
  return
}
// -----
func.func @reduce_maximum_4() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0xC1100000> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  %w0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x3x4xf32>
  return
}
// -----
func.func @reduce_multiply() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x3F800000> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %w0 = stablehlo.constant dense<[[0x41280000, 0x41730000, 0x40820000, 0xC0280000], [0xC1F00000, 0x403D0000, 0xC0B00000, 0x40F00000]]> : tensor<2x4xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.01 : tensor<2x4xf32>
  return
}
// -----
func.func @reduce_multiply_2() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x3F800000> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [0, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<3xf32>
  %w0 = stablehlo.constant dense<[0x440AD2C0, 0xC23D7E00, 0x436C4000]> : tensor<3xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.01 : tensor<3xf32>
  return
}
// -----
func.func @reduce_multiply_3() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x3F800000> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [0, 1, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<f32>
  %w0 = stablehlo.constant dense<0xCABDA8EB> : tensor<f32>
  check.expect_almost_eq %r, %w0, tolerance = 0.01 : tensor<f32>
  return
}
// -----
func.func @reduce_multiply_4() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x3F800000> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  %w0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.01 : tensor<2x3x4xf32>
  return
}
// -----
func.func @reduce_minimum() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x41200000> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %w0 = stablehlo.constant dense<[[0xC0400000, 0x40100000, 0xC0500000, 0xC0000000], [0xC0800000, 0xC0100000, 0xC0800000, 0xC0400000]]> : tensor<2x4xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x4xf32>
  return
}
// -----
func.func @reduce_minimum_2() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x41200000> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [0, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<3xf32>
  %w0 = stablehlo.constant dense<[0xC0800000, 0xC0300000, 0xC0800000]> : tensor<3xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<3xf32>
  return
}
// -----
func.func @reduce_minimum_3() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x41200000> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [0, 1, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<f32>
  %w0 = stablehlo.constant dense<0xC0800000> : tensor<f32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<f32>
  return
}
// -----
func.func @reduce_minimum_4() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x41200000> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  %w0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
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
  %0 = stablehlo.constant dense<[[[0xBFFC000000000000, 0x3FFC000000000000, 0xC00A000000000000, 0xC000000000000000], [0x3FE8000000000000, 0xC00E000000000000, 0xC010000000000000, 0x0], [0x400E000000000000, 0x400A000000000000, 0x4008000000000000, 0xC002000000000000]], [[0x3FFC000000000000, 0xBFF8000000000000, 0xC010000000000000, 0xC002000000000000], [0x3FFC000000000000, 0x4008000000000000, 0x4010000000000000, 0x3FF4000000000000], [0xC00A000000000000, 0x4006000000000000, 0x3FE8000000000000, 0x4006000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0x0> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [1] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<2x4xf64>
  %w0 = stablehlo.constant dense<[[0x4006000000000000, 0x3FF4000000000000, 0xC011000000000000, 0xC011000000000000], [0x3FD0000000000000, 0x4011000000000000, 0x3FE8000000000000, 0x3FFC000000000000]]> : tensor<2x4xf64>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x4xf64>
  return
}
// -----
func.func @reduce_add_6() {
  %0 = stablehlo.constant dense<[[[0xBFFC000000000000, 0x3FFC000000000000, 0xC00A000000000000, 0xC000000000000000], [0x3FE8000000000000, 0xC00E000000000000, 0xC010000000000000, 0x0], [0x400E000000000000, 0x400A000000000000, 0x4008000000000000, 0xC002000000000000]], [[0x3FFC000000000000, 0xBFF8000000000000, 0xC010000000000000, 0xC002000000000000], [0x3FFC000000000000, 0x4008000000000000, 0x4010000000000000, 0x3FF4000000000000], [0xC00A000000000000, 0x4006000000000000, 0x3FE8000000000000, 0x4006000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0x0> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0, 2] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<3xf64>
  %w0 = stablehlo.constant dense<[0xC026800000000000, 0x4008000000000000, 0x4025800000000000]> : tensor<3xf64>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<3xf64>
  return
}
// -----
func.func @reduce_add_7() {
  %0 = stablehlo.constant dense<[[[0xBFFC000000000000, 0x3FFC000000000000, 0xC00A000000000000, 0xC000000000000000], [0x3FE8000000000000, 0xC00E000000000000, 0xC010000000000000, 0x0], [0x400E000000000000, 0x400A000000000000, 0x4008000000000000, 0xC002000000000000]], [[0x3FFC000000000000, 0xBFF8000000000000, 0xC010000000000000, 0xC002000000000000], [0x3FFC000000000000, 0x4008000000000000, 0x4010000000000000, 0x3FF4000000000000], [0xC00A000000000000, 0x4006000000000000, 0x3FE8000000000000, 0x4006000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0x0> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<f64>
  %w0 = stablehlo.constant dense<0x4004000000000000> : tensor<f64>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<f64>
  return
}
// -----
func.func @reduce_add_8() {
  %0 = stablehlo.constant dense<[[[0xBFFC000000000000, 0x3FFC000000000000, 0xC00A000000000000, 0xC000000000000000], [0x3FE8000000000000, 0xC00E000000000000, 0xC010000000000000, 0x0], [0x400E000000000000, 0x400A000000000000, 0x4008000000000000, 0xC002000000000000]], [[0x3FFC000000000000, 0xBFF8000000000000, 0xC010000000000000, 0xC002000000000000], [0x3FFC000000000000, 0x4008000000000000, 0x4010000000000000, 0x3FF4000000000000], [0xC00A000000000000, 0x4006000000000000, 0x3FE8000000000000, 0x4006000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0x0> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<2x3x4xf64>
  %w0 = stablehlo.constant dense<[[[0xBFFC000000000000, 0x3FFC000000000000, 0xC00A000000000000, 0xC000000000000000], [0x3FE8000000000000, 0xC00E000000000000, 0xC010000000000000, 0x0], [0x400E000000000000, 0x400A000000000000, 0x4008000000000000, 0xC002000000000000]], [[0x3FFC000000000000, 0xBFF8000000000000, 0xC010000000000000, 0xC002000000000000], [0x3FFC000000000000, 0x4008000000000000, 0x4010000000000000, 0x3FF4000000000000], [0xC00A000000000000, 0x4006000000000000, 0x3FE8000000000000, 0x4006000000000000]]]> : tensor<2x3x4xf64>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x3x4xf64>
  return
}
// -----
func.func @reduce_maximum_5() {
  %0 = stablehlo.constant dense<[[[0xBFFC000000000000, 0x3FFC000000000000, 0xC00A000000000000, 0xC000000000000000], [0x3FE8000000000000, 0xC00E000000000000, 0xC010000000000000, 0x0], [0x400E000000000000, 0x400A000000000000, 0x4008000000000000, 0xC002000000000000]], [[0x3FFC000000000000, 0xBFF8000000000000, 0xC010000000000000, 0xC002000000000000], [0x3FFC000000000000, 0x4008000000000000, 0x4010000000000000, 0x3FF4000000000000], [0xC00A000000000000, 0x4006000000000000, 0x3FE8000000000000, 0x4006000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0xC022000000000000> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<2x4xf64>
  %w0 = stablehlo.constant dense<[[0x400E000000000000, 0x400A000000000000, 0x4008000000000000, 0x0], [0x3FFC000000000000, 0x4008000000000000, 0x4010000000000000, 0x4006000000000000]]> : tensor<2x4xf64>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x4xf64>
  return
}
// -----
func.func @reduce_maximum_6() {
  %0 = stablehlo.constant dense<[[[0xBFFC000000000000, 0x3FFC000000000000, 0xC00A000000000000, 0xC000000000000000], [0x3FE8000000000000, 0xC00E000000000000, 0xC010000000000000, 0x0], [0x400E000000000000, 0x400A000000000000, 0x4008000000000000, 0xC002000000000000]], [[0x3FFC000000000000, 0xBFF8000000000000, 0xC010000000000000, 0xC002000000000000], [0x3FFC000000000000, 0x4008000000000000, 0x4010000000000000, 0x3FF4000000000000], [0xC00A000000000000, 0x4006000000000000, 0x3FE8000000000000, 0x4006000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0xC022000000000000> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [0, 2] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<3xf64>
  %w0 = stablehlo.constant dense<[0x3FFC000000000000, 0x4010000000000000, 0x400E000000000000]> : tensor<3xf64>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<3xf64>
  return
}
// -----
func.func @reduce_maximum_7() {
  %0 = stablehlo.constant dense<[[[0xBFFC000000000000, 0x3FFC000000000000, 0xC00A000000000000, 0xC000000000000000], [0x3FE8000000000000, 0xC00E000000000000, 0xC010000000000000, 0x0], [0x400E000000000000, 0x400A000000000000, 0x4008000000000000, 0xC002000000000000]], [[0x3FFC000000000000, 0xBFF8000000000000, 0xC010000000000000, 0xC002000000000000], [0x3FFC000000000000, 0x4008000000000000, 0x4010000000000000, 0x3FF4000000000000], [0xC00A000000000000, 0x4006000000000000, 0x3FE8000000000000, 0x4006000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0xC022000000000000> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<f64>
  %w0 = stablehlo.constant dense<0x4010000000000000> : tensor<f64>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<f64>
  return
}
// -----
func.func @reduce_maximum_8() {
  %0 = stablehlo.constant dense<[[[0xBFFC000000000000, 0x3FFC000000000000, 0xC00A000000000000, 0xC000000000000000], [0x3FE8000000000000, 0xC00E000000000000, 0xC010000000000000, 0x0], [0x400E000000000000, 0x400A000000000000, 0x4008000000000000, 0xC002000000000000]], [[0x3FFC000000000000, 0xBFF8000000000000, 0xC010000000000000, 0xC002000000000000], [0x3FFC000000000000, 0x4008000000000000, 0x4010000000000000, 0x3FF4000000000000], [0xC00A000000000000, 0x4006000000000000, 0x3FE8000000000000, 0x4006000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0xC022000000000000> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<2x3x4xf64>
  %w0 = stablehlo.constant dense<[[[0xBFFC000000000000, 0x3FFC000000000000, 0xC00A000000000000, 0xC000000000000000], [0x3FE8000000000000, 0xC00E000000000000, 0xC010000000000000, 0x0], [0x400E000000000000, 0x400A000000000000, 0x4008000000000000, 0xC002000000000000]], [[0x3FFC000000000000, 0xBFF8000000000000, 0xC010000000000000, 0xC002000000000000], [0x3FFC000000000000, 0x4008000000000000, 0x4010000000000000, 0x3FF4000000000000], [0xC00A000000000000, 0x4006000000000000, 0x3FE8000000000000, 0x4006000000000000]]]> : tensor<2x3x4xf64>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x3x4xf64>
  return
}
// -----
func.func @reduce_multiply_5() {
  %0 = stablehlo.constant dense<[[[0xBFFC000000000000, 0x3FFC000000000000, 0xC00A000000000000, 0xC000000000000000], [0x3FE8000000000000, 0xC00E000000000000, 0xC010000000000000, 0x0], [0x400E000000000000, 0x400A000000000000, 0x4008000000000000, 0xC002000000000000]], [[0x3FFC000000000000, 0xBFF8000000000000, 0xC010000000000000, 0xC002000000000000], [0x3FFC000000000000, 0x4008000000000000, 0x4010000000000000, 0x3FF4000000000000], [0xC00A000000000000, 0x4006000000000000, 0x3FE8000000000000, 0x4006000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0x3FF0000000000000> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<2x4xf64>
  %w0 = stablehlo.constant dense<[[0xC013B00000000000, 0xC035540000000000, 0x4043800000000000, 0x0], [0xC023E80000000000, 0xC028C00000000000, 0xC028000000000000, 0xC01EF00000000000]]> : tensor<2x4xf64>
  check.expect_almost_eq %r, %w0, tolerance = 0.01 : tensor<2x4xf64>
  return
}
// -----
func.func @reduce_multiply_6() {
  %0 = stablehlo.constant dense<[[[0xBFFC000000000000, 0x3FFC000000000000, 0xC00A000000000000, 0xC000000000000000], [0x3FE8000000000000, 0xC00E000000000000, 0xC010000000000000, 0x0], [0x400E000000000000, 0x400A000000000000, 0x4008000000000000, 0xC002000000000000]], [[0x3FFC000000000000, 0xBFF8000000000000, 0xC010000000000000, 0xC002000000000000], [0x3FFC000000000000, 0x4008000000000000, 0x4010000000000000, 0x3FF4000000000000], [0xC00A000000000000, 0x4006000000000000, 0x3FE8000000000000, 0x4006000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0x3FF0000000000000> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [0, 2] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<3xf64>
  %w0 = stablehlo.constant dense<[0x407D649000000000, 0x0, 0x4097B1CDF0000000]> : tensor<3xf64>
  check.expect_almost_eq %r, %w0, tolerance = 0.01 : tensor<3xf64>
  return
}
// -----
func.func @reduce_multiply_7() {
  %0 = stablehlo.constant dense<[[[0xBFFC000000000000, 0x3FFC000000000000, 0xC00A000000000000, 0xC000000000000000], [0x3FE8000000000000, 0xC00E000000000000, 0xC010000000000000, 0x0], [0x400E000000000000, 0x400A000000000000, 0x4008000000000000, 0xC002000000000000]], [[0x3FFC000000000000, 0xBFF8000000000000, 0xC010000000000000, 0xC002000000000000], [0x3FFC000000000000, 0x4008000000000000, 0x4010000000000000, 0x3FF4000000000000], [0xC00A000000000000, 0x4006000000000000, 0x3FE8000000000000, 0x4006000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0x3FF0000000000000> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [0, 1, 2] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<f64>
  %w0 = stablehlo.constant dense<0x0> : tensor<f64>
  check.expect_almost_eq %r, %w0, tolerance = 0.01 : tensor<f64>
  return
}
// -----
func.func @reduce_multiply_8() {
  %0 = stablehlo.constant dense<[[[0xBFFC000000000000, 0x3FFC000000000000, 0xC00A000000000000, 0xC000000000000000], [0x3FE8000000000000, 0xC00E000000000000, 0xC010000000000000, 0x0], [0x400E000000000000, 0x400A000000000000, 0x4008000000000000, 0xC002000000000000]], [[0x3FFC000000000000, 0xBFF8000000000000, 0xC010000000000000, 0xC002000000000000], [0x3FFC000000000000, 0x4008000000000000, 0x4010000000000000, 0x3FF4000000000000], [0xC00A000000000000, 0x4006000000000000, 0x3FE8000000000000, 0x4006000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0x3FF0000000000000> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<2x3x4xf64>
  %w0 = stablehlo.constant dense<[[[0xBFFC000000000000, 0x3FFC000000000000, 0xC00A000000000000, 0xC000000000000000], [0x3FE8000000000000, 0xC00E000000000000, 0xC010000000000000, 0x0], [0x400E000000000000, 0x400A000000000000, 0x4008000000000000, 0xC002000000000000]], [[0x3FFC000000000000, 0xBFF8000000000000, 0xC010000000000000, 0xC002000000000000], [0x3FFC000000000000, 0x4008000000000000, 0x4010000000000000, 0x3FF4000000000000], [0xC00A000000000000, 0x4006000000000000, 0x3FE8000000000000, 0x4006000000000000]]]> : tensor<2x3x4xf64>
  check.expect_almost_eq %r, %w0, tolerance = 0.01 : tensor<2x3x4xf64>
  return
}
// -----
func.func @reduce_minimum_5() {
  %0 = stablehlo.constant dense<[[[0xBFFC000000000000, 0x3FFC000000000000, 0xC00A000000000000, 0xC000000000000000], [0x3FE8000000000000, 0xC00E000000000000, 0xC010000000000000, 0x0], [0x400E000000000000, 0x400A000000000000, 0x4008000000000000, 0xC002000000000000]], [[0x3FFC000000000000, 0xBFF8000000000000, 0xC010000000000000, 0xC002000000000000], [0x3FFC000000000000, 0x4008000000000000, 0x4010000000000000, 0x3FF4000000000000], [0xC00A000000000000, 0x4006000000000000, 0x3FE8000000000000, 0x4006000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0x4024000000000000> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<2x4xf64>
  %w0 = stablehlo.constant dense<[[0xBFFC000000000000, 0xC00E000000000000, 0xC010000000000000, 0xC002000000000000], [0xC00A000000000000, 0xBFF8000000000000, 0xC010000000000000, 0xC002000000000000]]> : tensor<2x4xf64>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x4xf64>
  return
}
// -----
func.func @reduce_minimum_6() {
  %0 = stablehlo.constant dense<[[[0xBFFC000000000000, 0x3FFC000000000000, 0xC00A000000000000, 0xC000000000000000], [0x3FE8000000000000, 0xC00E000000000000, 0xC010000000000000, 0x0], [0x400E000000000000, 0x400A000000000000, 0x4008000000000000, 0xC002000000000000]], [[0x3FFC000000000000, 0xBFF8000000000000, 0xC010000000000000, 0xC002000000000000], [0x3FFC000000000000, 0x4008000000000000, 0x4010000000000000, 0x3FF4000000000000], [0xC00A000000000000, 0x4006000000000000, 0x3FE8000000000000, 0x4006000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0x4024000000000000> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [0, 2] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<3xf64>
  %w0 = stablehlo.constant dense<[0xC010000000000000, 0xC010000000000000, 0xC00A000000000000]> : tensor<3xf64>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<3xf64>
  return
}
// -----
func.func @reduce_minimum_7() {
  %0 = stablehlo.constant dense<[[[0xBFFC000000000000, 0x3FFC000000000000, 0xC00A000000000000, 0xC000000000000000], [0x3FE8000000000000, 0xC00E000000000000, 0xC010000000000000, 0x0], [0x400E000000000000, 0x400A000000000000, 0x4008000000000000, 0xC002000000000000]], [[0x3FFC000000000000, 0xBFF8000000000000, 0xC010000000000000, 0xC002000000000000], [0x3FFC000000000000, 0x4008000000000000, 0x4010000000000000, 0x3FF4000000000000], [0xC00A000000000000, 0x4006000000000000, 0x3FE8000000000000, 0x4006000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0x4024000000000000> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [0, 1, 2] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<f64>
  %w0 = stablehlo.constant dense<0xC010000000000000> : tensor<f64>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<f64>
  return
}
// -----
func.func @reduce_minimum_8() {
  %0 = stablehlo.constant dense<[[[0xBFFC000000000000, 0x3FFC000000000000, 0xC00A000000000000, 0xC000000000000000], [0x3FE8000000000000, 0xC00E000000000000, 0xC010000000000000, 0x0], [0x400E000000000000, 0x400A000000000000, 0x4008000000000000, 0xC002000000000000]], [[0x3FFC000000000000, 0xBFF8000000000000, 0xC010000000000000, 0xC002000000000000], [0x3FFC000000000000, 0x4008000000000000, 0x4010000000000000, 0x3FF4000000000000], [0xC00A000000000000, 0x4006000000000000, 0x3FE8000000000000, 0x4006000000000000]]]> : tensor<2x3x4xf64>
  %1 = stablehlo.constant dense<0x4024000000000000> : tensor<f64>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<2x3x4xf64>
  %w0 = stablehlo.constant dense<[[[0xBFFC000000000000, 0x3FFC000000000000, 0xC00A000000000000, 0xC000000000000000], [0x3FE8000000000000, 0xC00E000000000000, 0xC010000000000000, 0x0], [0x400E000000000000, 0x400A000000000000, 0x4008000000000000, 0xC002000000000000]], [[0x3FFC000000000000, 0xBFF8000000000000, 0xC010000000000000, 0xC002000000000000], [0x3FFC000000000000, 0x4008000000000000, 0x4010000000000000, 0x3FF4000000000000], [0xC00A000000000000, 0x4006000000000000, 0x3FE8000000000000, 0x4006000000000000]]]> : tensor<2x3x4xf64>
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
  %0 = stablehlo.constant dense<[[[-5, -8, -4, 0], [8, -7, 9, 9], [-6, 2, 6, 7]], [[3, 2, 0, 0], [3, -6, 5, 5], [6, -6, 7, -5]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<0> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [1] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<2x4xi32>
  %w0 = stablehlo.constant dense<[[-3, -13, 11, 16], [12, -10, 12, 0]]> : tensor<2x4xi32>
  check.expect_eq %r, %w0 : tensor<2x4xi32>
  return
}
// -----
func.func @reduce_add_10() {
  %0 = stablehlo.constant dense<[[[-5, -8, -4, 0], [8, -7, 9, 9], [-6, 2, 6, 7]], [[3, 2, 0, 0], [3, -6, 5, 5], [6, -6, 7, -5]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<0> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0, 2] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<3xi32>
  %w0 = stablehlo.constant dense<[-12, 26, 11]> : tensor<3xi32>
  check.expect_eq %r, %w0 : tensor<3xi32>
  return
}
// -----
func.func @reduce_add_11() {
  %0 = stablehlo.constant dense<[[[-5, -8, -4, 0], [8, -7, 9, 9], [-6, 2, 6, 7]], [[3, 2, 0, 0], [3, -6, 5, 5], [6, -6, 7, -5]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<0> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<i32>
  %w0 = stablehlo.constant dense<25> : tensor<i32>
  check.expect_eq %r, %w0 : tensor<i32>
  return
}
// -----
func.func @reduce_add_12() {
  %0 = stablehlo.constant dense<[[[-5, -8, -4, 0], [8, -7, 9, 9], [-6, 2, 6, 7]], [[3, 2, 0, 0], [3, -6, 5, 5], [6, -6, 7, -5]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<0> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<2x3x4xi32>
  %w0 = stablehlo.constant dense<[[[-5, -8, -4, 0], [8, -7, 9, 9], [-6, 2, 6, 7]], [[3, 2, 0, 0], [3, -6, 5, 5], [6, -6, 7, -5]]]> : tensor<2x3x4xi32>
  check.expect_eq %r, %w0 : tensor<2x3x4xi32>
  return
}
// -----
func.func @reduce_maximum_9() {
  %0 = stablehlo.constant dense<[[[-5, -8, -4, 0], [8, -7, 9, 9], [-6, 2, 6, 7]], [[3, 2, 0, 0], [3, -6, 5, 5], [6, -6, 7, -5]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<-9> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<2x4xi32>
  %w0 = stablehlo.constant dense<[[8, 2, 9, 9], [6, 2, 7, 5]]> : tensor<2x4xi32>
  check.expect_eq %r, %w0 : tensor<2x4xi32>
  return
}
// -----
func.func @reduce_maximum_10() {
  %0 = stablehlo.constant dense<[[[-5, -8, -4, 0], [8, -7, 9, 9], [-6, 2, 6, 7]], [[3, 2, 0, 0], [3, -6, 5, 5], [6, -6, 7, -5]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<-9> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [0, 2] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<3xi32>
  %w0 = stablehlo.constant dense<[3, 9, 7]> : tensor<3xi32>
  check.expect_eq %r, %w0 : tensor<3xi32>
  return
}
// -----
func.func @reduce_maximum_11() {
  %0 = stablehlo.constant dense<[[[-5, -8, -4, 0], [8, -7, 9, 9], [-6, 2, 6, 7]], [[3, 2, 0, 0], [3, -6, 5, 5], [6, -6, 7, -5]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<-9> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<i32>
  %w0 = stablehlo.constant dense<9> : tensor<i32>
  check.expect_eq %r, %w0 : tensor<i32>
  return
}
// -----
func.func @reduce_maximum_12() {
  %0 = stablehlo.constant dense<[[[-5, -8, -4, 0], [8, -7, 9, 9], [-6, 2, 6, 7]], [[3, 2, 0, 0], [3, -6, 5, 5], [6, -6, 7, -5]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<-9> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<2x3x4xi32>
  %w0 = stablehlo.constant dense<[[[-5, -8, -4, 0], [8, -7, 9, 9], [-6, 2, 6, 7]], [[3, 2, 0, 0], [3, -6, 5, 5], [6, -6, 7, -5]]]> : tensor<2x3x4xi32>
  check.expect_eq %r, %w0 : tensor<2x3x4xi32>
  return
}
// -----
func.func @reduce_multiply_9() {
  %0 = stablehlo.constant dense<[[[-5, -8, -4, 0], [8, -7, 9, 9], [-6, 2, 6, 7]], [[3, 2, 0, 0], [3, -6, 5, 5], [6, -6, 7, -5]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<2x4xi32>
  %w0 = stablehlo.constant dense<[[240, 112, -216, 0], [54, 72, 0, 0]]> : tensor<2x4xi32>
  check.expect_eq %r, %w0 : tensor<2x4xi32>
  return
}
// -----
func.func @reduce_multiply_10() {
  %0 = stablehlo.constant dense<[[[-5, -8, -4, 0], [8, -7, 9, 9], [-6, 2, 6, 7]], [[3, 2, 0, 0], [3, -6, 5, 5], [6, -6, 7, -5]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [0, 2] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<3xi32>
  %w0 = stablehlo.constant dense<[0, 2041200, -635040]> : tensor<3xi32>
  check.expect_eq %r, %w0 : tensor<3xi32>
  return
}
// -----
func.func @reduce_multiply_11() {
  %0 = stablehlo.constant dense<[[[-5, -8, -4, 0], [8, -7, 9, 9], [-6, 2, 6, 7]], [[3, 2, 0, 0], [3, -6, 5, 5], [6, -6, 7, -5]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [0, 1, 2] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<i32>
  %w0 = stablehlo.constant dense<0> : tensor<i32>
  check.expect_eq %r, %w0 : tensor<i32>
  return
}
// -----
func.func @reduce_multiply_12() {
  %0 = stablehlo.constant dense<[[[-5, -8, -4, 0], [8, -7, 9, 9], [-6, 2, 6, 7]], [[3, 2, 0, 0], [3, -6, 5, 5], [6, -6, 7, -5]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<2x3x4xi32>
  %w0 = stablehlo.constant dense<[[[-5, -8, -4, 0], [8, -7, 9, 9], [-6, 2, 6, 7]], [[3, 2, 0, 0], [3, -6, 5, 5], [6, -6, 7, -5]]]> : tensor<2x3x4xi32>
  check.expect_eq %r, %w0 : tensor<2x3x4xi32>
  return
}
// -----
func.func @reduce_minimum_9() {
  %0 = stablehlo.constant dense<[[[-5, -8, -4, 0], [8, -7, 9, 9], [-6, 2, 6, 7]], [[3, 2, 0, 0], [3, -6, 5, 5], [6, -6, 7, -5]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<10> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<2x4xi32>
  %w0 = stablehlo.constant dense<[[-6, -8, -4, 0], [3, -6, 0, -5]]> : tensor<2x4xi32>
  check.expect_eq %r, %w0 : tensor<2x4xi32>
  return
}
// -----
func.func @reduce_minimum_10() {
  %0 = stablehlo.constant dense<[[[-5, -8, -4, 0], [8, -7, 9, 9], [-6, 2, 6, 7]], [[3, 2, 0, 0], [3, -6, 5, 5], [6, -6, 7, -5]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<10> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [0, 2] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<3xi32>
  %w0 = stablehlo.constant dense<[-8, -7, -6]> : tensor<3xi32>
  check.expect_eq %r, %w0 : tensor<3xi32>
  return
}
// -----
func.func @reduce_minimum_11() {
  %0 = stablehlo.constant dense<[[[-5, -8, -4, 0], [8, -7, 9, 9], [-6, 2, 6, 7]], [[3, 2, 0, 0], [3, -6, 5, 5], [6, -6, 7, -5]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<10> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [0, 1, 2] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<i32>
  %w0 = stablehlo.constant dense<-8> : tensor<i32>
  check.expect_eq %r, %w0 : tensor<i32>
  return
}
// -----
func.func @reduce_minimum_12() {
  %0 = stablehlo.constant dense<[[[-5, -8, -4, 0], [8, -7, 9, 9], [-6, 2, 6, 7]], [[3, 2, 0, 0], [3, -6, 5, 5], [6, -6, 7, -5]]]> : tensor<2x3x4xi32>
  %1 = stablehlo.constant dense<10> : tensor<i32>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<2x3x4xi32>
  %w0 = stablehlo.constant dense<[[[-5, -8, -4, 0], [8, -7, 9, 9], [-6, 2, 6, 7]], [[3, 2, 0, 0], [3, -6, 5, 5], [6, -6, 7, -5]]]> : tensor<2x3x4xi32>
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
  %0 = stablehlo.constant dense<[[[8, 6, 7, 2], [7, 3, 8, 6], [6, 5, 6, 5]], [[7, 1, 5, 4], [4, 9, 9, 0], [6, 2, 6, 8]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<0> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [1] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<2x4xui8>
  %w0 = stablehlo.constant dense<[[21, 14, 21, 13], [17, 12, 20, 12]]> : tensor<2x4xui8>
  check.expect_eq %r, %w0 : tensor<2x4xui8>
  return
}
// -----
func.func @reduce_add_14() {
  %0 = stablehlo.constant dense<[[[8, 6, 7, 2], [7, 3, 8, 6], [6, 5, 6, 5]], [[7, 1, 5, 4], [4, 9, 9, 0], [6, 2, 6, 8]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<0> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0, 2] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<3xui8>
  %w0 = stablehlo.constant dense<[40, 46, 44]> : tensor<3xui8>
  check.expect_eq %r, %w0 : tensor<3xui8>
  return
}
// -----
func.func @reduce_add_15() {
  %0 = stablehlo.constant dense<[[[8, 6, 7, 2], [7, 3, 8, 6], [6, 5, 6, 5]], [[7, 1, 5, 4], [4, 9, 9, 0], [6, 2, 6, 8]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<0> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<ui8>
  %w0 = stablehlo.constant dense<130> : tensor<ui8>
  check.expect_eq %r, %w0 : tensor<ui8>
  return
}
// -----
func.func @reduce_add_16() {
  %0 = stablehlo.constant dense<[[[8, 6, 7, 2], [7, 3, 8, 6], [6, 5, 6, 5]], [[7, 1, 5, 4], [4, 9, 9, 0], [6, 2, 6, 8]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<0> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<2x3x4xui8>
  %w0 = stablehlo.constant dense<[[[8, 6, 7, 2], [7, 3, 8, 6], [6, 5, 6, 5]], [[7, 1, 5, 4], [4, 9, 9, 0], [6, 2, 6, 8]]]> : tensor<2x3x4xui8>
  check.expect_eq %r, %w0 : tensor<2x3x4xui8>
  return
}
// -----
func.func @reduce_maximum_13() {
  %0 = stablehlo.constant dense<[[[8, 6, 7, 2], [7, 3, 8, 6], [6, 5, 6, 5]], [[7, 1, 5, 4], [4, 9, 9, 0], [6, 2, 6, 8]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<0> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<2x4xui8>
  %w0 = stablehlo.constant dense<[[8, 6, 8, 6], [7, 9, 9, 8]]> : tensor<2x4xui8>
  check.expect_eq %r, %w0 : tensor<2x4xui8>
  return
}
// -----
func.func @reduce_maximum_14() {
  %0 = stablehlo.constant dense<[[[8, 6, 7, 2], [7, 3, 8, 6], [6, 5, 6, 5]], [[7, 1, 5, 4], [4, 9, 9, 0], [6, 2, 6, 8]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<0> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [0, 2] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<3xui8>
  %w0 = stablehlo.constant dense<[8, 9, 8]> : tensor<3xui8>
  check.expect_eq %r, %w0 : tensor<3xui8>
  return
}
// -----
func.func @reduce_maximum_15() {
  %0 = stablehlo.constant dense<[[[8, 6, 7, 2], [7, 3, 8, 6], [6, 5, 6, 5]], [[7, 1, 5, 4], [4, 9, 9, 0], [6, 2, 6, 8]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<0> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<ui8>
  %w0 = stablehlo.constant dense<9> : tensor<ui8>
  check.expect_eq %r, %w0 : tensor<ui8>
  return
}
// -----
func.func @reduce_maximum_16() {
  %0 = stablehlo.constant dense<[[[8, 6, 7, 2], [7, 3, 8, 6], [6, 5, 6, 5]], [[7, 1, 5, 4], [4, 9, 9, 0], [6, 2, 6, 8]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<0> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<2x3x4xui8>
  %w0 = stablehlo.constant dense<[[[8, 6, 7, 2], [7, 3, 8, 6], [6, 5, 6, 5]], [[7, 1, 5, 4], [4, 9, 9, 0], [6, 2, 6, 8]]]> : tensor<2x3x4xui8>
  check.expect_eq %r, %w0 : tensor<2x3x4xui8>
  return
}
// -----
func.func @reduce_multiply_13() {
  %0 = stablehlo.constant dense<[[[8, 6, 7, 2], [7, 3, 8, 6], [6, 5, 6, 5]], [[7, 1, 5, 4], [4, 9, 9, 0], [6, 2, 6, 8]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<1> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<2x4xui8>
  %w0 = stablehlo.constant dense<[[80, 90, 80, 60], [168, 18, 14, 0]]> : tensor<2x4xui8>
  check.expect_eq %r, %w0 : tensor<2x4xui8>
  return
}
// -----
func.func @reduce_multiply_14() {
  %0 = stablehlo.constant dense<[[[8, 6, 7, 2], [7, 3, 8, 6], [6, 5, 6, 5]], [[7, 1, 5, 4], [4, 9, 9, 0], [6, 2, 6, 8]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<1> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [0, 2] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<3xui8>
  %w0 = stablehlo.constant dense<[128, 0, 0]> : tensor<3xui8>
  check.expect_eq %r, %w0 : tensor<3xui8>
  return
}
// -----
func.func @reduce_multiply_15() {
  %0 = stablehlo.constant dense<[[[8, 6, 7, 2], [7, 3, 8, 6], [6, 5, 6, 5]], [[7, 1, 5, 4], [4, 9, 9, 0], [6, 2, 6, 8]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<1> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [0, 1, 2] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<ui8>
  %w0 = stablehlo.constant dense<0> : tensor<ui8>
  check.expect_eq %r, %w0 : tensor<ui8>
  return
}
// -----
func.func @reduce_multiply_16() {
  %0 = stablehlo.constant dense<[[[8, 6, 7, 2], [7, 3, 8, 6], [6, 5, 6, 5]], [[7, 1, 5, 4], [4, 9, 9, 0], [6, 2, 6, 8]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<1> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.multiply across dimensions = [] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<2x3x4xui8>
  %w0 = stablehlo.constant dense<[[[8, 6, 7, 2], [7, 3, 8, 6], [6, 5, 6, 5]], [[7, 1, 5, 4], [4, 9, 9, 0], [6, 2, 6, 8]]]> : tensor<2x3x4xui8>
  check.expect_eq %r, %w0 : tensor<2x3x4xui8>
  return
}
// -----
func.func @reduce_minimum_13() {
  %0 = stablehlo.constant dense<[[[8, 6, 7, 2], [7, 3, 8, 6], [6, 5, 6, 5]], [[7, 1, 5, 4], [4, 9, 9, 0], [6, 2, 6, 8]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<10> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<2x4xui8>
  %w0 = stablehlo.constant dense<[[6, 3, 6, 2], [4, 1, 5, 0]]> : tensor<2x4xui8>
  check.expect_eq %r, %w0 : tensor<2x4xui8>
  return
}
// -----
func.func @reduce_minimum_14() {
  %0 = stablehlo.constant dense<[[[8, 6, 7, 2], [7, 3, 8, 6], [6, 5, 6, 5]], [[7, 1, 5, 4], [4, 9, 9, 0], [6, 2, 6, 8]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<10> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [0, 2] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<3xui8>
  %w0 = stablehlo.constant dense<[1, 0, 2]> : tensor<3xui8>
  check.expect_eq %r, %w0 : tensor<3xui8>
  return
}
// -----
func.func @reduce_minimum_15() {
  %0 = stablehlo.constant dense<[[[8, 6, 7, 2], [7, 3, 8, 6], [6, 5, 6, 5]], [[7, 1, 5, 4], [4, 9, 9, 0], [6, 2, 6, 8]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<10> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [0, 1, 2] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<ui8>
  %w0 = stablehlo.constant dense<0> : tensor<ui8>
  check.expect_eq %r, %w0 : tensor<ui8>
  return
}
// -----
func.func @reduce_minimum_16() {
  %0 = stablehlo.constant dense<[[[8, 6, 7, 2], [7, 3, 8, 6], [6, 5, 6, 5]], [[7, 1, 5, 4], [4, 9, 9, 0], [6, 2, 6, 8]]]> : tensor<2x3x4xui8>
  %1 = stablehlo.constant dense<10> : tensor<ui8>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [] : (tensor<2x3x4xui8>, tensor<ui8>) -> tensor<2x3x4xui8>
  %w0 = stablehlo.constant dense<[[[8, 6, 7, 2], [7, 3, 8, 6], [6, 5, 6, 5]], [[7, 1, 5, 4], [4, 9, 9, 0], [6, 2, 6, 8]]]> : tensor<2x3x4xui8>
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
  %0 = stablehlo.constant dense<[[[0x4050, 0x3E80, 0xC030, 0xBE80], [0xBF80, 0x4040, 0xBFE0, 0x3FE0], [0x3FA0, 0xC040, 0x4030, 0xBF80]], [[0xBFA0, 0xC020, 0x3FA0, 0x3FA0], [0x4060, 0x4040, 0xBF80, 0xBF80], [0xC010, 0x3FA0, 0xBE80, 0x3F00]]]> : tensor<2x3x4xbf16>
  %1 = stablehlo.constant dense<0xC110> : tensor<bf16>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3x4xbf16>, tensor<bf16>) -> tensor<2x4xbf16>
  %w0 = stablehlo.constant dense<[[0x4050, 0x4040, 0x4030, 0x3FE0], [0x4060, 0x4040, 0x3FA0, 0x3FA0]]> : tensor<2x4xbf16>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x4xbf16>
  return
}
// -----
func.func @reduce_maximum_18() {
  %0 = stablehlo.constant dense<[[[0x4050, 0x3E80, 0xC030, 0xBE80], [0xBF80, 0x4040, 0xBFE0, 0x3FE0], [0x3FA0, 0xC040, 0x4030, 0xBF80]], [[0xBFA0, 0xC020, 0x3FA0, 0x3FA0], [0x4060, 0x4040, 0xBF80, 0xBF80], [0xC010, 0x3FA0, 0xBE80, 0x3F00]]]> : tensor<2x3x4xbf16>
  %1 = stablehlo.constant dense<0xC110> : tensor<bf16>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [0, 2] : (tensor<2x3x4xbf16>, tensor<bf16>) -> tensor<3xbf16>
  %w0 = stablehlo.constant dense<[0x4050, 0x4060, 0x4030]> : tensor<3xbf16>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<3xbf16>
  return
}
// -----
func.func @reduce_maximum_19() {
  %0 = stablehlo.constant dense<[[[0x4050, 0x3E80, 0xC030, 0xBE80], [0xBF80, 0x4040, 0xBFE0, 0x3FE0], [0x3FA0, 0xC040, 0x4030, 0xBF80]], [[0xBFA0, 0xC020, 0x3FA0, 0x3FA0], [0x4060, 0x4040, 0xBF80, 0xBF80], [0xC010, 0x3FA0, 0xBE80, 0x3F00]]]> : tensor<2x3x4xbf16>
  %1 = stablehlo.constant dense<0xC110> : tensor<bf16>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<2x3x4xbf16>, tensor<bf16>) -> tensor<bf16>
  %w0 = stablehlo.constant dense<0x4060> : tensor<bf16>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<bf16>
  return
}
// -----
func.func @reduce_maximum_20() {
  %0 = stablehlo.constant dense<[[[0x4050, 0x3E80, 0xC030, 0xBE80], [0xBF80, 0x4040, 0xBFE0, 0x3FE0], [0x3FA0, 0xC040, 0x4030, 0xBF80]], [[0xBFA0, 0xC020, 0x3FA0, 0x3FA0], [0x4060, 0x4040, 0xBF80, 0xBF80], [0xC010, 0x3FA0, 0xBE80, 0x3F00]]]> : tensor<2x3x4xbf16>
  %1 = stablehlo.constant dense<0xC110> : tensor<bf16>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.maximum across dimensions = [] : (tensor<2x3x4xbf16>, tensor<bf16>) -> tensor<2x3x4xbf16>
  %w0 = stablehlo.constant dense<[[[0x4050, 0x3E80, 0xC030, 0xBE80], [0xBF80, 0x4040, 0xBFE0, 0x3FE0], [0x3FA0, 0xC040, 0x4030, 0xBF80]], [[0xBFA0, 0xC020, 0x3FA0, 0x3FA0], [0x4060, 0x4040, 0xBF80, 0xBF80], [0xC010, 0x3FA0, 0xBE80, 0x3F00]]]> : tensor<2x3x4xbf16>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x3x4xbf16>
  return
}
// -----
func.func @reduce_minimum_17() {
  %0 = stablehlo.constant dense<[[[0x4050, 0x3E80, 0xC030, 0xBE80], [0xBF80, 0x4040, 0xBFE0, 0x3FE0], [0x3FA0, 0xC040, 0x4030, 0xBF80]], [[0xBFA0, 0xC020, 0x3FA0, 0x3FA0], [0x4060, 0x4040, 0xBF80, 0xBF80], [0xC010, 0x3FA0, 0xBE80, 0x3F00]]]> : tensor<2x3x4xbf16>
  %1 = stablehlo.constant dense<0x4120> : tensor<bf16>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3x4xbf16>, tensor<bf16>) -> tensor<2x4xbf16>
  %w0 = stablehlo.constant dense<[[0xBF80, 0xC040, 0xC030, 0xBF80], [0xC010, 0xC020, 0xBF80, 0xBF80]]> : tensor<2x4xbf16>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x4xbf16>
  return
}
// -----
func.func @reduce_minimum_18() {
  %0 = stablehlo.constant dense<[[[0x4050, 0x3E80, 0xC030, 0xBE80], [0xBF80, 0x4040, 0xBFE0, 0x3FE0], [0x3FA0, 0xC040, 0x4030, 0xBF80]], [[0xBFA0, 0xC020, 0x3FA0, 0x3FA0], [0x4060, 0x4040, 0xBF80, 0xBF80], [0xC010, 0x3FA0, 0xBE80, 0x3F00]]]> : tensor<2x3x4xbf16>
  %1 = stablehlo.constant dense<0x4120> : tensor<bf16>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [0, 2] : (tensor<2x3x4xbf16>, tensor<bf16>) -> tensor<3xbf16>
  %w0 = stablehlo.constant dense<[0xC030, 0xBFE0, 0xC040]> : tensor<3xbf16>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<3xbf16>
  return
}
// -----
func.func @reduce_minimum_19() {
  %0 = stablehlo.constant dense<[[[0x4050, 0x3E80, 0xC030, 0xBE80], [0xBF80, 0x4040, 0xBFE0, 0x3FE0], [0x3FA0, 0xC040, 0x4030, 0xBF80]], [[0xBFA0, 0xC020, 0x3FA0, 0x3FA0], [0x4060, 0x4040, 0xBF80, 0xBF80], [0xC010, 0x3FA0, 0xBE80, 0x3F00]]]> : tensor<2x3x4xbf16>
  %1 = stablehlo.constant dense<0x4120> : tensor<bf16>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [0, 1, 2] : (tensor<2x3x4xbf16>, tensor<bf16>) -> tensor<bf16>
  %w0 = stablehlo.constant dense<0xC040> : tensor<bf16>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<bf16>
  return
}
// -----
func.func @reduce_minimum_20() {
  %0 = stablehlo.constant dense<[[[0x4050, 0x3E80, 0xC030, 0xBE80], [0xBF80, 0x4040, 0xBFE0, 0x3FE0], [0x3FA0, 0xC040, 0x4030, 0xBF80]], [[0xBFA0, 0xC020, 0x3FA0, 0x3FA0], [0x4060, 0x4040, 0xBF80, 0xBF80], [0xC010, 0x3FA0, 0xBE80, 0x3F00]]]> : tensor<2x3x4xbf16>
  %1 = stablehlo.constant dense<0x4120> : tensor<bf16>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.minimum across dimensions = [] : (tensor<2x3x4xbf16>, tensor<bf16>) -> tensor<2x3x4xbf16>
  %w0 = stablehlo.constant dense<[[[0x4050, 0x3E80, 0xC030, 0xBE80], [0xBF80, 0x4040, 0xBFE0, 0x3FE0], [0x3FA0, 0xC040, 0x4030, 0xBF80]], [[0xBFA0, 0xC020, 0x3FA0, 0x3FA0], [0x4060, 0x4040, 0xBF80, 0xBF80], [0xC010, 0x3FA0, 0xBE80, 0x3F00]]]> : tensor<2x3x4xbf16>
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
  %0 = stablehlo.constant dense<[[false, false, true, true], [false, true, true, false], [true, false, false, true]]> : tensor<3x4xi1>
  %1 = stablehlo.constant dense<true> : tensor<i1>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.and across dimensions = [1] : (tensor<3x4xi1>, tensor<i1>) -> tensor<3xi1>
  %w0 = stablehlo.constant dense<[false, false, false]> : tensor<3xi1>
  check.expect_eq %r, %w0 : tensor<3xi1>
  return
}
// -----
func.func @reduce_or() {
  %0 = stablehlo.constant dense<[[false, false, false, true], [true, false, false, true], [true, false, false, true]]> : tensor<3x4xi1>
  %1 = stablehlo.constant dense<false> : tensor<i1>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.or across dimensions = [1] : (tensor<3x4xi1>, tensor<i1>) -> tensor<3xi1>
  %w0 = stablehlo.constant dense<[true, true, true]> : tensor<3xi1>
  check.expect_eq %r, %w0 : tensor<3xi1>
  return
}
// -----
func.func @reduce_xor() {
  %0 = stablehlo.constant dense<[[false, false, false, true], [true, true, false, true], [true, true, true, true]]> : tensor<3x4xi1>
  %1 = stablehlo.constant dense<false> : tensor<i1>
  %r = stablehlo.reduce(%0 init: %1) applies stablehlo.xor across dimensions = [1] : (tensor<3x4xi1>, tensor<i1>) -> tensor<3xi1>
  %w0 = stablehlo.constant dense<[true, true, false]> : tensor<3xi1>
  check.expect_eq %r, %w0 : tensor<3xi1>
  return
}
// -----
func.func @reduce_argmax() {
  %0 = stablehlo.constant dense<[[0xC0800000, 0xBFE00000, 0xC0300000, 0x3FA00000, 0x0], [0xBFA00000, 0x40800000, 0xC0300000, 0x40400000, 0x40500000], [0x40700000, 0xC0100000, 0x40400000, 0xBF000000, 0xBF400000]]> : tensor<3x5xf32>
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
  %w0 = stablehlo.constant dense<[0x3FA00000, 0x40800000, 0x40700000]> : tensor<3xf32>
  check.expect_close %r#0, %w0, max_ulp_difference = 0 : tensor<3xf32>, tensor<3xf32>
  %w1 = stablehlo.constant dense<[3, 1, 0]> : tensor<3xi32>
  check.expect_eq %r#1, %w1 : tensor<3xi32>
  return
}
// -----
func.func @reduce_window_sum() {
  %0 = stablehlo.constant dense<[[0x3F400000, 0xBF400000, 0x40000000, 0xC0500000, 0xC0100000, 0x40800000], [0xBFA00000, 0x40300000, 0xC0400000, 0x40700000, 0x40600000, 0xBF000000], [0xBF800000, 0x0, 0x40200000, 0x40800000, 0xC0000000, 0x40600000], [0xBE800000, 0x3FC00000, 0xBF800000, 0xC0400000, 0x3F800000, 0x3F000000], [0x3FA00000, 0x3FC00000, 0x3F000000, 0xC0300000, 0xC0300000, 0xC0300000]]> : tensor<5x6xf32>
  %1 = stablehlo.constant dense<0x0> : tensor<f32>
  %r = "stablehlo.reduce_window"(%0, %1) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<5x6xf32>, tensor<f32>) -> tensor<4x5xf32>
  %w0 = stablehlo.constant dense<[[0x3FC00000, 0x3F800000, 0xBF000000, 0x3FE00000, 0x40980000], [0x3F000000, 0x40100000, 0x40E80000, 0x41140000, 0x40900000], [0x3E800000, 0x40400000, 0x40200000, 0x0, 0x40400000], [0x40800000, 0x40200000, 0xC0C80000, 0xC0F00000, 0xC0800000]]> : tensor<4x5xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<4x5xf32>
  return
}
// -----
func.func @reduce_window_strides() {
  %0 = stablehlo.constant dense<[[0x3F400000, 0xBF400000, 0x40000000, 0xC0500000, 0xC0100000, 0x40800000], [0xBFA00000, 0x40300000, 0xC0400000, 0x40700000, 0x40600000, 0xBF000000], [0xBF800000, 0x0, 0x40200000, 0x40800000, 0xC0000000, 0x40600000], [0xBE800000, 0x3FC00000, 0xBF800000, 0xC0400000, 0x3F800000, 0x3F000000], [0x3FA00000, 0x3FC00000, 0x3F000000, 0xC0300000, 0xC0300000, 0xC0300000]]> : tensor<5x6xf32>
  %1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %r = "stablehlo.reduce_window"(%0, %1) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<5x6xf32>, tensor<f32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x40300000, 0x40700000, 0x40800000], [0x3FC00000, 0x40800000, 0x40600000]]> : tensor<2x3xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x3xf32>
  return
}
// -----
func.func @reduce_window_pad() {
  %0 = stablehlo.constant dense<[[0x3F400000, 0xBF400000, 0x40000000, 0xC0500000, 0xC0100000, 0x40800000], [0xBFA00000, 0x40300000, 0xC0400000, 0x40700000, 0x40600000, 0xBF000000], [0xBF800000, 0x0, 0x40200000, 0x40800000, 0xC0000000, 0x40600000], [0xBE800000, 0x3FC00000, 0xBF800000, 0xC0400000, 0x3F800000, 0x3F000000], [0x3FA00000, 0x3FC00000, 0x3F000000, 0xC0300000, 0xC0300000, 0xC0300000]]> : tensor<5x6xf32>
  %1 = stablehlo.constant dense<0x0> : tensor<f32>
  %r = "stablehlo.reduce_window"(%0, %1) <{window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 1, 1>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[1, 1], [2, 1]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<5x6xf32>, tensor<f32>) -> tensor<6x7xf32>
  %w0 = stablehlo.constant dense<[[0x3F400000, 0x0, 0x40000000, 0xC0000000, 0xC0600000, 0xBFC00000, 0x3FE00000], [0xBF000000, 0x3FC00000, 0x3F000000, 0x3FC00000, 0x3F400000, 0x40A80000, 0x40980000], [0xC0100000, 0x3F000000, 0x0, 0x41200000, 0x410C0000, 0x41440000, 0x40900000], [0xBFA00000, 0x3E800000, 0x3FE00000, 0x40800000, 0x3FC00000, 0x40800000, 0x40400000], [0x3F800000, 0x40800000, 0x40600000, 0xC0500000, 0xC1000000, 0xC11C0000, 0xC0800000], [0x3FA00000, 0x40300000, 0x40500000, 0xBF400000, 0xC0A00000, 0xC1040000, 0xC0B00000]]> : tensor<6x7xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<6x7xf32>
  return
}
// -----
func.func @reduce_window_negative_pad() {
  %0 = stablehlo.constant dense<[[0x3F400000, 0xBF400000, 0x40000000, 0xC0500000, 0xC0100000, 0x40800000], [0xBFA00000, 0x40300000, 0xC0400000, 0x40700000, 0x40600000, 0xBF000000], [0xBF800000, 0x0, 0x40200000, 0x40800000, 0xC0000000, 0x40600000], [0xBE800000, 0x3FC00000, 0xBF800000, 0xC0400000, 0x3F800000, 0x3F000000], [0x3FA00000, 0x3FC00000, 0x3F000000, 0xC0300000, 0xC0300000, 0xC0300000]]> : tensor<5x6xf32>
  %1 = stablehlo.constant dense<0x0> : tensor<f32>
  %r = "stablehlo.reduce_window"(%0, %1) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[-1, 0], [0, -1]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<5x6xf32>, tensor<f32>) -> tensor<3x4xf32>
  %w0 = stablehlo.constant dense<[[0x3F000000, 0x40100000, 0x40E80000, 0x41140000], [0x3E800000, 0x40400000, 0x40200000, 0x0], [0x40800000, 0x40200000, 0xC0C80000, 0xC0F00000]]> : tensor<3x4xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<3x4xf32>
  return
}
// -----
func.func @reduce_window_dilations() {
  %0 = stablehlo.constant dense<[[0x3F400000, 0xBF400000, 0x40000000, 0xC0500000, 0xC0100000, 0x40800000], [0xBFA00000, 0x40300000, 0xC0400000, 0x40700000, 0x40600000, 0xBF000000], [0xBF800000, 0x0, 0x40200000, 0x40800000, 0xC0000000, 0x40600000], [0xBE800000, 0x3FC00000, 0xBF800000, 0xC0400000, 0x3F800000, 0x3F000000], [0x3FA00000, 0x3FC00000, 0x3F000000, 0xC0300000, 0xC0300000, 0xC0300000]]> : tensor<5x6xf32>
  %1 = stablehlo.constant dense<0x0> : tensor<f32>
  %r = "stablehlo.reduce_window"(%0, %1) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>, base_dilations = array<i64: 2, 2>, window_dilations = array<i64: 1, 2>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<5x6xf32>, tensor<f32>) -> tensor<8x9xf32>
  %w0 = stablehlo.constant dense<[[0x0, 0x0, 0x3FA00000, 0x0, 0xBFA00000, 0x0, 0xC0B00000, 0x0, 0x3FE00000], [0x3FC00000, 0x0, 0xBE800000, 0x0, 0x3F400000, 0x0, 0x40E80000, 0x0, 0x40400000], [0x3FC00000, 0x0, 0xBE800000, 0x0, 0x3F400000, 0x0, 0x40E80000, 0x0, 0x40400000], [0xBF800000, 0x0, 0x40200000, 0x0, 0x40D00000, 0x0, 0x40000000, 0x0, 0x3FC00000], [0xBF800000, 0x0, 0x40200000, 0x0, 0x40D00000, 0x0, 0x40000000, 0x0, 0x3FC00000], [0x3FA00000, 0x0, 0x3F000000, 0x0, 0xC0800000, 0x0, 0xC0000000, 0x0, 0x3FC00000], [0x3FA00000, 0x0, 0x3F000000, 0x0, 0xC0800000, 0x0, 0xC0000000, 0x0, 0x3FC00000], [0x40300000, 0x0, 0x40000000, 0x0, 0xC0100000, 0x0, 0xC0B00000, 0x0, 0xC0B00000]]> : tensor<8x9xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<8x9xf32>
  return
}
// -----
func.func @reduce_window_window_dilation() {
  %0 = stablehlo.constant dense<[[0x3F400000, 0xBF400000, 0x40000000, 0xC0500000, 0xC0100000, 0x40800000], [0xBFA00000, 0x40300000, 0xC0400000, 0x40700000, 0x40600000, 0xBF000000], [0xBF800000, 0x0, 0x40200000, 0x40800000, 0xC0000000, 0x40600000], [0xBE800000, 0x3FC00000, 0xBF800000, 0xC0400000, 0x3F800000, 0x3F000000], [0x3FA00000, 0x3FC00000, 0x3F000000, 0xC0300000, 0xC0300000, 0xC0300000]]> : tensor<5x6xf32>
  %1 = stablehlo.constant dense<0x41100000> : tensor<f32>
  %r = "stablehlo.reduce_window"(%0, %1) <{window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 1, 1>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 2, 2>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.minimum %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<5x6xf32>, tensor<f32>) -> tensor<3x2xf32>
  %w0 = stablehlo.constant dense<[[0xC0100000, 0xC0500000], [0xC0400000, 0xC0400000], [0xC0300000, 0xC0300000]]> : tensor<3x2xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<3x2xf32>
  return
}
// -----
func.func @reduce_window_integers() {
  %0 = stablehlo.constant dense<[[-3, 7, 1, 5, -5, 5], [-3, 4, -7, 3, 7, 5], [-4, -1, 0, 3, -2, 5], [-3, -7, -4, 8, 5, 0], [-6, 6, -9, -6, -3, -9]]> : tensor<5x6xi32>
  %1 = stablehlo.constant dense<0> : tensor<i32>
  %r = "stablehlo.reduce_window"(%0, %1) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<5x6xi32>, tensor<i32>) -> tensor<4x5xi32>
  %w0 = stablehlo.constant dense<[[5, 5, 2, 10, 12], [-4, -4, -1, 11, 15], [-15, -12, 7, 14, 8], [-10, -14, -11, 4, -7]]> : tensor<4x5xi32>
  check.expect_eq %r, %w0 : tensor<4x5xi32>
  return
}
// -----
func.func @reduce_window_cumsum() {
  %0 = stablehlo.constant dense<[0x3F800000, 0x3FA00000, 0xC0600000, 0xBFA00000, 0xBFA00000, 0xC0000000]> : tensor<6xf32>
  %1 = stablehlo.constant dense<0x0> : tensor<f32>
  %r = "stablehlo.reduce_window"(%0, %1) <{window_dimensions = array<i64: 6>, window_strides = array<i64: 1>, base_dilations = array<i64: 1>, window_dilations = array<i64: 1>, padding = dense<[[5, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
  %w0 = stablehlo.constant dense<[0x3F800000, 0x40100000, 0xBFA00000, 0xC0200000, 0xC0700000, 0xC0B80000]> : tensor<6xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<6xf32>
  return
}
// -----
func.func @reduce_window_none() {
  %0 = stablehlo.constant dense<[[0xC0100000, 0xC0100000], [0x3FA00000, 0x3F400000]]> : tensor<2x2xf32>
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
  %0 = stablehlo.constant dense<[[0x3FC00000, 0x3E800000, 0xC0000000, 0xBE800000, 0xBFC00000, 0x3F000000], [0x40300000, 0x3E800000, 0x40200000, 0xC0800000, 0xC0000000, 0xBF400000], [0x40000000, 0xBF800000, 0xC0500000, 0x40800000, 0x40200000, 0x3E800000], [0xBFA00000, 0xC0700000, 0xBFE00000, 0x40300000, 0x3F400000, 0x3F800000], [0xC0600000, 0xC0000000, 0x3F800000, 0xBFC00000, 0x40800000, 0xC0600000]]> : tensor<5x6xf32>
  %1 = stablehlo.constant dense<[[0x3FC00000, 0xC0500000, 0x40400000], [0xBE800000, 0xBFE00000, 0xBF800000]]> : tensor<2x3xf32>
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
  %w0 = stablehlo.constant dense<[[0x0, 0x0, 0x0, 0x0, 0x0, 0x40400000], [0x3FC00000, 0x0, 0xC0500000, 0x0, 0x0, 0x0], [0xBE800000, 0x0, 0x0, 0xBFE00000, 0xBF800000, 0x0], [0x0, 0x0, 0x0, 0x0, 0x0, 0x0], [0x0, 0x0, 0x0, 0x0, 0x0, 0x0]]> : tensor<5x6xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<5x6xf32>, tensor<5x6xf32>
  return
}
// -----
func.func @select_and_scatter_2() {
  %0 = stablehlo.constant dense<[[0x3FC00000, 0xC0300000, 0xBE800000, 0xC0500000, 0x3FC00000, 0xBF000000], [0x3F400000, 0x3FE00000, 0xC0300000, 0x40000000, 0xBFA00000, 0x40200000], [0x0, 0x3F400000, 0xBFC00000, 0xC0400000, 0xC0500000, 0xC0400000], [0xC0100000, 0xC0600000, 0xBFC00000, 0xC0000000, 0x40500000, 0xC0400000], [0xC0800000, 0x3FE00000, 0x3F800000, 0x40500000, 0x40700000, 0x3FC00000]]> : tensor<5x6xf32>
  %1 = stablehlo.constant dense<[[0x40600000, 0xC0800000, 0x3F800000], [0xBE800000, 0x3F800000, 0x3E800000], [0xBFC00000, 0xC0800000, 0xC0800000], [0x40400000, 0x3FA00000, 0x40000000], [0x3FC00000, 0x3FE00000, 0x40400000]]> : tensor<5x3xf32>
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
  %w0 = stablehlo.constant dense<[[0x0, 0x0, 0x0, 0x0, 0x0, 0x0], [0x0, 0x3FE00000, 0x0, 0xC0E00000, 0x0, 0x3FA00000], [0x0, 0x0, 0x0, 0x0, 0x0, 0x0], [0x0, 0x0, 0x0, 0x0, 0xC0800000, 0x0], [0x0, 0x40900000, 0x0, 0x40400000, 0x40A00000, 0x0]]> : tensor<5x6xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<5x6xf32>, tensor<5x6xf32>
  return
}
// -----
func.func @select_and_scatter_3() {
  %0 = stablehlo.constant dense<[[0xBFA00000, 0xBFA00000, 0x3FC00000, 0x40400000, 0xC0600000, 0x40500000], [0xC0000000, 0x40200000, 0x3E800000, 0x0, 0xC0100000, 0xC0400000], [0xC0500000, 0x3FE00000, 0x40400000, 0x40700000, 0x3FA00000, 0xC0800000], [0x40400000, 0xC0100000, 0x40200000, 0xC0300000, 0xBF800000, 0xC0700000], [0x3FA00000, 0x40100000, 0x40100000, 0x3FA00000, 0x40100000, 0xC0400000]]> : tensor<5x6xf32>
  %1 = stablehlo.constant dense<[[0x40500000, 0x3FC00000, 0x40800000], [0x3FC00000, 0xBFC00000, 0xBF400000], [0x0, 0xC0400000, 0x3FE00000]]> : tensor<3x3xf32>
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
  %w0 = stablehlo.constant dense<[[0x0, 0x0, 0x0, 0x3FC00000, 0x0, 0x40800000], [0x0, 0x40500000, 0x0, 0x0, 0x0, 0x0], [0x0, 0x0, 0x0, 0xC0100000, 0x0, 0x0], [0x3FC00000, 0x0, 0x0, 0x0, 0x0, 0x0], [0x0, 0xC0400000, 0x0, 0x0, 0x3FE00000, 0x0]]> : tensor<5x6xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<5x6xf32>, tensor<5x6xf32>
  return
}
// -----
func.func @select_and_scatter_4() {
  %0 = stablehlo.constant dense<[[-9, 9, 0, -3, 8, -7], [5, 5, -7, -1, 4, 0], [-2, 9, 6, 4, -8, -9], [-8, -2, -5, 1, 6, 2], [-8, -1, 5, -6, 5, 5]]> : tensor<5x6xi32>
  %1 = stablehlo.constant dense<[[1, 3, 5], [4, -3, -7]]> : tensor<2x3xi32>
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
  %w0 = stablehlo.constant dense<[[0, 1, 3, 0, 5, 0], [0, 0, 0, 0, 0, 0], [0, 4, -3, 0, 0, 0], [0, 0, 0, 0, -7, 0], [0, 0, 0, 0, 0, 0]]> : tensor<5x6xi32>
  check.expect_eq %r, %w0 : tensor<5x6xi32>
  return
}
// -----
func.func @select_and_scatter_5() {
  %0 = stablehlo.constant dense<[[9, 9, 2, -4, 8, 8], [-5, 2, -4, -6, 4, -4], [-2, -9, 1, 3, 6, -5], [3, 4, -9, -9, 2, 2], [-8, -9, -2, -3, 7, -6]]> : tensor<5x6xi32>
  %1 = stablehlo.constant dense<[[-3, -5, -1], [5, 0, -7], [3, 1, 8], [-8, -4, 3], [8, 9, 4]]> : tensor<5x3xi32>
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
  %w0 = stablehlo.constant dense<[[2, 0, -5, 0, -8, 0], [0, 0, 0, 0, 0, 0], [0, 0, 0, -3, 8, 0], [0, 3, 0, 0, 0, 0], [0, 0, 9, 0, 7, 0]]> : tensor<5x6xi32>
  check.expect_eq %r, %w0 : tensor<5x6xi32>
  return
}
// -----
func.func @select_and_scatter_6() {
  %0 = stablehlo.constant dense<[[8, 5, 8, -7, -1, 4], [6, -4, -1, 9, -8, 4], [-9, -2, -5, 3, -5, -9], [-4, -7, 6, 0, 2, 1], [-1, 2, -2, -6, 6, -2]]> : tensor<5x6xi32>
  %1 = stablehlo.constant dense<[[7, 7, -3], [-2, 4, 7], [-7, -2, -5]]> : tensor<3x3xi32>
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
  %w0 = stablehlo.constant dense<[[7, 0, 0, 0, 0, 0], [0, 0, 0, 4, 0, 0], [0, -2, 0, 7, 0, 0], [0, 0, 4, 0, 0, 0], [0, -9, 0, 0, -5, 0]]> : tensor<5x6xi32>
  check.expect_eq %r, %w0 : tensor<5x6xi32>
  return
}
