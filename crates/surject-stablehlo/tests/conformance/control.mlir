// Written by generate.py.
func.func @while() {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.constant dense<[0xC0300000, 0x40800000]> : tensor<2xf32>
  %r:2 = stablehlo.while(%i = %0, %x = %1) : tensor<i32>, tensor<2xf32>
  cond {
    %n = stablehlo.constant dense<5> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %o = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %o : tensor<i32>
    %y = stablehlo.add %x, %x : tensor<2xf32>
    stablehlo.return %j, %y : tensor<i32>, tensor<2xf32>
  }
  %w0 = stablehlo.constant dense<5> : tensor<i32>
  check.expect_eq %r#0, %w0 : tensor<i32>
  %w1 = stablehlo.constant dense<[0xC2B00000, 0x43000000]> : tensor<2xf32>
  check.expect_close %r#1, %w1, max_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
  return
}
// -----
func.func @if() {
  %0 = stablehlo.constant dense<true> : tensor<i1>
  %1 = stablehlo.constant dense<[0x40500000, 0x40300000, 0xBFE00000]> : tensor<3xf32>
  %r = "stablehlo.if"(%0) ({
    %a = stablehlo.add %1, %1 : tensor<3xf32>
    stablehlo.return %a : tensor<3xf32>
  }, {
    %b = stablehlo.negate %1 : tensor<3xf32>
    stablehlo.return %b : tensor<3xf32>
  }) : (tensor<i1>) -> tensor<3xf32>
  %w0 = stablehlo.constant dense<[0x40D00000, 0x40B00000, 0xC0600000]> : tensor<3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3xf32>, tensor<3xf32>
  return
}
// -----
func.func @if_2() {
  %0 = stablehlo.constant dense<false> : tensor<i1>
  %1 = stablehlo.constant dense<[0x3F000000, 0x3F000000, 0x40400000]> : tensor<3xf32>
  %r = "stablehlo.if"(%0) ({
    %a = stablehlo.add %1, %1 : tensor<3xf32>
    stablehlo.return %a : tensor<3xf32>
  }, {
    %b = stablehlo.negate %1 : tensor<3xf32>
    stablehlo.return %b : tensor<3xf32>
  }) : (tensor<i1>) -> tensor<3xf32>
  %w0 = stablehlo.constant dense<[0xBF000000, 0xBF000000, 0xC0400000]> : tensor<3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3xf32>, tensor<3xf32>
  return
}
// -----
func.func @case() {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.constant dense<[0x40700000, 0x3E800000, 0xC0800000]> : tensor<3xf32>
  %r = "stablehlo.case"(%0) ({
    stablehlo.return %1 : tensor<3xf32>
  }, {
    %b = stablehlo.negate %1 : tensor<3xf32>
    stablehlo.return %b : tensor<3xf32>
  }, {
    %c = stablehlo.add %1, %1 : tensor<3xf32>
    stablehlo.return %c : tensor<3xf32>
  }) : (tensor<i32>) -> tensor<3xf32>
  %w0 = stablehlo.constant dense<[0x40700000, 0x3E800000, 0xC0800000]> : tensor<3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3xf32>, tensor<3xf32>
  return
}
// -----
func.func @case_2() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.constant dense<[0xC0600000, 0xC0100000, 0x3F000000]> : tensor<3xf32>
  %r = "stablehlo.case"(%0) ({
    stablehlo.return %1 : tensor<3xf32>
  }, {
    %b = stablehlo.negate %1 : tensor<3xf32>
    stablehlo.return %b : tensor<3xf32>
  }, {
    %c = stablehlo.add %1, %1 : tensor<3xf32>
    stablehlo.return %c : tensor<3xf32>
  }) : (tensor<i32>) -> tensor<3xf32>
  %w0 = stablehlo.constant dense<[0x40600000, 0x40100000, 0xBF000000]> : tensor<3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3xf32>, tensor<3xf32>
  return
}
// -----
func.func @case_3() {
  %0 = stablehlo.constant dense<2> : tensor<i32>
  %1 = stablehlo.constant dense<[0xC0000000, 0x40100000, 0xC0600000]> : tensor<3xf32>
  %r = "stablehlo.case"(%0) ({
    stablehlo.return %1 : tensor<3xf32>
  }, {
    %b = stablehlo.negate %1 : tensor<3xf32>
    stablehlo.return %b : tensor<3xf32>
  }, {
    %c = stablehlo.add %1, %1 : tensor<3xf32>
    stablehlo.return %c : tensor<3xf32>
  }) : (tensor<i32>) -> tensor<3xf32>
  %w0 = stablehlo.constant dense<[0xC0800000, 0x40900000, 0xC0E00000]> : tensor<3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3xf32>, tensor<3xf32>
  return
}
// -----
func.func @case_4() {
  %0 = stablehlo.constant dense<-1> : tensor<i32>
  %1 = stablehlo.constant dense<[0x3FA00000, 0x3F800000, 0xBFC00000]> : tensor<3xf32>
  %r = "stablehlo.case"(%0) ({
    stablehlo.return %1 : tensor<3xf32>
  }, {
    %b = stablehlo.negate %1 : tensor<3xf32>
    stablehlo.return %b : tensor<3xf32>
  }, {
    %c = stablehlo.add %1, %1 : tensor<3xf32>
    stablehlo.return %c : tensor<3xf32>
  }) : (tensor<i32>) -> tensor<3xf32>
  %w0 = stablehlo.constant dense<[0x40200000, 0x40000000, 0xC0400000]> : tensor<3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3xf32>, tensor<3xf32>
  return
}
// -----
func.func @case_5() {
  %0 = stablehlo.constant dense<7> : tensor<i32>
  %1 = stablehlo.constant dense<[0x40400000, 0xC0000000, 0xBFC00000]> : tensor<3xf32>
  %r = "stablehlo.case"(%0) ({
    stablehlo.return %1 : tensor<3xf32>
  }, {
    %b = stablehlo.negate %1 : tensor<3xf32>
    stablehlo.return %b : tensor<3xf32>
  }, {
    %c = stablehlo.add %1, %1 : tensor<3xf32>
    stablehlo.return %c : tensor<3xf32>
  }) : (tensor<i32>) -> tensor<3xf32>
  %w0 = stablehlo.constant dense<[0x40C00000, 0xC0800000, 0xC0400000]> : tensor<3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3xf32>, tensor<3xf32>
  return
}
// -----
func.func @tuple() {
  %0 = stablehlo.constant dense<[0xC0100000, 0x3F400000]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[-6, 6, 9]> : tensor<3xi32>
  %t = stablehlo.tuple %0, %1 : tuple<tensor<2xf32>, tensor<3xi32>>
  %r = stablehlo.get_tuple_element %t[1] : (tuple<tensor<2xf32>, tensor<3xi32>>) -> tensor<3xi32>
  %w0 = stablehlo.constant dense<[-6, 6, 9]> : tensor<3xi32>
  check.expect_eq %r, %w0 : tensor<3xi32>
  return
}
// -----
func.func @optimization_barrier() {
  %0 = stablehlo.constant dense<[0xBFC00000, 0x40400000]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[1, -5, -6]> : tensor<3xi32>
  %r:2 = stablehlo.optimization_barrier %0, %1 : tensor<2xf32>, tensor<3xi32>
  %w0 = stablehlo.constant dense<[0xBFC00000, 0x40400000]> : tensor<2xf32>
  check.expect_close %r#0, %w0, max_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
  %w1 = stablehlo.constant dense<[1, -5, -6]> : tensor<3xi32>
  check.expect_eq %r#1, %w1 : tensor<3xi32>
  return
}
// -----
func.func @get_dimension_size() {
  %0 = stablehlo.constant dense<[[0xC0300000, 0xC0300000, 0x0, 0xBFC00000, 0x40000000], [0x3F000000, 0x40300000, 0x3F800000, 0xC0800000, 0xC0700000]]> : tensor<2x5xf32>
  %r = stablehlo.get_dimension_size %0, dim = 1 : (tensor<2x5xf32>) -> tensor<i32>
  %w0 = stablehlo.constant dense<5> : tensor<i32>
  check.expect_eq %r, %w0 : tensor<i32>
  return
}
