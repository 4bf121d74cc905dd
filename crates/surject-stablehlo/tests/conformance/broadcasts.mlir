// Written by generate.py.
func.func @broadcast_add() {
  %0 = stablehlo.constant dense<[5, 2, 4]> : tensor<3xi32>
  %1 = stablehlo.constant dense<[[4, 5, 2], [1, 2, 3]]> : tensor<2x3xi32>
  %r = chlo.broadcast_add %0, %1 : (tensor<3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[9, 7, 6], [6, 4, 7]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_subtract() {
  %0 = stablehlo.constant dense<[5, 2, 4]> : tensor<3xi32>
  %1 = stablehlo.constant dense<[[4, 5, 2], [1, 2, 3]]> : tensor<2x3xi32>
  %r = chlo.broadcast_subtract %0, %1 : (tensor<3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[1, -3, 2], [4, 0, 1]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_multiply() {
  %0 = stablehlo.constant dense<[5, 2, 4]> : tensor<3xi32>
  %1 = stablehlo.constant dense<[[4, 5, 2], [1, 2, 3]]> : tensor<2x3xi32>
  %r = chlo.broadcast_multiply %0, %1 : (tensor<3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[20, 10, 8], [5, 4, 12]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_maximum() {
  %0 = stablehlo.constant dense<[5, 2, 4]> : tensor<3xi32>
  %1 = stablehlo.constant dense<[[4, 5, 2], [1, 2, 3]]> : tensor<2x3xi32>
  %r = chlo.broadcast_maximum %0, %1 : (tensor<3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[5, 5, 4], [5, 2, 4]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_minimum() {
  %0 = stablehlo.constant dense<[5, 2, 4]> : tensor<3xi32>
  %1 = stablehlo.constant dense<[[4, 5, 2], [1, 2, 3]]> : tensor<2x3xi32>
  %r = chlo.broadcast_minimum %0, %1 : (tensor<3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[4, 2, 2], [1, 2, 3]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_add_2() {
  %0 = stablehlo.constant dense<[0x40400000, 0x3F800000, 0x40A00000]> : tensor<3xf32>
  %1 = stablehlo.constant dense<[[0x3F800000, 0x40A00000, 0x3F800000], [0x40800000, 0x40400000, 0x40800000]]> : tensor<2x3xf32>
  %r = chlo.broadcast_add %0, %1 : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x40800000, 0x40C00000, 0x40C00000], [0x40E00000, 0x40800000, 0x41100000]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_subtract_2() {
  %0 = stablehlo.constant dense<[0x40400000, 0x3F800000, 0x40A00000]> : tensor<3xf32>
  %1 = stablehlo.constant dense<[[0x3F800000, 0x40A00000, 0x3F800000], [0x40800000, 0x40400000, 0x40800000]]> : tensor<2x3xf32>
  %r = chlo.broadcast_subtract %0, %1 : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x40000000, 0xC0800000, 0x40800000], [0xBF800000, 0xC0000000, 0x3F800000]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_multiply_2() {
  %0 = stablehlo.constant dense<[0x40400000, 0x3F800000, 0x40A00000]> : tensor<3xf32>
  %1 = stablehlo.constant dense<[[0x3F800000, 0x40A00000, 0x3F800000], [0x40800000, 0x40400000, 0x40800000]]> : tensor<2x3xf32>
  %r = chlo.broadcast_multiply %0, %1 : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x40400000, 0x40A00000, 0x40A00000], [0x41400000, 0x40400000, 0x41A00000]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_maximum_2() {
  %0 = stablehlo.constant dense<[0x40400000, 0x3F800000, 0x40A00000]> : tensor<3xf32>
  %1 = stablehlo.constant dense<[[0x3F800000, 0x40A00000, 0x3F800000], [0x40800000, 0x40400000, 0x40800000]]> : tensor<2x3xf32>
  %r = chlo.broadcast_maximum %0, %1 : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x40400000, 0x40A00000, 0x40A00000], [0x40800000, 0x40400000, 0x40A00000]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_minimum_2() {
  %0 = stablehlo.constant dense<[0x40400000, 0x3F800000, 0x40A00000]> : tensor<3xf32>
  %1 = stablehlo.constant dense<[[0x3F800000, 0x40A00000, 0x3F800000], [0x40800000, 0x40400000, 0x40800000]]> : tensor<2x3xf32>
  %r = chlo.broadcast_minimum %0, %1 : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x3F800000, 0x3F800000, 0x3F800000], [0x40400000, 0x3F800000, 0x40800000]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_divide() {
  %0 = stablehlo.constant dense<[5, 5, 6]> : tensor<3xi32>
  %1 = stablehlo.constant dense<[[1, 1, 6], [1, 4, 6]]> : tensor<2x3xi32>
  %r = chlo.broadcast_divide %0, %1 : (tensor<3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[5, 5, 1], [5, 1, 1]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_remainder() {
  %0 = stablehlo.constant dense<[5, 5, 6]> : tensor<3xi32>
  %1 = stablehlo.constant dense<[[1, 1, 6], [1, 4, 6]]> : tensor<2x3xi32>
  %r = chlo.broadcast_remainder %0, %1 : (tensor<3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[0, 0, 0], [0, 1, 0]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_power() {
  %0 = stablehlo.constant dense<[5, 5, 6]> : tensor<3xi32>
  %1 = stablehlo.constant dense<[[1, 1, 6], [1, 4, 6]]> : tensor<2x3xi32>
  %r = chlo.broadcast_power %0, %1 : (tensor<3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[5, 5, 46656], [5, 625, 46656]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_and() {
  %0 = stablehlo.constant dense<[5, 5, 6]> : tensor<3xi32>
  %1 = stablehlo.constant dense<[[1, 1, 6], [1, 4, 6]]> : tensor<2x3xi32>
  %r = chlo.broadcast_and %0, %1 : (tensor<3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[1, 1, 6], [1, 4, 6]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_or() {
  %0 = stablehlo.constant dense<[5, 5, 6]> : tensor<3xi32>
  %1 = stablehlo.constant dense<[[1, 1, 6], [1, 4, 6]]> : tensor<2x3xi32>
  %r = chlo.broadcast_or %0, %1 : (tensor<3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[5, 5, 6], [5, 5, 6]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_xor() {
  %0 = stablehlo.constant dense<[5, 5, 6]> : tensor<3xi32>
  %1 = stablehlo.constant dense<[[1, 1, 6], [1, 4, 6]]> : tensor<2x3xi32>
  %r = chlo.broadcast_xor %0, %1 : (tensor<3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[4, 4, 0], [4, 1, 0]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_shift_left() {
  %0 = stablehlo.constant dense<[5, 5, 6]> : tensor<3xi32>
  %1 = stablehlo.constant dense<[[1, 1, 6], [1, 4, 6]]> : tensor<2x3xi32>
  %r = chlo.broadcast_shift_left %0, %1 : (tensor<3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[10, 10, 384], [10, 80, 384]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_shift_right_arithmetic() {
  %0 = stablehlo.constant dense<[5, 5, 6]> : tensor<3xi32>
  %1 = stablehlo.constant dense<[[1, 1, 6], [1, 4, 6]]> : tensor<2x3xi32>
  %r = chlo.broadcast_shift_right_arithmetic %0, %1 : (tensor<3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[2, 2, 0], [2, 0, 0]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_shift_right_logical() {
  %0 = stablehlo.constant dense<[5, 5, 6]> : tensor<3xi32>
  %1 = stablehlo.constant dense<[[1, 1, 6], [1, 4, 6]]> : tensor<2x3xi32>
  %r = chlo.broadcast_shift_right_logical %0, %1 : (tensor<3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[2, 2, 0], [2, 0, 0]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_atan2() {
  %0 = stablehlo.constant dense<[0x3F800000, 0x40400000, 0x3F800000]> : tensor<3xf32>
  %1 = stablehlo.constant dense<[[0x40000000, 0x40A00000, 0x40000000], [0x40800000, 0x40800000, 0x3F800000]]> : tensor<2x3xf32>
  %r = chlo.broadcast_atan2 %0, %1 : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x3EED6338, 0x3F0A58EF, 0x3EED6338], [0x3E7ADBB0, 0x3F24BC7D, 0x3F490FDB]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 1 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_zeta() {
  %0 = stablehlo.constant dense<[0x40000000, 0x40800000, 0x40000000]> : tensor<3xf32>
  %1 = stablehlo.constant dense<[[0x40000000, 0x40A00000, 0x40000000], [0x40800000, 0x40800000, 0x3F800000]]> : tensor<2x3xf32>
  %r = chlo.broadcast_zeta %0, %1 : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x3F251A66, 0x3B6A0C8D, 0x3F251A66], [0x3E91513E, 0x3BF50646, 0x3FD28D33]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 1 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_polygamma() {
  %0 = stablehlo.constant dense<[0x3F800000, 0x40400000, 0x3F800000]> : tensor<3xf32>
  %1 = stablehlo.constant dense<[[0x40000000, 0x40A00000, 0x40000000], [0x40800000, 0x40800000, 0x3F800000]]> : tensor<2x3xf32>
  %r = chlo.broadcast_polygamma %0, %1 : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x3F251A66, 0x3CAF896A, 0x3F251A66], [0x3E91513E, 0x3D37C4B5, 0x3FD28D33]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 1 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_next_after() {
  %0 = stablehlo.constant dense<[0x3F800000, 0x40400000, 0x3F800000]> : tensor<3xf32>
  %1 = stablehlo.constant dense<[[0x40000000, 0x40A00000, 0x40000000], [0x40800000, 0x40800000, 0x3F800000]]> : tensor<2x3xf32>
  %r = chlo.broadcast_next_after %0, %1 : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x3F800001, 0x40400001, 0x3F800001], [0x3F800001, 0x40400001, 0x3F800000]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_complex() {
  %0 = stablehlo.constant dense<[0x3F800000, 0x40400000, 0x3F800000]> : tensor<3xf32>
  %1 = stablehlo.constant dense<[[0x40000000, 0x40A00000, 0x40000000], [0x40800000, 0x40800000, 0x3F800000]]> : tensor<2x3xf32>
  %r = chlo.broadcast_complex %0, %1 : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xcomplex<f32>>
  %w0 = stablehlo.constant dense<[[(0x3F800000, 0x40000000), (0x40400000, 0x40A00000), (0x3F800000, 0x40000000)], [(0x3F800000, 0x40800000), (0x40400000, 0x40800000), (0x3F800000, 0x3F800000)]]> : tensor<2x3xcomplex<f32>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>
  return
}
// -----
func.func @broadcast_compare() {
  %0 = stablehlo.constant dense<[0x3F800000, 0x40400000, 0x3F800000]> : tensor<3xf32>
  %1 = stablehlo.constant dense<[[0x40000000, 0x40A00000, 0x40000000], [0x40800000, 0x40800000, 0x3F800000]]> : tensor<2x3xf32>
  %r = chlo.broadcast_compare %0, %1 {comparison_direction = #chlo<comparison_direction LT>} : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %w0 = stablehlo.constant dense<[[true, true, true], [true, true, false]]> : tensor<2x3xi1>
  check.expect_eq %r, %w0 : tensor<2x3xi1>
  return
}
// -----
func.func @broadcast_select() {
  %0 = stablehlo.constant dense<[true, true, true]> : tensor<3xi1>
  %1 = stablehlo.constant dense<[0x3F800000, 0x40400000, 0x3F800000]> : tensor<3xf32>
  %2 = stablehlo.constant dense<[[0x40000000, 0x40A00000, 0x40000000], [0x40800000, 0x40800000, 0x3F800000]]> : tensor<2x3xf32>
  %r = chlo.broadcast_select %0, %1, %2 : (tensor<3xi1>, tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x3F800000, 0x40400000, 0x3F800000], [0x3F800000, 0x40400000, 0x3F800000]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_add_3() {
  %0 = stablehlo.constant dense<[[6], [5]]> : tensor<2x1xi32>
  %1 = stablehlo.constant dense<[[5, 5, 3]]> : tensor<1x3xi32>
  %r = chlo.broadcast_add %0, %1 : (tensor<2x1xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[11, 11, 9], [10, 10, 8]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_subtract_3() {
  %0 = stablehlo.constant dense<[[6], [5]]> : tensor<2x1xi32>
  %1 = stablehlo.constant dense<[[5, 5, 3]]> : tensor<1x3xi32>
  %r = chlo.broadcast_subtract %0, %1 : (tensor<2x1xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[1, 1, 3], [0, 0, 2]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_multiply_3() {
  %0 = stablehlo.constant dense<[[6], [5]]> : tensor<2x1xi32>
  %1 = stablehlo.constant dense<[[5, 5, 3]]> : tensor<1x3xi32>
  %r = chlo.broadcast_multiply %0, %1 : (tensor<2x1xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[30, 30, 18], [25, 25, 15]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_maximum_3() {
  %0 = stablehlo.constant dense<[[6], [5]]> : tensor<2x1xi32>
  %1 = stablehlo.constant dense<[[5, 5, 3]]> : tensor<1x3xi32>
  %r = chlo.broadcast_maximum %0, %1 : (tensor<2x1xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[6, 6, 6], [5, 5, 5]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_minimum_3() {
  %0 = stablehlo.constant dense<[[6], [5]]> : tensor<2x1xi32>
  %1 = stablehlo.constant dense<[[5, 5, 3]]> : tensor<1x3xi32>
  %r = chlo.broadcast_minimum %0, %1 : (tensor<2x1xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[5, 5, 3], [5, 5, 3]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_add_4() {
  %0 = stablehlo.constant dense<[[0x40000000], [0x40800000]]> : tensor<2x1xf32>
  %1 = stablehlo.constant dense<[[0x3F800000, 0x40C00000, 0x40A00000]]> : tensor<1x3xf32>
  %r = chlo.broadcast_add %0, %1 : (tensor<2x1xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x40400000, 0x41000000, 0x40E00000], [0x40A00000, 0x41200000, 0x41100000]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_subtract_4() {
  %0 = stablehlo.constant dense<[[0x40000000], [0x40800000]]> : tensor<2x1xf32>
  %1 = stablehlo.constant dense<[[0x3F800000, 0x40C00000, 0x40A00000]]> : tensor<1x3xf32>
  %r = chlo.broadcast_subtract %0, %1 : (tensor<2x1xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x3F800000, 0xC0800000, 0xC0400000], [0x40400000, 0xC0000000, 0xBF800000]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_multiply_4() {
  %0 = stablehlo.constant dense<[[0x40000000], [0x40800000]]> : tensor<2x1xf32>
  %1 = stablehlo.constant dense<[[0x3F800000, 0x40C00000, 0x40A00000]]> : tensor<1x3xf32>
  %r = chlo.broadcast_multiply %0, %1 : (tensor<2x1xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x40000000, 0x41400000, 0x41200000], [0x40800000, 0x41C00000, 0x41A00000]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_maximum_4() {
  %0 = stablehlo.constant dense<[[0x40000000], [0x40800000]]> : tensor<2x1xf32>
  %1 = stablehlo.constant dense<[[0x3F800000, 0x40C00000, 0x40A00000]]> : tensor<1x3xf32>
  %r = chlo.broadcast_maximum %0, %1 : (tensor<2x1xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x40000000, 0x40C00000, 0x40A00000], [0x40800000, 0x40C00000, 0x40A00000]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_minimum_4() {
  %0 = stablehlo.constant dense<[[0x40000000], [0x40800000]]> : tensor<2x1xf32>
  %1 = stablehlo.constant dense<[[0x3F800000, 0x40C00000, 0x40A00000]]> : tensor<1x3xf32>
  %r = chlo.broadcast_minimum %0, %1 : (tensor<2x1xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x3F800000, 0x40000000, 0x40000000], [0x3F800000, 0x40800000, 0x40800000]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_divide_2() {
  %0 = stablehlo.constant dense<[[1], [6]]> : tensor<2x1xi32>
  %1 = stablehlo.constant dense<[[5, 4, 2]]> : tensor<1x3xi32>
  %r = chlo.broadcast_divide %0, %1 : (tensor<2x1xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[0, 0, 0], [1, 1, 3]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_remainder_2() {
  %0 = stablehlo.constant dense<[[1], [6]]> : tensor<2x1xi32>
  %1 = stablehlo.constant dense<[[5, 4, 2]]> : tensor<1x3xi32>
  %r = chlo.broadcast_remainder %0, %1 : (tensor<2x1xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[1, 1, 1], [1, 2, 0]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_power_2() {
  %0 = stablehlo.constant dense<[[1], [6]]> : tensor<2x1xi32>
  %1 = stablehlo.constant dense<[[5, 4, 2]]> : tensor<1x3xi32>
  %r = chlo.broadcast_power %0, %1 : (tensor<2x1xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[1, 1, 1], [7776, 1296, 36]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_and_2() {
  %0 = stablehlo.constant dense<[[1], [6]]> : tensor<2x1xi32>
  %1 = stablehlo.constant dense<[[5, 4, 2]]> : tensor<1x3xi32>
  %r = chlo.broadcast_and %0, %1 : (tensor<2x1xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[1, 0, 0], [4, 4, 2]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_or_2() {
  %0 = stablehlo.constant dense<[[1], [6]]> : tensor<2x1xi32>
  %1 = stablehlo.constant dense<[[5, 4, 2]]> : tensor<1x3xi32>
  %r = chlo.broadcast_or %0, %1 : (tensor<2x1xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[5, 5, 3], [7, 6, 6]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_xor_2() {
  %0 = stablehlo.constant dense<[[1], [6]]> : tensor<2x1xi32>
  %1 = stablehlo.constant dense<[[5, 4, 2]]> : tensor<1x3xi32>
  %r = chlo.broadcast_xor %0, %1 : (tensor<2x1xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[4, 5, 3], [3, 2, 4]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_shift_left_2() {
  %0 = stablehlo.constant dense<[[1], [6]]> : tensor<2x1xi32>
  %1 = stablehlo.constant dense<[[5, 4, 2]]> : tensor<1x3xi32>
  %r = chlo.broadcast_shift_left %0, %1 : (tensor<2x1xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[32, 16, 4], [192, 96, 24]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_shift_right_arithmetic_2() {
  %0 = stablehlo.constant dense<[[1], [6]]> : tensor<2x1xi32>
  %1 = stablehlo.constant dense<[[5, 4, 2]]> : tensor<1x3xi32>
  %r = chlo.broadcast_shift_right_arithmetic %0, %1 : (tensor<2x1xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[0, 0, 0], [0, 0, 1]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_shift_right_logical_2() {
  %0 = stablehlo.constant dense<[[1], [6]]> : tensor<2x1xi32>
  %1 = stablehlo.constant dense<[[5, 4, 2]]> : tensor<1x3xi32>
  %r = chlo.broadcast_shift_right_logical %0, %1 : (tensor<2x1xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[0, 0, 0], [0, 0, 1]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_atan2_2() {
  %0 = stablehlo.constant dense<[[0x40800000], [0x40800000]]> : tensor<2x1xf32>
  %1 = stablehlo.constant dense<[[0x40800000, 0x40000000, 0x40800000]]> : tensor<1x3xf32>
  %r = chlo.broadcast_atan2 %0, %1 : (tensor<2x1xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x3F490FDB, 0x3F8DB70D, 0x3F490FDB], [0x3F490FDB, 0x3F8DB70D, 0x3F490FDB]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 1 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_zeta_2() {
  %0 = stablehlo.constant dense<[[0x40A00000], [0x40A00000]]> : tensor<2x1xf32>
  %1 = stablehlo.constant dense<[[0x40800000, 0x40000000, 0x40800000]]> : tensor<1x3xf32>
  %r = chlo.broadcast_zeta %0, %1 : (tensor<2x1xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x3ACCCDC4, 0x3D17418F, 0x3ACCCDC4], [0x3ACCCDC4, 0x3D17418F, 0x3ACCCDC4]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 1 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_polygamma_2() {
  %0 = stablehlo.constant dense<[[0x40800000], [0x40800000]]> : tensor<2x1xf32>
  %1 = stablehlo.constant dense<[[0x40800000, 0x40000000, 0x40800000]]> : tensor<1x3xf32>
  %r = chlo.broadcast_polygamma %0, %1 : (tensor<2x1xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0xBD199A53, 0xBF62E256, 0xBD199A53], [0xBD199A53, 0xBF62E256, 0xBD199A53]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 1 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_next_after_2() {
  %0 = stablehlo.constant dense<[[0x40800000], [0x40800000]]> : tensor<2x1xf32>
  %1 = stablehlo.constant dense<[[0x40800000, 0x40000000, 0x40800000]]> : tensor<1x3xf32>
  %r = chlo.broadcast_next_after %0, %1 : (tensor<2x1xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x40800000, 0x407FFFFF, 0x40800000], [0x40800000, 0x407FFFFF, 0x40800000]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_complex_2() {
  %0 = stablehlo.constant dense<[[0x40800000], [0x40800000]]> : tensor<2x1xf32>
  %1 = stablehlo.constant dense<[[0x40800000, 0x40000000, 0x40800000]]> : tensor<1x3xf32>
  %r = chlo.broadcast_complex %0, %1 : (tensor<2x1xf32>, tensor<1x3xf32>) -> tensor<2x3xcomplex<f32>>
  %w0 = stablehlo.constant dense<[[(0x40800000, 0x40800000), (0x40800000, 0x40000000), (0x40800000, 0x40800000)], [(0x40800000, 0x40800000), (0x40800000, 0x40000000), (0x40800000, 0x40800000)]]> : tensor<2x3xcomplex<f32>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>
  return
}
// -----
func.func @broadcast_compare_2() {
  %0 = stablehlo.constant dense<[[0x40800000], [0x40800000]]> : tensor<2x1xf32>
  %1 = stablehlo.constant dense<[[0x40800000, 0x40000000, 0x40800000]]> : tensor<1x3xf32>
  %r = chlo.broadcast_compare %0, %1 {comparison_direction = #chlo<comparison_direction LT>} : (tensor<2x1xf32>, tensor<1x3xf32>) -> tensor<2x3xi1>
  %w0 = stablehlo.constant dense<[[false, false, false], [false, false, false]]> : tensor<2x3xi1>
  check.expect_eq %r, %w0 : tensor<2x3xi1>
  return
}
// -----
func.func @broadcast_select_2() {
  %0 = stablehlo.constant dense<[[false], [true]]> : tensor<2x1xi1>
  %1 = stablehlo.constant dense<[[0x40800000], [0x40800000]]> : tensor<2x1xf32>
  %2 = stablehlo.constant dense<[[0x40800000, 0x40000000, 0x40800000]]> : tensor<1x3xf32>
  %r = chlo.broadcast_select %0, %1, %2 : (tensor<2x1xi1>, tensor<2x1xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x40800000, 0x40000000, 0x40800000], [0x40800000, 0x40800000, 0x40800000]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_add_5() {
  %0 = stablehlo.constant dense<4> : tensor<i32>
  %1 = stablehlo.constant dense<[2, 6]> : tensor<2xi32>
  %r = chlo.broadcast_add %0, %1 : (tensor<i32>, tensor<2xi32>) -> tensor<2xi32>
  %w0 = stablehlo.constant dense<[6, 10]> : tensor<2xi32>
  check.expect_eq %r, %w0 : tensor<2xi32>
  return
}
// -----
func.func @broadcast_subtract_5() {
  %0 = stablehlo.constant dense<4> : tensor<i32>
  %1 = stablehlo.constant dense<[2, 6]> : tensor<2xi32>
  %r = chlo.broadcast_subtract %0, %1 : (tensor<i32>, tensor<2xi32>) -> tensor<2xi32>
  %w0 = stablehlo.constant dense<[2, -2]> : tensor<2xi32>
  check.expect_eq %r, %w0 : tensor<2xi32>
  return
}
// -----
func.func @broadcast_multiply_5() {
  %0 = stablehlo.constant dense<4> : tensor<i32>
  %1 = stablehlo.constant dense<[2, 6]> : tensor<2xi32>
  %r = chlo.broadcast_multiply %0, %1 : (tensor<i32>, tensor<2xi32>) -> tensor<2xi32>
  %w0 = stablehlo.constant dense<[8, 24]> : tensor<2xi32>
  check.expect_eq %r, %w0 : tensor<2xi32>
  return
}
// -----
func.func @broadcast_maximum_5() {
  %0 = stablehlo.constant dense<4> : tensor<i32>
  %1 = stablehlo.constant dense<[2, 6]> : tensor<2xi32>
  %r = chlo.broadcast_maximum %0, %1 : (tensor<i32>, tensor<2xi32>) -> tensor<2xi32>
  %w0 = stablehlo.constant dense<[4, 6]> : tensor<2xi32>
  check.expect_eq %r, %w0 : tensor<2xi32>
  return
}
// -----
func.func @broadcast_minimum_5() {
  %0 = stablehlo.constant dense<4> : tensor<i32>
  %1 = stablehlo.constant dense<[2, 6]> : tensor<2xi32>
  %r = chlo.broadcast_minimum %0, %1 : (tensor<i32>, tensor<2xi32>) -> tensor<2xi32>
  %w0 = stablehlo.constant dense<[2, 4]> : tensor<2xi32>
  check.expect_eq %r, %w0 : tensor<2xi32>
  return
}
// -----
func.func @broadcast_add_6() {
  %0 = stablehlo.constant dense<0x40000000> : tensor<f32>
  %1 = stablehlo.constant dense<[0x40C00000, 0x40000000]> : tensor<2xf32>
  %r = chlo.broadcast_add %0, %1 : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %w0 = stablehlo.constant dense<[0x41000000, 0x40800000]> : tensor<2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
  return
}
// -----
func.func @broadcast_subtract_6() {
  %0 = stablehlo.constant dense<0x40000000> : tensor<f32>
  %1 = stablehlo.constant dense<[0x40C00000, 0x40000000]> : tensor<2xf32>
  %r = chlo.broadcast_subtract %0, %1 : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %w0 = stablehlo.constant dense<[0xC0800000, 0x0]> : tensor<2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
  return
}
// -----
func.func @broadcast_multiply_6() {
  %0 = stablehlo.constant dense<0x40000000> : tensor<f32>
  %1 = stablehlo.constant dense<[0x40C00000, 0x40000000]> : tensor<2xf32>
  %r = chlo.broadcast_multiply %0, %1 : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %w0 = stablehlo.constant dense<[0x41400000, 0x40800000]> : tensor<2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
  return
}
// -----
func.func @broadcast_maximum_6() {
  %0 = stablehlo.constant dense<0x40000000> : tensor<f32>
  %1 = stablehlo.constant dense<[0x40C00000, 0x40000000]> : tensor<2xf32>
  %r = chlo.broadcast_maximum %0, %1 : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %w0 = stablehlo.constant dense<[0x40C00000, 0x40000000]> : tensor<2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
  return
}
// -----
func.func @broadcast_minimum_6() {
  %0 = stablehlo.constant dense<0x40000000> : tensor<f32>
  %1 = stablehlo.constant dense<[0x40C00000, 0x40000000]> : tensor<2xf32>
  %r = chlo.broadcast_minimum %0, %1 : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %w0 = stablehlo.constant dense<[0x40000000, 0x40000000]> : tensor<2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
  return
}
// -----
func.func @broadcast_divide_3() {
  %0 = stablehlo.constant dense<3> : tensor<i32>
  %1 = stablehlo.constant dense<[4, 3]> : tensor<2xi32>
  %r = chlo.broadcast_divide %0, %1 : (tensor<i32>, tensor<2xi32>) -> tensor<2xi32>
  %w0 = stablehlo.constant dense<[0, 1]> : tensor<2xi32>
  check.expect_eq %r, %w0 : tensor<2xi32>
  return
}
// -----
func.func @broadcast_remainder_3() {
  %0 = stablehlo.constant dense<3> : tensor<i32>
  %1 = stablehlo.constant dense<[4, 3]> : tensor<2xi32>
  %r = chlo.broadcast_remainder %0, %1 : (tensor<i32>, tensor<2xi32>) -> tensor<2xi32>
  %w0 = stablehlo.constant dense<[3, 0]> : tensor<2xi32>
  check.expect_eq %r, %w0 : tensor<2xi32>
  return
}
// -----
func.func @broadcast_power_3() {
  %0 = stablehlo.constant dense<3> : tensor<i32>
  %1 = stablehlo.constant dense<[4, 3]> : tensor<2xi32>
  %r = chlo.broadcast_power %0, %1 : (tensor<i32>, tensor<2xi32>) -> tensor<2xi32>
  %w0 = stablehlo.constant dense<[81, 27]> : tensor<2xi32>
  check.expect_eq %r, %w0 : tensor<2xi32>
  return
}
// -----
func.func @broadcast_and_3() {
  %0 = stablehlo.constant dense<3> : tensor<i32>
  %1 = stablehlo.constant dense<[4, 3]> : tensor<2xi32>
  %r = chlo.broadcast_and %0, %1 : (tensor<i32>, tensor<2xi32>) -> tensor<2xi32>
  %w0 = stablehlo.constant dense<[0, 3]> : tensor<2xi32>
  check.expect_eq %r, %w0 : tensor<2xi32>
  return
}
// -----
func.func @broadcast_or_3() {
  %0 = stablehlo.constant dense<3> : tensor<i32>
  %1 = stablehlo.constant dense<[4, 3]> : tensor<2xi32>
  %r = chlo.broadcast_or %0, %1 : (tensor<i32>, tensor<2xi32>) -> tensor<2xi32>
  %w0 = stablehlo.constant dense<[7, 3]> : tensor<2xi32>
  check.expect_eq %r, %w0 : tensor<2xi32>
  return
}
// -----
func.func @broadcast_xor_3() {
  %0 = stablehlo.constant dense<3> : tensor<i32>
  %1 = stablehlo.constant dense<[4, 3]> : tensor<2xi32>
  %r = chlo.broadcast_xor %0, %1 : (tensor<i32>, tensor<2xi32>) -> tensor<2xi32>
  %w0 = stablehlo.constant dense<[7, 0]> : tensor<2xi32>
  check.expect_eq %r, %w0 : tensor<2xi32>
  return
}
// -----
func.func @broadcast_shift_left_3() {
  %0 = stablehlo.constant dense<3> : tensor<i32>
  %1 = stablehlo.constant dense<[4, 3]> : tensor<2xi32>
  %r = chlo.broadcast_shift_left %0, %1 : (tensor<i32>, tensor<2xi32>) -> tensor<2xi32>
  %w0 = stablehlo.constant dense<[48, 24]> : tensor<2xi32>
  check.expect_eq %r, %w0 : tensor<2xi32>
  return
}
// -----
func.func @broadcast_shift_right_arithmetic_3() {
  %0 = stablehlo.constant dense<3> : tensor<i32>
  %1 = stablehlo.constant dense<[4, 3]> : tensor<2xi32>
  %r = chlo.broadcast_shift_right_arithmetic %0, %1 : (tensor<i32>, tensor<2xi32>) -> tensor<2xi32>
  %w0 = stablehlo.constant dense<[0, 0]> : tensor<2xi32>
  check.expect_eq %r, %w0 : tensor<2xi32>
  return
}
// -----
func.func @broadcast_shift_right_logical_3() {
  %0 = stablehlo.constant dense<3> : tensor<i32>
  %1 = stablehlo.constant dense<[4, 3]> : tensor<2xi32>
  %r = chlo.broadcast_shift_right_logical %0, %1 : (tensor<i32>, tensor<2xi32>) -> tensor<2xi32>
  %w0 = stablehlo.constant dense<[0, 0]> : tensor<2xi32>
  check.expect_eq %r, %w0 : tensor<2xi32>
  return
}
// -----
func.func @broadcast_atan2_3() {
  %0 = stablehlo.constant dense<0x40400000> : tensor<f32>
  %1 = stablehlo.constant dense<[0x40C00000, 0x40800000]> : tensor<2xf32>
  %r = chlo.broadcast_atan2 %0, %1 : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %w0 = stablehlo.constant dense<[0x3EED6338, 0x3F24BC7D]> : tensor<2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
  return
}
// -----
func.func @broadcast_zeta_3() {
  %0 = stablehlo.constant dense<0x40800000> : tensor<f32>
  %1 = stablehlo.constant dense<[0x40C00000, 0x40800000]> : tensor<2xf32>
  %r = chlo.broadcast_zeta %0, %1 : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %w0 = stablehlo.constant dense<[0x3B013101, 0x3BF50646]> : tensor<2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
  return
}
// -----
func.func @broadcast_polygamma_3() {
  %0 = stablehlo.constant dense<0x40400000> : tensor<f32>
  %1 = stablehlo.constant dense<[0x40C00000, 0x40800000]> : tensor<2xf32>
  %r = chlo.broadcast_polygamma %0, %1 : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %w0 = stablehlo.constant dense<[0x3C41C982, 0x3D37C4B5]> : tensor<2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
  return
}
// -----
func.func @broadcast_next_after_3() {
  %0 = stablehlo.constant dense<0x40400000> : tensor<f32>
  %1 = stablehlo.constant dense<[0x40C00000, 0x40800000]> : tensor<2xf32>
  %r = chlo.broadcast_next_after %0, %1 : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %w0 = stablehlo.constant dense<[0x40400001, 0x40400001]> : tensor<2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
  return
}
// -----
func.func @broadcast_complex_3() {
  %0 = stablehlo.constant dense<0x40400000> : tensor<f32>
  %1 = stablehlo.constant dense<[0x40C00000, 0x40800000]> : tensor<2xf32>
  %r = chlo.broadcast_complex %0, %1 : (tensor<f32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
  %w0 = stablehlo.constant dense<[(0x40400000, 0x40C00000), (0x40400000, 0x40800000)]> : tensor<2xcomplex<f32>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>
  return
}
// -----
func.func @broadcast_compare_3() {
  %0 = stablehlo.constant dense<0x40400000> : tensor<f32>
  %1 = stablehlo.constant dense<[0x40C00000, 0x40800000]> : tensor<2xf32>
  %r = chlo.broadcast_compare %0, %1 {comparison_direction = #chlo<comparison_direction LT>} : (tensor<f32>, tensor<2xf32>) -> tensor<2xi1>
  %w0 = stablehlo.constant dense<[true, true]> : tensor<2xi1>
  check.expect_eq %r, %w0 : tensor<2xi1>
  return
}
// -----
func.func @broadcast_select_3() {
  %0 = stablehlo.constant dense<true> : tensor<i1>
  %1 = stablehlo.constant dense<0x40400000> : tensor<f32>
  %2 = stablehlo.constant dense<[0x40C00000, 0x40800000]> : tensor<2xf32>
  %r = chlo.broadcast_select %0, %1, %2 : (tensor<i1>, tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %w0 = stablehlo.constant dense<[0x40400000, 0x40400000]> : tensor<2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
  return
}
// -----
func.func @broadcast_add_7() {
  %0 = stablehlo.constant dense<[[1, 5, 6], [4, 2, 2]]> : tensor<2x3xi32>
  %1 = stablehlo.constant dense<[[5, 4, 5], [5, 6, 5]]> : tensor<2x3xi32>
  %r = chlo.broadcast_add %0, %1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[6, 9, 11], [9, 8, 7]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_subtract_7() {
  %0 = stablehlo.constant dense<[[1, 5, 6], [4, 2, 2]]> : tensor<2x3xi32>
  %1 = stablehlo.constant dense<[[5, 4, 5], [5, 6, 5]]> : tensor<2x3xi32>
  %r = chlo.broadcast_subtract %0, %1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[-4, 1, 1], [-1, -4, -3]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_multiply_7() {
  %0 = stablehlo.constant dense<[[1, 5, 6], [4, 2, 2]]> : tensor<2x3xi32>
  %1 = stablehlo.constant dense<[[5, 4, 5], [5, 6, 5]]> : tensor<2x3xi32>
  %r = chlo.broadcast_multiply %0, %1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[5, 20, 30], [20, 12, 10]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_maximum_7() {
  %0 = stablehlo.constant dense<[[1, 5, 6], [4, 2, 2]]> : tensor<2x3xi32>
  %1 = stablehlo.constant dense<[[5, 4, 5], [5, 6, 5]]> : tensor<2x3xi32>
  %r = chlo.broadcast_maximum %0, %1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[5, 5, 6], [5, 6, 5]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_minimum_7() {
  %0 = stablehlo.constant dense<[[1, 5, 6], [4, 2, 2]]> : tensor<2x3xi32>
  %1 = stablehlo.constant dense<[[5, 4, 5], [5, 6, 5]]> : tensor<2x3xi32>
  %r = chlo.broadcast_minimum %0, %1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[1, 4, 5], [4, 2, 2]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_add_8() {
  %0 = stablehlo.constant dense<[[0x40800000, 0x40800000, 0x3F800000], [0x40A00000, 0x40800000, 0x3F800000]]> : tensor<2x3xf32>
  %1 = stablehlo.constant dense<[[0x40400000, 0x40400000, 0x40800000], [0x40C00000, 0x40400000, 0x40800000]]> : tensor<2x3xf32>
  %r = chlo.broadcast_add %0, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x40E00000, 0x40E00000, 0x40A00000], [0x41300000, 0x40E00000, 0x40A00000]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_subtract_8() {
  %0 = stablehlo.constant dense<[[0x40800000, 0x40800000, 0x3F800000], [0x40A00000, 0x40800000, 0x3F800000]]> : tensor<2x3xf32>
  %1 = stablehlo.constant dense<[[0x40400000, 0x40400000, 0x40800000], [0x40C00000, 0x40400000, 0x40800000]]> : tensor<2x3xf32>
  %r = chlo.broadcast_subtract %0, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x3F800000, 0x3F800000, 0xC0400000], [0xBF800000, 0x3F800000, 0xC0400000]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_multiply_8() {
  %0 = stablehlo.constant dense<[[0x40800000, 0x40800000, 0x3F800000], [0x40A00000, 0x40800000, 0x3F800000]]> : tensor<2x3xf32>
  %1 = stablehlo.constant dense<[[0x40400000, 0x40400000, 0x40800000], [0x40C00000, 0x40400000, 0x40800000]]> : tensor<2x3xf32>
  %r = chlo.broadcast_multiply %0, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x41400000, 0x41400000, 0x40800000], [0x41F00000, 0x41400000, 0x40800000]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_maximum_8() {
  %0 = stablehlo.constant dense<[[0x40800000, 0x40800000, 0x3F800000], [0x40A00000, 0x40800000, 0x3F800000]]> : tensor<2x3xf32>
  %1 = stablehlo.constant dense<[[0x40400000, 0x40400000, 0x40800000], [0x40C00000, 0x40400000, 0x40800000]]> : tensor<2x3xf32>
  %r = chlo.broadcast_maximum %0, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x40800000, 0x40800000, 0x40800000], [0x40C00000, 0x40800000, 0x40800000]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_minimum_8() {
  %0 = stablehlo.constant dense<[[0x40800000, 0x40800000, 0x3F800000], [0x40A00000, 0x40800000, 0x3F800000]]> : tensor<2x3xf32>
  %1 = stablehlo.constant dense<[[0x40400000, 0x40400000, 0x40800000], [0x40C00000, 0x40400000, 0x40800000]]> : tensor<2x3xf32>
  %r = chlo.broadcast_minimum %0, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x40400000, 0x40400000, 0x3F800000], [0x40A00000, 0x40400000, 0x3F800000]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_divide_4() {
  %0 = stablehlo.constant dense<[[6, 5, 5], [6, 1, 6]]> : tensor<2x3xi32>
  %1 = stablehlo.constant dense<[[6, 5, 4], [2, 3, 6]]> : tensor<2x3xi32>
  %r = chlo.broadcast_divide %0, %1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[1, 1, 1], [3, 0, 1]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_remainder_4() {
  %0 = stablehlo.constant dense<[[6, 5, 5], [6, 1, 6]]> : tensor<2x3xi32>
  %1 = stablehlo.constant dense<[[6, 5, 4], [2, 3, 6]]> : tensor<2x3xi32>
  %r = chlo.broadcast_remainder %0, %1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[0, 0, 1], [0, 1, 0]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_power_4() {
  %0 = stablehlo.constant dense<[[6, 5, 5], [6, 1, 6]]> : tensor<2x3xi32>
  %1 = stablehlo.constant dense<[[6, 5, 4], [2, 3, 6]]> : tensor<2x3xi32>
  %r = chlo.broadcast_power %0, %1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[46656, 3125, 625], [36, 1, 46656]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_and_4() {
  %0 = stablehlo.constant dense<[[6, 5, 5], [6, 1, 6]]> : tensor<2x3xi32>
  %1 = stablehlo.constant dense<[[6, 5, 4], [2, 3, 6]]> : tensor<2x3xi32>
  %r = chlo.broadcast_and %0, %1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[6, 5, 4], [2, 1, 6]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_or_4() {
  %0 = stablehlo.constant dense<[[6, 5, 5], [6, 1, 6]]> : tensor<2x3xi32>
  %1 = stablehlo.constant dense<[[6, 5, 4], [2, 3, 6]]> : tensor<2x3xi32>
  %r = chlo.broadcast_or %0, %1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[6, 5, 5], [6, 3, 6]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_xor_4() {
  %0 = stablehlo.constant dense<[[6, 5, 5], [6, 1, 6]]> : tensor<2x3xi32>
  %1 = stablehlo.constant dense<[[6, 5, 4], [2, 3, 6]]> : tensor<2x3xi32>
  %r = chlo.broadcast_xor %0, %1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[0, 0, 1], [4, 2, 0]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_shift_left_4() {
  %0 = stablehlo.constant dense<[[6, 5, 5], [6, 1, 6]]> : tensor<2x3xi32>
  %1 = stablehlo.constant dense<[[6, 5, 4], [2, 3, 6]]> : tensor<2x3xi32>
  %r = chlo.broadcast_shift_left %0, %1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[384, 160, 80], [24, 8, 384]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_shift_right_arithmetic_4() {
  %0 = stablehlo.constant dense<[[6, 5, 5], [6, 1, 6]]> : tensor<2x3xi32>
  %1 = stablehlo.constant dense<[[6, 5, 4], [2, 3, 6]]> : tensor<2x3xi32>
  %r = chlo.broadcast_shift_right_arithmetic %0, %1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[0, 0, 0], [1, 0, 0]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_shift_right_logical_4() {
  %0 = stablehlo.constant dense<[[6, 5, 5], [6, 1, 6]]> : tensor<2x3xi32>
  %1 = stablehlo.constant dense<[[6, 5, 4], [2, 3, 6]]> : tensor<2x3xi32>
  %r = chlo.broadcast_shift_right_logical %0, %1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %w0 = stablehlo.constant dense<[[0, 0, 0], [1, 0, 0]]> : tensor<2x3xi32>
  check.expect_eq %r, %w0 : tensor<2x3xi32>
  return
}
// -----
func.func @broadcast_atan2_4() {
  %0 = stablehlo.constant dense<[[0x40A00000, 0x40A00000, 0x40000000], [0x40000000, 0x40C00000, 0x40400000]]> : tensor<2x3xf32>
  %1 = stablehlo.constant dense<[[0x3F800000, 0x40A00000, 0x40400000], [0x40A00000, 0x3F800000, 0x40400000]]> : tensor<2x3xf32>
  %r = chlo.broadcast_atan2 %0, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x3FAFCB99, 0x3F490FDB, 0x3F168757], [0x3EC2D1BB, 0x3FB3EC43, 0x3F490FDB]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 1 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_zeta_4() {
  %0 = stablehlo.constant dense<[[0x40C00000, 0x40C00000, 0x40400000], [0x40400000, 0x40E00000, 0x40800000]]> : tensor<2x3xf32>
  %1 = stablehlo.constant dense<[[0x3F800000, 0x40A00000, 0x40400000], [0x40A00000, 0x3F800000, 0x40400000]]> : tensor<2x3xf32>
  %r = chlo.broadcast_zeta %0, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x3F82384C, 0x38D64911, 0x3D9DD002], [0x3CC7D7BE, 0x3F811197, 0x3CA26456]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 1 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_polygamma_4() {
  %0 = stablehlo.constant dense<[[0x40A00000, 0x40A00000, 0x40000000], [0x40000000, 0x40C00000, 0x40400000]]> : tensor<2x3xf32>
  %1 = stablehlo.constant dense<[[0x3F800000, 0x40A00000, 0x40400000], [0x40A00000, 0x3F800000, 0x40400000]]> : tensor<2x3xf32>
  %r = chlo.broadcast_polygamma %0, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x42F4298F, 0x3C48E480, 0xBE1DD002], [0xBD47D7BE, 0xC43580BC, 0x3DF39680]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 1 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_next_after_4() {
  %0 = stablehlo.constant dense<[[0x40A00000, 0x40A00000, 0x40000000], [0x40000000, 0x40C00000, 0x40400000]]> : tensor<2x3xf32>
  %1 = stablehlo.constant dense<[[0x3F800000, 0x40A00000, 0x40400000], [0x40A00000, 0x3F800000, 0x40400000]]> : tensor<2x3xf32>
  %r = chlo.broadcast_next_after %0, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x409FFFFF, 0x40A00000, 0x40000001], [0x40000001, 0x40BFFFFF, 0x40400000]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_complex_4() {
  %0 = stablehlo.constant dense<[[0x40A00000, 0x40A00000, 0x40000000], [0x40000000, 0x40C00000, 0x40400000]]> : tensor<2x3xf32>
  %1 = stablehlo.constant dense<[[0x3F800000, 0x40A00000, 0x40400000], [0x40A00000, 0x3F800000, 0x40400000]]> : tensor<2x3xf32>
  %r = chlo.broadcast_complex %0, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xcomplex<f32>>
  %w0 = stablehlo.constant dense<[[(0x40A00000, 0x3F800000), (0x40A00000, 0x40A00000), (0x40000000, 0x40400000)], [(0x40000000, 0x40A00000), (0x40C00000, 0x3F800000), (0x40400000, 0x40400000)]]> : tensor<2x3xcomplex<f32>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>
  return
}
// -----
func.func @broadcast_compare_4() {
  %0 = stablehlo.constant dense<[[0x40A00000, 0x40A00000, 0x40000000], [0x40000000, 0x40C00000, 0x40400000]]> : tensor<2x3xf32>
  %1 = stablehlo.constant dense<[[0x3F800000, 0x40A00000, 0x40400000], [0x40A00000, 0x3F800000, 0x40400000]]> : tensor<2x3xf32>
  %r = chlo.broadcast_compare %0, %1 {comparison_direction = #chlo<comparison_direction LT>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %w0 = stablehlo.constant dense<[[false, false, true], [true, false, false]]> : tensor<2x3xi1>
  check.expect_eq %r, %w0 : tensor<2x3xi1>
  return
}
// -----
func.func @broadcast_select_4() {
  %0 = stablehlo.constant dense<[[false, false, false], [false, false, true]]> : tensor<2x3xi1>
  %1 = stablehlo.constant dense<[[0x40A00000, 0x40A00000, 0x40000000], [0x40000000, 0x40C00000, 0x40400000]]> : tensor<2x3xf32>
  %2 = stablehlo.constant dense<[[0x3F800000, 0x40A00000, 0x40400000], [0x40A00000, 0x3F800000, 0x40400000]]> : tensor<2x3xf32>
  %r = chlo.broadcast_select %0, %1, %2 : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0x3F800000, 0x40A00000, 0x40400000], [0x40A00000, 0x3F800000, 0x40400000]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @broadcast_add_9() {
  %0 = stablehlo.constant dense<> : tensor<0x1xi32>
  %1 = stablehlo.constant dense<[[5, 2]]> : tensor<1x2xi32>
  %r = chlo.broadcast_add %0, %1 : (tensor<0x1xi32>, tensor<1x2xi32>) -> tensor<0x2xi32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xi32>
  check.expect_eq %r, %w0 : tensor<0x2xi32>
  return
}
// -----
func.func @broadcast_subtract_9() {
  %0 = stablehlo.constant dense<> : tensor<0x1xi32>
  %1 = stablehlo.constant dense<[[5, 2]]> : tensor<1x2xi32>
  %r = chlo.broadcast_subtract %0, %1 : (tensor<0x1xi32>, tensor<1x2xi32>) -> tensor<0x2xi32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xi32>
  check.expect_eq %r, %w0 : tensor<0x2xi32>
  return
}
// -----
func.func @broadcast_multiply_9() {
  %0 = stablehlo.constant dense<> : tensor<0x1xi32>
  %1 = stablehlo.constant dense<[[5, 2]]> : tensor<1x2xi32>
  %r = chlo.broadcast_multiply %0, %1 : (tensor<0x1xi32>, tensor<1x2xi32>) -> tensor<0x2xi32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xi32>
  check.expect_eq %r, %w0 : tensor<0x2xi32>
  return
}
// -----
func.func @broadcast_maximum_9() {
  %0 = stablehlo.constant dense<> : tensor<0x1xi32>
  %1 = stablehlo.constant dense<[[5, 2]]> : tensor<1x2xi32>
  %r = chlo.broadcast_maximum %0, %1 : (tensor<0x1xi32>, tensor<1x2xi32>) -> tensor<0x2xi32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xi32>
  check.expect_eq %r, %w0 : tensor<0x2xi32>
  return
}
// -----
func.func @broadcast_minimum_9() {
  %0 = stablehlo.constant dense<> : tensor<0x1xi32>
  %1 = stablehlo.constant dense<[[5, 2]]> : tensor<1x2xi32>
  %r = chlo.broadcast_minimum %0, %1 : (tensor<0x1xi32>, tensor<1x2xi32>) -> tensor<0x2xi32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xi32>
  check.expect_eq %r, %w0 : tensor<0x2xi32>
  return
}
// -----
func.func @broadcast_add_10() {
  %0 = stablehlo.constant dense<> : tensor<0x1xf32>
  %1 = stablehlo.constant dense<[[0x3F800000, 0x40A00000]]> : tensor<1x2xf32>
  %r = chlo.broadcast_add %0, %1 : (tensor<0x1xf32>, tensor<1x2xf32>) -> tensor<0x2xf32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<0x2xf32>, tensor<0x2xf32>
  return
}
// -----
func.func @broadcast_subtract_10() {
  %0 = stablehlo.constant dense<> : tensor<0x1xf32>
  %1 = stablehlo.constant dense<[[0x3F800000, 0x40A00000]]> : tensor<1x2xf32>
  %r = chlo.broadcast_subtract %0, %1 : (tensor<0x1xf32>, tensor<1x2xf32>) -> tensor<0x2xf32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<0x2xf32>, tensor<0x2xf32>
  return
}
// -----
func.func @broadcast_multiply_10() {
  %0 = stablehlo.constant dense<> : tensor<0x1xf32>
  %1 = stablehlo.constant dense<[[0x3F800000, 0x40A00000]]> : tensor<1x2xf32>
  %r = chlo.broadcast_multiply %0, %1 : (tensor<0x1xf32>, tensor<1x2xf32>) -> tensor<0x2xf32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<0x2xf32>, tensor<0x2xf32>
  return
}
// -----
func.func @broadcast_maximum_10() {
  %0 = stablehlo.constant dense<> : tensor<0x1xf32>
  %1 = stablehlo.constant dense<[[0x3F800000, 0x40A00000]]> : tensor<1x2xf32>
  %r = chlo.broadcast_maximum %0, %1 : (tensor<0x1xf32>, tensor<1x2xf32>) -> tensor<0x2xf32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<0x2xf32>, tensor<0x2xf32>
  return
}
// -----
func.func @broadcast_minimum_10() {
  %0 = stablehlo.constant dense<> : tensor<0x1xf32>
  %1 = stablehlo.constant dense<[[0x3F800000, 0x40A00000]]> : tensor<1x2xf32>
  %r = chlo.broadcast_minimum %0, %1 : (tensor<0x1xf32>, tensor<1x2xf32>) -> tensor<0x2xf32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<0x2xf32>, tensor<0x2xf32>
  return
}
// -----
func.func @broadcast_divide_5() {
  %0 = stablehlo.constant dense<> : tensor<0x1xi32>
  %1 = stablehlo.constant dense<[[6, 2]]> : tensor<1x2xi32>
  %r = chlo.broadcast_divide %0, %1 : (tensor<0x1xi32>, tensor<1x2xi32>) -> tensor<0x2xi32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xi32>
  check.expect_eq %r, %w0 : tensor<0x2xi32>
  return
}
// -----
func.func @broadcast_remainder_5() {
  %0 = stablehlo.constant dense<> : tensor<0x1xi32>
  %1 = stablehlo.constant dense<[[6, 2]]> : tensor<1x2xi32>
  %r = chlo.broadcast_remainder %0, %1 : (tensor<0x1xi32>, tensor<1x2xi32>) -> tensor<0x2xi32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xi32>
  check.expect_eq %r, %w0 : tensor<0x2xi32>
  return
}
// -----
func.func @broadcast_power_5() {
  %0 = stablehlo.constant dense<> : tensor<0x1xi32>
  %1 = stablehlo.constant dense<[[6, 2]]> : tensor<1x2xi32>
  %r = chlo.broadcast_power %0, %1 : (tensor<0x1xi32>, tensor<1x2xi32>) -> tensor<0x2xi32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xi32>
  check.expect_eq %r, %w0 : tensor<0x2xi32>
  return
}
// -----
func.func @broadcast_and_5() {
  %0 = stablehlo.constant dense<> : tensor<0x1xi32>
  %1 = stablehlo.constant dense<[[6, 2]]> : tensor<1x2xi32>
  %r = chlo.broadcast_and %0, %1 : (tensor<0x1xi32>, tensor<1x2xi32>) -> tensor<0x2xi32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xi32>
  check.expect_eq %r, %w0 : tensor<0x2xi32>
  return
}
// -----
func.func @broadcast_or_5() {
  %0 = stablehlo.constant dense<> : tensor<0x1xi32>
  %1 = stablehlo.constant dense<[[6, 2]]> : tensor<1x2xi32>
  %r = chlo.broadcast_or %0, %1 : (tensor<0x1xi32>, tensor<1x2xi32>) -> tensor<0x2xi32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xi32>
  check.expect_eq %r, %w0 : tensor<0x2xi32>
  return
}
// -----
func.func @broadcast_xor_5() {
  %0 = stablehlo.constant dense<> : tensor<0x1xi32>
  %1 = stablehlo.constant dense<[[6, 2]]> : tensor<1x2xi32>
  %r = chlo.broadcast_xor %0, %1 : (tensor<0x1xi32>, tensor<1x2xi32>) -> tensor<0x2xi32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xi32>
  check.expect_eq %r, %w0 : tensor<0x2xi32>
  return
}
// -----
func.func @broadcast_shift_left_5() {
  %0 = stablehlo.constant dense<> : tensor<0x1xi32>
  %1 = stablehlo.constant dense<[[6, 2]]> : tensor<1x2xi32>
  %r = chlo.broadcast_shift_left %0, %1 : (tensor<0x1xi32>, tensor<1x2xi32>) -> tensor<0x2xi32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xi32>
  check.expect_eq %r, %w0 : tensor<0x2xi32>
  return
}
// -----
func.func @broadcast_shift_right_arithmetic_5() {
  %0 = stablehlo.constant dense<> : tensor<0x1xi32>
  %1 = stablehlo.constant dense<[[6, 2]]> : tensor<1x2xi32>
  %r = chlo.broadcast_shift_right_arithmetic %0, %1 : (tensor<0x1xi32>, tensor<1x2xi32>) -> tensor<0x2xi32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xi32>
  check.expect_eq %r, %w0 : tensor<0x2xi32>
  return
}
// -----
func.func @broadcast_shift_right_logical_5() {
  %0 = stablehlo.constant dense<> : tensor<0x1xi32>
  %1 = stablehlo.constant dense<[[6, 2]]> : tensor<1x2xi32>
  %r = chlo.broadcast_shift_right_logical %0, %1 : (tensor<0x1xi32>, tensor<1x2xi32>) -> tensor<0x2xi32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xi32>
  check.expect_eq %r, %w0 : tensor<0x2xi32>
  return
}
// -----
func.func @broadcast_atan2_5() {
  %0 = stablehlo.constant dense<> : tensor<0x1xf32>
  %1 = stablehlo.constant dense<[[0x40C00000, 0x40A00000]]> : tensor<1x2xf32>
  %r = chlo.broadcast_atan2 %0, %1 : (tensor<0x1xf32>, tensor<1x2xf32>) -> tensor<0x2xf32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 1 : tensor<0x2xf32>, tensor<0x2xf32>
  return
}
// -----
func.func @broadcast_zeta_5() {
  %0 = stablehlo.constant dense<> : tensor<0x1xf32>
  %1 = stablehlo.constant dense<[[0x40C00000, 0x40A00000]]> : tensor<1x2xf32>
  %r = chlo.broadcast_zeta %0, %1 : (tensor<0x1xf32>, tensor<1x2xf32>) -> tensor<0x2xf32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 1 : tensor<0x2xf32>, tensor<0x2xf32>
  return
}
// -----
func.func @broadcast_polygamma_5() {
  %0 = stablehlo.constant dense<> : tensor<0x1xf32>
  %1 = stablehlo.constant dense<[[0x40C00000, 0x40A00000]]> : tensor<1x2xf32>
  %r = chlo.broadcast_polygamma %0, %1 : (tensor<0x1xf32>, tensor<1x2xf32>) -> tensor<0x2xf32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 1 : tensor<0x2xf32>, tensor<0x2xf32>
  return
}
// -----
func.func @broadcast_next_after_5() {
  %0 = stablehlo.constant dense<> : tensor<0x1xf32>
  %1 = stablehlo.constant dense<[[0x40C00000, 0x40A00000]]> : tensor<1x2xf32>
  %r = chlo.broadcast_next_after %0, %1 : (tensor<0x1xf32>, tensor<1x2xf32>) -> tensor<0x2xf32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<0x2xf32>, tensor<0x2xf32>
  return
}
// -----
func.func @broadcast_complex_5() {
  %0 = stablehlo.constant dense<> : tensor<0x1xf32>
  %1 = stablehlo.constant dense<[[0x40C00000, 0x40A00000]]> : tensor<1x2xf32>
  %r = chlo.broadcast_complex %0, %1 : (tensor<0x1xf32>, tensor<1x2xf32>) -> tensor<0x2xcomplex<f32>>
  %w0 = stablehlo.constant dense<> : tensor<0x2xcomplex<f32>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<0x2xcomplex<f32>>, tensor<0x2xcomplex<f32>>
  return
}
// -----
func.func @broadcast_compare_5() {
  %0 = stablehlo.constant dense<> : tensor<0x1xf32>
  %1 = stablehlo.constant dense<[[0x40C00000, 0x40A00000]]> : tensor<1x2xf32>
  %r = chlo.broadcast_compare %0, %1 {comparison_direction = #chlo<comparison_direction LT>} : (tensor<0x1xf32>, tensor<1x2xf32>) -> tensor<0x2xi1>
  %w0 = stablehlo.constant dense<> : tensor<0x2xi1>
  check.expect_eq %r, %w0 : tensor<0x2xi1>
  return
}
// -----
func.func @broadcast_select_5() {
  %0 = stablehlo.constant dense<> : tensor<0x1xi1>
  %1 = stablehlo.constant dense<> : tensor<0x1xf32>
  %2 = stablehlo.constant dense<[[0x40C00000, 0x40A00000]]> : tensor<1x2xf32>
  %r = chlo.broadcast_select %0, %1, %2 : (tensor<0x1xi1>, tensor<0x1xf32>, tensor<1x2xf32>) -> tensor<0x2xf32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<0x2xf32>, tensor<0x2xf32>
  return
}
