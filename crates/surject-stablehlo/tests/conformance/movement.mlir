// Written by generate.py.
func.func @transpose() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %r = stablehlo.transpose %0, dims = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %w0 = stablehlo.constant dense<[[[0xC0400000, 0x3FE00000, 0xC0000000], [0xC0400000, 0xC0200000, 0xC0800000]], [[0x40100000, 0x40400000, 0x40100000], [0xC0100000, 0x3F400000, 0xBFE00000]], [[0xC0500000, 0xBF000000, 0x40200000], [0xC0800000, 0xC0300000, 0xBF000000]], [[0x3F400000, 0x3FE00000, 0xC0000000], [0xBFA00000, 0x40000000, 0xC0400000]]]> : tensor<4x2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<4x2x3xf32>, tensor<4x2x3xf32>
  return
}
// -----
func.func @reshape() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %r = stablehlo.reshape %0 : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %w0 = stablehlo.constant dense<[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000], [0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]> : tensor<6x4xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<6x4xf32>, tensor<6x4xf32>
  return
}
// -----
func.func @reverse() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %r = stablehlo.reverse %0, dims = [0, 2] : tensor<2x3x4xf32>
  %w0 = stablehlo.constant dense<[[[0xBFA00000, 0xC0800000, 0xC0100000, 0xC0400000], [0x40000000, 0xC0300000, 0x3F400000, 0xC0200000], [0xC0400000, 0xBF000000, 0xBFE00000, 0xC0800000]], [[0x3F400000, 0xC0500000, 0x40100000, 0xC0400000], [0x3FE00000, 0xBF000000, 0x40400000, 0x3FE00000], [0xC0000000, 0x40200000, 0x40100000, 0xC0000000]]]> : tensor<2x3x4xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3x4xf32>, tensor<2x3x4xf32>
  return
}
// -----
func.func @slice() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %r = stablehlo.slice %0 [0:2, 1:3, 0:4:3] : (tensor<2x3x4xf32>) -> tensor<2x2x2xf32>
  %w0 = stablehlo.constant dense<[[[0x3FE00000, 0x3FE00000], [0xC0000000, 0xC0000000]], [[0xC0200000, 0x40000000], [0xC0800000, 0xC0400000]]]> : tensor<2x2x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x2x2xf32>, tensor<2x2x2xf32>
  return
}
// -----
func.func @broadcast_in_dim() {
  %0 = stablehlo.constant dense<[0xBFE00000, 0x3FE00000, 0xC0500000]> : tensor<3xf32>
  %r = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<3xf32>) -> tensor<2x3x4xf32>
  %w0 = stablehlo.constant dense<[[[0xBFE00000, 0xBFE00000, 0xBFE00000, 0xBFE00000], [0x3FE00000, 0x3FE00000, 0x3FE00000, 0x3FE00000], [0xC0500000, 0xC0500000, 0xC0500000, 0xC0500000]], [[0xBFE00000, 0xBFE00000, 0xBFE00000, 0xBFE00000], [0x3FE00000, 0x3FE00000, 0x3FE00000, 0x3FE00000], [0xC0500000, 0xC0500000, 0xC0500000, 0xC0500000]]]> : tensor<2x3x4xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3x4xf32>, tensor<2x3x4xf32>
  return
}
// -----
func.func @broadcast_in_dim_ones() {
  %0 = stablehlo.constant dense<[[0xC0000000, 0x3F400000]]> : tensor<1x2xf32>
  %r = stablehlo.broadcast_in_dim %0, dims = [2, 0] : (tensor<1x2xf32>) -> tensor<2x2x4xf32>
  %w0 = stablehlo.constant dense<[[[0xC0000000, 0xC0000000, 0xC0000000, 0xC0000000], [0xC0000000, 0xC0000000, 0xC0000000, 0xC0000000]], [[0x3F400000, 0x3F400000, 0x3F400000, 0x3F400000], [0x3F400000, 0x3F400000, 0x3F400000, 0x3F400000]]]> : tensor<2x2x4xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x2x4xf32>, tensor<2x2x4xf32>
  return
}
// -----
func.func @broadcast_in_dim_scalar() {
  %0 = stablehlo.constant dense<0xC0700000> : tensor<f32>
  %r = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
  %w0 = stablehlo.constant dense<[[0xC0700000, 0xC0700000], [0xC0700000, 0xC0700000]]> : tensor<2x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x2xf32>, tensor<2x2xf32>
  return
}
// -----
func.func @broadcast() {
  %0 = stablehlo.constant dense<[0xC0800000, 0x0, 0x40700000]> : tensor<3xf32>
  %r = stablehlo.broadcast %0, sizes = [2, 1] : (tensor<3xf32>) -> tensor<2x1x3xf32>
  %w0 = stablehlo.constant dense<[[[0xC0800000, 0x0, 0x40700000]], [[0xC0800000, 0x0, 0x40700000]]]> : tensor<2x1x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x1x3xf32>, tensor<2x1x3xf32>
  return
}
// -----
func.func @concatenate() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<> : tensor<2x0x4xf32>
  %2 = stablehlo.constant dense<[[[0x40500000, 0x40400000, 0xC0100000, 0x3FE00000], [0xBFC00000, 0xC0800000, 0xC0100000, 0x3FE00000]], [[0x40400000, 0x40800000, 0x3FA00000, 0xC0500000], [0x40300000, 0x3F400000, 0x40300000, 0xC0400000]]]> : tensor<2x2x4xf32>
  %r = stablehlo.concatenate %0, %1, %2, dim = 1 : (tensor<2x3x4xf32>, tensor<2x0x4xf32>, tensor<2x2x4xf32>) -> tensor<2x5x4xf32>
  %w0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000], [0x40500000, 0x40400000, 0xC0100000, 0x3FE00000], [0xBFC00000, 0xC0800000, 0xC0100000, 0x3FE00000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000], [0x40400000, 0x40800000, 0x3FA00000, 0xC0500000], [0x40300000, 0x3F400000, 0x40300000, 0xC0400000]]]> : tensor<2x5x4xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x5x4xf32>, tensor<2x5x4xf32>
  return
}
// -----
func.func @concatenate_one() {
  %0 = stablehlo.constant dense<[0x3F400000, 0x40600000, 0xBFE00000]> : tensor<3xf32>
  %r = stablehlo.concatenate %0, dim = 0 : (tensor<3xf32>) -> tensor<3xf32>
  %w0 = stablehlo.constant dense<[0x3F400000, 0x40600000, 0xBFE00000]> : tensor<3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3xf32>, tensor<3xf32>
  return
}
// -----
func.func @pad() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x40500000> : tensor<f32>
  %r = stablehlo.pad %0, %1, low = [1, 0, 2], high = [0, 2, 1], interior = [0, 1, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<3x7x13xf32>
  %w0 = stablehlo.constant dense<[[[0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000], [0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000], [0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000], [0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000], [0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000], [0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000], [0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000]], [[0x40500000, 0x40500000, 0xC0400000, 0x40500000, 0x40500000, 0x40100000, 0x40500000, 0x40500000, 0xC0500000, 0x40500000, 0x40500000, 0x3F400000, 0x40500000], [0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000], [0x40500000, 0x40500000, 0x3FE00000, 0x40500000, 0x40500000, 0x40400000, 0x40500000, 0x40500000, 0xBF000000, 0x40500000, 0x40500000, 0x3FE00000, 0x40500000], [0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000], [0x40500000, 0x40500000, 0xC0000000, 0x40500000, 0x40500000, 0x40100000, 0x40500000, 0x40500000, 0x40200000, 0x40500000, 0x40500000, 0xC0000000, 0x40500000], [0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000], [0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000]], [[0x40500000, 0x40500000, 0xC0400000, 0x40500000, 0x40500000, 0xC0100000, 0x40500000, 0x40500000, 0xC0800000, 0x40500000, 0x40500000, 0xBFA00000, 0x40500000], [0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000], [0x40500000, 0x40500000, 0xC0200000, 0x40500000, 0x40500000, 0x3F400000, 0x40500000, 0x40500000, 0xC0300000, 0x40500000, 0x40500000, 0x40000000, 0x40500000], [0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000], [0x40500000, 0x40500000, 0xC0800000, 0x40500000, 0x40500000, 0xBFE00000, 0x40500000, 0x40500000, 0xBF000000, 0x40500000, 0x40500000, 0xC0400000, 0x40500000], [0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000], [0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000, 0x40500000]]]> : tensor<3x7x13xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3x7x13xf32>, tensor<3x7x13xf32>
  return
}
// -----
func.func @pad_2() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x40500000> : tensor<f32>
  %r = stablehlo.pad %0, %1, low = [-1, 1, -1], high = [0, -1, -2], interior = [0, 0, 1] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<1x3x4xf32>
  %w0 = stablehlo.constant dense<[[[0x40500000, 0x40500000, 0x40500000, 0x40500000], [0x40500000, 0xC0100000, 0x40500000, 0xC0800000], [0x40500000, 0x3F400000, 0x40500000, 0xC0300000]]]> : tensor<1x3x4xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<1x3x4xf32>, tensor<1x3x4xf32>
  return
}
// -----
func.func @pad_3() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x40500000> : tensor<f32>
  %r = stablehlo.pad %0, %1, low = [0, -2, 0], high = [0, -2, 0], interior = [0, 2, 0] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  %w0 = stablehlo.constant dense<[[[0x40500000, 0x40500000, 0x40500000, 0x40500000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0x40500000, 0x40500000, 0x40500000, 0x40500000]], [[0x40500000, 0x40500000, 0x40500000, 0x40500000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0x40500000, 0x40500000, 0x40500000, 0x40500000]]]> : tensor<2x3x4xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3x4xf32>, tensor<2x3x4xf32>
  return
}
// -----
func.func @pad_4() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0x40500000> : tensor<f32>
  %r = stablehlo.pad %0, %1, low = [-3, 0, 0], high = [2, 0, 0], interior = [0, 0, 0] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<1x3x4xf32>
  %w0 = stablehlo.constant dense<[[[0x40500000, 0x40500000, 0x40500000, 0x40500000], [0x40500000, 0x40500000, 0x40500000, 0x40500000], [0x40500000, 0x40500000, 0x40500000, 0x40500000]]]> : tensor<1x3x4xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<1x3x4xf32>, tensor<1x3x4xf32>
  return
}
// -----
func.func @pad_empty() {
  %0 = stablehlo.constant dense<> : tensor<0xf32>
  %1 = stablehlo.constant dense<0x40500000> : tensor<f32>
  %r = stablehlo.pad %0, %1, low = [2], high = [1], interior = [3] : (tensor<0xf32>, tensor<f32>) -> tensor<3xf32>
  %w0 = stablehlo.constant dense<[0x40500000, 0x40500000, 0x40500000]> : tensor<3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3xf32>, tensor<3xf32>
  return
}
// -----
func.func @dynamic_slice() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<0> : tensor<i32>
  %2 = stablehlo.constant dense<1> : tensor<i32>
  %3 = stablehlo.constant dense<5> : tensor<i32>
  %r = stablehlo.dynamic_slice %0, %1, %2, %3, sizes = [1, 2, 2] : (tensor<2x3x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
  %w0 = stablehlo.constant dense<[[[0xBF000000, 0x3FE00000], [0x40200000, 0xC0000000]]]> : tensor<1x2x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<1x2x2xf32>, tensor<1x2x2xf32>
  return
}
// -----
func.func @dynamic_update_slice() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<[[[0x3E800000, 0x40700000], [0xC0600000, 0x3F400000]]]> : tensor<1x2x2xf32>
  %2 = stablehlo.constant dense<0> : tensor<i32>
  %3 = stablehlo.constant dense<1> : tensor<i32>
  %4 = stablehlo.constant dense<5> : tensor<i32>
  %r = stablehlo.dynamic_update_slice %0, %1, %2, %3, %4 : (tensor<2x3x4xf32>, tensor<1x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x4xf32>
  %w0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0x3E800000, 0x40700000], [0xC0000000, 0x40100000, 0xC0600000, 0x3F400000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3x4xf32>, tensor<2x3x4xf32>
  return
}
// -----
func.func @dynamic_slice_2() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<-3> : tensor<i32>
  %2 = stablehlo.constant dense<100> : tensor<i32>
  %3 = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.dynamic_slice %0, %1, %2, %3, sizes = [1, 2, 2] : (tensor<2x3x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>
  %w0 = stablehlo.constant dense<[[[0x40400000, 0xBF000000], [0x40100000, 0x40200000]]]> : tensor<1x2x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<1x2x2xf32>, tensor<1x2x2xf32>
  return
}
// -----
func.func @dynamic_update_slice_2() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x40400000, 0xBF000000, 0x3FE00000], [0xC0000000, 0x40100000, 0x40200000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  %1 = stablehlo.constant dense<[[[0x3F000000, 0x3FA00000], [0xC0500000, 0xBFA00000]]]> : tensor<1x2x2xf32>
  %2 = stablehlo.constant dense<-3> : tensor<i32>
  %3 = stablehlo.constant dense<100> : tensor<i32>
  %4 = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.dynamic_update_slice %0, %1, %2, %3, %4 : (tensor<2x3x4xf32>, tensor<1x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x4xf32>
  %w0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000], [0x3FE00000, 0x3F000000, 0x3FA00000, 0x3FE00000], [0xC0000000, 0xC0500000, 0xBFA00000, 0xC0000000]], [[0xC0400000, 0xC0100000, 0xC0800000, 0xBFA00000], [0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000]]]> : tensor<2x3x4xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3x4xf32>, tensor<2x3x4xf32>
  return
}
// -----
func.func @transpose_2() {
  %0 = stablehlo.constant dense<[[[6, 7, 3, 2], [0, 0, 3, -6], [5, 5, 6, -6]], [[7, -5, 2, -1], [2, 6, 4, 9], [-2, -6, 3, 3]]]> : tensor<2x3x4xi8>
  %r = stablehlo.transpose %0, dims = [2, 0, 1] : (tensor<2x3x4xi8>) -> tensor<4x2x3xi8>
  %w0 = stablehlo.constant dense<[[[6, 0, 5], [7, 2, -2]], [[7, 0, 5], [-5, 6, -6]], [[3, 3, 6], [2, 4, 3]], [[2, -6, -6], [-1, 9, 3]]]> : tensor<4x2x3xi8>
  check.expect_eq %r, %w0 : tensor<4x2x3xi8>
  return
}
// -----
func.func @reshape_2() {
  %0 = stablehlo.constant dense<[[[6, 7, 3, 2], [0, 0, 3, -6], [5, 5, 6, -6]], [[7, -5, 2, -1], [2, 6, 4, 9], [-2, -6, 3, 3]]]> : tensor<2x3x4xi8>
  %r = stablehlo.reshape %0 : (tensor<2x3x4xi8>) -> tensor<6x4xi8>
  %w0 = stablehlo.constant dense<[[6, 7, 3, 2], [0, 0, 3, -6], [5, 5, 6, -6], [7, -5, 2, -1], [2, 6, 4, 9], [-2, -6, 3, 3]]> : tensor<6x4xi8>
  check.expect_eq %r, %w0 : tensor<6x4xi8>
  return
}
// -----
func.func @reverse_2() {
  %0 = stablehlo.constant dense<[[[6, 7, 3, 2], [0, 0, 3, -6], [5, 5, 6, -6]], [[7, -5, 2, -1], [2, 6, 4, 9], [-2, -6, 3, 3]]]> : tensor<2x3x4xi8>
  %r = stablehlo.reverse %0, dims = [0, 2] : tensor<2x3x4xi8>
  %w0 = stablehlo.constant dense<[[[-1, 2, -5, 7], [9, 4, 6, 2], [3, 3, -6, -2]], [[2, 3, 7, 6], [-6, 3, 0, 0], [-6, 6, 5, 5]]]> : tensor<2x3x4xi8>
  check.expect_eq %r, %w0 : tensor<2x3x4xi8>
  return
}
// -----
func.func @slice_2() {
  %0 = stablehlo.constant dense<[[[6, 7, 3, 2], [0, 0, 3, -6], [5, 5, 6, -6]], [[7, -5, 2, -1], [2, 6, 4, 9], [-2, -6, 3, 3]]]> : tensor<2x3x4xi8>
  %r = stablehlo.slice %0 [0:2, 1:3, 0:4:3] : (tensor<2x3x4xi8>) -> tensor<2x2x2xi8>
  %w0 = stablehlo.constant dense<[[[0, -6], [5, -6]], [[2, 9], [-2, 3]]]> : tensor<2x2x2xi8>
  check.expect_eq %r, %w0 : tensor<2x2x2xi8>
  return
}
// -----
func.func @broadcast_in_dim_2() {
  %0 = stablehlo.constant dense<[6, -1, -3]> : tensor<3xi8>
  %r = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<3xi8>) -> tensor<2x3x4xi8>
  %w0 = stablehlo.constant dense<[[[6, 6, 6, 6], [-1, -1, -1, -1], [-3, -3, -3, -3]], [[6, 6, 6, 6], [-1, -1, -1, -1], [-3, -3, -3, -3]]]> : tensor<2x3x4xi8>
  check.expect_eq %r, %w0 : tensor<2x3x4xi8>
  return
}
// -----
func.func @broadcast_in_dim_ones_2() {
  %0 = stablehlo.constant dense<[[-3, 3]]> : tensor<1x2xi8>
  %r = stablehlo.broadcast_in_dim %0, dims = [2, 0] : (tensor<1x2xi8>) -> tensor<2x2x4xi8>
  %w0 = stablehlo.constant dense<[[[-3, -3, -3, -3], [-3, -3, -3, -3]], [[3, 3, 3, 3], [3, 3, 3, 3]]]> : tensor<2x2x4xi8>
  check.expect_eq %r, %w0 : tensor<2x2x4xi8>
  return
}
// -----
func.func @broadcast_in_dim_scalar_2() {
  %0 = stablehlo.constant dense<-2> : tensor<i8>
  %r = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i8>) -> tensor<2x2xi8>
  %w0 = stablehlo.constant dense<[[-2, -2], [-2, -2]]> : tensor<2x2xi8>
  check.expect_eq %r, %w0 : tensor<2x2xi8>
  return
}
// -----
func.func @broadcast_2() {
  %0 = stablehlo.constant dense<[8, 1, 6]> : tensor<3xi8>
  %r = stablehlo.broadcast %0, sizes = [2, 1] : (tensor<3xi8>) -> tensor<2x1x3xi8>
  %w0 = stablehlo.constant dense<[[[8, 1, 6]], [[8, 1, 6]]]> : tensor<2x1x3xi8>
  check.expect_eq %r, %w0 : tensor<2x1x3xi8>
  return
}
// -----
func.func @concatenate_2() {
  %0 = stablehlo.constant dense<[[[6, 7, 3, 2], [0, 0, 3, -6], [5, 5, 6, -6]], [[7, -5, 2, -1], [2, 6, 4, 9], [-2, -6, 3, 3]]]> : tensor<2x3x4xi8>
  %1 = stablehlo.constant dense<> : tensor<2x0x4xi8>
  %2 = stablehlo.constant dense<[[[-4, -5, 0, 0], [-9, -7, 3, -3]], [[-1, -7, 1, 5], [8, -3, 1, 8]]]> : tensor<2x2x4xi8>
  %r = stablehlo.concatenate %0, %1, %2, dim = 1 : (tensor<2x3x4xi8>, tensor<2x0x4xi8>, tensor<2x2x4xi8>) -> tensor<2x5x4xi8>
  %w0 = stablehlo.constant dense<[[[6, 7, 3, 2], [0, 0, 3, -6], [5, 5, 6, -6], [-4, -5, 0, 0], [-9, -7, 3, -3]], [[7, -5, 2, -1], [2, 6, 4, 9], [-2, -6, 3, 3], [-1, -7, 1, 5], [8, -3, 1, 8]]]> : tensor<2x5x4xi8>
  check.expect_eq %r, %w0 : tensor<2x5x4xi8>
  return
}
// -----
func.func @concatenate_one_2() {
  %0 = stablehlo.constant dense<[-4, 6, 8]> : tensor<3xi8>
  %r = stablehlo.concatenate %0, dim = 0 : (tensor<3xi8>) -> tensor<3xi8>
  %w0 = stablehlo.constant dense<[-4, 6, 8]> : tensor<3xi8>
  check.expect_eq %r, %w0 : tensor<3xi8>
  return
}
// -----
func.func @pad_5() {
  %0 = stablehlo.constant dense<[[[6, 7, 3, 2], [0, 0, 3, -6], [5, 5, 6, -6]], [[7, -5, 2, -1], [2, 6, 4, 9], [-2, -6, 3, 3]]]> : tensor<2x3x4xi8>
  %1 = stablehlo.constant dense<3> : tensor<i8>
  %r = stablehlo.pad %0, %1, low = [1, 0, 2], high = [0, 2, 1], interior = [0, 1, 2] : (tensor<2x3x4xi8>, tensor<i8>) -> tensor<3x7x13xi8>
  %w0 = stablehlo.constant dense<[[[3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3], [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3], [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3], [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3], [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3], [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3], [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3]], [[3, 3, 6, 3, 3, 7, 3, 3, 3, 3, 3, 2, 3], [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3], [3, 3, 0, 3, 3, 0, 3, 3, 3, 3, 3, -6, 3], [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3], [3, 3, 5, 3, 3, 5, 3, 3, 6, 3, 3, -6, 3], [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3], [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3]], [[3, 3, 7, 3, 3, -5, 3, 3, 2, 3, 3, -1, 3], [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3], [3, 3, 2, 3, 3, 6, 3, 3, 4, 3, 3, 9, 3], [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3], [3, 3, -2, 3, 3, -6, 3, 3, 3, 3, 3, 3, 3], [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3], [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3]]]> : tensor<3x7x13xi8>
  check.expect_eq %r, %w0 : tensor<3x7x13xi8>
  return
}
// -----
func.func @pad_6() {
  %0 = stablehlo.constant dense<[[[6, 7, 3, 2], [0, 0, 3, -6], [5, 5, 6, -6]], [[7, -5, 2, -1], [2, 6, 4, 9], [-2, -6, 3, 3]]]> : tensor<2x3x4xi8>
  %1 = stablehlo.constant dense<3> : tensor<i8>
  %r = stablehlo.pad %0, %1, low = [-1, 1, -1], high = [0, -1, -2], interior = [0, 0, 1] : (tensor<2x3x4xi8>, tensor<i8>) -> tensor<1x3x4xi8>
  %w0 = stablehlo.constant dense<[[[3, 3, 3, 3], [3, -5, 3, 2], [3, 6, 3, 4]]]> : tensor<1x3x4xi8>
  check.expect_eq %r, %w0 : tensor<1x3x4xi8>
  return
}
// -----
func.func @pad_7() {
  %0 = stablehlo.constant dense<[[[6, 7, 3, 2], [0, 0, 3, -6], [5, 5, 6, -6]], [[7, -5, 2, -1], [2, 6, 4, 9], [-2, -6, 3, 3]]]> : tensor<2x3x4xi8>
  %1 = stablehlo.constant dense<3> : tensor<i8>
  %r = stablehlo.pad %0, %1, low = [0, -2, 0], high = [0, -2, 0], interior = [0, 2, 0] : (tensor<2x3x4xi8>, tensor<i8>) -> tensor<2x3x4xi8>
  %w0 = stablehlo.constant dense<[[[3, 3, 3, 3], [0, 0, 3, -6], [3, 3, 3, 3]], [[3, 3, 3, 3], [2, 6, 4, 9], [3, 3, 3, 3]]]> : tensor<2x3x4xi8>
  check.expect_eq %r, %w0 : tensor<2x3x4xi8>
  return
}
// -----
func.func @pad_8() {
  %0 = stablehlo.constant dense<[[[6, 7, 3, 2], [0, 0, 3, -6], [5, 5, 6, -6]], [[7, -5, 2, -1], [2, 6, 4, 9], [-2, -6, 3, 3]]]> : tensor<2x3x4xi8>
  %1 = stablehlo.constant dense<3> : tensor<i8>
  %r = stablehlo.pad %0, %1, low = [-3, 0, 0], high = [2, 0, 0], interior = [0, 0, 0] : (tensor<2x3x4xi8>, tensor<i8>) -> tensor<1x3x4xi8>
  %w0 = stablehlo.constant dense<[[[3, 3, 3, 3], [3, 3, 3, 3], [3, 3, 3, 3]]]> : tensor<1x3x4xi8>
  check.expect_eq %r, %w0 : tensor<1x3x4xi8>
  return
}
// -----
func.func @pad_empty_2() {
  %0 = stablehlo.constant dense<> : tensor<0xi8>
  %1 = stablehlo.constant dense<3> : tensor<i8>
  %r = stablehlo.pad %0, %1, low = [2], high = [1], interior = [3] : (tensor<0xi8>, tensor<i8>) -> tensor<3xi8>
  %w0 = stablehlo.constant dense<[3, 3, 3]> : tensor<3xi8>
  check.expect_eq %r, %w0 : tensor<3xi8>
  return
}
// -----
func.func @dynamic_slice_3() {
  %0 = stablehlo.constant dense<[[[6, 7, 3, 2], [0, 0, 3, -6], [5, 5, 6, -6]], [[7, -5, 2, -1], [2, 6, 4, 9], [-2, -6, 3, 3]]]> : tensor<2x3x4xi8>
  %1 = stablehlo.constant dense<0> : tensor<i32>
  %2 = stablehlo.constant dense<1> : tensor<i32>
  %3 = stablehlo.constant dense<5> : tensor<i32>
  %r = stablehlo.dynamic_slice %0, %1, %2, %3, sizes = [1, 2, 2] : (tensor<2x3x4xi8>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xi8>
  %w0 = stablehlo.constant dense<[[[3, -6], [6, -6]]]> : tensor<1x2x2xi8>
  check.expect_eq %r, %w0 : tensor<1x2x2xi8>
  return
}
// -----
func.func @dynamic_update_slice_3() {
  %0 = stablehlo.constant dense<[[[6, 7, 3, 2], [0, 0, 3, -6], [5, 5, 6, -6]], [[7, -5, 2, -1], [2, 6, 4, 9], [-2, -6, 3, 3]]]> : tensor<2x3x4xi8>
  %1 = stablehlo.constant dense<[[[0, -1], [6, -4]]]> : tensor<1x2x2xi8>
  %2 = stablehlo.constant dense<0> : tensor<i32>
  %3 = stablehlo.constant dense<1> : tensor<i32>
  %4 = stablehlo.constant dense<5> : tensor<i32>
  %r = stablehlo.dynamic_update_slice %0, %1, %2, %3, %4 : (tensor<2x3x4xi8>, tensor<1x2x2xi8>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x4xi8>
  %w0 = stablehlo.constant dense<[[[6, 7, 3, 2], [0, 0, 0, -1], [5, 5, 6, -4]], [[7, -5, 2, -1], [2, 6, 4, 9], [-2, -6, 3, 3]]]> : tensor<2x3x4xi8>
  check.expect_eq %r, %w0 : tensor<2x3x4xi8>
  return
}
// -----
func.func @dynamic_slice_4() {
  %0 = stablehlo.constant dense<[[[6, 7, 3, 2], [0, 0, 3, -6], [5, 5, 6, -6]], [[7, -5, 2, -1], [2, 6, 4, 9], [-2, -6, 3, 3]]]> : tensor<2x3x4xi8>
  %1 = stablehlo.constant dense<-3> : tensor<i32>
  %2 = stablehlo.constant dense<100> : tensor<i32>
  %3 = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.dynamic_slice %0, %1, %2, %3, sizes = [1, 2, 2] : (tensor<2x3x4xi8>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xi8>
  %w0 = stablehlo.constant dense<[[[0, 3], [5, 6]]]> : tensor<1x2x2xi8>
  check.expect_eq %r, %w0 : tensor<1x2x2xi8>
  return
}
// -----
func.func @dynamic_update_slice_4() {
  %0 = stablehlo.constant dense<[[[6, 7, 3, 2], [0, 0, 3, -6], [5, 5, 6, -6]], [[7, -5, 2, -1], [2, 6, 4, 9], [-2, -6, 3, 3]]]> : tensor<2x3x4xi8>
  %1 = stablehlo.constant dense<[[[0, -5], [3, 0]]]> : tensor<1x2x2xi8>
  %2 = stablehlo.constant dense<-3> : tensor<i32>
  %3 = stablehlo.constant dense<100> : tensor<i32>
  %4 = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.dynamic_update_slice %0, %1, %2, %3, %4 : (tensor<2x3x4xi8>, tensor<1x2x2xi8>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x4xi8>
  %w0 = stablehlo.constant dense<[[[6, 7, 3, 2], [0, 0, -5, -6], [5, 3, 0, -6]], [[7, -5, 2, -1], [2, 6, 4, 9], [-2, -6, 3, 3]]]> : tensor<2x3x4xi8>
  check.expect_eq %r, %w0 : tensor<2x3x4xi8>
  return
}
// -----
func.func @transpose_3() {
  %0 = stablehlo.constant dense<[[[2, -3, -8, 2], [3, 3, 4, -5], [-2, 0, -3, 6]], [[2, 9, 7, -4], [-6, 4, -9, -8], [4, -1, 5, 4]]]> : tensor<2x3x4xi64>
  %r = stablehlo.transpose %0, dims = [2, 0, 1] : (tensor<2x3x4xi64>) -> tensor<4x2x3xi64>
  %w0 = stablehlo.constant dense<[[[2, 3, -2], [2, -6, 4]], [[-3, 3, 0], [9, 4, -1]], [[-8, 4, -3], [7, -9, 5]], [[2, -5, 6], [-4, -8, 4]]]> : tensor<4x2x3xi64>
  check.expect_eq %r, %w0 : tensor<4x2x3xi64>
  return
}
// -----
func.func @reshape_3() {
  %0 = stablehlo.constant dense<[[[2, -3, -8, 2], [3, 3, 4, -5], [-2, 0, -3, 6]], [[2, 9, 7, -4], [-6, 4, -9, -8], [4, -1, 5, 4]]]> : tensor<2x3x4xi64>
  %r = stablehlo.reshape %0 : (tensor<2x3x4xi64>) -> tensor<6x4xi64>
  %w0 = stablehlo.constant dense<[[2, -3, -8, 2], [3, 3, 4, -5], [-2, 0, -3, 6], [2, 9, 7, -4], [-6, 4, -9, -8], [4, -1, 5, 4]]> : tensor<6x4xi64>
  check.expect_eq %r, %w0 : tensor<6x4xi64>
  return
}
// -----
func.func @reverse_3() {
  %0 = stablehlo.constant dense<[[[2, -3, -8, 2], [3, 3, 4, -5], [-2, 0, -3, 6]], [[2, 9, 7, -4], [-6, 4, -9, -8], [4, -1, 5, 4]]]> : tensor<2x3x4xi64>
  %r = stablehlo.reverse %0, dims = [0, 2] : tensor<2x3x4xi64>
  %w0 = stablehlo.constant dense<[[[-4, 7, 9, 2], [-8, -9, 4, -6], [4, 5, -1, 4]], [[2, -8, -3, 2], [-5, 4, 3, 3], [6, -3, 0, -2]]]> : tensor<2x3x4xi64>
  check.expect_eq %r, %w0 : tensor<2x3x4xi64>
  return
}
// -----
func.func @slice_3() {
  %0 = stablehlo.constant dense<[[[2, -3, -8, 2], [3, 3, 4, -5], [-2, 0, -3, 6]], [[2, 9, 7, -4], [-6, 4, -9, -8], [4, -1, 5, 4]]]> : tensor<2x3x4xi64>
  %r = stablehlo.slice %0 [0:2, 1:3, 0:4:3] : (tensor<2x3x4xi64>) -> tensor<2x2x2xi64>
  %w0 = stablehlo.constant dense<[[[3, -5], [-2, 6]], [[-6, -8], [4, 4]]]> : tensor<2x2x2xi64>
  check.expect_eq %r, %w0 : tensor<2x2x2xi64>
  return
}
// -----
func.func @broadcast_in_dim_3() {
  %0 = stablehlo.constant dense<[0, 1, -9]> : tensor<3xi64>
  %r = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<3xi64>) -> tensor<2x3x4xi64>
  %w0 = stablehlo.constant dense<[[[0, 0, 0, 0], [1, 1, 1, 1], [-9, -9, -9, -9]], [[0, 0, 0, 0], [1, 1, 1, 1], [-9, -9, -9, -9]]]> : tensor<2x3x4xi64>
  check.expect_eq %r, %w0 : tensor<2x3x4xi64>
  return
}
// -----
func.func @broadcast_in_dim_ones_3() {
  %0 = stablehlo.constant dense<[[-7, 7]]> : tensor<1x2xi64>
  %r = stablehlo.broadcast_in_dim %0, dims = [2, 0] : (tensor<1x2xi64>) -> tensor<2x2x4xi64>
  %w0 = stablehlo.constant dense<[[[-7, -7, -7, -7], [-7, -7, -7, -7]], [[7, 7, 7, 7], [7, 7, 7, 7]]]> : tensor<2x2x4xi64>
  check.expect_eq %r, %w0 : tensor<2x2x4xi64>
  return
}
// -----
func.func @broadcast_in_dim_scalar_3() {
  %0 = stablehlo.constant dense<-3> : tensor<i64>
  %r = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i64>) -> tensor<2x2xi64>
  %w0 = stablehlo.constant dense<[[-3, -3], [-3, -3]]> : tensor<2x2xi64>
  check.expect_eq %r, %w0 : tensor<2x2xi64>
  return
}
// -----
func.func @broadcast_3() {
  %0 = stablehlo.constant dense<[9, 0, 0]> : tensor<3xi64>
  %r = stablehlo.broadcast %0, sizes = [2, 1] : (tensor<3xi64>) -> tensor<2x1x3xi64>
  %w0 = stablehlo.constant dense<[[[9, 0, 0]], [[9, 0, 0]]]> : tensor<2x1x3xi64>
  check.expect_eq %r, %w0 : tensor<2x1x3xi64>
  return
}
// -----
func.func @concatenate_3() {
  %0 = stablehlo.constant dense<[[[2, -3, -8, 2], [3, 3, 4, -5], [-2, 0, -3, 6]], [[2, 9, 7, -4], [-6, 4, -9, -8], [4, -1, 5, 4]]]> : tensor<2x3x4xi64>
  %1 = stablehlo.constant dense<> : tensor<2x0x4xi64>
  %2 = stablehlo.constant dense<[[[4, 2, -8, 5], [7, 7, 8, 5]], [[-8, 9, -9, 4], [1, -1, -8, -5]]]> : tensor<2x2x4xi64>
  %r = stablehlo.concatenate %0, %1, %2, dim = 1 : (tensor<2x3x4xi64>, tensor<2x0x4xi64>, tensor<2x2x4xi64>) -> tensor<2x5x4xi64>
  %w0 = stablehlo.constant dense<[[[2, -3, -8, 2], [3, 3, 4, -5], [-2, 0, -3, 6], [4, 2, -8, 5], [7, 7, 8, 5]], [[2, 9, 7, -4], [-6, 4, -9, -8], [4, -1, 5, 4], [-8, 9, -9, 4], [1, -1, -8, -5]]]> : tensor<2x5x4xi64>
  check.expect_eq %r, %w0 : tensor<2x5x4xi64>
  return
}
// -----
func.func @concatenate_one_3() {
  %0 = stablehlo.constant dense<[3, 1, -2]> : tensor<3xi64>
  %r = stablehlo.concatenate %0, dim = 0 : (tensor<3xi64>) -> tensor<3xi64>
  %w0 = stablehlo.constant dense<[3, 1, -2]> : tensor<3xi64>
  check.expect_eq %r, %w0 : tensor<3xi64>
  return
}
// -----
func.func @pad_9() {
  %0 = stablehlo.constant dense<[[[2, -3, -8, 2], [3, 3, 4, -5], [-2, 0, -3, 6]], [[2, 9, 7, -4], [-6, 4, -9, -8], [4, -1, 5, 4]]]> : tensor<2x3x4xi64>
  %1 = stablehlo.constant dense<8> : tensor<i64>
  %r = stablehlo.pad %0, %1, low = [1, 0, 2], high = [0, 2, 1], interior = [0, 1, 2] : (tensor<2x3x4xi64>, tensor<i64>) -> tensor<3x7x13xi64>
  %w0 = stablehlo.constant dense<[[[8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8], [8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8], [8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8], [8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8], [8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8], [8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8], [8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8]], [[8, 8, 2, 8, 8, -3, 8, 8, -8, 8, 8, 2, 8], [8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8], [8, 8, 3, 8, 8, 3, 8, 8, 4, 8, 8, -5, 8], [8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8], [8, 8, -2, 8, 8, 0, 8, 8, -3, 8, 8, 6, 8], [8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8], [8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8]], [[8, 8, 2, 8, 8, 9, 8, 8, 7, 8, 8, -4, 8], [8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8], [8, 8, -6, 8, 8, 4, 8, 8, -9, 8, 8, -8, 8], [8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8], [8, 8, 4, 8, 8, -1, 8, 8, 5, 8, 8, 4, 8], [8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8], [8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8]]]> : tensor<3x7x13xi64>
  check.expect_eq %r, %w0 : tensor<3x7x13xi64>
  return
}
// -----
func.func @pad_10() {
  %0 = stablehlo.constant dense<[[[2, -3, -8, 2], [3, 3, 4, -5], [-2, 0, -3, 6]], [[2, 9, 7, -4], [-6, 4, -9, -8], [4, -1, 5, 4]]]> : tensor<2x3x4xi64>
  %1 = stablehlo.constant dense<8> : tensor<i64>
  %r = stablehlo.pad %0, %1, low = [-1, 1, -1], high = [0, -1, -2], interior = [0, 0, 1] : (tensor<2x3x4xi64>, tensor<i64>) -> tensor<1x3x4xi64>
  %w0 = stablehlo.constant dense<[[[8, 8, 8, 8], [8, 9, 8, 7], [8, 4, 8, -9]]]> : tensor<1x3x4xi64>
  check.expect_eq %r, %w0 : tensor<1x3x4xi64>
  return
}
// -----
func.func @pad_11() {
  %0 = stablehlo.constant dense<[[[2, -3, -8, 2], [3, 3, 4, -5], [-2, 0, -3, 6]], [[2, 9, 7, -4], [-6, 4, -9, -8], [4, -1, 5, 4]]]> : tensor<2x3x4xi64>
  %1 = stablehlo.constant dense<8> : tensor<i64>
  %r = stablehlo.pad %0, %1, low = [0, -2, 0], high = [0, -2, 0], interior = [0, 2, 0] : (tensor<2x3x4xi64>, tensor<i64>) -> tensor<2x3x4xi64>
  %w0 = stablehlo.constant dense<[[[8, 8, 8, 8], [3, 3, 4, -5], [8, 8, 8, 8]], [[8, 8, 8, 8], [-6, 4, -9, -8], [8, 8, 8, 8]]]> : tensor<2x3x4xi64>
  check.expect_eq %r, %w0 : tensor<2x3x4xi64>
  return
}
// -----
func.func @pad_12() {
  %0 = stablehlo.constant dense<[[[2, -3, -8, 2], [3, 3, 4, -5], [-2, 0, -3, 6]], [[2, 9, 7, -4], [-6, 4, -9, -8], [4, -1, 5, 4]]]> : tensor<2x3x4xi64>
  %1 = stablehlo.constant dense<8> : tensor<i64>
  %r = stablehlo.pad %0, %1, low = [-3, 0, 0], high = [2, 0, 0], interior = [0, 0, 0] : (tensor<2x3x4xi64>, tensor<i64>) -> tensor<1x3x4xi64>
  %w0 = stablehlo.constant dense<[[[8, 8, 8, 8], [8, 8, 8, 8], [8, 8, 8, 8]]]> : tensor<1x3x4xi64>
  check.expect_eq %r, %w0 : tensor<1x3x4xi64>
  return
}
// -----
func.func @pad_empty_3() {
  %0 = stablehlo.constant dense<> : tensor<0xi64>
  %1 = stablehlo.constant dense<8> : tensor<i64>
  %r = stablehlo.pad %0, %1, low = [2], high = [1], interior = [3] : (tensor<0xi64>, tensor<i64>) -> tensor<3xi64>
  %w0 = stablehlo.constant dense<[8, 8, 8]> : tensor<3xi64>
  check.expect_eq %r, %w0 : tensor<3xi64>
  return
}
// -----
func.func @dynamic_slice_5() {
  %0 = stablehlo.constant dense<[[[2, -3, -8, 2], [3, 3, 4, -5], [-2, 0, -3, 6]], [[2, 9, 7, -4], [-6, 4, -9, -8], [4, -1, 5, 4]]]> : tensor<2x3x4xi64>
  %1 = stablehlo.constant dense<0> : tensor<i32>
  %2 = stablehlo.constant dense<1> : tensor<i32>
  %3 = stablehlo.constant dense<5> : tensor<i32>
  %r = stablehlo.dynamic_slice %0, %1, %2, %3, sizes = [1, 2, 2] : (tensor<2x3x4xi64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xi64>
  %w0 = stablehlo.constant dense<[[[4, -5], [-3, 6]]]> : tensor<1x2x2xi64>
  check.expect_eq %r, %w0 : tensor<1x2x2xi64>
  return
}
// -----
func.func @dynamic_update_slice_5() {
  %0 = stablehlo.constant dense<[[[2, -3, -8, 2], [3, 3, 4, -5], [-2, 0, -3, 6]], [[2, 9, 7, -4], [-6, 4, -9, -8], [4, -1, 5, 4]]]> : tensor<2x3x4xi64>
  %1 = stablehlo.constant dense<[[[6, -9], [9, -2]]]> : tensor<1x2x2xi64>
  %2 = stablehlo.constant dense<0> : tensor<i32>
  %3 = stablehlo.constant dense<1> : tensor<i32>
  %4 = stablehlo.constant dense<5> : tensor<i32>
  %r = stablehlo.dynamic_update_slice %0, %1, %2, %3, %4 : (tensor<2x3x4xi64>, tensor<1x2x2xi64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x4xi64>
  %w0 = stablehlo.constant dense<[[[2, -3, -8, 2], [3, 3, 6, -9], [-2, 0, 9, -2]], [[2, 9, 7, -4], [-6, 4, -9, -8], [4, -1, 5, 4]]]> : tensor<2x3x4xi64>
  check.expect_eq %r, %w0 : tensor<2x3x4xi64>
  return
}
// -----
func.func @dynamic_slice_6() {
  %0 = stablehlo.constant dense<[[[2, -3, -8, 2], [3, 3, 4, -5], [-2, 0, -3, 6]], [[2, 9, 7, -4], [-6, 4, -9, -8], [4, -1, 5, 4]]]> : tensor<2x3x4xi64>
  %1 = stablehlo.constant dense<-3> : tensor<i32>
  %2 = stablehlo.constant dense<100> : tensor<i32>
  %3 = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.dynamic_slice %0, %1, %2, %3, sizes = [1, 2, 2] : (tensor<2x3x4xi64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xi64>
  %w0 = stablehlo.constant dense<[[[3, 4], [0, -3]]]> : tensor<1x2x2xi64>
  check.expect_eq %r, %w0 : tensor<1x2x2xi64>
  return
}
// -----
func.func @dynamic_update_slice_6() {
  %0 = stablehlo.constant dense<[[[2, -3, -8, 2], [3, 3, 4, -5], [-2, 0, -3, 6]], [[2, 9, 7, -4], [-6, 4, -9, -8], [4, -1, 5, 4]]]> : tensor<2x3x4xi64>
  %1 = stablehlo.constant dense<[[[3, 7], [-9, 3]]]> : tensor<1x2x2xi64>
  %2 = stablehlo.constant dense<-3> : tensor<i32>
  %3 = stablehlo.constant dense<100> : tensor<i32>
  %4 = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.dynamic_update_slice %0, %1, %2, %3, %4 : (tensor<2x3x4xi64>, tensor<1x2x2xi64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x4xi64>
  %w0 = stablehlo.constant dense<[[[2, -3, -8, 2], [3, 3, 7, -5], [-2, -9, 3, 6]], [[2, 9, 7, -4], [-6, 4, -9, -8], [4, -1, 5, 4]]]> : tensor<2x3x4xi64>
  check.expect_eq %r, %w0 : tensor<2x3x4xi64>
  return
}
// -----
func.func @transpose_4() {
  %0 = stablehlo.constant dense<[[[false, false, true, true], [true, false, false, false], [true, true, false, false]], [[true, false, false, false], [false, true, true, true], [true, false, true, false]]]> : tensor<2x3x4xi1>
  %r = stablehlo.transpose %0, dims = [2, 0, 1] : (tensor<2x3x4xi1>) -> tensor<4x2x3xi1>
  %w0 = stablehlo.constant dense<[[[false, true, true], [true, false, true]], [[false, false, true], [false, true, false]], [[true, false, false], [false, true, true]], [[true, false, false], [false, true, false]]]> : tensor<4x2x3xi1>
  check.expect_eq %r, %w0 : tensor<4x2x3xi1>
  return
}
// -----
func.func @reshape_4() {
  %0 = stablehlo.constant dense<[[[false, false, true, true], [true, false, false, false], [true, true, false, false]], [[true, false, false, false], [false, true, true, true], [true, false, true, false]]]> : tensor<2x3x4xi1>
  %r = stablehlo.reshape %0 : (tensor<2x3x4xi1>) -> tensor<6x4xi1>
  %w0 = stablehlo.constant dense<[[false, false, true, true], [true, false, false, false], [true, true, false, false], [true, false, false, false], [false, true, true, true], [true, false, true, false]]> : tensor<6x4xi1>
  check.expect_eq %r, %w0 : tensor<6x4xi1>
  return
}
// -----
func.func @reverse_4() {
  %0 = stablehlo.constant dense<[[[false, false, true, true], [true, false, false, false], [true, true, false, false]], [[true, false, false, false], [false, true, true, true], [true, false, true, false]]]> : tensor<2x3x4xi1>
  %r = stablehlo.reverse %0, dims = [0, 2] : tensor<2x3x4xi1>
  %w0 = stablehlo.constant dense<[[[false, false, false, true], [true, true, true, false], [false, true, false, true]], [[true, true, false, false], [false, false, false, true], [false, false, true, true]]]> : tensor<2x3x4xi1>
  check.expect_eq %r, %w0 : tensor<2x3x4xi1>
  return
}
// -----
func.func @slice_4() {
  %0 = stablehlo.constant dense<[[[false, false, true, true], [true, false, false, false], [true, true, false, false]], [[true, false, false, false], [false, true, true, true], [true, false, true, false]]]> : tensor<2x3x4xi1>
  %r = stablehlo.slice %0 [0:2, 1:3, 0:4:3] : (tensor<2x3x4xi1>) -> tensor<2x2x2xi1>
  %w0 = stablehlo.constant dense<[[[true, false], [true, false]], [[false, true], [true, false]]]> : tensor<2x2x2xi1>
  check.expect_eq %r, %w0 : tensor<2x2x2xi1>
  return
}
// -----
func.func @broadcast_in_dim_4() {
  %0 = stablehlo.constant dense<[true, true, true]> : tensor<3xi1>
  %r = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<3xi1>) -> tensor<2x3x4xi1>
  %w0 = stablehlo.constant dense<[[[true, true, true, true], [true, true, true, true], [true, true, true, true]], [[true, true, true, true], [true, true, true, true], [true, true, true, true]]]> : tensor<2x3x4xi1>
  check.expect_eq %r, %w0 : tensor<2x3x4xi1>
  return
}
// -----
func.func @broadcast_in_dim_ones_4() {
  %0 = stablehlo.constant dense<[[true, false]]> : tensor<1x2xi1>
  %r = stablehlo.broadcast_in_dim %0, dims = [2, 0] : (tensor<1x2xi1>) -> tensor<2x2x4xi1>
  %w0 = stablehlo.constant dense<[[[true, true, true, true], [true, true, true, true]], [[false, false, false, false], [false, false, false, false]]]> : tensor<2x2x4xi1>
  check.expect_eq %r, %w0 : tensor<2x2x4xi1>
  return
}
// -----
func.func @broadcast_in_dim_scalar_4() {
  %0 = stablehlo.constant dense<false> : tensor<i1>
  %r = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i1>) -> tensor<2x2xi1>
  %w0 = stablehlo.constant dense<[[false, false], [false, false]]> : tensor<2x2xi1>
  check.expect_eq %r, %w0 : tensor<2x2xi1>
  return
}
// -----
func.func @broadcast_4() {
  %0 = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
  %r = stablehlo.broadcast %0, sizes = [2, 1] : (tensor<3xi1>) -> tensor<2x1x3xi1>
  %w0 = stablehlo.constant dense<[[[true, false, true]], [[true, false, true]]]> : tensor<2x1x3xi1>
  check.expect_eq %r, %w0 : tensor<2x1x3xi1>
  return
}
// -----
func.func @concatenate_4() {
  %0 = stablehlo.constant dense<[[[false, false, true, true], [true, false, false, false], [true, true, false, false]], [[true, false, false, false], [false, true, true, true], [true, false, true, false]]]> : tensor<2x3x4xi1>
  %1 = stablehlo.constant dense<> : tensor<2x0x4xi1>
  %2 = stablehlo.constant dense<[[[true, true, true, true], [false, false, true, true]], [[true, true, true, false], [false, true, false, false]]]> : tensor<2x2x4xi1>
  %r = stablehlo.concatenate %0, %1, %2, dim = 1 : (tensor<2x3x4xi1>, tensor<2x0x4xi1>, tensor<2x2x4xi1>) -> tensor<2x5x4xi1>
  %w0 = stablehlo.constant dense<[[[false, false, true, true], [true, false, false, false], [true, true, false, false], [true, true, true, true], [false, false, true, true]], [[true, false, false, false], [false, true, true, true], [true, false, true, false], [true, true, true, false], [false, true, false, false]]]> : tensor<2x5x4xi1>
  check.expect_eq %r, %w0 : tensor<2x5x4xi1>
  return
}
// -----
func.func @concatenate_one_4() {
  %0 = stablehlo.constant dense<[false, true, false]> : tensor<3xi1>
  %r = stablehlo.concatenate %0, dim = 0 : (tensor<3xi1>) -> tensor<3xi1>
  %w0 = stablehlo.constant dense<[false, true, false]> : tensor<3xi1>
  check.expect_eq %r, %w0 : tensor<3xi1>
  return
}
// -----
func.func @pad_13() {
  %0 = stablehlo.constant dense<[[[false, false, true, true], [true, false, false, false], [true, true, false, false]], [[true, false, false, false], [false, true, true, true], [true, false, true, false]]]> : tensor<2x3x4xi1>
  %1 = stablehlo.constant dense<false> : tensor<i1>
  %r = stablehlo.pad %0, %1, low = [1, 0, 2], high = [0, 2, 1], interior = [0, 1, 2] : (tensor<2x3x4xi1>, tensor<i1>) -> tensor<3x7x13xi1>
  %w0 = stablehlo.constant dense<[[[false, false, false, false, false, false, false, false, false, false, false, false, false], [false, false, false, false, false, false, false, false, false, false, false, false, false], [false, false, false, false, false, false, false, false, false, false, false, false, false], [false, false, false, false, false, false, false, false, false, false, false, false, false], [false, false, false, false, false, false, false, false, false, false, false, false, false], [false, false, false, false, false, false, false, false, false, false, false, false, false], [false, false, false, false, false, false, false, false, false, false, false, false, false]], [[false, false, false, false, false, false, false, false, true, false, false, true, false], [false, false, false, false, false, false, false, false, false, false, false, false, false], [false, false, true, false, false, false, false, false, false, false, false, false, false], [false, false, false, false, false, false, false, false, false, false, false, false, false], [false, false, true, false, false, true, false, false, false, false, false, false, false], [false, false, false, false, false, false, false, false, false, false, false, false, false], [false, false, false, false, false, false, false, false, false, false, false, false, false]], [[false, false, true, false, false, false, false, false, false, false, false, false, false], [false, false, false, false, false, false, false, false, false, false, false, false, false], [false, false, false, false, false, true, false, false, true, false, false, true, false], [false, false, false, false, false, false, false, false, false, false, false, false, false], [false, false, true, false, false, false, false, false, true, false, false, false, false], [false, false, false, false, false, false, false, false, false, false, false, false, false], [false, false, false, false, false, false, false, false, false, false, false, false, false]]]> : tensor<3x7x13xi1>
  check.expect_eq %r, %w0 : tensor<3x7x13xi1>
  return
}
// -----
func.func @pad_14() {
  %0 = stablehlo.constant dense<[[[false, false, true, true], [true, false, false, false], [true, true, false, false]], [[true, false, false, false], [false, true, true, true], [true, false, true, false]]]> : tensor<2x3x4xi1>
  %1 = stablehlo.constant dense<false> : tensor<i1>
  %r = stablehlo.pad %0, %1, low = [-1, 1, -1], high = [0, -1, -2], interior = [0, 0, 1] : (tensor<2x3x4xi1>, tensor<i1>) -> tensor<1x3x4xi1>
  %w0 = stablehlo.constant dense<[[[false, false, false, false], [false, false, false, false], [false, true, false, true]]]> : tensor<1x3x4xi1>
  check.expect_eq %r, %w0 : tensor<1x3x4xi1>
  return
}
// -----
func.func @pad_15() {
  %0 = stablehlo.constant dense<[[[false, false, true, true], [true, false, false, false], [true, true, false, false]], [[true, false, false, false], [false, true, true, true], [true, false, true, false]]]> : tensor<2x3x4xi1>
  %1 = stablehlo.constant dense<false> : tensor<i1>
  %r = stablehlo.pad %0, %1, low = [0, -2, 0], high = [0, -2, 0], interior = [0, 2, 0] : (tensor<2x3x4xi1>, tensor<i1>) -> tensor<2x3x4xi1>
  %w0 = stablehlo.constant dense<[[[false, false, false, false], [true, false, false, false], [false, false, false, false]], [[false, false, false, false], [false, true, true, true], [false, false, false, false]]]> : tensor<2x3x4xi1>
  check.expect_eq %r, %w0 : tensor<2x3x4xi1>
  return
}
// -----
func.func @pad_16() {
  %0 = stablehlo.constant dense<[[[false, false, true, true], [true, false, false, false], [true, true, false, false]], [[true, false, false, false], [false, true, true, true], [true, false, true, false]]]> : tensor<2x3x4xi1>
  %1 = stablehlo.constant dense<false> : tensor<i1>
  %r = stablehlo.pad %0, %1, low = [-3, 0, 0], high = [2, 0, 0], interior = [0, 0, 0] : (tensor<2x3x4xi1>, tensor<i1>) -> tensor<1x3x4xi1>
  %w0 = stablehlo.constant dense<[[[false, false, false, false], [false, false, false, false], [false, false, false, false]]]> : tensor<1x3x4xi1>
  check.expect_eq %r, %w0 : tensor<1x3x4xi1>
  return
}
// -----
func.func @pad_empty_4() {
  %0 = stablehlo.constant dense<> : tensor<0xi1>
  %1 = stablehlo.constant dense<false> : tensor<i1>
  %r = stablehlo.pad %0, %1, low = [2], high = [1], interior = [3] : (tensor<0xi1>, tensor<i1>) -> tensor<3xi1>
  %w0 = stablehlo.constant dense<[false, false, false]> : tensor<3xi1>
  check.expect_eq %r, %w0 : tensor<3xi1>
  return
}
// -----
func.func @dynamic_slice_7() {
  %0 = stablehlo.constant dense<[[[false, false, true, true], [true, false, false, false], [true, true, false, false]], [[true, false, false, false], [false, true, true, true], [true, false, true, false]]]> : tensor<2x3x4xi1>
  %1 = stablehlo.constant dense<0> : tensor<i32>
  %2 = stablehlo.constant dense<1> : tensor<i32>
  %3 = stablehlo.constant dense<5> : tensor<i32>
  %r = stablehlo.dynamic_slice %0, %1, %2, %3, sizes = [1, 2, 2] : (tensor<2x3x4xi1>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xi1>
  %w0 = stablehlo.constant dense<[[[false, false], [false, false]]]> : tensor<1x2x2xi1>
  check.expect_eq %r, %w0 : tensor<1x2x2xi1>
  return
}
// -----
func.func @dynamic_update_slice_7() {
  %0 = stablehlo.constant dense<[[[false, false, true, true], [true, false, false, false], [true, true, false, false]], [[true, false, false, false], [false, true, true, true], [true, false, true, false]]]> : tensor<2x3x4xi1>
  %1 = stablehlo.constant dense<[[[false, true], [false, false]]]> : tensor<1x2x2xi1>
  %2 = stablehlo.constant dense<0> : tensor<i32>
  %3 = stablehlo.constant dense<1> : tensor<i32>
  %4 = stablehlo.constant dense<5> : tensor<i32>
  %r = stablehlo.dynamic_update_slice %0, %1, %2, %3, %4 : (tensor<2x3x4xi1>, tensor<1x2x2xi1>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x4xi1>
  %w0 = stablehlo.constant dense<[[[false, false, true, true], [true, false, false, true], [true, true, false, false]], [[true, false, false, false], [false, true, true, true], [true, false, true, false]]]> : tensor<2x3x4xi1>
  check.expect_eq %r, %w0 : tensor<2x3x4xi1>
  return
}
// -----
func.func @dynamic_slice_8() {
  %0 = stablehlo.constant dense<[[[false, false, true, true], [true, false, false, false], [true, true, false, false]], [[true, false, false, false], [false, true, true, true], [true, false, true, false]]]> : tensor<2x3x4xi1>
  %1 = stablehlo.constant dense<-3> : tensor<i32>
  %2 = stablehlo.constant dense<100> : tensor<i32>
  %3 = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.dynamic_slice %0, %1, %2, %3, sizes = [1, 2, 2] : (tensor<2x3x4xi1>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xi1>
  %w0 = stablehlo.constant dense<[[[false, false], [true, false]]]> : tensor<1x2x2xi1>
  check.expect_eq %r, %w0 : tensor<1x2x2xi1>
  return
}
// -----
func.func @dynamic_update_slice_8() {
  %0 = stablehlo.constant dense<[[[false, false, true, true], [true, false, false, false], [true, true, false, false]], [[true, false, false, false], [false, true, true, true], [true, false, true, false]]]> : tensor<2x3x4xi1>
  %1 = stablehlo.constant dense<[[[false, true], [false, false]]]> : tensor<1x2x2xi1>
  %2 = stablehlo.constant dense<-3> : tensor<i32>
  %3 = stablehlo.constant dense<100> : tensor<i32>
  %4 = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.dynamic_update_slice %0, %1, %2, %3, %4 : (tensor<2x3x4xi1>, tensor<1x2x2xi1>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x4xi1>
  %w0 = stablehlo.constant dense<[[[false, false, true, true], [true, false, true, false], [true, false, false, false]], [[true, false, false, false], [false, true, true, true], [true, false, true, false]]]> : tensor<2x3x4xi1>
  check.expect_eq %r, %w0 : tensor<2x3x4xi1>
  return
}
// -----
func.func @transpose_5() {
  %0 = stablehlo.constant dense<[[[(0x3FEE164E, 0xBFAF5790), (0xBFBFA6AA, 0x3F3B2CEF), (0x3EF3E289, 0xBE84420A), (0x3F8E5F89, 0x3F91A94C)], [(0xBF3253CA, 0x3E8C002C), (0x3F153D8B, 0xBF3FC2C6), (0xBF891301, 0x3F8A8C4E), (0xBF4FECE7, 0xBF4EB19D)], [(0xBF512C2C, 0xC0035E61), (0x3E44EC4F, 0x4004153A), (0xBDBA5463, 0xBFF4936B), (0x3F7440E5, 0x3F22EBF4)]], [[(0xBF70B622, 0x3F705897), (0xBE066D20, 0x3E16986F), (0x3F76091B, 0xBFD7798C), (0x3F0F8F18, 0x3F81EC02)], [(0xBFA98DD9, 0xBFB88481), (0x3F2A4ACA, 0xBFABFC05), (0xBEF4F330, 0xBEB92C97), (0x3EC55162, 0x3F49DB70)], [(0x3E99F2C9, 0x3E99A888), (0x3F9C12A4, 0x3F4F8E83), (0x3DEEB6FA, 0xBEE32549), (0xBFED4983, 0xBE3050D1)]]]> : tensor<2x3x4xcomplex<f32>>
  %r = stablehlo.transpose %0, dims = [2, 0, 1] : (tensor<2x3x4xcomplex<f32>>) -> tensor<4x2x3xcomplex<f32>>
  %w0 = stablehlo.constant dense<[[[(0x3FEE164E, 0xBFAF5790), (0xBF3253CA, 0x3E8C002C), (0xBF512C2C, 0xC0035E61)], [(0xBF70B622, 0x3F705897), (0xBFA98DD9, 0xBFB88481), (0x3E99F2C9, 0x3E99A888)]], [[(0xBFBFA6AA, 0x3F3B2CEF), (0x3F153D8B, 0xBF3FC2C6), (0x3E44EC4F, 0x4004153A)], [(0xBE066D20, 0x3E16986F), (0x3F2A4ACA, 0xBFABFC05), (0x3F9C12A4, 0x3F4F8E83)]], [[(0x3EF3E289, 0xBE84420A), (0xBF891301, 0x3F8A8C4E), (0xBDBA5463, 0xBFF4936B)], [(0x3F76091B, 0xBFD7798C), (0xBEF4F330, 0xBEB92C97), (0x3DEEB6FA, 0xBEE32549)]], [[(0x3F8E5F89, 0x3F91A94C), (0xBF4FECE7, 0xBF4EB19D), (0x3F7440E5, 0x3F22EBF4)], [(0x3F0F8F18, 0x3F81EC02), (0x3EC55162, 0x3F49DB70), (0xBFED4983, 0xBE3050D1)]]]> : tensor<4x2x3xcomplex<f32>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<4x2x3xcomplex<f32>>, tensor<4x2x3xcomplex<f32>>
  return
}
// -----
func.func @reshape_5() {
  %0 = stablehlo.constant dense<[[[(0x3FEE164E, 0xBFAF5790), (0xBFBFA6AA, 0x3F3B2CEF), (0x3EF3E289, 0xBE84420A), (0x3F8E5F89, 0x3F91A94C)], [(0xBF3253CA, 0x3E8C002C), (0x3F153D8B, 0xBF3FC2C6), (0xBF891301, 0x3F8A8C4E), (0xBF4FECE7, 0xBF4EB19D)], [(0xBF512C2C, 0xC0035E61), (0x3E44EC4F, 0x4004153A), (0xBDBA5463, 0xBFF4936B), (0x3F7440E5, 0x3F22EBF4)]], [[(0xBF70B622, 0x3F705897), (0xBE066D20, 0x3E16986F), (0x3F76091B, 0xBFD7798C), (0x3F0F8F18, 0x3F81EC02)], [(0xBFA98DD9, 0xBFB88481), (0x3F2A4ACA, 0xBFABFC05), (0xBEF4F330, 0xBEB92C97), (0x3EC55162, 0x3F49DB70)], [(0x3E99F2C9, 0x3E99A888), (0x3F9C12A4, 0x3F4F8E83), (0x3DEEB6FA, 0xBEE32549), (0xBFED4983, 0xBE3050D1)]]]> : tensor<2x3x4xcomplex<f32>>
  %r = stablehlo.reshape %0 : (tensor<2x3x4xcomplex<f32>>) -> tensor<6x4xcomplex<f32>>
  %w0 = stablehlo.constant dense<[[(0x3FEE164E, 0xBFAF5790), (0xBFBFA6AA, 0x3F3B2CEF), (0x3EF3E289, 0xBE84420A), (0x3F8E5F89, 0x3F91A94C)], [(0xBF3253CA, 0x3E8C002C), (0x3F153D8B, 0xBF3FC2C6), (0xBF891301, 0x3F8A8C4E), (0xBF4FECE7, 0xBF4EB19D)], [(0xBF512C2C, 0xC0035E61), (0x3E44EC4F, 0x4004153A), (0xBDBA5463, 0xBFF4936B), (0x3F7440E5, 0x3F22EBF4)], [(0xBF70B622, 0x3F705897), (0xBE066D20, 0x3E16986F), (0x3F76091B, 0xBFD7798C), (0x3F0F8F18, 0x3F81EC02)], [(0xBFA98DD9, 0xBFB88481), (0x3F2A4ACA, 0xBFABFC05), (0xBEF4F330, 0xBEB92C97), (0x3EC55162, 0x3F49DB70)], [(0x3E99F2C9, 0x3E99A888), (0x3F9C12A4, 0x3F4F8E83), (0x3DEEB6FA, 0xBEE32549), (0xBFED4983, 0xBE3050D1)]]> : tensor<6x4xcomplex<f32>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<6x4xcomplex<f32>>, tensor<6x4xcomplex<f32>>
  return
}
// -----
func.func @reverse_5() {
  %0 = stablehlo.constant dense<[[[(0x3FEE164E, 0xBFAF5790), (0xBFBFA6AA, 0x3F3B2CEF), (0x3EF3E289, 0xBE84420A), (0x3F8E5F89, 0x3F91A94C)], [(0xBF3253CA, 0x3E8C002C), (0x3F153D8B, 0xBF3FC2C6), (0xBF891301, 0x3F8A8C4E), (0xBF4FECE7, 0xBF4EB19D)], [(0xBF512C2C, 0xC0035E61), (0x3E44EC4F, 0x4004153A), (0xBDBA5463, 0xBFF4936B), (0x3F7440E5, 0x3F22EBF4)]], [[(0xBF70B622, 0x3F705897), (0xBE066D20, 0x3E16986F), (0x3F76091B, 0xBFD7798C), (0x3F0F8F18, 0x3F81EC02)], [(0xBFA98DD9, 0xBFB88481), (0x3F2A4ACA, 0xBFABFC05), (0xBEF4F330, 0xBEB92C97), (0x3EC55162, 0x3F49DB70)], [(0x3E99F2C9, 0x3E99A888), (0x3F9C12A4, 0x3F4F8E83), (0x3DEEB6FA, 0xBEE32549), (0xBFED4983, 0xBE3050D1)]]]> : tensor<2x3x4xcomplex<f32>>
  %r = stablehlo.reverse %0, dims = [0, 2] : tensor<2x3x4xcomplex<f32>>
  %w0 = stablehlo.constant dense<[[[(0x3F0F8F18, 0x3F81EC02), (0x3F76091B, 0xBFD7798C), (0xBE066D20, 0x3E16986F), (0xBF70B622, 0x3F705897)], [(0x3EC55162, 0x3F49DB70), (0xBEF4F330, 0xBEB92C97), (0x3F2A4ACA, 0xBFABFC05), (0xBFA98DD9, 0xBFB88481)], [(0xBFED4983, 0xBE3050D1), (0x3DEEB6FA, 0xBEE32549), (0x3F9C12A4, 0x3F4F8E83), (0x3E99F2C9, 0x3E99A888)]], [[(0x3F8E5F89, 0x3F91A94C), (0x3EF3E289, 0xBE84420A), (0xBFBFA6AA, 0x3F3B2CEF), (0x3FEE164E, 0xBFAF5790)], [(0xBF4FECE7, 0xBF4EB19D), (0xBF891301, 0x3F8A8C4E), (0x3F153D8B, 0xBF3FC2C6), (0xBF3253CA, 0x3E8C002C)], [(0x3F7440E5, 0x3F22EBF4), (0xBDBA5463, 0xBFF4936B), (0x3E44EC4F, 0x4004153A), (0xBF512C2C, 0xC0035E61)]]]> : tensor<2x3x4xcomplex<f32>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3x4xcomplex<f32>>, tensor<2x3x4xcomplex<f32>>
  return
}
// -----
func.func @slice_5() {
  %0 = stablehlo.constant dense<[[[(0x3FEE164E, 0xBFAF5790), (0xBFBFA6AA, 0x3F3B2CEF), (0x3EF3E289, 0xBE84420A), (0x3F8E5F89, 0x3F91A94C)], [(0xBF3253CA, 0x3E8C002C), (0x3F153D8B, 0xBF3FC2C6), (0xBF891301, 0x3F8A8C4E), (0xBF4FECE7, 0xBF4EB19D)], [(0xBF512C2C, 0xC0035E61), (0x3E44EC4F, 0x4004153A), (0xBDBA5463, 0xBFF4936B), (0x3F7440E5, 0x3F22EBF4)]], [[(0xBF70B622, 0x3F705897), (0xBE066D20, 0x3E16986F), (0x3F76091B, 0xBFD7798C), (0x3F0F8F18, 0x3F81EC02)], [(0xBFA98DD9, 0xBFB88481), (0x3F2A4ACA, 0xBFABFC05), (0xBEF4F330, 0xBEB92C97), (0x3EC55162, 0x3F49DB70)], [(0x3E99F2C9, 0x3E99A888), (0x3F9C12A4, 0x3F4F8E83), (0x3DEEB6FA, 0xBEE32549), (0xBFED4983, 0xBE3050D1)]]]> : tensor<2x3x4xcomplex<f32>>
  %r = stablehlo.slice %0 [0:2, 1:3, 0:4:3] : (tensor<2x3x4xcomplex<f32>>) -> tensor<2x2x2xcomplex<f32>>
  %w0 = stablehlo.constant dense<[[[(0xBF3253CA, 0x3E8C002C), (0xBF4FECE7, 0xBF4EB19D)], [(0xBF512C2C, 0xC0035E61), (0x3F7440E5, 0x3F22EBF4)]], [[(0xBFA98DD9, 0xBFB88481), (0x3EC55162, 0x3F49DB70)], [(0x3E99F2C9, 0x3E99A888), (0xBFED4983, 0xBE3050D1)]]]> : tensor<2x2x2xcomplex<f32>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x2x2xcomplex<f32>>, tensor<2x2x2xcomplex<f32>>
  return
}
// -----
func.func @broadcast_in_dim_5() {
  %0 = stablehlo.constant dense<[(0xBF918DB3, 0xBE998310), (0xBEA23C30, 0x3EF36F6F), (0x3F17D73F, 0xBF12C21A)]> : tensor<3xcomplex<f32>>
  %r = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<3xcomplex<f32>>) -> tensor<2x3x4xcomplex<f32>>
  %w0 = stablehlo.constant dense<[[[(0xBF918DB3, 0xBE998310), (0xBF918DB3, 0xBE998310), (0xBF918DB3, 0xBE998310), (0xBF918DB3, 0xBE998310)], [(0xBEA23C30, 0x3EF36F6F), (0xBEA23C30, 0x3EF36F6F), (0xBEA23C30, 0x3EF36F6F), (0xBEA23C30, 0x3EF36F6F)], [(0x3F17D73F, 0xBF12C21A), (0x3F17D73F, 0xBF12C21A), (0x3F17D73F, 0xBF12C21A), (0x3F17D73F, 0xBF12C21A)]], [[(0xBF918DB3, 0xBE998310), (0xBF918DB3, 0xBE998310), (0xBF918DB3, 0xBE998310), (0xBF918DB3, 0xBE998310)], [(0xBEA23C30, 0x3EF36F6F), (0xBEA23C30, 0x3EF36F6F), (0xBEA23C30, 0x3EF36F6F), (0xBEA23C30, 0x3EF36F6F)], [(0x3F17D73F, 0xBF12C21A), (0x3F17D73F, 0xBF12C21A), (0x3F17D73F, 0xBF12C21A), (0x3F17D73F, 0xBF12C21A)]]]> : tensor<2x3x4xcomplex<f32>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3x4xcomplex<f32>>, tensor<2x3x4xcomplex<f32>>
  return
}
// -----
func.func @broadcast_in_dim_ones_5() {
  %0 = stablehlo.constant dense<[[(0xBF17A6FA, 0xBE478F04), (0x3D206F4E, 0x3F17A68F)]]> : tensor<1x2xcomplex<f32>>
  %r = stablehlo.broadcast_in_dim %0, dims = [2, 0] : (tensor<1x2xcomplex<f32>>) -> tensor<2x2x4xcomplex<f32>>
  %w0 = stablehlo.constant dense<[[[(0xBF17A6FA, 0xBE478F04), (0xBF17A6FA, 0xBE478F04), (0xBF17A6FA, 0xBE478F04), (0xBF17A6FA, 0xBE478F04)], [(0xBF17A6FA, 0xBE478F04), (0xBF17A6FA, 0xBE478F04), (0xBF17A6FA, 0xBE478F04), (0xBF17A6FA, 0xBE478F04)]], [[(0x3D206F4E, 0x3F17A68F), (0x3D206F4E, 0x3F17A68F), (0x3D206F4E, 0x3F17A68F), (0x3D206F4E, 0x3F17A68F)], [(0x3D206F4E, 0x3F17A68F), (0x3D206F4E, 0x3F17A68F), (0x3D206F4E, 0x3F17A68F), (0x3D206F4E, 0x3F17A68F)]]]> : tensor<2x2x4xcomplex<f32>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x2x4xcomplex<f32>>, tensor<2x2x4xcomplex<f32>>
  return
}
// -----
func.func @broadcast_in_dim_scalar_5() {
  %0 = stablehlo.constant dense<(0x3E3691B8, 0x3FDEC3AB)> : tensor<complex<f32>>
  %r = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<complex<f32>>) -> tensor<2x2xcomplex<f32>>
  %w0 = stablehlo.constant dense<[[(0x3E3691B8, 0x3FDEC3AB), (0x3E3691B8, 0x3FDEC3AB)], [(0x3E3691B8, 0x3FDEC3AB), (0x3E3691B8, 0x3FDEC3AB)]]> : tensor<2x2xcomplex<f32>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x2xcomplex<f32>>, tensor<2x2xcomplex<f32>>
  return
}
// -----
func.func @broadcast_5() {
  %0 = stablehlo.constant dense<[(0xBE60C32B, 0x3CBA98DC), (0xBE68B4EB, 0x3F2ECDE1), (0xBF852304, 0xBF3D8404)]> : tensor<3xcomplex<f32>>
  %r = stablehlo.broadcast %0, sizes = [2, 1] : (tensor<3xcomplex<f32>>) -> tensor<2x1x3xcomplex<f32>>
  %w0 = stablehlo.constant dense<[[[(0xBE60C32B, 0x3CBA98DC), (0xBE68B4EB, 0x3F2ECDE1), (0xBF852304, 0xBF3D8404)]], [[(0xBE60C32B, 0x3CBA98DC), (0xBE68B4EB, 0x3F2ECDE1), (0xBF852304, 0xBF3D8404)]]]> : tensor<2x1x3xcomplex<f32>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x1x3xcomplex<f32>>, tensor<2x1x3xcomplex<f32>>
  return
}
// -----
func.func @concatenate_5() {
  %0 = stablehlo.constant dense<[[[(0x3FEE164E, 0xBFAF5790), (0xBFBFA6AA, 0x3F3B2CEF), (0x3EF3E289, 0xBE84420A), (0x3F8E5F89, 0x3F91A94C)], [(0xBF3253CA, 0x3E8C002C), (0x3F153D8B, 0xBF3FC2C6), (0xBF891301, 0x3F8A8C4E), (0xBF4FECE7, 0xBF4EB19D)], [(0xBF512C2C, 0xC0035E61), (0x3E44EC4F, 0x4004153A), (0xBDBA5463, 0xBFF4936B), (0x3F7440E5, 0x3F22EBF4)]], [[(0xBF70B622, 0x3F705897), (0xBE066D20, 0x3E16986F), (0x3F76091B, 0xBFD7798C), (0x3F0F8F18, 0x3F81EC02)], [(0xBFA98DD9, 0xBFB88481), (0x3F2A4ACA, 0xBFABFC05), (0xBEF4F330, 0xBEB92C97), (0x3EC55162, 0x3F49DB70)], [(0x3E99F2C9, 0x3E99A888), (0x3F9C12A4, 0x3F4F8E83), (0x3DEEB6FA, 0xBEE32549), (0xBFED4983, 0xBE3050D1)]]]> : tensor<2x3x4xcomplex<f32>>
  %1 = stablehlo.constant dense<> : tensor<2x0x4xcomplex<f32>>
  %2 = stablehlo.constant dense<[[[(0xBD4B7525, 0x3F3C8344), (0x3F37F356, 0xBF962221), (0xBE01F479, 0x3FA4E3DB), (0xBF04E62F, 0xBF169864)], [(0x3F791CA2, 0xBDDC808E), (0x3DC6B232, 0xBFB361E2), (0x3ECB0A81, 0xBE2AF4DF), (0x3F95F038, 0xBE6B51B9)]], [[(0x3F9299B6, 0xBE3DCF27), (0xBEB1C4BF, 0x3EE083B2), (0xBF068290, 0x3D772D35), (0x3E9190F1, 0x3F79CCE4)], [(0xBE07F975, 0xBEEFB26E), (0xBFF32EA8, 0xBF7EFAE6), (0x3FA33F0E, 0xBC9C8502), (0x3C9E9BA6, 0x3F20DCBA)]]]> : tensor<2x2x4xcomplex<f32>>
  %r = stablehlo.concatenate %0, %1, %2, dim = 1 : (tensor<2x3x4xcomplex<f32>>, tensor<2x0x4xcomplex<f32>>, tensor<2x2x4xcomplex<f32>>) -> tensor<2x5x4xcomplex<f32>>
  %w0 = stablehlo.constant dense<[[[(0x3FEE164E, 0xBFAF5790), (0xBFBFA6AA, 0x3F3B2CEF), (0x3EF3E289, 0xBE84420A), (0x3F8E5F89, 0x3F91A94C)], [(0xBF3253CA, 0x3E8C002C), (0x3F153D8B, 0xBF3FC2C6), (0xBF891301, 0x3F8A8C4E), (0xBF4FECE7, 0xBF4EB19D)], [(0xBF512C2C, 0xC0035E61), (0x3E44EC4F, 0x4004153A), (0xBDBA5463, 0xBFF4936B), (0x3F7440E5, 0x3F22EBF4)], [(0xBD4B7525, 0x3F3C8344), (0x3F37F356, 0xBF962221), (0xBE01F479, 0x3FA4E3DB), (0xBF04E62F, 0xBF169864)], [(0x3F791CA2, 0xBDDC808E), (0x3DC6B232, 0xBFB361E2), (0x3ECB0A81, 0xBE2AF4DF), (0x3F95F038, 0xBE6B51B9)]], [[(0xBF70B622, 0x3F705897), (0xBE066D20, 0x3E16986F), (0x3F76091B, 0xBFD7798C), (0x3F0F8F18, 0x3F81EC02)], [(0xBFA98DD9, 0xBFB88481), (0x3F2A4ACA, 0xBFABFC05), (0xBEF4F330, 0xBEB92C97), (0x3EC55162, 0x3F49DB70)], [(0x3E99F2C9, 0x3E99A888), (0x3F9C12A4, 0x3F4F8E83), (0x3DEEB6FA, 0xBEE32549), (0xBFED4983, 0xBE3050D1)], [(0x3F9299B6, 0xBE3DCF27), (0xBEB1C4BF, 0x3EE083B2), (0xBF068290, 0x3D772D35), (0x3E9190F1, 0x3F79CCE4)], [(0xBE07F975, 0xBEEFB26E), (0xBFF32EA8, 0xBF7EFAE6), (0x3FA33F0E, 0xBC9C8502), (0x3C9E9BA6, 0x3F20DCBA)]]]> : tensor<2x5x4xcomplex<f32>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x5x4xcomplex<f32>>, tensor<2x5x4xcomplex<f32>>
  return
}
// -----
func.func @concatenate_one_5() {
  %0 = stablehlo.constant dense<[(0x3F9F506C, 0x3EC10DCB), (0x3F505D28, 0x3FBAED76), (0xBFE1F9F6, 0x3D80280A)]> : tensor<3xcomplex<f32>>
  %r = stablehlo.concatenate %0, dim = 0 : (tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  %w0 = stablehlo.constant dense<[(0x3F9F506C, 0x3EC10DCB), (0x3F505D28, 0x3FBAED76), (0xBFE1F9F6, 0x3D80280A)]> : tensor<3xcomplex<f32>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>
  return
}
// -----
func.func @pad_17() {
  %0 = stablehlo.constant dense<[[[(0x3FEE164E, 0xBFAF5790), (0xBFBFA6AA, 0x3F3B2CEF), (0x3EF3E289, 0xBE84420A), (0x3F8E5F89, 0x3F91A94C)], [(0xBF3253CA, 0x3E8C002C), (0x3F153D8B, 0xBF3FC2C6), (0xBF891301, 0x3F8A8C4E), (0xBF4FECE7, 0xBF4EB19D)], [(0xBF512C2C, 0xC0035E61), (0x3E44EC4F, 0x4004153A), (0xBDBA5463, 0xBFF4936B), (0x3F7440E5, 0x3F22EBF4)]], [[(0xBF70B622, 0x3F705897), (0xBE066D20, 0x3E16986F), (0x3F76091B, 0xBFD7798C), (0x3F0F8F18, 0x3F81EC02)], [(0xBFA98DD9, 0xBFB88481), (0x3F2A4ACA, 0xBFABFC05), (0xBEF4F330, 0xBEB92C97), (0x3EC55162, 0x3F49DB70)], [(0x3E99F2C9, 0x3E99A888), (0x3F9C12A4, 0x3F4F8E83), (0x3DEEB6FA, 0xBEE32549), (0xBFED4983, 0xBE3050D1)]]]> : tensor<2x3x4xcomplex<f32>>
  %1 = stablehlo.constant dense<(0xBF041B5C, 0x3E9E4A55)> : tensor<complex<f32>>
  %r = stablehlo.pad %0, %1, low = [1, 0, 2], high = [0, 2, 1], interior = [0, 1, 2] : (tensor<2x3x4xcomplex<f32>>, tensor<complex<f32>>) -> tensor<3x7x13xcomplex<f32>>
  %w0 = stablehlo.constant dense<[[[(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55)], [(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55)], [(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55)], [(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55)], [(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55)], [(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55)], [(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55)]], [[(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0x3FEE164E, 0xBFAF5790), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBFBFA6AA, 0x3F3B2CEF), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0x3EF3E289, 0xBE84420A), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0x3F8E5F89, 0x3F91A94C), (0xBF041B5C, 0x3E9E4A55)], [(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55)], [(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF3253CA, 0x3E8C002C), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0x3F153D8B, 0xBF3FC2C6), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF891301, 0x3F8A8C4E), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF4FECE7, 0xBF4EB19D), (0xBF041B5C, 0x3E9E4A55)], [(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55)], [(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF512C2C, 0xC0035E61), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0x3E44EC4F, 0x4004153A), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBDBA5463, 0xBFF4936B), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0x3F7440E5, 0x3F22EBF4), (0xBF041B5C, 0x3E9E4A55)], [(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55)], [(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55)]], [[(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF70B622, 0x3F705897), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBE066D20, 0x3E16986F), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0x3F76091B, 0xBFD7798C), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0x3F0F8F18, 0x3F81EC02), (0xBF041B5C, 0x3E9E4A55)], [(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55)], [(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBFA98DD9, 0xBFB88481), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0x3F2A4ACA, 0xBFABFC05), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBEF4F330, 0xBEB92C97), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0x3EC55162, 0x3F49DB70), (0xBF041B5C, 0x3E9E4A55)], [(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55)], [(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0x3E99F2C9, 0x3E99A888), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0x3F9C12A4, 0x3F4F8E83), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0x3DEEB6FA, 0xBEE32549), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBFED4983, 0xBE3050D1), (0xBF041B5C, 0x3E9E4A55)], [(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55)], [(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55)]]]> : tensor<3x7x13xcomplex<f32>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3x7x13xcomplex<f32>>, tensor<3x7x13xcomplex<f32>>
  return
}
// -----
func.func @pad_18() {
  %0 = stablehlo.constant dense<[[[(0x3FEE164E, 0xBFAF5790), (0xBFBFA6AA, 0x3F3B2CEF), (0x3EF3E289, 0xBE84420A), (0x3F8E5F89, 0x3F91A94C)], [(0xBF3253CA, 0x3E8C002C), (0x3F153D8B, 0xBF3FC2C6), (0xBF891301, 0x3F8A8C4E), (0xBF4FECE7, 0xBF4EB19D)], [(0xBF512C2C, 0xC0035E61), (0x3E44EC4F, 0x4004153A), (0xBDBA5463, 0xBFF4936B), (0x3F7440E5, 0x3F22EBF4)]], [[(0xBF70B622, 0x3F705897), (0xBE066D20, 0x3E16986F), (0x3F76091B, 0xBFD7798C), (0x3F0F8F18, 0x3F81EC02)], [(0xBFA98DD9, 0xBFB88481), (0x3F2A4ACA, 0xBFABFC05), (0xBEF4F330, 0xBEB92C97), (0x3EC55162, 0x3F49DB70)], [(0x3E99F2C9, 0x3E99A888), (0x3F9C12A4, 0x3F4F8E83), (0x3DEEB6FA, 0xBEE32549), (0xBFED4983, 0xBE3050D1)]]]> : tensor<2x3x4xcomplex<f32>>
  %1 = stablehlo.constant dense<(0xBF041B5C, 0x3E9E4A55)> : tensor<complex<f32>>
  %r = stablehlo.pad %0, %1, low = [-1, 1, -1], high = [0, -1, -2], interior = [0, 0, 1] : (tensor<2x3x4xcomplex<f32>>, tensor<complex<f32>>) -> tensor<1x3x4xcomplex<f32>>
  %w0 = stablehlo.constant dense<[[[(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55)], [(0xBF041B5C, 0x3E9E4A55), (0xBE066D20, 0x3E16986F), (0xBF041B5C, 0x3E9E4A55), (0x3F76091B, 0xBFD7798C)], [(0xBF041B5C, 0x3E9E4A55), (0x3F2A4ACA, 0xBFABFC05), (0xBF041B5C, 0x3E9E4A55), (0xBEF4F330, 0xBEB92C97)]]]> : tensor<1x3x4xcomplex<f32>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<1x3x4xcomplex<f32>>, tensor<1x3x4xcomplex<f32>>
  return
}
// -----
func.func @pad_19() {
  %0 = stablehlo.constant dense<[[[(0x3FEE164E, 0xBFAF5790), (0xBFBFA6AA, 0x3F3B2CEF), (0x3EF3E289, 0xBE84420A), (0x3F8E5F89, 0x3F91A94C)], [(0xBF3253CA, 0x3E8C002C), (0x3F153D8B, 0xBF3FC2C6), (0xBF891301, 0x3F8A8C4E), (0xBF4FECE7, 0xBF4EB19D)], [(0xBF512C2C, 0xC0035E61), (0x3E44EC4F, 0x4004153A), (0xBDBA5463, 0xBFF4936B), (0x3F7440E5, 0x3F22EBF4)]], [[(0xBF70B622, 0x3F705897), (0xBE066D20, 0x3E16986F), (0x3F76091B, 0xBFD7798C), (0x3F0F8F18, 0x3F81EC02)], [(0xBFA98DD9, 0xBFB88481), (0x3F2A4ACA, 0xBFABFC05), (0xBEF4F330, 0xBEB92C97), (0x3EC55162, 0x3F49DB70)], [(0x3E99F2C9, 0x3E99A888), (0x3F9C12A4, 0x3F4F8E83), (0x3DEEB6FA, 0xBEE32549), (0xBFED4983, 0xBE3050D1)]]]> : tensor<2x3x4xcomplex<f32>>
  %1 = stablehlo.constant dense<(0xBF041B5C, 0x3E9E4A55)> : tensor<complex<f32>>
  %r = stablehlo.pad %0, %1, low = [0, -2, 0], high = [0, -2, 0], interior = [0, 2, 0] : (tensor<2x3x4xcomplex<f32>>, tensor<complex<f32>>) -> tensor<2x3x4xcomplex<f32>>
  %w0 = stablehlo.constant dense<[[[(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55)], [(0xBF3253CA, 0x3E8C002C), (0x3F153D8B, 0xBF3FC2C6), (0xBF891301, 0x3F8A8C4E), (0xBF4FECE7, 0xBF4EB19D)], [(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55)]], [[(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55)], [(0xBFA98DD9, 0xBFB88481), (0x3F2A4ACA, 0xBFABFC05), (0xBEF4F330, 0xBEB92C97), (0x3EC55162, 0x3F49DB70)], [(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55)]]]> : tensor<2x3x4xcomplex<f32>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3x4xcomplex<f32>>, tensor<2x3x4xcomplex<f32>>
  return
}
// -----
func.func @pad_20() {
  %0 = stablehlo.constant dense<[[[(0x3FEE164E, 0xBFAF5790), (0xBFBFA6AA, 0x3F3B2CEF), (0x3EF3E289, 0xBE84420A), (0x3F8E5F89, 0x3F91A94C)], [(0xBF3253CA, 0x3E8C002C), (0x3F153D8B, 0xBF3FC2C6), (0xBF891301, 0x3F8A8C4E), (0xBF4FECE7, 0xBF4EB19D)], [(0xBF512C2C, 0xC0035E61), (0x3E44EC4F, 0x4004153A), (0xBDBA5463, 0xBFF4936B), (0x3F7440E5, 0x3F22EBF4)]], [[(0xBF70B622, 0x3F705897), (0xBE066D20, 0x3E16986F), (0x3F76091B, 0xBFD7798C), (0x3F0F8F18, 0x3F81EC02)], [(0xBFA98DD9, 0xBFB88481), (0x3F2A4ACA, 0xBFABFC05), (0xBEF4F330, 0xBEB92C97), (0x3EC55162, 0x3F49DB70)], [(0x3E99F2C9, 0x3E99A888), (0x3F9C12A4, 0x3F4F8E83), (0x3DEEB6FA, 0xBEE32549), (0xBFED4983, 0xBE3050D1)]]]> : tensor<2x3x4xcomplex<f32>>
  %1 = stablehlo.constant dense<(0xBF041B5C, 0x3E9E4A55)> : tensor<complex<f32>>
  %r = stablehlo.pad %0, %1, low = [-3, 0, 0], high = [2, 0, 0], interior = [0, 0, 0] : (tensor<2x3x4xcomplex<f32>>, tensor<complex<f32>>) -> tensor<1x3x4xcomplex<f32>>
  %w0 = stablehlo.constant dense<[[[(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55)], [(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55)], [(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55)]]]> : tensor<1x3x4xcomplex<f32>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<1x3x4xcomplex<f32>>, tensor<1x3x4xcomplex<f32>>
  return
}
// -----
func.func @pad_empty_5() {
  %0 = stablehlo.constant dense<> : tensor<0xcomplex<f32>>
  %1 = stablehlo.constant dense<(0xBF041B5C, 0x3E9E4A55)> : tensor<complex<f32>>
  %r = stablehlo.pad %0, %1, low = [2], high = [1], interior = [3] : (tensor<0xcomplex<f32>>, tensor<complex<f32>>) -> tensor<3xcomplex<f32>>
  %w0 = stablehlo.constant dense<[(0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55), (0xBF041B5C, 0x3E9E4A55)]> : tensor<3xcomplex<f32>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>
  return
}
// -----
func.func @dynamic_slice_9() {
  %0 = stablehlo.constant dense<[[[(0x3FEE164E, 0xBFAF5790), (0xBFBFA6AA, 0x3F3B2CEF), (0x3EF3E289, 0xBE84420A), (0x3F8E5F89, 0x3F91A94C)], [(0xBF3253CA, 0x3E8C002C), (0x3F153D8B, 0xBF3FC2C6), (0xBF891301, 0x3F8A8C4E), (0xBF4FECE7, 0xBF4EB19D)], [(0xBF512C2C, 0xC0035E61), (0x3E44EC4F, 0x4004153A), (0xBDBA5463, 0xBFF4936B), (0x3F7440E5, 0x3F22EBF4)]], [[(0xBF70B622, 0x3F705897), (0xBE066D20, 0x3E16986F), (0x3F76091B, 0xBFD7798C), (0x3F0F8F18, 0x3F81EC02)], [(0xBFA98DD9, 0xBFB88481), (0x3F2A4ACA, 0xBFABFC05), (0xBEF4F330, 0xBEB92C97), (0x3EC55162, 0x3F49DB70)], [(0x3E99F2C9, 0x3E99A888), (0x3F9C12A4, 0x3F4F8E83), (0x3DEEB6FA, 0xBEE32549), (0xBFED4983, 0xBE3050D1)]]]> : tensor<2x3x4xcomplex<f32>>
  %1 = stablehlo.constant dense<0> : tensor<i32>
  %2 = stablehlo.constant dense<1> : tensor<i32>
  %3 = stablehlo.constant dense<5> : tensor<i32>
  %r = stablehlo.dynamic_slice %0, %1, %2, %3, sizes = [1, 2, 2] : (tensor<2x3x4xcomplex<f32>>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xcomplex<f32>>
  %w0 = stablehlo.constant dense<[[[(0xBF891301, 0x3F8A8C4E), (0xBF4FECE7, 0xBF4EB19D)], [(0xBDBA5463, 0xBFF4936B), (0x3F7440E5, 0x3F22EBF4)]]]> : tensor<1x2x2xcomplex<f32>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<1x2x2xcomplex<f32>>, tensor<1x2x2xcomplex<f32>>
  return
}
// -----
func.func @dynamic_update_slice_9() {
  %0 = stablehlo.constant dense<[[[(0x3FEE164E, 0xBFAF5790), (0xBFBFA6AA, 0x3F3B2CEF), (0x3EF3E289, 0xBE84420A), (0x3F8E5F89, 0x3F91A94C)], [(0xBF3253CA, 0x3E8C002C), (0x3F153D8B, 0xBF3FC2C6), (0xBF891301, 0x3F8A8C4E), (0xBF4FECE7, 0xBF4EB19D)], [(0xBF512C2C, 0xC0035E61), (0x3E44EC4F, 0x4004153A), (0xBDBA5463, 0xBFF4936B), (0x3F7440E5, 0x3F22EBF4)]], [[(0xBF70B622, 0x3F705897), (0xBE066D20, 0x3E16986F), (0x3F76091B, 0xBFD7798C), (0x3F0F8F18, 0x3F81EC02)], [(0xBFA98DD9, 0xBFB88481), (0x3F2A4ACA, 0xBFABFC05), (0xBEF4F330, 0xBEB92C97), (0x3EC55162, 0x3F49DB70)], [(0x3E99F2C9, 0x3E99A888), (0x3F9C12A4, 0x3F4F8E83), (0x3DEEB6FA, 0xBEE32549), (0xBFED4983, 0xBE3050D1)]]]> : tensor<2x3x4xcomplex<f32>>
  %1 = stablehlo.constant dense<[[[(0xBF00D477, 0x3EFFBED3), (0x3F239CEC, 0xBF395082)], [(0xBC54E6C3, 0x3F1AC91E), (0x3FB24DD4, 0x3F6F9E76)]]]> : tensor<1x2x2xcomplex<f32>>
  %2 = stablehlo.constant dense<0> : tensor<i32>
  %3 = stablehlo.constant dense<1> : tensor<i32>
  %4 = stablehlo.constant dense<5> : tensor<i32>
  %r = stablehlo.dynamic_update_slice %0, %1, %2, %3, %4 : (tensor<2x3x4xcomplex<f32>>, tensor<1x2x2xcomplex<f32>>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x4xcomplex<f32>>
  %w0 = stablehlo.constant dense<[[[(0x3FEE164E, 0xBFAF5790), (0xBFBFA6AA, 0x3F3B2CEF), (0x3EF3E289, 0xBE84420A), (0x3F8E5F89, 0x3F91A94C)], [(0xBF3253CA, 0x3E8C002C), (0x3F153D8B, 0xBF3FC2C6), (0xBF00D477, 0x3EFFBED3), (0x3F239CEC, 0xBF395082)], [(0xBF512C2C, 0xC0035E61), (0x3E44EC4F, 0x4004153A), (0xBC54E6C3, 0x3F1AC91E), (0x3FB24DD4, 0x3F6F9E76)]], [[(0xBF70B622, 0x3F705897), (0xBE066D20, 0x3E16986F), (0x3F76091B, 0xBFD7798C), (0x3F0F8F18, 0x3F81EC02)], [(0xBFA98DD9, 0xBFB88481), (0x3F2A4ACA, 0xBFABFC05), (0xBEF4F330, 0xBEB92C97), (0x3EC55162, 0x3F49DB70)], [(0x3E99F2C9, 0x3E99A888), (0x3F9C12A4, 0x3F4F8E83), (0x3DEEB6FA, 0xBEE32549), (0xBFED4983, 0xBE3050D1)]]]> : tensor<2x3x4xcomplex<f32>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3x4xcomplex<f32>>, tensor<2x3x4xcomplex<f32>>
  return
}
// -----
func.func @dynamic_slice_10() {
  %0 = stablehlo.constant dense<[[[(0x3FEE164E, 0xBFAF5790), (0xBFBFA6AA, 0x3F3B2CEF), (0x3EF3E289, 0xBE84420A), (0x3F8E5F89, 0x3F91A94C)], [(0xBF3253CA, 0x3E8C002C), (0x3F153D8B, 0xBF3FC2C6), (0xBF891301, 0x3F8A8C4E), (0xBF4FECE7, 0xBF4EB19D)], [(0xBF512C2C, 0xC0035E61), (0x3E44EC4F, 0x4004153A), (0xBDBA5463, 0xBFF4936B), (0x3F7440E5, 0x3F22EBF4)]], [[(0xBF70B622, 0x3F705897), (0xBE066D20, 0x3E16986F), (0x3F76091B, 0xBFD7798C), (0x3F0F8F18, 0x3F81EC02)], [(0xBFA98DD9, 0xBFB88481), (0x3F2A4ACA, 0xBFABFC05), (0xBEF4F330, 0xBEB92C97), (0x3EC55162, 0x3F49DB70)], [(0x3E99F2C9, 0x3E99A888), (0x3F9C12A4, 0x3F4F8E83), (0x3DEEB6FA, 0xBEE32549), (0xBFED4983, 0xBE3050D1)]]]> : tensor<2x3x4xcomplex<f32>>
  %1 = stablehlo.constant dense<-3> : tensor<i32>
  %2 = stablehlo.constant dense<100> : tensor<i32>
  %3 = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.dynamic_slice %0, %1, %2, %3, sizes = [1, 2, 2] : (tensor<2x3x4xcomplex<f32>>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xcomplex<f32>>
  %w0 = stablehlo.constant dense<[[[(0x3F153D8B, 0xBF3FC2C6), (0xBF891301, 0x3F8A8C4E)], [(0x3E44EC4F, 0x4004153A), (0xBDBA5463, 0xBFF4936B)]]]> : tensor<1x2x2xcomplex<f32>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<1x2x2xcomplex<f32>>, tensor<1x2x2xcomplex<f32>>
  return
}
// -----
func.func @dynamic_update_slice_10() {
  %0 = stablehlo.constant dense<[[[(0x3FEE164E, 0xBFAF5790), (0xBFBFA6AA, 0x3F3B2CEF), (0x3EF3E289, 0xBE84420A), (0x3F8E5F89, 0x3F91A94C)], [(0xBF3253CA, 0x3E8C002C), (0x3F153D8B, 0xBF3FC2C6), (0xBF891301, 0x3F8A8C4E), (0xBF4FECE7, 0xBF4EB19D)], [(0xBF512C2C, 0xC0035E61), (0x3E44EC4F, 0x4004153A), (0xBDBA5463, 0xBFF4936B), (0x3F7440E5, 0x3F22EBF4)]], [[(0xBF70B622, 0x3F705897), (0xBE066D20, 0x3E16986F), (0x3F76091B, 0xBFD7798C), (0x3F0F8F18, 0x3F81EC02)], [(0xBFA98DD9, 0xBFB88481), (0x3F2A4ACA, 0xBFABFC05), (0xBEF4F330, 0xBEB92C97), (0x3EC55162, 0x3F49DB70)], [(0x3E99F2C9, 0x3E99A888), (0x3F9C12A4, 0x3F4F8E83), (0x3DEEB6FA, 0xBEE32549), (0xBFED4983, 0xBE3050D1)]]]> : tensor<2x3x4xcomplex<f32>>
  %1 = stablehlo.constant dense<[[[(0xBF118653, 0xBF167712), (0xBEDA01B9, 0xC007D493)], [(0xC013881F, 0xBFE2671C), (0x3F67459D, 0xBE644D0C)]]]> : tensor<1x2x2xcomplex<f32>>
  %2 = stablehlo.constant dense<-3> : tensor<i32>
  %3 = stablehlo.constant dense<100> : tensor<i32>
  %4 = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.dynamic_update_slice %0, %1, %2, %3, %4 : (tensor<2x3x4xcomplex<f32>>, tensor<1x2x2xcomplex<f32>>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x4xcomplex<f32>>
  %w0 = stablehlo.constant dense<[[[(0x3FEE164E, 0xBFAF5790), (0xBFBFA6AA, 0x3F3B2CEF), (0x3EF3E289, 0xBE84420A), (0x3F8E5F89, 0x3F91A94C)], [(0xBF3253CA, 0x3E8C002C), (0xBF118653, 0xBF167712), (0xBEDA01B9, 0xC007D493), (0xBF4FECE7, 0xBF4EB19D)], [(0xBF512C2C, 0xC0035E61), (0xC013881F, 0xBFE2671C), (0x3F67459D, 0xBE644D0C), (0x3F7440E5, 0x3F22EBF4)]], [[(0xBF70B622, 0x3F705897), (0xBE066D20, 0x3E16986F), (0x3F76091B, 0xBFD7798C), (0x3F0F8F18, 0x3F81EC02)], [(0xBFA98DD9, 0xBFB88481), (0x3F2A4ACA, 0xBFABFC05), (0xBEF4F330, 0xBEB92C97), (0x3EC55162, 0x3F49DB70)], [(0x3E99F2C9, 0x3E99A888), (0x3F9C12A4, 0x3F4F8E83), (0x3DEEB6FA, 0xBEE32549), (0xBFED4983, 0xBE3050D1)]]]> : tensor<2x3x4xcomplex<f32>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3x4xcomplex<f32>>, tensor<2x3x4xcomplex<f32>>
  return
}
// -----
func.func @transpose_6() {
  %0 = stablehlo.constant dense<[[[0xBF00, 0x3FC0, 0x4010, 0x4010], [0x4060, 0xBF80, 0x3FE0, 0x4000], [0x3FC0, 0x4030, 0xC060, 0x3F00]], [[0x3E80, 0x3E80, 0xC040, 0x4010], [0x4050, 0xBFA0, 0x4070, 0xC050], [0x4060, 0xBF40, 0xC030, 0xC080]]]> : tensor<2x3x4xbf16>
  %r = stablehlo.transpose %0, dims = [2, 0, 1] : (tensor<2x3x4xbf16>) -> tensor<4x2x3xbf16>
  %w0 = stablehlo.constant dense<[[[0xBF00, 0x4060, 0x3FC0], [0x3E80, 0x4050, 0x4060]], [[0x3FC0, 0xBF80, 0x4030], [0x3E80, 0xBFA0, 0xBF40]], [[0x4010, 0x3FE0, 0xC060], [0xC040, 0x4070, 0xC030]], [[0x4010, 0x4000, 0x3F00], [0x4010, 0xC050, 0xC080]]]> : tensor<4x2x3xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<4x2x3xbf16>, tensor<4x2x3xbf16>
  return
}
// -----
func.func @reshape_6() {
  %0 = stablehlo.constant dense<[[[0xBF00, 0x3FC0, 0x4010, 0x4010], [0x4060, 0xBF80, 0x3FE0, 0x4000], [0x3FC0, 0x4030, 0xC060, 0x3F00]], [[0x3E80, 0x3E80, 0xC040, 0x4010], [0x4050, 0xBFA0, 0x4070, 0xC050], [0x4060, 0xBF40, 0xC030, 0xC080]]]> : tensor<2x3x4xbf16>
  %r = stablehlo.reshape %0 : (tensor<2x3x4xbf16>) -> tensor<6x4xbf16>
  %w0 = stablehlo.constant dense<[[0xBF00, 0x3FC0, 0x4010, 0x4010], [0x4060, 0xBF80, 0x3FE0, 0x4000], [0x3FC0, 0x4030, 0xC060, 0x3F00], [0x3E80, 0x3E80, 0xC040, 0x4010], [0x4050, 0xBFA0, 0x4070, 0xC050], [0x4060, 0xBF40, 0xC030, 0xC080]]> : tensor<6x4xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<6x4xbf16>, tensor<6x4xbf16>
  return
}
// -----
func.func @reverse_6() {
  %0 = stablehlo.constant dense<[[[0xBF00, 0x3FC0, 0x4010, 0x4010], [0x4060, 0xBF80, 0x3FE0, 0x4000], [0x3FC0, 0x4030, 0xC060, 0x3F00]], [[0x3E80, 0x3E80, 0xC040, 0x4010], [0x4050, 0xBFA0, 0x4070, 0xC050], [0x4060, 0xBF40, 0xC030, 0xC080]]]> : tensor<2x3x4xbf16>
  %r = stablehlo.reverse %0, dims = [0, 2] : tensor<2x3x4xbf16>
  %w0 = stablehlo.constant dense<[[[0x4010, 0xC040, 0x3E80, 0x3E80], [0xC050, 0x4070, 0xBFA0, 0x4050], [0xC080, 0xC030, 0xBF40, 0x4060]], [[0x4010, 0x4010, 0x3FC0, 0xBF00], [0x4000, 0x3FE0, 0xBF80, 0x4060], [0x3F00, 0xC060, 0x4030, 0x3FC0]]]> : tensor<2x3x4xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3x4xbf16>, tensor<2x3x4xbf16>
  return
}
// -----
func.func @slice_6() {
  %0 = stablehlo.constant dense<[[[0xBF00, 0x3FC0, 0x4010, 0x4010], [0x4060, 0xBF80, 0x3FE0, 0x4000], [0x3FC0, 0x4030, 0xC060, 0x3F00]], [[0x3E80, 0x3E80, 0xC040, 0x4010], [0x4050, 0xBFA0, 0x4070, 0xC050], [0x4060, 0xBF40, 0xC030, 0xC080]]]> : tensor<2x3x4xbf16>
  %r = stablehlo.slice %0 [0:2, 1:3, 0:4:3] : (tensor<2x3x4xbf16>) -> tensor<2x2x2xbf16>
  %w0 = stablehlo.constant dense<[[[0x4060, 0x4000], [0x3FC0, 0x3F00]], [[0x4050, 0xC050], [0x4060, 0xC080]]]> : tensor<2x2x2xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x2x2xbf16>, tensor<2x2x2xbf16>
  return
}
// -----
func.func @broadcast_in_dim_6() {
  %0 = stablehlo.constant dense<[0xBE80, 0xBF40, 0x4080]> : tensor<3xbf16>
  %r = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<3xbf16>) -> tensor<2x3x4xbf16>
  %w0 = stablehlo.constant dense<[[[0xBE80, 0xBE80, 0xBE80, 0xBE80], [0xBF40, 0xBF40, 0xBF40, 0xBF40], [0x4080, 0x4080, 0x4080, 0x4080]], [[0xBE80, 0xBE80, 0xBE80, 0xBE80], [0xBF40, 0xBF40, 0xBF40, 0xBF40], [0x4080, 0x4080, 0x4080, 0x4080]]]> : tensor<2x3x4xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3x4xbf16>, tensor<2x3x4xbf16>
  return
}
// -----
func.func @broadcast_in_dim_ones_6() {
  %0 = stablehlo.constant dense<[[0x4080, 0xBFA0]]> : tensor<1x2xbf16>
  %r = stablehlo.broadcast_in_dim %0, dims = [2, 0] : (tensor<1x2xbf16>) -> tensor<2x2x4xbf16>
  %w0 = stablehlo.constant dense<[[[0x4080, 0x4080, 0x4080, 0x4080], [0x4080, 0x4080, 0x4080, 0x4080]], [[0xBFA0, 0xBFA0, 0xBFA0, 0xBFA0], [0xBFA0, 0xBFA0, 0xBFA0, 0xBFA0]]]> : tensor<2x2x4xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x2x4xbf16>, tensor<2x2x4xbf16>
  return
}
// -----
func.func @broadcast_in_dim_scalar_6() {
  %0 = stablehlo.constant dense<0xC070> : tensor<bf16>
  %r = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<bf16>) -> tensor<2x2xbf16>
  %w0 = stablehlo.constant dense<[[0xC070, 0xC070], [0xC070, 0xC070]]> : tensor<2x2xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x2xbf16>, tensor<2x2xbf16>
  return
}
// -----
func.func @broadcast_6() {
  %0 = stablehlo.constant dense<[0x4080, 0xC020, 0xC050]> : tensor<3xbf16>
  %r = stablehlo.broadcast %0, sizes = [2, 1] : (tensor<3xbf16>) -> tensor<2x1x3xbf16>
  %w0 = stablehlo.constant dense<[[[0x4080, 0xC020, 0xC050]], [[0x4080, 0xC020, 0xC050]]]> : tensor<2x1x3xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x1x3xbf16>, tensor<2x1x3xbf16>
  return
}
// -----
func.func @concatenate_6() {
  %0 = stablehlo.constant dense<[[[0xBF00, 0x3FC0, 0x4010, 0x4010], [0x4060, 0xBF80, 0x3FE0, 0x4000], [0x3FC0, 0x4030, 0xC060, 0x3F00]], [[0x3E80, 0x3E80, 0xC040, 0x4010], [0x4050, 0xBFA0, 0x4070, 0xC050], [0x4060, 0xBF40, 0xC030, 0xC080]]]> : tensor<2x3x4xbf16>
  %1 = stablehlo.constant dense<> : tensor<2x0x4xbf16>
  %2 = stablehlo.constant dense<[[[0x4060, 0xC040, 0x4030, 0x4060], [0x4020, 0x4020, 0x4030, 0x4010]], [[0xC060, 0x3FA0, 0x3F80, 0xBFC0], [0x3F00, 0x3E80, 0x3E80, 0xC000]]]> : tensor<2x2x4xbf16>
  %r = stablehlo.concatenate %0, %1, %2, dim = 1 : (tensor<2x3x4xbf16>, tensor<2x0x4xbf16>, tensor<2x2x4xbf16>) -> tensor<2x5x4xbf16>
  %w0 = stablehlo.constant dense<[[[0xBF00, 0x3FC0, 0x4010, 0x4010], [0x4060, 0xBF80, 0x3FE0, 0x4000], [0x3FC0, 0x4030, 0xC060, 0x3F00], [0x4060, 0xC040, 0x4030, 0x4060], [0x4020, 0x4020, 0x4030, 0x4010]], [[0x3E80, 0x3E80, 0xC040, 0x4010], [0x4050, 0xBFA0, 0x4070, 0xC050], [0x4060, 0xBF40, 0xC030, 0xC080], [0xC060, 0x3FA0, 0x3F80, 0xBFC0], [0x3F00, 0x3E80, 0x3E80, 0xC000]]]> : tensor<2x5x4xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x5x4xbf16>, tensor<2x5x4xbf16>
  return
}
// -----
func.func @concatenate_one_6() {
  %0 = stablehlo.constant dense<[0xBF40, 0xC030, 0x3FC0]> : tensor<3xbf16>
  %r = stablehlo.concatenate %0, dim = 0 : (tensor<3xbf16>) -> tensor<3xbf16>
  %w0 = stablehlo.constant dense<[0xBF40, 0xC030, 0x3FC0]> : tensor<3xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3xbf16>, tensor<3xbf16>
  return
}
// -----
func.func @pad_21() {
  %0 = stablehlo.constant dense<[[[0xBF00, 0x3FC0, 0x4010, 0x4010], [0x4060, 0xBF80, 0x3FE0, 0x4000], [0x3FC0, 0x4030, 0xC060, 0x3F00]], [[0x3E80, 0x3E80, 0xC040, 0x4010], [0x4050, 0xBFA0, 0x4070, 0xC050], [0x4060, 0xBF40, 0xC030, 0xC080]]]> : tensor<2x3x4xbf16>
  %1 = stablehlo.constant dense<0x3F00> : tensor<bf16>
  %r = stablehlo.pad %0, %1, low = [1, 0, 2], high = [0, 2, 1], interior = [0, 1, 2] : (tensor<2x3x4xbf16>, tensor<bf16>) -> tensor<3x7x13xbf16>
  %w0 = stablehlo.constant dense<[[[0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00], [0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00], [0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00], [0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00], [0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00], [0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00], [0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00]], [[0x3F00, 0x3F00, 0xBF00, 0x3F00, 0x3F00, 0x3FC0, 0x3F00, 0x3F00, 0x4010, 0x3F00, 0x3F00, 0x4010, 0x3F00], [0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00], [0x3F00, 0x3F00, 0x4060, 0x3F00, 0x3F00, 0xBF80, 0x3F00, 0x3F00, 0x3FE0, 0x3F00, 0x3F00, 0x4000, 0x3F00], [0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00], [0x3F00, 0x3F00, 0x3FC0, 0x3F00, 0x3F00, 0x4030, 0x3F00, 0x3F00, 0xC060, 0x3F00, 0x3F00, 0x3F00, 0x3F00], [0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00], [0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00]], [[0x3F00, 0x3F00, 0x3E80, 0x3F00, 0x3F00, 0x3E80, 0x3F00, 0x3F00, 0xC040, 0x3F00, 0x3F00, 0x4010, 0x3F00], [0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00], [0x3F00, 0x3F00, 0x4050, 0x3F00, 0x3F00, 0xBFA0, 0x3F00, 0x3F00, 0x4070, 0x3F00, 0x3F00, 0xC050, 0x3F00], [0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00], [0x3F00, 0x3F00, 0x4060, 0x3F00, 0x3F00, 0xBF40, 0x3F00, 0x3F00, 0xC030, 0x3F00, 0x3F00, 0xC080, 0x3F00], [0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00], [0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00, 0x3F00]]]> : tensor<3x7x13xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3x7x13xbf16>, tensor<3x7x13xbf16>
  return
}
// -----
func.func @pad_22() {
  %0 = stablehlo.constant dense<[[[0xBF00, 0x3FC0, 0x4010, 0x4010], [0x4060, 0xBF80, 0x3FE0, 0x4000], [0x3FC0, 0x4030, 0xC060, 0x3F00]], [[0x3E80, 0x3E80, 0xC040, 0x4010], [0x4050, 0xBFA0, 0x4070, 0xC050], [0x4060, 0xBF40, 0xC030, 0xC080]]]> : tensor<2x3x4xbf16>
  %1 = stablehlo.constant dense<0x3F00> : tensor<bf16>
  %r = stablehlo.pad %0, %1, low = [-1, 1, -1], high = [0, -1, -2], interior = [0, 0, 1] : (tensor<2x3x4xbf16>, tensor<bf16>) -> tensor<1x3x4xbf16>
  %w0 = stablehlo.constant dense<[[[0x3F00, 0x3F00, 0x3F00, 0x3F00], [0x3F00, 0x3E80, 0x3F00, 0xC040], [0x3F00, 0xBFA0, 0x3F00, 0x4070]]]> : tensor<1x3x4xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<1x3x4xbf16>, tensor<1x3x4xbf16>
  return
}
// -----
func.func @pad_23() {
  %0 = stablehlo.constant dense<[[[0xBF00, 0x3FC0, 0x4010, 0x4010], [0x4060, 0xBF80, 0x3FE0, 0x4000], [0x3FC0, 0x4030, 0xC060, 0x3F00]], [[0x3E80, 0x3E80, 0xC040, 0x4010], [0x4050, 0xBFA0, 0x4070, 0xC050], [0x4060, 0xBF40, 0xC030, 0xC080]]]> : tensor<2x3x4xbf16>
  %1 = stablehlo.constant dense<0x3F00> : tensor<bf16>
  %r = stablehlo.pad %0, %1, low = [0, -2, 0], high = [0, -2, 0], interior = [0, 2, 0] : (tensor<2x3x4xbf16>, tensor<bf16>) -> tensor<2x3x4xbf16>
  %w0 = stablehlo.constant dense<[[[0x3F00, 0x3F00, 0x3F00, 0x3F00], [0x4060, 0xBF80, 0x3FE0, 0x4000], [0x3F00, 0x3F00, 0x3F00, 0x3F00]], [[0x3F00, 0x3F00, 0x3F00, 0x3F00], [0x4050, 0xBFA0, 0x4070, 0xC050], [0x3F00, 0x3F00, 0x3F00, 0x3F00]]]> : tensor<2x3x4xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3x4xbf16>, tensor<2x3x4xbf16>
  return
}
// -----
func.func @pad_24() {
  %0 = stablehlo.constant dense<[[[0xBF00, 0x3FC0, 0x4010, 0x4010], [0x4060, 0xBF80, 0x3FE0, 0x4000], [0x3FC0, 0x4030, 0xC060, 0x3F00]], [[0x3E80, 0x3E80, 0xC040, 0x4010], [0x4050, 0xBFA0, 0x4070, 0xC050], [0x4060, 0xBF40, 0xC030, 0xC080]]]> : tensor<2x3x4xbf16>
  %1 = stablehlo.constant dense<0x3F00> : tensor<bf16>
  %r = stablehlo.pad %0, %1, low = [-3, 0, 0], high = [2, 0, 0], interior = [0, 0, 0] : (tensor<2x3x4xbf16>, tensor<bf16>) -> tensor<1x3x4xbf16>
  %w0 = stablehlo.constant dense<[[[0x3F00, 0x3F00, 0x3F00, 0x3F00], [0x3F00, 0x3F00, 0x3F00, 0x3F00], [0x3F00, 0x3F00, 0x3F00, 0x3F00]]]> : tensor<1x3x4xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<1x3x4xbf16>, tensor<1x3x4xbf16>
  return
}
// -----
func.func @pad_empty_6() {
  %0 = stablehlo.constant dense<> : tensor<0xbf16>
  %1 = stablehlo.constant dense<0x3F00> : tensor<bf16>
  %r = stablehlo.pad %0, %1, low = [2], high = [1], interior = [3] : (tensor<0xbf16>, tensor<bf16>) -> tensor<3xbf16>
  %w0 = stablehlo.constant dense<[0x3F00, 0x3F00, 0x3F00]> : tensor<3xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3xbf16>, tensor<3xbf16>
  return
}
// -----
func.func @dynamic_slice_11() {
  %0 = stablehlo.constant dense<[[[0xBF00, 0x3FC0, 0x4010, 0x4010], [0x4060, 0xBF80, 0x3FE0, 0x4000], [0x3FC0, 0x4030, 0xC060, 0x3F00]], [[0x3E80, 0x3E80, 0xC040, 0x4010], [0x4050, 0xBFA0, 0x4070, 0xC050], [0x4060, 0xBF40, 0xC030, 0xC080]]]> : tensor<2x3x4xbf16>
  %1 = stablehlo.constant dense<0> : tensor<i32>
  %2 = stablehlo.constant dense<1> : tensor<i32>
  %3 = stablehlo.constant dense<5> : tensor<i32>
  %r = stablehlo.dynamic_slice %0, %1, %2, %3, sizes = [1, 2, 2] : (tensor<2x3x4xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xbf16>
  %w0 = stablehlo.constant dense<[[[0x3FE0, 0x4000], [0xC060, 0x3F00]]]> : tensor<1x2x2xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<1x2x2xbf16>, tensor<1x2x2xbf16>
  return
}
// -----
func.func @dynamic_update_slice_11() {
  %0 = stablehlo.constant dense<[[[0xBF00, 0x3FC0, 0x4010, 0x4010], [0x4060, 0xBF80, 0x3FE0, 0x4000], [0x3FC0, 0x4030, 0xC060, 0x3F00]], [[0x3E80, 0x3E80, 0xC040, 0x4010], [0x4050, 0xBFA0, 0x4070, 0xC050], [0x4060, 0xBF40, 0xC030, 0xC080]]]> : tensor<2x3x4xbf16>
  %1 = stablehlo.constant dense<[[[0xC070, 0x4080], [0xC010, 0xC040]]]> : tensor<1x2x2xbf16>
  %2 = stablehlo.constant dense<0> : tensor<i32>
  %3 = stablehlo.constant dense<1> : tensor<i32>
  %4 = stablehlo.constant dense<5> : tensor<i32>
  %r = stablehlo.dynamic_update_slice %0, %1, %2, %3, %4 : (tensor<2x3x4xbf16>, tensor<1x2x2xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x4xbf16>
  %w0 = stablehlo.constant dense<[[[0xBF00, 0x3FC0, 0x4010, 0x4010], [0x4060, 0xBF80, 0xC070, 0x4080], [0x3FC0, 0x4030, 0xC010, 0xC040]], [[0x3E80, 0x3E80, 0xC040, 0x4010], [0x4050, 0xBFA0, 0x4070, 0xC050], [0x4060, 0xBF40, 0xC030, 0xC080]]]> : tensor<2x3x4xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3x4xbf16>, tensor<2x3x4xbf16>
  return
}
// -----
func.func @dynamic_slice_12() {
  %0 = stablehlo.constant dense<[[[0xBF00, 0x3FC0, 0x4010, 0x4010], [0x4060, 0xBF80, 0x3FE0, 0x4000], [0x3FC0, 0x4030, 0xC060, 0x3F00]], [[0x3E80, 0x3E80, 0xC040, 0x4010], [0x4050, 0xBFA0, 0x4070, 0xC050], [0x4060, 0xBF40, 0xC030, 0xC080]]]> : tensor<2x3x4xbf16>
  %1 = stablehlo.constant dense<-3> : tensor<i32>
  %2 = stablehlo.constant dense<100> : tensor<i32>
  %3 = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.dynamic_slice %0, %1, %2, %3, sizes = [1, 2, 2] : (tensor<2x3x4xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xbf16>
  %w0 = stablehlo.constant dense<[[[0xBF80, 0x3FE0], [0x4030, 0xC060]]]> : tensor<1x2x2xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<1x2x2xbf16>, tensor<1x2x2xbf16>
  return
}
// -----
func.func @dynamic_update_slice_12() {
  %0 = stablehlo.constant dense<[[[0xBF00, 0x3FC0, 0x4010, 0x4010], [0x4060, 0xBF80, 0x3FE0, 0x4000], [0x3FC0, 0x4030, 0xC060, 0x3F00]], [[0x3E80, 0x3E80, 0xC040, 0x4010], [0x4050, 0xBFA0, 0x4070, 0xC050], [0x4060, 0xBF40, 0xC030, 0xC080]]]> : tensor<2x3x4xbf16>
  %1 = stablehlo.constant dense<[[[0x4050, 0xBF80], [0xC080, 0xC060]]]> : tensor<1x2x2xbf16>
  %2 = stablehlo.constant dense<-3> : tensor<i32>
  %3 = stablehlo.constant dense<100> : tensor<i32>
  %4 = stablehlo.constant dense<1> : tensor<i32>
  %r = stablehlo.dynamic_update_slice %0, %1, %2, %3, %4 : (tensor<2x3x4xbf16>, tensor<1x2x2xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x4xbf16>
  %w0 = stablehlo.constant dense<[[[0xBF00, 0x3FC0, 0x4010, 0x4010], [0x4060, 0x4050, 0xBF80, 0x4000], [0x3FC0, 0xC080, 0xC060, 0x3F00]], [[0x3E80, 0x3E80, 0xC040, 0x4010], [0x4050, 0xBFA0, 0x4070, 0xC050], [0x4060, 0xBF40, 0xC030, 0xC080]]]> : tensor<2x3x4xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3x4xbf16>, tensor<2x3x4xbf16>
  return
}
// -----
func.func @dynamic_slice_unsigned() {
  %0 = stablehlo.constant dense<[0x3FA00000, 0x3FC00000, 0xBFE00000, 0x40600000, 0x3FC00000]> : tensor<5xf32>
  %1 = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
  %r = stablehlo.dynamic_slice %0, %1, sizes = [2] : (tensor<5xf32>, tensor<ui64>) -> tensor<2xf32>
  %w0 = stablehlo.constant dense<[0x40600000, 0x3FC00000]> : tensor<2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
  return
}
// -----
func.func @dynamic_slice_scalar() {
  %0 = stablehlo.constant dense<0x3FE00000> : tensor<f32>
  %r = stablehlo.dynamic_slice %0, sizes = [] : (tensor<f32>) -> tensor<f32>
  %w0 = stablehlo.constant dense<0x3FE00000> : tensor<f32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<f32>, tensor<f32>
  return
}
// -----
func.func @iota() {
  %r = stablehlo.iota dim = 1 : tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @iota_2() {
  %r = stablehlo.iota dim = 1 : tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x0, 0x3F800000, 0x40000000], [0x0, 0x3F800000, 0x40000000]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @iota_3() {
  %r = stablehlo.iota dim = 1 : tensor<2x3xui8>
  %w0 = stablehlo.constant dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xui8>
  check.expect_eq %r, %w0 : tensor<2x3xui8>
  return
}
// -----
func.func @iota_4() {
  %r = stablehlo.iota dim = 1 : tensor<2x3xbf16>
  %w0 = stablehlo.constant dense<[[0x0, 0x3F80, 0x4000], [0x0, 0x3F80, 0x4000]]> : tensor<2x3xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xbf16>, tensor<2x3xbf16>
  return
}
// -----
func.func @iota_5() {
  %r = stablehlo.iota dim = 1 : tensor<2x3xcomplex<f32>>
  %w0 = stablehlo.constant dense<[[(0x0, 0x0), (0x3F800000, 0x0), (0x40000000, 0x0)], [(0x0, 0x0), (0x3F800000, 0x0), (0x40000000, 0x0)]]> : tensor<2x3xcomplex<f32>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>
  return
}
// -----
func.func @iota_6() {
  %r = stablehlo.iota dim = 1 : tensor<2x3xf64>
  %w0 = stablehlo.constant dense<[[0x0, 0x3FF0000000000000, 0x4000000000000000], [0x0, 0x3FF0000000000000, 0x4000000000000000]]> : tensor<2x3xf64>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf64>, tensor<2x3xf64>
  return
}
// -----
func.func @iota_empty() {
  %r = stablehlo.iota dim = 0 : tensor<0x3xi32>
  %w0 = stablehlo.constant dense<> : tensor<0x3xi32>
  check.expect_eq %r, %w0 : tensor<0x3xi32>
  return
}
// -----
func.func @transpose_scalar() {
  %0 = stablehlo.constant dense<0xBFC00000> : tensor<f32>
  %r = stablehlo.transpose %0, dims = [] : (tensor<f32>) -> tensor<f32>
  %w0 = stablehlo.constant dense<0xBFC00000> : tensor<f32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<f32>, tensor<f32>
  return
}
// -----
func.func @transpose_empty() {
  %0 = stablehlo.constant dense<> : tensor<0x3xf32>
  %r = stablehlo.transpose %0, dims = [1, 0] : (tensor<0x3xf32>) -> tensor<3x0xf32>
  %w0 = stablehlo.constant dense<> : tensor<3x0xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3x0xf32>, tensor<3x0xf32>
  return
}
// -----
func.func @reshape_scalar() {
  %0 = stablehlo.constant dense<[[0xC0000000]]> : tensor<1x1xf32>
  %r = stablehlo.reshape %0 : (tensor<1x1xf32>) -> tensor<f32>
  %w0 = stablehlo.constant dense<0xC0000000> : tensor<f32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<f32>, tensor<f32>
  return
}
// -----
func.func @slice_empty() {
  %0 = stablehlo.constant dense<[[0xBFA00000, 0xC0500000, 0xC0100000], [0x0, 0xC0200000, 0xC0100000]]> : tensor<2x3xf32>
  %r = stablehlo.slice %0 [1:1, 0:3] : (tensor<2x3xf32>) -> tensor<0x3xf32>
  %w0 = stablehlo.constant dense<> : tensor<0x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<0x3xf32>, tensor<0x3xf32>
  return
}
// -----
func.func @reverse_empty() {
  %0 = stablehlo.constant dense<> : tensor<0x2xf32>
  %r = stablehlo.reverse %0, dims = [0] : tensor<0x2xf32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<0x2xf32>, tensor<0x2xf32>
  return
}
// -----
func.func @map() {
  %0 = stablehlo.constant dense<[[0xBF400000, 0x0, 0xC0600000], [0xC0400000, 0xC0600000, 0x40500000]]> : tensor<2x3xf32>
  %1 = stablehlo.constant dense<[[0xBF400000, 0x40000000, 0xC0800000], [0x3FA00000, 0x40200000, 0x40500000]]> : tensor<2x3xf32>
  %r = "stablehlo.map"(%0, %1) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.subtract %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x0, 0xC0000000, 0x3F000000], [0xC0880000, 0xC0C00000, 0x0]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @map_i32() {
  %0 = stablehlo.constant dense<[6, -5, 5]> : tensor<3xi32>
  %1 = stablehlo.constant dense<[3, 1, -9]> : tensor<3xi32>
  %r = "stablehlo.map"(%0, %1) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.maximum %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %w0 = stablehlo.constant dense<[6, 1, 5]> : tensor<3xi32>
  check.expect_eq %r, %w0 : tensor<3xi32>
  return
}
// -----
func.func @map_scalar() {
  %0 = stablehlo.constant dense<0x3FF4000000000000> : tensor<f64>
  %1 = stablehlo.constant dense<0x4002000000000000> : tensor<f64>
  %r = "stablehlo.map"(%0, %1) <{dimensions = array<i64>}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %s = stablehlo.multiply %a, %b : tensor<f64>
    stablehlo.return %s : tensor<f64>
  }) : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %w0 = stablehlo.constant dense<0x4006800000000000> : tensor<f64>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<f64>, tensor<f64>
  return
}
