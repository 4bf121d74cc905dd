// Written by generate.py.
func.func @gather_rows() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000, 0x3FE00000], [0x40400000, 0xBF000000, 0x3FE00000, 0xC0000000, 0x40100000], [0x40200000, 0xC0000000, 0xC0400000, 0xC0100000, 0xC0800000], [0xBFA00000, 0xC0200000, 0x3F400000, 0xC0300000, 0x40000000]], [[0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000, 0xBFE00000], [0x3FE00000, 0xC0500000, 0xC0000000, 0x3F400000, 0xC0700000], [0xC0800000, 0x0, 0x40700000, 0x40500000, 0x40400000], [0xC0100000, 0x3FE00000, 0xBFC00000, 0xC0800000, 0xC0100000]], [[0x3FE00000, 0x40400000, 0x40800000, 0x3FA00000, 0xC0500000], [0x40300000, 0x3F400000, 0x40300000, 0xC0400000, 0x3F400000], [0x40600000, 0xBFE00000, 0x40500000, 0x3E800000, 0x40700000], [0xC0600000, 0x3F400000, 0x3F000000, 0x3FA00000, 0xC0500000]]]> : tensor<3x4x5xf32>
  %1 = stablehlo.constant dense<[[0], [2], [-1], [7]]> : tensor<4x1xi32>
  %r = "stablehlo.gather"(%0, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4, 5>, indices_are_sorted = false}> : (tensor<3x4x5xf32>, tensor<4x1xi32>) -> tensor<4x4x5xf32>
  %w0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000, 0x3FE00000], [0x40400000, 0xBF000000, 0x3FE00000, 0xC0000000, 0x40100000], [0x40200000, 0xC0000000, 0xC0400000, 0xC0100000, 0xC0800000], [0xBFA00000, 0xC0200000, 0x3F400000, 0xC0300000, 0x40000000]], [[0x3FE00000, 0x40400000, 0x40800000, 0x3FA00000, 0xC0500000], [0x40300000, 0x3F400000, 0x40300000, 0xC0400000, 0x3F400000], [0x40600000, 0xBFE00000, 0x40500000, 0x3E800000, 0x40700000], [0xC0600000, 0x3F400000, 0x3F000000, 0x3FA00000, 0xC0500000]], [[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000, 0x3FE00000], [0x40400000, 0xBF000000, 0x3FE00000, 0xC0000000, 0x40100000], [0x40200000, 0xC0000000, 0xC0400000, 0xC0100000, 0xC0800000], [0xBFA00000, 0xC0200000, 0x3F400000, 0xC0300000, 0x40000000]], [[0x3FE00000, 0x40400000, 0x40800000, 0x3FA00000, 0xC0500000], [0x40300000, 0x3F400000, 0x40300000, 0xC0400000, 0x3F400000], [0x40600000, 0xBFE00000, 0x40500000, 0x3E800000, 0x40700000], [0xC0600000, 0x3F400000, 0x3F000000, 0x3FA00000, 0xC0500000]]]> : tensor<4x4x5xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<4x4x5xf32>, tensor<4x4x5xf32>
  return
}
// -----
func.func @gather_rows_2() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000, 0x3FE00000], [0x40400000, 0xBF000000, 0x3FE00000, 0xC0000000, 0x40100000], [0x40200000, 0xC0000000, 0xC0400000, 0xC0100000, 0xC0800000], [0xBFA00000, 0xC0200000, 0x3F400000, 0xC0300000, 0x40000000]], [[0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000, 0xBFE00000], [0x3FE00000, 0xC0500000, 0xC0000000, 0x3F400000, 0xC0700000], [0xC0800000, 0x0, 0x40700000, 0x40500000, 0x40400000], [0xC0100000, 0x3FE00000, 0xBFC00000, 0xC0800000, 0xC0100000]], [[0x3FE00000, 0x40400000, 0x40800000, 0x3FA00000, 0xC0500000], [0x40300000, 0x3F400000, 0x40300000, 0xC0400000, 0x3F400000], [0x40600000, 0xBFE00000, 0x40500000, 0x3E800000, 0x40700000], [0xC0600000, 0x3F400000, 0x3F000000, 0x3FA00000, 0xC0500000]]]> : tensor<3x4x5xf32>
  %1 = stablehlo.constant dense<[[0], [2], [-1], [7]]> : tensor<4x1xi64>
  %r = "stablehlo.gather"(%0, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4, 5>, indices_are_sorted = false}> : (tensor<3x4x5xf32>, tensor<4x1xi64>) -> tensor<4x4x5xf32>
  %w0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000, 0x3FE00000], [0x40400000, 0xBF000000, 0x3FE00000, 0xC0000000, 0x40100000], [0x40200000, 0xC0000000, 0xC0400000, 0xC0100000, 0xC0800000], [0xBFA00000, 0xC0200000, 0x3F400000, 0xC0300000, 0x40000000]], [[0x3FE00000, 0x40400000, 0x40800000, 0x3FA00000, 0xC0500000], [0x40300000, 0x3F400000, 0x40300000, 0xC0400000, 0x3F400000], [0x40600000, 0xBFE00000, 0x40500000, 0x3E800000, 0x40700000], [0xC0600000, 0x3F400000, 0x3F000000, 0x3FA00000, 0xC0500000]], [[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000, 0x3FE00000], [0x40400000, 0xBF000000, 0x3FE00000, 0xC0000000, 0x40100000], [0x40200000, 0xC0000000, 0xC0400000, 0xC0100000, 0xC0800000], [0xBFA00000, 0xC0200000, 0x3F400000, 0xC0300000, 0x40000000]], [[0x3FE00000, 0x40400000, 0x40800000, 0x3FA00000, 0xC0500000], [0x40300000, 0x3F400000, 0x40300000, 0xC0400000, 0x3F400000], [0x40600000, 0xBFE00000, 0x40500000, 0x3E800000, 0x40700000], [0xC0600000, 0x3F400000, 0x3F000000, 0x3FA00000, 0xC0500000]]]> : tensor<4x4x5xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<4x4x5xf32>, tensor<4x4x5xf32>
  return
}
// -----
func.func @gather_rows_3() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000, 0x3FE00000], [0x40400000, 0xBF000000, 0x3FE00000, 0xC0000000, 0x40100000], [0x40200000, 0xC0000000, 0xC0400000, 0xC0100000, 0xC0800000], [0xBFA00000, 0xC0200000, 0x3F400000, 0xC0300000, 0x40000000]], [[0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000, 0xBFE00000], [0x3FE00000, 0xC0500000, 0xC0000000, 0x3F400000, 0xC0700000], [0xC0800000, 0x0, 0x40700000, 0x40500000, 0x40400000], [0xC0100000, 0x3FE00000, 0xBFC00000, 0xC0800000, 0xC0100000]], [[0x3FE00000, 0x40400000, 0x40800000, 0x3FA00000, 0xC0500000], [0x40300000, 0x3F400000, 0x40300000, 0xC0400000, 0x3F400000], [0x40600000, 0xBFE00000, 0x40500000, 0x3E800000, 0x40700000], [0xC0600000, 0x3F400000, 0x3F000000, 0x3FA00000, 0xC0500000]]]> : tensor<3x4x5xf32>
  %1 = stablehlo.constant dense<[[0], [2], [4294967295], [7]]> : tensor<4x1xui32>
  %r = "stablehlo.gather"(%0, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4, 5>, indices_are_sorted = false}> : (tensor<3x4x5xf32>, tensor<4x1xui32>) -> tensor<4x4x5xf32>
  %w0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000, 0x3FE00000], [0x40400000, 0xBF000000, 0x3FE00000, 0xC0000000, 0x40100000], [0x40200000, 0xC0000000, 0xC0400000, 0xC0100000, 0xC0800000], [0xBFA00000, 0xC0200000, 0x3F400000, 0xC0300000, 0x40000000]], [[0x3FE00000, 0x40400000, 0x40800000, 0x3FA00000, 0xC0500000], [0x40300000, 0x3F400000, 0x40300000, 0xC0400000, 0x3F400000], [0x40600000, 0xBFE00000, 0x40500000, 0x3E800000, 0x40700000], [0xC0600000, 0x3F400000, 0x3F000000, 0x3FA00000, 0xC0500000]], [[0x3FE00000, 0x40400000, 0x40800000, 0x3FA00000, 0xC0500000], [0x40300000, 0x3F400000, 0x40300000, 0xC0400000, 0x3F400000], [0x40600000, 0xBFE00000, 0x40500000, 0x3E800000, 0x40700000], [0xC0600000, 0x3F400000, 0x3F000000, 0x3FA00000, 0xC0500000]], [[0x3FE00000, 0x40400000, 0x40800000, 0x3FA00000, 0xC0500000], [0x40300000, 0x3F400000, 0x40300000, 0xC0400000, 0x3F400000], [0x40600000, 0xBFE00000, 0x40500000, 0x3E800000, 0x40700000], [0xC0600000, 0x3F400000, 0x3F000000, 0x3FA00000, 0xC0500000]]]> : tensor<4x4x5xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<4x4x5xf32>, tensor<4x4x5xf32>
  return
}
// -----
func.func @gather_scalar_index() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000, 0x3FE00000], [0x40400000, 0xBF000000, 0x3FE00000, 0xC0000000, 0x40100000], [0x40200000, 0xC0000000, 0xC0400000, 0xC0100000, 0xC0800000], [0xBFA00000, 0xC0200000, 0x3F400000, 0xC0300000, 0x40000000]], [[0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000, 0xBFE00000], [0x3FE00000, 0xC0500000, 0xC0000000, 0x3F400000, 0xC0700000], [0xC0800000, 0x0, 0x40700000, 0x40500000, 0x40400000], [0xC0100000, 0x3FE00000, 0xBFC00000, 0xC0800000, 0xC0100000]], [[0x3FE00000, 0x40400000, 0x40800000, 0x3FA00000, 0xC0500000], [0x40300000, 0x3F400000, 0x40300000, 0xC0400000, 0x3F400000], [0x40600000, 0xBFE00000, 0x40500000, 0x3E800000, 0x40700000], [0xC0600000, 0x3F400000, 0x3F000000, 0x3FA00000, 0xC0500000]]]> : tensor<3x4x5xf32>
  %1 = stablehlo.constant dense<[1]> : tensor<1xi32>
  %r = "stablehlo.gather"(%0, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 0>, slice_sizes = array<i64: 1, 4, 5>, indices_are_sorted = false}> : (tensor<3x4x5xf32>, tensor<1xi32>) -> tensor<4x5xf32>
  %w0 = stablehlo.constant dense<[[0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000, 0xBFE00000], [0x3FE00000, 0xC0500000, 0xC0000000, 0x3F400000, 0xC0700000], [0xC0800000, 0x0, 0x40700000, 0x40500000, 0x40400000], [0xC0100000, 0x3FE00000, 0xBFC00000, 0xC0800000, 0xC0100000]]> : tensor<4x5xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<4x5xf32>, tensor<4x5xf32>
  return
}
// -----
func.func @gather_scalar_index_2() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000, 0x3FE00000], [0x40400000, 0xBF000000, 0x3FE00000, 0xC0000000, 0x40100000], [0x40200000, 0xC0000000, 0xC0400000, 0xC0100000, 0xC0800000], [0xBFA00000, 0xC0200000, 0x3F400000, 0xC0300000, 0x40000000]], [[0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000, 0xBFE00000], [0x3FE00000, 0xC0500000, 0xC0000000, 0x3F400000, 0xC0700000], [0xC0800000, 0x0, 0x40700000, 0x40500000, 0x40400000], [0xC0100000, 0x3FE00000, 0xBFC00000, 0xC0800000, 0xC0100000]], [[0x3FE00000, 0x40400000, 0x40800000, 0x3FA00000, 0xC0500000], [0x40300000, 0x3F400000, 0x40300000, 0xC0400000, 0x3F400000], [0x40600000, 0xBFE00000, 0x40500000, 0x3E800000, 0x40700000], [0xC0600000, 0x3F400000, 0x3F000000, 0x3FA00000, 0xC0500000]]]> : tensor<3x4x5xf32>
  %1 = stablehlo.constant dense<[1]> : tensor<1xi64>
  %r = "stablehlo.gather"(%0, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 0>, slice_sizes = array<i64: 1, 4, 5>, indices_are_sorted = false}> : (tensor<3x4x5xf32>, tensor<1xi64>) -> tensor<4x5xf32>
  %w0 = stablehlo.constant dense<[[0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000, 0xBFE00000], [0x3FE00000, 0xC0500000, 0xC0000000, 0x3F400000, 0xC0700000], [0xC0800000, 0x0, 0x40700000, 0x40500000, 0x40400000], [0xC0100000, 0x3FE00000, 0xBFC00000, 0xC0800000, 0xC0100000]]> : tensor<4x5xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<4x5xf32>, tensor<4x5xf32>
  return
}
// -----
func.func @gather_two() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000, 0x3FE00000], [0x40400000, 0xBF000000, 0x3FE00000, 0xC0000000, 0x40100000], [0x40200000, 0xC0000000, 0xC0400000, 0xC0100000, 0xC0800000], [0xBFA00000, 0xC0200000, 0x3F400000, 0xC0300000, 0x40000000]], [[0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000, 0xBFE00000], [0x3FE00000, 0xC0500000, 0xC0000000, 0x3F400000, 0xC0700000], [0xC0800000, 0x0, 0x40700000, 0x40500000, 0x40400000], [0xC0100000, 0x3FE00000, 0xBFC00000, 0xC0800000, 0xC0100000]], [[0x3FE00000, 0x40400000, 0x40800000, 0x3FA00000, 0xC0500000], [0x40300000, 0x3F400000, 0x40300000, 0xC0400000, 0x3F400000], [0x40600000, 0xBFE00000, 0x40500000, 0x3E800000, 0x40700000], [0xC0600000, 0x3F400000, 0x3F000000, 0x3FA00000, 0xC0500000]]]> : tensor<3x4x5xf32>
  %1 = stablehlo.constant dense<[[0, 0], [4, 2], [9, -5]]> : tensor<3x2xi32>
  %r = "stablehlo.gather"(%0, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 2], start_index_map = [2, 0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3, 1>, indices_are_sorted = false}> : (tensor<3x4x5xf32>, tensor<3x2xi32>) -> tensor<3x3xf32>
  %w0 = stablehlo.constant dense<[[0xC0400000, 0x40400000, 0x40200000], [0xC0500000, 0x3F400000, 0x40700000], [0x3FE00000, 0x40100000, 0xC0800000]]> : tensor<3x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3x3xf32>, tensor<3x3xf32>
  return
}
// -----
func.func @gather_two_2() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000, 0x3FE00000], [0x40400000, 0xBF000000, 0x3FE00000, 0xC0000000, 0x40100000], [0x40200000, 0xC0000000, 0xC0400000, 0xC0100000, 0xC0800000], [0xBFA00000, 0xC0200000, 0x3F400000, 0xC0300000, 0x40000000]], [[0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000, 0xBFE00000], [0x3FE00000, 0xC0500000, 0xC0000000, 0x3F400000, 0xC0700000], [0xC0800000, 0x0, 0x40700000, 0x40500000, 0x40400000], [0xC0100000, 0x3FE00000, 0xBFC00000, 0xC0800000, 0xC0100000]], [[0x3FE00000, 0x40400000, 0x40800000, 0x3FA00000, 0xC0500000], [0x40300000, 0x3F400000, 0x40300000, 0xC0400000, 0x3F400000], [0x40600000, 0xBFE00000, 0x40500000, 0x3E800000, 0x40700000], [0xC0600000, 0x3F400000, 0x3F000000, 0x3FA00000, 0xC0500000]]]> : tensor<3x4x5xf32>
  %1 = stablehlo.constant dense<[[0, 0], [4, 2], [9, -5]]> : tensor<3x2xi64>
  %r = "stablehlo.gather"(%0, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 2], start_index_map = [2, 0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3, 1>, indices_are_sorted = false}> : (tensor<3x4x5xf32>, tensor<3x2xi64>) -> tensor<3x3xf32>
  %w0 = stablehlo.constant dense<[[0xC0400000, 0x40400000, 0x40200000], [0xC0500000, 0x3F400000, 0x40700000], [0x3FE00000, 0x40100000, 0xC0800000]]> : tensor<3x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3x3xf32>, tensor<3x3xf32>
  return
}
// -----
func.func @gather_windows() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000, 0x3FE00000], [0x40400000, 0xBF000000, 0x3FE00000, 0xC0000000, 0x40100000], [0x40200000, 0xC0000000, 0xC0400000, 0xC0100000, 0xC0800000], [0xBFA00000, 0xC0200000, 0x3F400000, 0xC0300000, 0x40000000]], [[0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000, 0xBFE00000], [0x3FE00000, 0xC0500000, 0xC0000000, 0x3F400000, 0xC0700000], [0xC0800000, 0x0, 0x40700000, 0x40500000, 0x40400000], [0xC0100000, 0x3FE00000, 0xBFC00000, 0xC0800000, 0xC0100000]], [[0x3FE00000, 0x40400000, 0x40800000, 0x3FA00000, 0xC0500000], [0x40300000, 0x3F400000, 0x40300000, 0xC0400000, 0x3F400000], [0x40600000, 0xBFE00000, 0x40500000, 0x3E800000, 0x40700000], [0xC0600000, 0x3F400000, 0x3F000000, 0x3FA00000, 0xC0500000]]]> : tensor<3x4x5xf32>
  %1 = stablehlo.constant dense<[[0, 1, 5], [0, 4, 1]]> : tensor<2x3xi32>
  %r = "stablehlo.gather"(%0, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2, 3], start_index_map = [1, 2], index_vector_dim = 0>, slice_sizes = array<i64: 3, 2, 3>, indices_are_sorted = false}> : (tensor<3x4x5xf32>, tensor<2x3xi32>) -> tensor<3x3x2x3xf32>
  %w0 = stablehlo.constant dense<[[[[0xC0400000, 0x40100000, 0xC0500000], [0x40400000, 0xBF000000, 0x3FE00000]], [[0x3FE00000, 0xC0000000, 0x40100000], [0xC0400000, 0xC0100000, 0xC0800000]], [[0xC0000000, 0xC0400000, 0xC0100000], [0xC0200000, 0x3F400000, 0xC0300000]]], [[[0xC0800000, 0xBFE00000, 0xBF000000], [0x3FE00000, 0xC0500000, 0xC0000000]], [[0xC0000000, 0x3F400000, 0xC0700000], [0x40700000, 0x40500000, 0x40400000]], [[0x0, 0x40700000, 0x40500000], [0x3FE00000, 0xBFC00000, 0xC0800000]]], [[[0x3FE00000, 0x40400000, 0x40800000], [0x40300000, 0x3F400000, 0x40300000]], [[0x40300000, 0xC0400000, 0x3F400000], [0x40500000, 0x3E800000, 0x40700000]], [[0xBFE00000, 0x40500000, 0x3E800000], [0x3F400000, 0x3F000000, 0x3FA00000]]]]> : tensor<3x3x2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3x3x2x3xf32>, tensor<3x3x2x3xf32>
  return
}
// -----
func.func @gather_windows_2() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000, 0x3FE00000], [0x40400000, 0xBF000000, 0x3FE00000, 0xC0000000, 0x40100000], [0x40200000, 0xC0000000, 0xC0400000, 0xC0100000, 0xC0800000], [0xBFA00000, 0xC0200000, 0x3F400000, 0xC0300000, 0x40000000]], [[0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000, 0xBFE00000], [0x3FE00000, 0xC0500000, 0xC0000000, 0x3F400000, 0xC0700000], [0xC0800000, 0x0, 0x40700000, 0x40500000, 0x40400000], [0xC0100000, 0x3FE00000, 0xBFC00000, 0xC0800000, 0xC0100000]], [[0x3FE00000, 0x40400000, 0x40800000, 0x3FA00000, 0xC0500000], [0x40300000, 0x3F400000, 0x40300000, 0xC0400000, 0x3F400000], [0x40600000, 0xBFE00000, 0x40500000, 0x3E800000, 0x40700000], [0xC0600000, 0x3F400000, 0x3F000000, 0x3FA00000, 0xC0500000]]]> : tensor<3x4x5xf32>
  %1 = stablehlo.constant dense<[[0, 1, 5], [0, 4, 1]]> : tensor<2x3xi64>
  %r = "stablehlo.gather"(%0, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2, 3], start_index_map = [1, 2], index_vector_dim = 0>, slice_sizes = array<i64: 3, 2, 3>, indices_are_sorted = false}> : (tensor<3x4x5xf32>, tensor<2x3xi64>) -> tensor<3x3x2x3xf32>
  %w0 = stablehlo.constant dense<[[[[0xC0400000, 0x40100000, 0xC0500000], [0x40400000, 0xBF000000, 0x3FE00000]], [[0x3FE00000, 0xC0000000, 0x40100000], [0xC0400000, 0xC0100000, 0xC0800000]], [[0xC0000000, 0xC0400000, 0xC0100000], [0xC0200000, 0x3F400000, 0xC0300000]]], [[[0xC0800000, 0xBFE00000, 0xBF000000], [0x3FE00000, 0xC0500000, 0xC0000000]], [[0xC0000000, 0x3F400000, 0xC0700000], [0x40700000, 0x40500000, 0x40400000]], [[0x0, 0x40700000, 0x40500000], [0x3FE00000, 0xBFC00000, 0xC0800000]]], [[[0x3FE00000, 0x40400000, 0x40800000], [0x40300000, 0x3F400000, 0x40300000]], [[0x40300000, 0xC0400000, 0x3F400000], [0x40500000, 0x3E800000, 0x40700000]], [[0xBFE00000, 0x40500000, 0x3E800000], [0x3F400000, 0x3F000000, 0x3FA00000]]]]> : tensor<3x3x2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3x3x2x3xf32>, tensor<3x3x2x3xf32>
  return
}
// -----
func.func @gather_batched() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000, 0x3FE00000], [0x40400000, 0xBF000000, 0x3FE00000, 0xC0000000, 0x40100000], [0x40200000, 0xC0000000, 0xC0400000, 0xC0100000, 0xC0800000], [0xBFA00000, 0xC0200000, 0x3F400000, 0xC0300000, 0x40000000]], [[0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000, 0xBFE00000], [0x3FE00000, 0xC0500000, 0xC0000000, 0x3F400000, 0xC0700000], [0xC0800000, 0x0, 0x40700000, 0x40500000, 0x40400000], [0xC0100000, 0x3FE00000, 0xBFC00000, 0xC0800000, 0xC0100000]], [[0x3FE00000, 0x40400000, 0x40800000, 0x3FA00000, 0xC0500000], [0x40300000, 0x3F400000, 0x40300000, 0xC0400000, 0x3F400000], [0x40600000, 0xBFE00000, 0x40500000, 0x3E800000, 0x40700000], [0xC0600000, 0x3F400000, 0x3F000000, 0x3FA00000, 0xC0500000]]]> : tensor<3x4x5xf32>
  %1 = stablehlo.constant dense<[[[0], [1], [2]], [[3], [9], [-1]]]> : tensor<2x3x1xi32>
  %r = "stablehlo.gather"(%0, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 5>, indices_are_sorted = false}> : (tensor<3x4x5xf32>, tensor<2x3x1xi32>) -> tensor<2x3x5xf32>
  %w0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000, 0x3FE00000], [0x3FE00000, 0xC0500000, 0xC0000000, 0x3F400000, 0xC0700000], [0x40600000, 0xBFE00000, 0x40500000, 0x3E800000, 0x40700000]], [[0xBFA00000, 0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0100000, 0x3FE00000, 0xBFC00000, 0xC0800000, 0xC0100000], [0x3FE00000, 0x40400000, 0x40800000, 0x3FA00000, 0xC0500000]]]> : tensor<2x3x5xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3x5xf32>, tensor<2x3x5xf32>
  return
}
// -----
func.func @gather_batched_2() {
  %0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000, 0x3FE00000], [0x40400000, 0xBF000000, 0x3FE00000, 0xC0000000, 0x40100000], [0x40200000, 0xC0000000, 0xC0400000, 0xC0100000, 0xC0800000], [0xBFA00000, 0xC0200000, 0x3F400000, 0xC0300000, 0x40000000]], [[0xC0800000, 0xBFE00000, 0xBF000000, 0xC0400000, 0xBFE00000], [0x3FE00000, 0xC0500000, 0xC0000000, 0x3F400000, 0xC0700000], [0xC0800000, 0x0, 0x40700000, 0x40500000, 0x40400000], [0xC0100000, 0x3FE00000, 0xBFC00000, 0xC0800000, 0xC0100000]], [[0x3FE00000, 0x40400000, 0x40800000, 0x3FA00000, 0xC0500000], [0x40300000, 0x3F400000, 0x40300000, 0xC0400000, 0x3F400000], [0x40600000, 0xBFE00000, 0x40500000, 0x3E800000, 0x40700000], [0xC0600000, 0x3F400000, 0x3F000000, 0x3FA00000, 0xC0500000]]]> : tensor<3x4x5xf32>
  %1 = stablehlo.constant dense<[[[0], [1], [2]], [[3], [9], [-1]]]> : tensor<2x3x1xi64>
  %r = "stablehlo.gather"(%0, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 5>, indices_are_sorted = false}> : (tensor<3x4x5xf32>, tensor<2x3x1xi64>) -> tensor<2x3x5xf32>
  %w0 = stablehlo.constant dense<[[[0xC0400000, 0x40100000, 0xC0500000, 0x3F400000, 0x3FE00000], [0x3FE00000, 0xC0500000, 0xC0000000, 0x3F400000, 0xC0700000], [0x40600000, 0xBFE00000, 0x40500000, 0x3E800000, 0x40700000]], [[0xBFA00000, 0xC0200000, 0x3F400000, 0xC0300000, 0x40000000], [0xC0100000, 0x3FE00000, 0xBFC00000, 0xC0800000, 0xC0100000], [0x3FE00000, 0x40400000, 0x40800000, 0x3FA00000, 0xC0500000]]]> : tensor<2x3x5xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3x5xf32>, tensor<2x3x5xf32>
  return
}
// -----
func.func @gather_empty() {
  %0 = stablehlo.constant dense<[[0xBFA00000, 0x0], [0xBF800000, 0x40500000], [0xBFE00000, 0xBF800000]]> : tensor<3x2xf32>
  %1 = stablehlo.constant dense<> : tensor<0x1xi32>
  %r = "stablehlo.gather"(%0, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>, indices_are_sorted = false}> : (tensor<3x2xf32>, tensor<0x1xi32>) -> tensor<0x2xf32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<0x2xf32>, tensor<0x2xf32>
  return
}
// -----
func.func @scatter_rows_add() {
  %0 = stablehlo.constant dense<[[0xC0500000, 0xBF000000, 0x3F800000], [0xBE800000, 0xC0400000, 0xC0000000], [0x40200000, 0x3FE00000, 0xBF400000], [0xC0500000, 0x40500000, 0xBF800000]]> : tensor<4x3xf32>
  %1 = stablehlo.constant dense<[[0], [3], [0], [4], [-1]]> : tensor<5x1xi32>
  %2 = stablehlo.constant dense<[[0xBF800000, 0xBE800000, 0x40500000], [0xC0000000, 0xC0200000, 0x3FA00000], [0x40300000, 0xC0100000, 0x3E800000], [0xC0300000, 0x40500000, 0x40200000], [0xC0800000, 0x3FC00000, 0xBF800000]]> : tensor<5x3xf32>
  %r = "stablehlo.scatter"(%0, %1, %2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<4x3xf32>
  %w0 = stablehlo.constant dense<[[0xBFC00000, 0xC0400000, 0x40900000], [0xBE800000, 0xC0400000, 0xC0000000], [0x40200000, 0x3FE00000, 0xBF400000], [0xC0A80000, 0x3F400000, 0x3E800000]]> : tensor<4x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<4x3xf32>, tensor<4x3xf32>
  return
}
// -----
func.func @scatter_rows_maximum() {
  %0 = stablehlo.constant dense<[[0xC0200000, 0x40500000, 0x3E800000], [0xC0300000, 0xBE800000, 0xBF800000], [0x40400000, 0xBFE00000, 0x3FE00000], [0x3FA00000, 0xC0400000, 0x40300000]]> : tensor<4x3xf32>
  %1 = stablehlo.constant dense<[[0], [3], [0], [4], [-1]]> : tensor<5x1xi32>
  %2 = stablehlo.constant dense<[[0xBF800000, 0xBFA00000, 0xC0200000], [0x3FA00000, 0x3FA00000, 0x40600000], [0x40400000, 0xBF800000, 0xBF800000], [0xC0100000, 0x3FA00000, 0xBE800000], [0x3F000000, 0x40400000, 0x0]]> : tensor<5x3xf32>
  %r = "stablehlo.scatter"(%0, %1, %2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<4x3xf32>
  %w0 = stablehlo.constant dense<[[0x40400000, 0x40500000, 0x3E800000], [0xC0300000, 0xBE800000, 0xBF800000], [0x40400000, 0xBFE00000, 0x3FE00000], [0x3FA00000, 0x3FA00000, 0x40600000]]> : tensor<4x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<4x3xf32>, tensor<4x3xf32>
  return
}
// -----
func.func @scatter_rows_multiply() {
  %0 = stablehlo.constant dense<[[0xC0300000, 0xBF400000, 0x40800000], [0x3FE00000, 0x40700000, 0x40300000], [0xBF000000, 0x40800000, 0x40700000], [0x3F000000, 0xBFE00000, 0xBFE00000]]> : tensor<4x3xf32>
  %1 = stablehlo.constant dense<[[0], [3], [0], [4], [-1]]> : tensor<5x1xi32>
  %2 = stablehlo.constant dense<[[0xBF400000, 0x3FA00000, 0xC0700000], [0x40700000, 0xBF000000, 0x0], [0x40100000, 0x3FA00000, 0x3F400000], [0x3F000000, 0xC0800000, 0xBF400000], [0xBFC00000, 0x40300000, 0x40400000]]> : tensor<5x3xf32>
  %r = "stablehlo.scatter"(%0, %1, %2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.multiply %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<4x3xf32>
  %w0 = stablehlo.constant dense<[[0x40948000, 0xBF960000, 0xC1340000], [0x3FE00000, 0x40700000, 0x40300000], [0xBF000000, 0x40800000, 0x40700000], [0x3FF00000, 0x3F600000, 0x80000000]]> : tensor<4x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<4x3xf32>, tensor<4x3xf32>
  return
}
// -----
func.func @scatter_rows_add_2() {
  %0 = stablehlo.constant dense<[[-1, -8, -5], [3, 1, -2], [8, 6, -9], [9, -2, 3]]> : tensor<4x3xi32>
  %1 = stablehlo.constant dense<[[0], [3], [0], [4], [-1]]> : tensor<5x1xi32>
  %2 = stablehlo.constant dense<[[7, -9, 3], [0, 5, -7], [7, 2, -4], [7, 0, 2], [1, -9, -1]]> : tensor<5x3xi32>
  %r = "stablehlo.scatter"(%0, %1, %2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<4x3xi32>, tensor<5x1xi32>, tensor<5x3xi32>) -> tensor<4x3xi32>
  %w0 = stablehlo.constant dense<[[13, -15, -6], [3, 1, -2], [8, 6, -9], [9, 3, -4]]> : tensor<4x3xi32>
  check.expect_eq %r, %w0 : tensor<4x3xi32>
  return
}
// -----
func.func @scatter_rows_maximum_2() {
  %0 = stablehlo.constant dense<[[-5, -4, 2], [8, 5, 1], [7, -2, 6], [9, 7, 5]]> : tensor<4x3xi32>
  %1 = stablehlo.constant dense<[[0], [3], [0], [4], [-1]]> : tensor<5x1xi32>
  %2 = stablehlo.constant dense<[[6, 4, 0], [4, -6, -2], [8, 1, -9], [-8, 2, -5], [-3, 8, 5]]> : tensor<5x3xi32>
  %r = "stablehlo.scatter"(%0, %1, %2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.maximum %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<4x3xi32>, tensor<5x1xi32>, tensor<5x3xi32>) -> tensor<4x3xi32>
  %w0 = stablehlo.constant dense<[[8, 4, 2], [8, 5, 1], [7, -2, 6], [9, 7, 5]]> : tensor<4x3xi32>
  check.expect_eq %r, %w0 : tensor<4x3xi32>
  return
}
// -----
func.func @scatter_rows_multiply_2() {
  %0 = stablehlo.constant dense<[[3, 2, 3], [7, 8, -9], [2, -8, -1], [-8, 6, -7]]> : tensor<4x3xi32>
  %1 = stablehlo.constant dense<[[0], [3], [0], [4], [-1]]> : tensor<5x1xi32>
  %2 = stablehlo.constant dense<[[3, -5, 3], [2, 8, 9], [9, 9, -4], [-2, -4, -4], [-3, 7, 1]]> : tensor<5x3xi32>
  %r = "stablehlo.scatter"(%0, %1, %2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.multiply %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<4x3xi32>, tensor<5x1xi32>, tensor<5x3xi32>) -> tensor<4x3xi32>
  %w0 = stablehlo.constant dense<[[81, -90, -36], [7, 8, -9], [2, -8, -1], [-16, 48, -63]]> : tensor<4x3xi32>
  check.expect_eq %r, %w0 : tensor<4x3xi32>
  return
}
// -----
func.func @scatter_rows_add_3() {
  %0 = stablehlo.constant dense<[[0xC040, 0xBF40, 0xC060], [0xBF80, 0x4000, 0x4030], [0x0, 0xC030, 0x4050], [0xBFE0, 0xBF00, 0xC020]]> : tensor<4x3xbf16>
  %1 = stablehlo.constant dense<[[0], [3], [0], [4], [-1]]> : tensor<5x1xi32>
  %2 = stablehlo.constant dense<[[0xC060, 0x3FC0, 0xBFE0], [0xBE80, 0x3F80, 0x4080], [0x3FA0, 0xC020, 0x3F80], [0xC080, 0x3F80, 0x3FA0], [0xC060, 0xBFA0, 0xBFA0]]> : tensor<5x3xbf16>
  %r = "stablehlo.scatter"(%0, %1, %2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %s = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %s : tensor<bf16>
  }) : (tensor<4x3xbf16>, tensor<5x1xi32>, tensor<5x3xbf16>) -> tensor<4x3xbf16>
  %w0 = stablehlo.constant dense<[[0xC0A8, 0xBFE0, 0xC088], [0xBF80, 0x4000, 0x4030], [0x0, 0xC030, 0x4050], [0xC000, 0x3F00, 0x3FC0]]> : tensor<4x3xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<4x3xbf16>, tensor<4x3xbf16>
  return
}
// -----
func.func @scatter_rows_maximum_3() {
  %0 = stablehlo.constant dense<[[0xC000, 0xC010, 0xC010], [0x3FA0, 0x3F40, 0x3FC0], [0x3E80, 0xC000, 0xBE80], [0xBFC0, 0x3F00, 0x4030]]> : tensor<4x3xbf16>
  %1 = stablehlo.constant dense<[[0], [3], [0], [4], [-1]]> : tensor<5x1xi32>
  %2 = stablehlo.constant dense<[[0x3E80, 0x4020, 0xC080], [0xC000, 0xBF40, 0x4000], [0xBF80, 0xC050, 0x4080], [0x4020, 0x3E80, 0xBFA0], [0xC070, 0xBFE0, 0x4030]]> : tensor<5x3xbf16>
  %r = "stablehlo.scatter"(%0, %1, %2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %s = stablehlo.maximum %a, %b : tensor<bf16>
    stablehlo.return %s : tensor<bf16>
  }) : (tensor<4x3xbf16>, tensor<5x1xi32>, tensor<5x3xbf16>) -> tensor<4x3xbf16>
  %w0 = stablehlo.constant dense<[[0x3E80, 0x4020, 0x4080], [0x3FA0, 0x3F40, 0x3FC0], [0x3E80, 0xC000, 0xBE80], [0xBFC0, 0x3F00, 0x4030]]> : tensor<4x3xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<4x3xbf16>, tensor<4x3xbf16>
  return
}
// -----
func.func @scatter_rows_multiply_3() {
  %0 = stablehlo.constant dense<[[0x3F40, 0x3F80, 0xC060], [0xC000, 0x3F80, 0xBFC0], [0x4080, 0xC060, 0x3FC0], [0xC050, 0x4040, 0xBE80]]> : tensor<4x3xbf16>
  %1 = stablehlo.constant dense<[[0], [3], [0], [4], [-1]]> : tensor<5x1xi32>
  %2 = stablehlo.constant dense<[[0xBFE0, 0xBF80, 0x3FC0], [0xC030, 0xBE80, 0xC050], [0x3FC0, 0xBF00, 0x3F40], [0x3FE0, 0xC030, 0x4000], [0xBFA0, 0x4020, 0x0]]> : tensor<5x3xbf16>
  %r = "stablehlo.scatter"(%0, %1, %2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %s = stablehlo.multiply %a, %b : tensor<bf16>
    stablehlo.return %s : tensor<bf16>
  }) : (tensor<4x3xbf16>, tensor<5x1xi32>, tensor<5x3xbf16>) -> tensor<4x3xbf16>
  %w0 = stablehlo.constant dense<[[0xBFFC, 0x3F00, 0xC07C], [0xC000, 0x3F80, 0xBFC0], [0x4080, 0xC060, 0x3FC0], [0x410F, 0xBF40, 0x3F50]]> : tensor<4x3xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<4x3xbf16>, tensor<4x3xbf16>
  return
}
// -----
func.func @scatter_set() {
  %0 = stablehlo.constant dense<[[0x3F400000, 0xBFC00000, 0xC0400000, 0xC0500000, 0xC0400000], [0xC0100000, 0xC0600000, 0xBFC00000, 0xC0000000, 0x40500000], [0xC0400000, 0xC0800000, 0x3FE00000, 0x3F800000, 0x40500000], [0x40700000, 0x3FC00000, 0x40600000, 0xC0800000, 0x3F800000]]> : tensor<4x5xf32>
  %1 = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
  %2 = stablehlo.constant dense<[[0xBE800000, 0x3F800000], [0x3E800000, 0xBFC00000]]> : tensor<2x2xf32>
  %r = "stablehlo.scatter"(%0, %1, %2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 0>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4x5xf32>, tensor<2xi32>, tensor<2x2xf32>) -> tensor<4x5xf32>
  %w0 = stablehlo.constant dense<[[0x3F400000, 0xBFC00000, 0xC0400000, 0xC0500000, 0xC0400000], [0xC0100000, 0xC0600000, 0xBFC00000, 0xBE800000, 0x3F800000], [0xC0400000, 0xC0800000, 0x3FE00000, 0x3E800000, 0xBFC00000], [0x40700000, 0x3FC00000, 0x40600000, 0xC0800000, 0x3F800000]]> : tensor<4x5xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<4x5xf32>, tensor<4x5xf32>
  return
}
// -----
func.func @scatter_partly_outside() {
  %0 = stablehlo.constant dense<[[0xC0800000, 0xC0800000, 0x40400000, 0x3FA00000, 0x40000000], [0x3FC00000, 0x3FE00000, 0x40400000, 0xBFA00000, 0xBFA00000], [0x3FC00000, 0x40400000, 0xC0600000, 0x40500000, 0xC0000000], [0x40200000, 0x3E800000, 0x0, 0xC0100000, 0xC0400000]]> : tensor<4x5xf32>
  %1 = stablehlo.constant dense<[1, 4]> : tensor<2xi32>
  %2 = stablehlo.constant dense<[[0xC0500000, 0x3FE00000], [0x40400000, 0x40700000]]> : tensor<2x2xf32>
  %r = "stablehlo.scatter"(%0, %1, %2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 0>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4x5xf32>, tensor<2xi32>, tensor<2x2xf32>) -> tensor<4x5xf32>
  %w0 = stablehlo.constant dense<[[0xC0800000, 0xC0800000, 0x40400000, 0x3FA00000, 0x40000000], [0x3FC00000, 0x3FE00000, 0x40400000, 0xBFA00000, 0xC0500000], [0x3FC00000, 0x40400000, 0xC0600000, 0x40500000, 0x40400000], [0x40200000, 0x3E800000, 0x0, 0xC0100000, 0xC0400000]]> : tensor<4x5xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<4x5xf32>, tensor<4x5xf32>
  return
}
// -----
func.func @scatter_batched() {
  %0 = stablehlo.constant dense<[[[0x3FA00000, 0xC0800000], [0x40400000, 0xC0100000], [0x40200000, 0xC0300000], [0xBF800000, 0xC0700000]], [[0x3FA00000, 0x40100000], [0x40100000, 0x3FA00000], [0x40100000, 0xC0400000], [0x40500000, 0x3FC00000]], [[0x40800000, 0x3FC00000], [0xBFC00000, 0xBF400000], [0x0, 0xC0400000], [0x3FE00000, 0xC0800000]]]> : tensor<3x4x2xf32>
  %1 = stablehlo.constant dense<[[[0], [1], [2]], [[3], [9], [0]]]> : tensor<2x3x1xi32>
  %2 = stablehlo.constant dense<[[[0x3F000000, 0xBFE00000], [0xC0200000, 0x3E800000], [0xC0600000, 0xBF000000]], [[0xC0600000, 0x40700000], [0xC0000000, 0xBF400000], [0x40400000, 0x40200000]]]> : tensor<2x3x2xf32>
  %r = "stablehlo.scatter"(%0, %1, %2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x2xf32>, tensor<2x3x1xi32>, tensor<2x3x2xf32>) -> tensor<3x4x2xf32>
  %w0 = stablehlo.constant dense<[[[0x3FE00000, 0xC0B80000], [0x40400000, 0xC0100000], [0x40200000, 0xC0300000], [0xC0900000, 0x0]], [[0x3FA00000, 0x40100000], [0xBE800000, 0x3FC00000], [0x40100000, 0xC0400000], [0x40500000, 0x3FC00000]], [[0x40E00000, 0x40800000], [0xBFC00000, 0xBF400000], [0xC0600000, 0xC0600000], [0x3FE00000, 0xC0800000]]]> : tensor<3x4x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3x4x2xf32>, tensor<3x4x2xf32>
  return
}
// -----
func.func @scatter_scalar() {
  %0 = stablehlo.constant dense<[0x3F000000, 0x3F800000, 0x3FE00000]> : tensor<3xf32>
  %1 = stablehlo.constant dense<[2]> : tensor<1xi64>
  %2 = stablehlo.constant dense<0x40400000> : tensor<f32>
  %r = "stablehlo.scatter"(%0, %1, %2) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 0>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3xf32>, tensor<1xi64>, tensor<f32>) -> tensor<3xf32>
  %w0 = stablehlo.constant dense<[0x3F000000, 0x3F800000, 0x40980000]> : tensor<3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3xf32>, tensor<3xf32>
  return
}
// -----
func.func @scatter_two() {
  %0 = stablehlo.constant dense<[0x40400000, 0xBE800000, 0xC0800000, 0xC0700000]> : tensor<4xf32>
  %1 = stablehlo.constant dense<[-2, -5, 1, 6]> : tensor<4xi32>
  %2 = stablehlo.constant dense<[[0], [2], [0]]> : tensor<3x1xi32>
  %3 = stablehlo.constant dense<[0x3FC00000, 0xC0700000, 0x3F800000]> : tensor<3xf32>
  %4 = stablehlo.constant dense<[-1, 5, -6]> : tensor<3xi32>
  %r:2 = "stablehlo.scatter"(%0, %1, %2, %3, %4) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):
    %s = stablehlo.add %a, %c : tensor<f32>
    %t = stablehlo.maximum %b, %d : tensor<i32>
    stablehlo.return %s, %t : tensor<f32>, tensor<i32>
  }) : (tensor<4xf32>, tensor<4xi32>, tensor<3x1xi32>, tensor<3xf32>, tensor<3xi32>) -> (tensor<4xf32>, tensor<4xi32>)
  %w0 = stablehlo.constant dense<[0x40B00000, 0xBE800000, 0xC0F80000, 0xC0700000]> : tensor<4xf32>
  check.expect_close %r#0, %w0, max_ulp_difference = 0 : tensor<4xf32>, tensor<4xf32>
  %w1 = stablehlo.constant dense<[-1, -5, 5, 6]> : tensor<4xi32>
  check.expect_eq %r#1, %w1 : tensor<4xi32>
  return
}
// -----
func.func @torch_index_select() {
  %0 = stablehlo.constant dense<[[0xBF000000, 0x3FC00000, 0x40100000, 0x40100000], [0x40600000, 0xBF800000, 0x3FE00000, 0x40000000], [0x3FC00000, 0x40300000, 0xC0600000, 0x3F000000]]> : tensor<3x4xf32>
  %1 = stablehlo.constant dense<[[2, 0], [1, 1]]> : tensor<2x2xi32>
  %r = "stablehlo.torch_index_select"(%0, %1) <{dim = 1 : i64, batch_dims = 0 : i64}> : (tensor<3x4xf32>, tensor<2x2xi32>) -> tensor<3x2x2xf32>
  %w0 = stablehlo.constant dense<[[[0x40100000, 0xBF000000], [0x3FC00000, 0x3FC00000]], [[0x3FE00000, 0x40600000], [0xBF800000, 0xBF800000]], [[0xC0600000, 0x3FC00000], [0x40300000, 0x40300000]]]> : tensor<3x2x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3x2x2xf32>, tensor<3x2x2xf32>
  return
}
// -----
func.func @torch_index_select_batch() {
  %0 = stablehlo.constant dense<[[0xBF000000, 0x3FC00000, 0x40100000, 0x40100000], [0x40600000, 0xBF800000, 0x3FE00000, 0x40000000], [0x3FC00000, 0x40300000, 0xC0600000, 0x3F000000]]> : tensor<3x4xf32>
  %1 = stablehlo.constant dense<[[2, 0], [1, 1], [3, 0]]> : tensor<3x2xi32>
  %r = "stablehlo.torch_index_select"(%0, %1) <{dim = 1 : i64, batch_dims = 1 : i64}> : (tensor<3x4xf32>, tensor<3x2xi32>) -> tensor<3x2xf32>
  %w0 = stablehlo.constant dense<[[0x40100000, 0xBF000000], [0xBF800000, 0xBF800000], [0x3F000000, 0x3FC00000]]> : tensor<3x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3x2xf32>, tensor<3x2xf32>
  return
}
// -----
func.func @torch_index_select_scalar() {
  %0 = stablehlo.constant dense<[[0xBF000000, 0x3FC00000, 0x40100000, 0x40100000], [0x40600000, 0xBF800000, 0x3FE00000, 0x40000000], [0x3FC00000, 0x40300000, 0xC0600000, 0x3F000000]]> : tensor<3x4xf32>
  %1 = stablehlo.constant dense<1> : tensor<i64>
  %r = "stablehlo.torch_index_select"(%0, %1) <{dim = 0 : i64, batch_dims = 0 : i64}> : (tensor<3x4xf32>, tensor<i64>) -> tensor<4xf32>
  %w0 = stablehlo.constant dense<[0x40600000, 0xBF800000, 0x3FE00000, 0x40000000]> : tensor<4xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<4xf32>, tensor<4xf32>
  return
}
