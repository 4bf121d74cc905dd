// Written by generate.py.
func.func @sort_f32() {
  %0 = stablehlo.constant dense<[[0x3F000000, 0x40500000, 0xBFC00000, 0x3F400000, 0xBFA00000, 0xBF800000, 0x40500000], [0x40100000, 0x40200000, 0xBF400000, 0xC0100000, 0xC0300000, 0x3F000000, 0xBE800000], [0xC0200000, 0xBFA00000, 0x40600000, 0x40700000, 0x40200000, 0xBF000000, 0x40300000]]> : tensor<3x7xf32>
  %r = "stablehlo.sort"(%0) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
    %p = stablehlo.compare LT, %a0, %b0 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3x7xf32>) -> (tensor<3x7xf32>)
  %w0 = stablehlo.constant dense<[[0xC0200000, 0xBFA00000, 0xBFC00000, 0xC0100000, 0xC0300000, 0xBF800000, 0xBE800000], [0x3F000000, 0x40200000, 0xBF400000, 0x3F400000, 0xBFA00000, 0xBF000000, 0x40300000], [0x40100000, 0x40500000, 0x40600000, 0x40700000, 0x40200000, 0x3F000000, 0x40500000]]> : tensor<3x7xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3x7xf32>, tensor<3x7xf32>
  return
}
// -----
func.func @sort_f32_2() {
  %0 = stablehlo.constant dense<[[0x3F000000, 0x40500000, 0xBFC00000, 0x3F400000, 0xBFA00000, 0xBF800000, 0x40500000], [0x40100000, 0x40200000, 0xBF400000, 0xC0100000, 0xC0300000, 0x3F000000, 0xBE800000], [0xC0200000, 0xBFA00000, 0x40600000, 0x40700000, 0x40200000, 0xBF000000, 0x40300000]]> : tensor<3x7xf32>
  %r = "stablehlo.sort"(%0) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
    %p = stablehlo.compare LT, %a0, %b0 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3x7xf32>) -> (tensor<3x7xf32>)
  %w0 = stablehlo.constant dense<[[0xBFC00000, 0xBFA00000, 0xBF800000, 0x3F000000, 0x3F400000, 0x40500000, 0x40500000], [0xC0300000, 0xC0100000, 0xBF400000, 0xBE800000, 0x3F000000, 0x40100000, 0x40200000], [0xC0200000, 0xBFA00000, 0xBF000000, 0x40200000, 0x40300000, 0x40600000, 0x40700000]]> : tensor<3x7xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3x7xf32>, tensor<3x7xf32>
  return
}
// -----
func.func @sort_f32_3() {
  %0 = stablehlo.constant dense<[[0x3F000000, 0x40500000, 0xBFC00000, 0x3F400000, 0xBFA00000, 0xBF800000, 0x40500000], [0x40100000, 0x40200000, 0xBF400000, 0xC0100000, 0xC0300000, 0x3F000000, 0xBE800000], [0xC0200000, 0xBFA00000, 0x40600000, 0x40700000, 0x40200000, 0xBF000000, 0x40300000]]> : tensor<3x7xf32>
  %r = "stablehlo.sort"(%0) <{dimension = -1 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
    %p = stablehlo.compare LT, %a0, %b0 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3x7xf32>) -> (tensor<3x7xf32>)
  %w0 = stablehlo.constant dense<[[0xBFC00000, 0xBFA00000, 0xBF800000, 0x3F000000, 0x3F400000, 0x40500000, 0x40500000], [0xC0300000, 0xC0100000, 0xBF400000, 0xBE800000, 0x3F000000, 0x40100000, 0x40200000], [0xC0200000, 0xBFA00000, 0xBF000000, 0x40200000, 0x40300000, 0x40600000, 0x40700000]]> : tensor<3x7xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3x7xf32>, tensor<3x7xf32>
  return
}
// -----
func.func @sort_down_f32() {
  %0 = stablehlo.constant dense<[[0x3F000000, 0x40500000, 0xBFC00000, 0x3F400000, 0xBFA00000, 0xBF800000, 0x40500000], [0x40100000, 0x40200000, 0xBF400000, 0xC0100000, 0xC0300000, 0x3F000000, 0xBE800000], [0xC0200000, 0xBFA00000, 0x40600000, 0x40700000, 0x40200000, 0xBF000000, 0x40300000]]> : tensor<3x7xf32>
  %r = "stablehlo.sort"(%0) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
    %p = stablehlo.compare GT, %a0, %b0 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3x7xf32>) -> (tensor<3x7xf32>)
  %w0 = stablehlo.constant dense<[[0x40500000, 0x40500000, 0x3F400000, 0x3F000000, 0xBF800000, 0xBFA00000, 0xBFC00000], [0x40200000, 0x40100000, 0x3F000000, 0xBE800000, 0xBF400000, 0xC0100000, 0xC0300000], [0x40700000, 0x40600000, 0x40300000, 0x40200000, 0xBF000000, 0xBFA00000, 0xC0200000]]> : tensor<3x7xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3x7xf32>, tensor<3x7xf32>
  return
}
// -----
func.func @sort_pairs_f32() {
  %0 = stablehlo.constant dense<[[0x3F000000, 0x40500000, 0xBFC00000, 0x3F400000, 0xBFA00000, 0xBF800000, 0x40500000], [0x40100000, 0x40200000, 0xBF400000, 0xC0100000, 0xC0300000, 0x3F000000, 0xBE800000], [0xC0200000, 0xBFA00000, 0x40600000, 0x40700000, 0x40200000, 0xBF000000, 0x40300000]]> : tensor<3x7xf32>
  %1 = stablehlo.constant dense<[[0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 6]]> : tensor<3x7xi32>
  %r:2 = "stablehlo.sort"(%0, %1) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<f32>, %b0: tensor<f32>, %a1: tensor<i32>, %b1: tensor<i32>):
    %p = stablehlo.compare LT, %a0, %b0 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3x7xf32>, tensor<3x7xi32>) -> (tensor<3x7xf32>, tensor<3x7xi32>)
  %w0 = stablehlo.constant dense<[[0xBFC00000, 0xBFA00000, 0xBF800000, 0x3F000000, 0x3F400000, 0x40500000, 0x40500000], [0xC0300000, 0xC0100000, 0xBF400000, 0xBE800000, 0x3F000000, 0x40100000, 0x40200000], [0xC0200000, 0xBFA00000, 0xBF000000, 0x40200000, 0x40300000, 0x40600000, 0x40700000]]> : tensor<3x7xf32>
  check.expect_close %r#0, %w0, max_ulp_difference = 0 : tensor<3x7xf32>, tensor<3x7xf32>
  %w1 = stablehlo.constant dense<[[2, 4, 5, 0, 3, 1, 6], [4, 3, 2, 6, 5, 0, 1], [0, 1, 5, 4, 6, 2, 3]]> : tensor<3x7xi32>
  check.expect_eq %r#1, %w1 : tensor<3x7xi32>
  return
}
// -----
func.func @sort_i32() {
  %0 = stablehlo.constant dense<[[-4, -7, -7, 2, -6, -1, 6], [0, -3, -3, -3, 7, -5, 9], [7, 3, 5, 4, 4, -7, 1]]> : tensor<3x7xi32>
  %r = "stablehlo.sort"(%0) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<i32>, %b0: tensor<i32>):
    %p = stablehlo.compare LT, %a0, %b0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3x7xi32>) -> (tensor<3x7xi32>)
  %w0 = stablehlo.constant dense<[[-4, -7, -7, -3, -6, -7, 1], [0, -3, -3, 2, 4, -5, 6], [7, 3, 5, 4, 7, -1, 9]]> : tensor<3x7xi32>
  check.expect_eq %r, %w0 : tensor<3x7xi32>
  return
}
// -----
func.func @sort_i32_2() {
  %0 = stablehlo.constant dense<[[-4, -7, -7, 2, -6, -1, 6], [0, -3, -3, -3, 7, -5, 9], [7, 3, 5, 4, 4, -7, 1]]> : tensor<3x7xi32>
  %r = "stablehlo.sort"(%0) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<i32>, %b0: tensor<i32>):
    %p = stablehlo.compare LT, %a0, %b0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3x7xi32>) -> (tensor<3x7xi32>)
  %w0 = stablehlo.constant dense<[[-7, -7, -6, -4, -1, 2, 6], [-5, -3, -3, -3, 0, 7, 9], [-7, 1, 3, 4, 4, 5, 7]]> : tensor<3x7xi32>
  check.expect_eq %r, %w0 : tensor<3x7xi32>
  return
}
// -----
func.func @sort_i32_3() {
  %0 = stablehlo.constant dense<[[-4, -7, -7, 2, -6, -1, 6], [0, -3, -3, -3, 7, -5, 9], [7, 3, 5, 4, 4, -7, 1]]> : tensor<3x7xi32>
  %r = "stablehlo.sort"(%0) <{dimension = -1 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<i32>, %b0: tensor<i32>):
    %p = stablehlo.compare LT, %a0, %b0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3x7xi32>) -> (tensor<3x7xi32>)
  %w0 = stablehlo.constant dense<[[-7, -7, -6, -4, -1, 2, 6], [-5, -3, -3, -3, 0, 7, 9], [-7, 1, 3, 4, 4, 5, 7]]> : tensor<3x7xi32>
  check.expect_eq %r, %w0 : tensor<3x7xi32>
  return
}
// -----
func.func @sort_down_i32() {
  %0 = stablehlo.constant dense<[[-4, -7, -7, 2, -6, -1, 6], [0, -3, -3, -3, 7, -5, 9], [7, 3, 5, 4, 4, -7, 1]]> : tensor<3x7xi32>
  %r = "stablehlo.sort"(%0) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<i32>, %b0: tensor<i32>):
    %p = stablehlo.compare GT, %a0, %b0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3x7xi32>) -> (tensor<3x7xi32>)
  %w0 = stablehlo.constant dense<[[6, 2, -1, -4, -6, -7, -7], [9, 7, 0, -3, -3, -3, -5], [7, 5, 4, 4, 3, 1, -7]]> : tensor<3x7xi32>
  check.expect_eq %r, %w0 : tensor<3x7xi32>
  return
}
// -----
func.func @sort_pairs_i32() {
  %0 = stablehlo.constant dense<[[-4, -7, -7, 2, -6, -1, 6], [0, -3, -3, -3, 7, -5, 9], [7, 3, 5, 4, 4, -7, 1]]> : tensor<3x7xi32>
  %1 = stablehlo.constant dense<[[0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 6]]> : tensor<3x7xi32>
  %r:2 = "stablehlo.sort"(%0, %1) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<i32>, %b0: tensor<i32>, %a1: tensor<i32>, %b1: tensor<i32>):
    %p = stablehlo.compare LT, %a0, %b0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3x7xi32>, tensor<3x7xi32>) -> (tensor<3x7xi32>, tensor<3x7xi32>)
  %w0 = stablehlo.constant dense<[[-7, -7, -6, -4, -1, 2, 6], [-5, -3, -3, -3, 0, 7, 9], [-7, 1, 3, 4, 4, 5, 7]]> : tensor<3x7xi32>
  check.expect_eq %r#0, %w0 : tensor<3x7xi32>
  %w1 = stablehlo.constant dense<[[1, 2, 4, 0, 5, 3, 6], [5, 1, 2, 3, 0, 4, 6], [5, 6, 1, 3, 4, 2, 0]]> : tensor<3x7xi32>
  check.expect_eq %r#1, %w1 : tensor<3x7xi32>
  return
}
// -----
func.func @sort_ui8() {
  %0 = stablehlo.constant dense<[[4, 5, 0, 1, 6, 1, 7], [5, 8, 8, 7, 3, 7, 6], [3, 4, 1, 2, 4, 7, 5]]> : tensor<3x7xui8>
  %r = "stablehlo.sort"(%0) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<ui8>, %b0: tensor<ui8>):
    %p = stablehlo.compare LT, %a0, %b0 : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3x7xui8>) -> (tensor<3x7xui8>)
  %w0 = stablehlo.constant dense<[[3, 4, 0, 1, 3, 1, 5], [4, 5, 1, 2, 4, 7, 6], [5, 8, 8, 7, 6, 7, 7]]> : tensor<3x7xui8>
  check.expect_eq %r, %w0 : tensor<3x7xui8>
  return
}
// -----
func.func @sort_ui8_2() {
  %0 = stablehlo.constant dense<[[4, 5, 0, 1, 6, 1, 7], [5, 8, 8, 7, 3, 7, 6], [3, 4, 1, 2, 4, 7, 5]]> : tensor<3x7xui8>
  %r = "stablehlo.sort"(%0) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<ui8>, %b0: tensor<ui8>):
    %p = stablehlo.compare LT, %a0, %b0 : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3x7xui8>) -> (tensor<3x7xui8>)
  %w0 = stablehlo.constant dense<[[0, 1, 1, 4, 5, 6, 7], [3, 5, 6, 7, 7, 8, 8], [1, 2, 3, 4, 4, 5, 7]]> : tensor<3x7xui8>
  check.expect_eq %r, %w0 : tensor<3x7xui8>
  return
}
// -----
func.func @sort_ui8_3() {
  %0 = stablehlo.constant dense<[[4, 5, 0, 1, 6, 1, 7], [5, 8, 8, 7, 3, 7, 6], [3, 4, 1, 2, 4, 7, 5]]> : tensor<3x7xui8>
  %r = "stablehlo.sort"(%0) <{dimension = -1 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<ui8>, %b0: tensor<ui8>):
    %p = stablehlo.compare LT, %a0, %b0 : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3x7xui8>) -> (tensor<3x7xui8>)
  %w0 = stablehlo.constant dense<[[0, 1, 1, 4, 5, 6, 7], [3, 5, 6, 7, 7, 8, 8], [1, 2, 3, 4, 4, 5, 7]]> : tensor<3x7xui8>
  check.expect_eq %r, %w0 : tensor<3x7xui8>
  return
}
// -----
func.func @sort_down_ui8() {
  %0 = stablehlo.constant dense<[[4, 5, 0, 1, 6, 1, 7], [5, 8, 8, 7, 3, 7, 6], [3, 4, 1, 2, 4, 7, 5]]> : tensor<3x7xui8>
  %r = "stablehlo.sort"(%0) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<ui8>, %b0: tensor<ui8>):
    %p = stablehlo.compare GT, %a0, %b0 : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3x7xui8>) -> (tensor<3x7xui8>)
  %w0 = stablehlo.constant dense<[[7, 6, 5, 4, 1, 1, 0], [8, 8, 7, 7, 6, 5, 3], [7, 5, 4, 4, 3, 2, 1]]> : tensor<3x7xui8>
  check.expect_eq %r, %w0 : tensor<3x7xui8>
  return
}
// -----
func.func @sort_pairs_ui8() {
  %0 = stablehlo.constant dense<[[4, 5, 0, 1, 6, 1, 7], [5, 8, 8, 7, 3, 7, 6], [3, 4, 1, 2, 4, 7, 5]]> : tensor<3x7xui8>
  %1 = stablehlo.constant dense<[[0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 6]]> : tensor<3x7xi32>
  %r:2 = "stablehlo.sort"(%0, %1) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<ui8>, %b0: tensor<ui8>, %a1: tensor<i32>, %b1: tensor<i32>):
    %p = stablehlo.compare LT, %a0, %b0 : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3x7xui8>, tensor<3x7xi32>) -> (tensor<3x7xui8>, tensor<3x7xi32>)
  %w0 = stablehlo.constant dense<[[0, 1, 1, 4, 5, 6, 7], [3, 5, 6, 7, 7, 8, 8], [1, 2, 3, 4, 4, 5, 7]]> : tensor<3x7xui8>
  check.expect_eq %r#0, %w0 : tensor<3x7xui8>
  %w1 = stablehlo.constant dense<[[2, 3, 5, 0, 1, 4, 6], [4, 0, 6, 3, 5, 1, 2], [2, 3, 0, 1, 4, 6, 5]]> : tensor<3x7xi32>
  check.expect_eq %r#1, %w1 : tensor<3x7xi32>
  return
}
// -----
func.func @sort_f64() {
  %0 = stablehlo.constant dense<[[0x400A000000000000, 0x4002000000000000, 0x4006000000000000, 0x4004000000000000, 0x3FE8000000000000, 0x3FF4000000000000, 0xBFF4000000000000], [0xBFE8000000000000, 0x400A000000000000, 0x4010000000000000, 0xBFE0000000000000, 0xBFF8000000000000, 0x400C000000000000, 0x3FFC000000000000], [0x4008000000000000, 0xC008000000000000, 0x400E000000000000, 0xBFF0000000000000, 0x4008000000000000, 0x4002000000000000, 0x4000000000000000]]> : tensor<3x7xf64>
  %r = "stablehlo.sort"(%0) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<f64>, %b0: tensor<f64>):
    %p = stablehlo.compare LT, %a0, %b0 : (tensor<f64>, tensor<f64>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3x7xf64>) -> (tensor<3x7xf64>)
  %w0 = stablehlo.constant dense<[[0xBFE8000000000000, 0xC008000000000000, 0x4006000000000000, 0xBFF0000000000000, 0xBFF8000000000000, 0x3FF4000000000000, 0xBFF4000000000000], [0x4008000000000000, 0x4002000000000000, 0x400E000000000000, 0xBFE0000000000000, 0x3FE8000000000000, 0x4002000000000000, 0x3FFC000000000000], [0x400A000000000000, 0x400A000000000000, 0x4010000000000000, 0x4004000000000000, 0x4008000000000000, 0x400C000000000000, 0x4000000000000000]]> : tensor<3x7xf64>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3x7xf64>, tensor<3x7xf64>
  return
}
// -----
func.func @sort_f64_2() {
  %0 = stablehlo.constant dense<[[0x400A000000000000, 0x4002000000000000, 0x4006000000000000, 0x4004000000000000, 0x3FE8000000000000, 0x3FF4000000000000, 0xBFF4000000000000], [0xBFE8000000000000, 0x400A000000000000, 0x4010000000000000, 0xBFE0000000000000, 0xBFF8000000000000, 0x400C000000000000, 0x3FFC000000000000], [0x4008000000000000, 0xC008000000000000, 0x400E000000000000, 0xBFF0000000000000, 0x4008000000000000, 0x4002000000000000, 0x4000000000000000]]> : tensor<3x7xf64>
  %r = "stablehlo.sort"(%0) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<f64>, %b0: tensor<f64>):
    %p = stablehlo.compare LT, %a0, %b0 : (tensor<f64>, tensor<f64>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3x7xf64>) -> (tensor<3x7xf64>)
  %w0 = stablehlo.constant dense<[[0xBFF4000000000000, 0x3FE8000000000000, 0x3FF4000000000000, 0x4002000000000000, 0x4004000000000000, 0x4006000000000000, 0x400A000000000000], [0xBFF8000000000000, 0xBFE8000000000000, 0xBFE0000000000000, 0x3FFC000000000000, 0x400A000000000000, 0x400C000000000000, 0x4010000000000000], [0xC008000000000000, 0xBFF0000000000000, 0x4000000000000000, 0x4002000000000000, 0x4008000000000000, 0x4008000000000000, 0x400E000000000000]]> : tensor<3x7xf64>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3x7xf64>, tensor<3x7xf64>
  return
}
// -----
func.func @sort_f64_3() {
  %0 = stablehlo.constant dense<[[0x400A000000000000, 0x4002000000000000, 0x4006000000000000, 0x4004000000000000, 0x3FE8000000000000, 0x3FF4000000000000, 0xBFF4000000000000], [0xBFE8000000000000, 0x400A000000000000, 0x4010000000000000, 0xBFE0000000000000, 0xBFF8000000000000, 0x400C000000000000, 0x3FFC000000000000], [0x4008000000000000, 0xC008000000000000, 0x400E000000000000, 0xBFF0000000000000, 0x4008000000000000, 0x4002000000000000, 0x4000000000000000]]> : tensor<3x7xf64>
  %r = "stablehlo.sort"(%0) <{dimension = -1 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<f64>, %b0: tensor<f64>):
    %p = stablehlo.compare LT, %a0, %b0 : (tensor<f64>, tensor<f64>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3x7xf64>) -> (tensor<3x7xf64>)
  %w0 = stablehlo.constant dense<[[0xBFF4000000000000, 0x3FE8000000000000, 0x3FF4000000000000, 0x4002000000000000, 0x4004000000000000, 0x4006000000000000, 0x400A000000000000], [0xBFF8000000000000, 0xBFE8000000000000, 0xBFE0000000000000, 0x3FFC000000000000, 0x400A000000000000, 0x400C000000000000, 0x4010000000000000], [0xC008000000000000, 0xBFF0000000000000, 0x4000000000000000, 0x4002000000000000, 0x4008000000000000, 0x4008000000000000, 0x400E000000000000]]> : tensor<3x7xf64>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3x7xf64>, tensor<3x7xf64>
  return
}
// -----
func.func @sort_down_f64() {
  %0 = stablehlo.constant dense<[[0x400A000000000000, 0x4002000000000000, 0x4006000000000000, 0x4004000000000000, 0x3FE8000000000000, 0x3FF4000000000000, 0xBFF4000000000000], [0xBFE8000000000000, 0x400A000000000000, 0x4010000000000000, 0xBFE0000000000000, 0xBFF8000000000000, 0x400C000000000000, 0x3FFC000000000000], [0x4008000000000000, 0xC008000000000000, 0x400E000000000000, 0xBFF0000000000000, 0x4008000000000000, 0x4002000000000000, 0x4000000000000000]]> : tensor<3x7xf64>
  %r = "stablehlo.sort"(%0) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<f64>, %b0: tensor<f64>):
    %p = stablehlo.compare GT, %a0, %b0 : (tensor<f64>, tensor<f64>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3x7xf64>) -> (tensor<3x7xf64>)
  %w0 = stablehlo.constant dense<[[0x400A000000000000, 0x4006000000000000, 0x4004000000000000, 0x4002000000000000, 0x3FF4000000000000, 0x3FE8000000000000, 0xBFF4000000000000], [0x4010000000000000, 0x400C000000000000, 0x400A000000000000, 0x3FFC000000000000, 0xBFE0000000000000, 0xBFE8000000000000, 0xBFF8000000000000], [0x400E000000000000, 0x4008000000000000, 0x4008000000000000, 0x4002000000000000, 0x4000000000000000, 0xBFF0000000000000, 0xC008000000000000]]> : tensor<3x7xf64>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3x7xf64>, tensor<3x7xf64>
  return
}
// -----
func.func @sort_pairs_f64() {
  %0 = stablehlo.constant dense<[[0x400A000000000000, 0x4002000000000000, 0x4006000000000000, 0x4004000000000000, 0x3FE8000000000000, 0x3FF4000000000000, 0xBFF4000000000000], [0xBFE8000000000000, 0x400A000000000000, 0x4010000000000000, 0xBFE0000000000000, 0xBFF8000000000000, 0x400C000000000000, 0x3FFC000000000000], [0x4008000000000000, 0xC008000000000000, 0x400E000000000000, 0xBFF0000000000000, 0x4008000000000000, 0x4002000000000000, 0x4000000000000000]]> : tensor<3x7xf64>
  %1 = stablehlo.constant dense<[[0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 6]]> : tensor<3x7xi32>
  %r:2 = "stablehlo.sort"(%0, %1) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<f64>, %b0: tensor<f64>, %a1: tensor<i32>, %b1: tensor<i32>):
    %p = stablehlo.compare LT, %a0, %b0 : (tensor<f64>, tensor<f64>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3x7xf64>, tensor<3x7xi32>) -> (tensor<3x7xf64>, tensor<3x7xi32>)
  %w0 = stablehlo.constant dense<[[0xBFF4000000000000, 0x3FE8000000000000, 0x3FF4000000000000, 0x4002000000000000, 0x4004000000000000, 0x4006000000000000, 0x400A000000000000], [0xBFF8000000000000, 0xBFE8000000000000, 0xBFE0000000000000, 0x3FFC000000000000, 0x400A000000000000, 0x400C000000000000, 0x4010000000000000], [0xC008000000000000, 0xBFF0000000000000, 0x4000000000000000, 0x4002000000000000, 0x4008000000000000, 0x4008000000000000, 0x400E000000000000]]> : tensor<3x7xf64>
  check.expect_close %r#0, %w0, max_ulp_difference = 0 : tensor<3x7xf64>, tensor<3x7xf64>
  %w1 = stablehlo.constant dense<[[6, 4, 5, 1, 3, 2, 0], [4, 0, 3, 6, 1, 5, 2], [1, 3, 6, 5, 0, 4, 2]]> : tensor<3x7xi32>
  check.expect_eq %r#1, %w1 : tensor<3x7xi32>
  return
}
// -----
func.func @sort_bf16() {
  %0 = stablehlo.constant dense<[[0x3E80, 0xBF00, 0xC010, 0xC000, 0xC040, 0x3FA0, 0x4030], [0xC010, 0x4000, 0x4070, 0x3FC0, 0xBFA0, 0xC010, 0xC000], [0xC020, 0xC010, 0xC040, 0x3F00, 0x4010, 0xC080, 0xBFA0]]> : tensor<3x7xbf16>
  %r = "stablehlo.sort"(%0) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<bf16>, %b0: tensor<bf16>):
    %p = stablehlo.compare LT, %a0, %b0 : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3x7xbf16>) -> (tensor<3x7xbf16>)
  %w0 = stablehlo.constant dense<[[0xC020, 0xC010, 0xC040, 0xC000, 0xC040, 0xC080, 0xC000], [0xC010, 0xBF00, 0xC010, 0x3F00, 0xBFA0, 0xC010, 0xBFA0], [0x3E80, 0x4000, 0x4070, 0x3FC0, 0x4010, 0x3FA0, 0x4030]]> : tensor<3x7xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3x7xbf16>, tensor<3x7xbf16>
  return
}
// -----
func.func @sort_bf16_2() {
  %0 = stablehlo.constant dense<[[0x3E80, 0xBF00, 0xC010, 0xC000, 0xC040, 0x3FA0, 0x4030], [0xC010, 0x4000, 0x4070, 0x3FC0, 0xBFA0, 0xC010, 0xC000], [0xC020, 0xC010, 0xC040, 0x3F00, 0x4010, 0xC080, 0xBFA0]]> : tensor<3x7xbf16>
  %r = "stablehlo.sort"(%0) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<bf16>, %b0: tensor<bf16>):
    %p = stablehlo.compare LT, %a0, %b0 : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3x7xbf16>) -> (tensor<3x7xbf16>)
  %w0 = stablehlo.constant dense<[[0xC040, 0xC010, 0xC000, 0xBF00, 0x3E80, 0x3FA0, 0x4030], [0xC010, 0xC010, 0xC000, 0xBFA0, 0x3FC0, 0x4000, 0x4070], [0xC080, 0xC040, 0xC020, 0xC010, 0xBFA0, 0x3F00, 0x4010]]> : tensor<3x7xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3x7xbf16>, tensor<3x7xbf16>
  return
}
// -----
func.func @sort_bf16_3() {
  %0 = stablehlo.constant dense<[[0x3E80, 0xBF00, 0xC010, 0xC000, 0xC040, 0x3FA0, 0x4030], [0xC010, 0x4000, 0x4070, 0x3FC0, 0xBFA0, 0xC010, 0xC000], [0xC020, 0xC010, 0xC040, 0x3F00, 0x4010, 0xC080, 0xBFA0]]> : tensor<3x7xbf16>
  %r = "stablehlo.sort"(%0) <{dimension = -1 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<bf16>, %b0: tensor<bf16>):
    %p = stablehlo.compare LT, %a0, %b0 : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3x7xbf16>) -> (tensor<3x7xbf16>)
  %w0 = stablehlo.constant dense<[[0xC040, 0xC010, 0xC000, 0xBF00, 0x3E80, 0x3FA0, 0x4030], [0xC010, 0xC010, 0xC000, 0xBFA0, 0x3FC0, 0x4000, 0x4070], [0xC080, 0xC040, 0xC020, 0xC010, 0xBFA0, 0x3F00, 0x4010]]> : tensor<3x7xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3x7xbf16>, tensor<3x7xbf16>
  return
}
// -----
func.func @sort_down_bf16() {
  %0 = stablehlo.constant dense<[[0x3E80, 0xBF00, 0xC010, 0xC000, 0xC040, 0x3FA0, 0x4030], [0xC010, 0x4000, 0x4070, 0x3FC0, 0xBFA0, 0xC010, 0xC000], [0xC020, 0xC010, 0xC040, 0x3F00, 0x4010, 0xC080, 0xBFA0]]> : tensor<3x7xbf16>
  %r = "stablehlo.sort"(%0) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<bf16>, %b0: tensor<bf16>):
    %p = stablehlo.compare GT, %a0, %b0 : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3x7xbf16>) -> (tensor<3x7xbf16>)
  %w0 = stablehlo.constant dense<[[0x4030, 0x3FA0, 0x3E80, 0xBF00, 0xC000, 0xC010, 0xC040], [0x4070, 0x4000, 0x3FC0, 0xBFA0, 0xC000, 0xC010, 0xC010], [0x4010, 0x3F00, 0xBFA0, 0xC010, 0xC020, 0xC040, 0xC080]]> : tensor<3x7xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3x7xbf16>, tensor<3x7xbf16>
  return
}
// -----
func.func @sort_pairs_bf16() {
  %0 = stablehlo.constant dense<[[0x3E80, 0xBF00, 0xC010, 0xC000, 0xC040, 0x3FA0, 0x4030], [0xC010, 0x4000, 0x4070, 0x3FC0, 0xBFA0, 0xC010, 0xC000], [0xC020, 0xC010, 0xC040, 0x3F00, 0x4010, 0xC080, 0xBFA0]]> : tensor<3x7xbf16>
  %1 = stablehlo.constant dense<[[0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 6]]> : tensor<3x7xi32>
  %r:2 = "stablehlo.sort"(%0, %1) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<bf16>, %b0: tensor<bf16>, %a1: tensor<i32>, %b1: tensor<i32>):
    %p = stablehlo.compare LT, %a0, %b0 : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3x7xbf16>, tensor<3x7xi32>) -> (tensor<3x7xbf16>, tensor<3x7xi32>)
  %w0 = stablehlo.constant dense<[[0xC040, 0xC010, 0xC000, 0xBF00, 0x3E80, 0x3FA0, 0x4030], [0xC010, 0xC010, 0xC000, 0xBFA0, 0x3FC0, 0x4000, 0x4070], [0xC080, 0xC040, 0xC020, 0xC010, 0xBFA0, 0x3F00, 0x4010]]> : tensor<3x7xbf16>
  check.expect_close %r#0, %w0, max_ulp_difference = 0 : tensor<3x7xbf16>, tensor<3x7xbf16>
  %w1 = stablehlo.constant dense<[[4, 2, 3, 1, 0, 5, 6], [0, 5, 6, 4, 3, 1, 2], [5, 2, 0, 1, 6, 3, 4]]> : tensor<3x7xi32>
  check.expect_eq %r#1, %w1 : tensor<3x7xi32>
  return
}
// -----
func.func @sort_total() {
  %0 = stablehlo.constant dense<[0x7FC00000, 0x3F800000, 0xFF800000, 0x80000000, 0x0, 0xFFC00000, 0x7F800000, 0x40400000]> : tensor<8xf32>
  %1 = stablehlo.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi32>
  %r:2 = "stablehlo.sort"(%0, %1) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<f32>, %b0: tensor<f32>, %a1: tensor<i32>, %b1: tensor<i32>):
    %p = stablehlo.compare LT, %a0, %b0, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<8xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  %w0 = stablehlo.constant dense<[0xFFC00000, 0xFF800000, 0x80000000, 0x0, 0x3F800000, 0x40400000, 0x7F800000, 0x7FC00000]> : tensor<8xf32>
  check.expect_close %r#0, %w0, max_ulp_difference = 0 : tensor<8xf32>, tensor<8xf32>
  %w1 = stablehlo.constant dense<[5, 2, 3, 4, 1, 7, 6, 0]> : tensor<8xi32>
  check.expect_eq %r#1, %w1 : tensor<8xi32>
  return
}
// -----
func.func @sort_two_keys() {
  %0 = stablehlo.constant dense<[0, 2, 0, 2, 1, 1, 1, 0, 2, 1, 1, 0]> : tensor<12xi32>
  %1 = stablehlo.constant dense<[0xC0400000, 0x3FC00000, 0xBE800000, 0x40700000, 0x3E800000, 0xC0300000, 0xBF800000, 0x3F800000, 0x40800000, 0xBFC00000, 0xBF000000, 0xC0800000]> : tensor<12xf32>
  %r:2 = "stablehlo.sort"(%0, %1) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<i32>, %b0: tensor<i32>, %a1: tensor<f32>, %b1: tensor<f32>):
    %l = stablehlo.compare LT, %a0, %b0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %e = stablehlo.compare EQ, %a0, %b0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %m = stablehlo.compare GT, %a1, %b1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %n = stablehlo.and %e, %m : tensor<i1>
    %p = stablehlo.or %l, %n : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<12xi32>, tensor<12xf32>) -> (tensor<12xi32>, tensor<12xf32>)
  %w0 = stablehlo.constant dense<[0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2]> : tensor<12xi32>
  check.expect_eq %r#0, %w0 : tensor<12xi32>
  %w1 = stablehlo.constant dense<[0x3F800000, 0xBE800000, 0xC0400000, 0xC0800000, 0x3E800000, 0xBF000000, 0xBF800000, 0xBFC00000, 0xC0300000, 0x40800000, 0x40700000, 0x3FC00000]> : tensor<12xf32>
  check.expect_close %r#1, %w1, max_ulp_difference = 0 : tensor<12xf32>, tensor<12xf32>
  return
}
// -----
func.func @sort_empty() {
  %0 = stablehlo.constant dense<> : tensor<0xf32>
  %r = "stablehlo.sort"(%0) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
    %p = stablehlo.compare LT, %a0, %b0 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<0xf32>) -> (tensor<0xf32>)
  %w0 = stablehlo.constant dense<> : tensor<0xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<0xf32>, tensor<0xf32>
  return
}
// -----
func.func @top_k() {
  %0 = stablehlo.constant dense<[[0xC0200000, 0xC0200000, 0x40500000, 0x40700000, 0xC0200000, 0xC0500000], [0xBFC00000, 0xC0100000, 0x40700000, 0x40700000, 0xC0400000, 0x40000000]]> : tensor<2x6xf32>
  %r:2 = chlo.top_k(%0, k = 3) : tensor<2x6xf32> -> (tensor<2x3xf32>, tensor<2x3xi32>)
  %w0 = stablehlo.constant dense<[[0x40700000, 0x40500000, 0xC0200000], [0x40700000, 0x40700000, 0x40000000]]> : tensor<2x3xf32>
  check.expect_close %r#0, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  %w1 = stablehlo.constant dense<[[3, 2, 0], [2, 3, 5]]> : tensor<2x3xi32>
  check.expect_eq %r#1, %w1 : tensor<2x3xi32>
  return
}
// -----
func.func @top_k_2() {
  %0 = stablehlo.constant dense<[[-9, -3, 9, 8, 6, -1], [-9, 7, 1, 1, 5, 5]]> : tensor<2x6xi32>
  %r:2 = chlo.top_k(%0, k = 3) : tensor<2x6xi32> -> (tensor<2x3xi32>, tensor<2x3xi32>)
  %w0 = stablehlo.constant dense<[[9, 8, 6], [7, 5, 5]]> : tensor<2x3xi32>
  check.expect_eq %r#0, %w0 : tensor<2x3xi32>
  %w1 = stablehlo.constant dense<[[2, 3, 4], [1, 4, 5]]> : tensor<2x3xi32>
  check.expect_eq %r#1, %w1 : tensor<2x3xi32>
  return
}
// -----
func.func @top_k_nan() {
  %0 = stablehlo.constant dense<[0x3F800000, 0x7FC00000, 0x40400000, 0x40400000]> : tensor<4xf32>
  %r:2 = chlo.top_k(%0, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
  %w0 = stablehlo.constant dense<[0x7FC00000, 0x40400000]> : tensor<2xf32>
  check.expect_close %r#0, %w0, max_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
  %w1 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  check.expect_eq %r#1, %w1 : tensor<2xi32>
  return
}
