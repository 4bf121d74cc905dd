func.func @test() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  check.expect_eq_const %0, dense<[1.0, 2.0]> : tensor<2xf32>
  check.expect_almost_eq_const %0, dense<[1.0, 2.0]> : tensor<2xf32>
  check.expect_almost_eq_const %0, dense<[1.0, 2.0]> : tensor<2xf32>, tolerance = 0.1
  check.expect_eq %0, %0 : tensor<2xf32>
  check.expect_almost_eq %0, %0 : tensor<2xf32>
  check.expect_almost_eq %0, %0, tolerance = 0.1 : tensor<2xf32>
  check.expect_close %0, %0, max_ulp_difference = 3 : tensor<2xf32>, tensor<2xf32>
  check.expect_close %0, %0, max_ulp_difference = 3, min_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
  interpreter.print %0 : tensor<2xf32>
  func.return
}
