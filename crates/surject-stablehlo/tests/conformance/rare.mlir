// Written by generate.py.
func.func @complex_rank() {
  %0 = stablehlo.constant dense<0x40D86325> : tensor<f32>
  %1 = stablehlo.constant dense<0xBFEE8F58> : tensor<f32>
  %r = stablehlo.complex %0, %1 : tensor<complex<f32>>
  %w0 = stablehlo.constant dense<(0x40D86325, 0xBFEE8F58)> : tensor<complex<f32>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<complex<f32>>, tensor<complex<f32>>
  return
}
// -----
func.func @real_rank() {
  %0 = stablehlo.constant dense<(0x40D86325, 0xBFEE8F58)> : tensor<complex<f32>>
  %r = stablehlo.real %0 : (tensor<complex<f32>>) -> tensor<f32>
  %w0 = stablehlo.constant dense<0x40D86325> : tensor<f32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<f32>, tensor<f32>
  return
}
// -----
func.func @imag_rank() {
  %0 = stablehlo.constant dense<(0x40D86325, 0xBFEE8F58)> : tensor<complex<f32>>
  %r = stablehlo.imag %0 : (tensor<complex<f32>>) -> tensor<f32>
  %w0 = stablehlo.constant dense<0xBFEE8F58> : tensor<f32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<f32>, tensor<f32>
  return
}
// -----
func.func @complex_rank_2() {
  %0 = stablehlo.constant dense<[[0x3FC0CDCDF34C3AED, 0x3FFA14BF2D03ADC9, 0xC0093EDB81E0483F], [0x3F80EBD202837D2F, 0xBF6D2D1912005D29, 0xC01C1359CB53FF75]]> : tensor<2x3xf64>
  %1 = stablehlo.constant dense<[[0x40104853C2CD6586, 0x40033748A9E578D5, 0xC00403839FA50EE5], [0xBFE5F54B1DC2B993, 0x40002B6997DBA877, 0xBFF0BA1041F64458]]> : tensor<2x3xf64>
  %r = stablehlo.complex %0, %1 : tensor<2x3xcomplex<f64>>
  %w0 = stablehlo.constant dense<[[(0x3FC0CDCDF34C3AED, 0x40104853C2CD6586), (0x3FFA14BF2D03ADC9, 0x40033748A9E578D5), (0xC0093EDB81E0483F, 0xC00403839FA50EE5)], [(0x3F80EBD202837D2F, 0xBFE5F54B1DC2B993), (0xBF6D2D1912005D29, 0x40002B6997DBA877), (0xC01C1359CB53FF75, 0xBFF0BA1041F64458)]]> : tensor<2x3xcomplex<f64>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>
  return
}
// -----
func.func @real_rank_2() {
  %0 = stablehlo.constant dense<[[(0x3FC0CDCDF34C3AED, 0x40104853C2CD6586), (0x3FFA14BF2D03ADC9, 0x40033748A9E578D5), (0xC0093EDB81E0483F, 0xC00403839FA50EE5)], [(0x3F80EBD202837D2F, 0xBFE5F54B1DC2B993), (0xBF6D2D1912005D29, 0x40002B6997DBA877), (0xC01C1359CB53FF75, 0xBFF0BA1041F64458)]]> : tensor<2x3xcomplex<f64>>
  %r = stablehlo.real %0 : (tensor<2x3xcomplex<f64>>) -> tensor<2x3xf64>
  %w0 = stablehlo.constant dense<[[0x3FC0CDCDF34C3AED, 0x3FFA14BF2D03ADC9, 0xC0093EDB81E0483F], [0x3F80EBD202837D2F, 0xBF6D2D1912005D29, 0xC01C1359CB53FF75]]> : tensor<2x3xf64>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf64>, tensor<2x3xf64>
  return
}
// -----
func.func @imag_rank_2() {
  %0 = stablehlo.constant dense<[[(0x3FC0CDCDF34C3AED, 0x40104853C2CD6586), (0x3FFA14BF2D03ADC9, 0x40033748A9E578D5), (0xC0093EDB81E0483F, 0xC00403839FA50EE5)], [(0x3F80EBD202837D2F, 0xBFE5F54B1DC2B993), (0xBF6D2D1912005D29, 0x40002B6997DBA877), (0xC01C1359CB53FF75, 0xBFF0BA1041F64458)]]> : tensor<2x3xcomplex<f64>>
  %r = stablehlo.imag %0 : (tensor<2x3xcomplex<f64>>) -> tensor<2x3xf64>
  %w0 = stablehlo.constant dense<[[0x40104853C2CD6586, 0x40033748A9E578D5, 0xC00403839FA50EE5], [0xBFE5F54B1DC2B993, 0x40002B6997DBA877, 0xBFF0BA1041F64458]]> : tensor<2x3xf64>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf64>, tensor<2x3xf64>
  return
}
// -----
func.func @complex_rank_3() {
  %0 = stablehlo.constant dense<> : tensor<0x2xf32>
  %1 = stablehlo.constant dense<> : tensor<0x2xf32>
  %r = stablehlo.complex %0, %1 : tensor<0x2xcomplex<f32>>
  %w0 = stablehlo.constant dense<> : tensor<0x2xcomplex<f32>>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<0x2xcomplex<f32>>, tensor<0x2xcomplex<f32>>
  return
}
// -----
func.func @real_rank_3() {
  %0 = stablehlo.constant dense<> : tensor<0x2xcomplex<f32>>
  %r = stablehlo.real %0 : (tensor<0x2xcomplex<f32>>) -> tensor<0x2xf32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<0x2xf32>, tensor<0x2xf32>
  return
}
// -----
func.func @imag_rank_3() {
  %0 = stablehlo.constant dense<> : tensor<0x2xcomplex<f32>>
  %r = stablehlo.imag %0 : (tensor<0x2xcomplex<f32>>) -> tensor<0x2xf32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<0x2xf32>, tensor<0x2xf32>
  return
}
// -----
func.func @tuple_parts() {
  %0 = stablehlo.constant dense<[[3, -4], [7, -9]]> : tensor<2x2xi8>
  %1 = stablehlo.constant dense<[-7, 0, 5]> : tensor<3xi32>
  %t = stablehlo.tuple %0, %1 : tuple<tensor<2x2xi8>, tensor<3xi32>>
  %r = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2x2xi8>, tensor<3xi32>>) -> tensor<2x2xi8>
  %w0 = stablehlo.constant dense<[[3, -4], [7, -9]]> : tensor<2x2xi8>
  check.expect_eq %r, %w0 : tensor<2x2xi8>
  return
}
// -----
func.func @tuple_nested() {
  %0 = stablehlo.constant dense<[[3, -4], [7, -9]]> : tensor<2x2xi8>
  %1 = stablehlo.constant dense<[-7, 0, 5]> : tensor<3xi32>
  %t = stablehlo.tuple %0, %1 : tuple<tensor<2x2xi8>, tensor<3xi32>>
  %u = stablehlo.tuple %t, %0 : tuple<tuple<tensor<2x2xi8>, tensor<3xi32>>, tensor<2x2xi8>>
  %v = stablehlo.get_tuple_element %u[0] : (tuple<tuple<tensor<2x2xi8>, tensor<3xi32>>, tensor<2x2xi8>>) -> tuple<tensor<2x2xi8>, tensor<3xi32>>
  %r = stablehlo.get_tuple_element %v[1] : (tuple<tensor<2x2xi8>, tensor<3xi32>>) -> tensor<3xi32>
  %w0 = stablehlo.constant dense<[-7, 0, 5]> : tensor<3xi32>
  check.expect_eq %r, %w0 : tensor<3xi32>
  return
}
// -----
func.func @barrier() {
  %0 = stablehlo.constant dense<[[3, -4], [7, -9]]> : tensor<2x2xi8>
  %1 = stablehlo.constant dense<[-7, 0, 5]> : tensor<3xi32>
  %r:2 = stablehlo.optimization_barrier %0, %1 : tensor<2x2xi8>, tensor<3xi32>
  %w0 = stablehlo.constant dense<[[3, -4], [7, -9]]> : tensor<2x2xi8>
  check.expect_eq %r#0, %w0 : tensor<2x2xi8>
  %w1 = stablehlo.constant dense<[-7, 0, 5]> : tensor<3xi32>
  check.expect_eq %r#1, %w1 : tensor<3xi32>
  return
}
// -----
func.func @tuple_parts_2() {
  %0 = stablehlo.constant dense<[[0xC109, 0xC074], [0xC091, 0xC007]]> : tensor<2x2xbf16>
  %1 = stablehlo.constant dense<[7, 3, -2]> : tensor<3xi32>
  %t = stablehlo.tuple %0, %1 : tuple<tensor<2x2xbf16>, tensor<3xi32>>
  %r = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2x2xbf16>, tensor<3xi32>>) -> tensor<2x2xbf16>
  %w0 = stablehlo.constant dense<[[0xC109, 0xC074], [0xC091, 0xC007]]> : tensor<2x2xbf16>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x2xbf16>, tensor<2x2xbf16>
  return
}
// -----
func.func @tuple_nested_2() {
  %0 = stablehlo.constant dense<[[0xC109, 0xC074], [0xC091, 0xC007]]> : tensor<2x2xbf16>
  %1 = stablehlo.constant dense<[7, 3, -2]> : tensor<3xi32>
  %t = stablehlo.tuple %0, %1 : tuple<tensor<2x2xbf16>, tensor<3xi32>>
  %u = stablehlo.tuple %t, %0 : tuple<tuple<tensor<2x2xbf16>, tensor<3xi32>>, tensor<2x2xbf16>>
  %v = stablehlo.get_tuple_element %u[0] : (tuple<tuple<tensor<2x2xbf16>, tensor<3xi32>>, tensor<2x2xbf16>>) -> tuple<tensor<2x2xbf16>, tensor<3xi32>>
  %r = stablehlo.get_tuple_element %v[1] : (tuple<tensor<2x2xbf16>, tensor<3xi32>>) -> tensor<3xi32>
  %w0 = stablehlo.constant dense<[7, 3, -2]> : tensor<3xi32>
  check.expect_eq %r, %w0 : tensor<3xi32>
  return
}
// -----
func.func @barrier_2() {
  %0 = stablehlo.constant dense<[[0xC109, 0xC074], [0xC091, 0xC007]]> : tensor<2x2xbf16>
  %1 = stablehlo.constant dense<[7, 3, -2]> : tensor<3xi32>
  %r:2 = stablehlo.optimization_barrier %0, %1 : tensor<2x2xbf16>, tensor<3xi32>
  %w0 = stablehlo.constant dense<[[0xC109, 0xC074], [0xC091, 0xC007]]> : tensor<2x2xbf16>
  check.expect_close %r#0, %w0, max_ulp_difference = 0 : tensor<2x2xbf16>, tensor<2x2xbf16>
  %w1 = stablehlo.constant dense<[7, 3, -2]> : tensor<3xi32>
  check.expect_eq %r#1, %w1 : tensor<3xi32>
  return
}
// -----
func.func private @twice(%a: tensor<2x2xi32>) -> tensor<2x2xi32> {
  %0 = stablehlo.add %a, %a : tensor<2x2xi32>
  return %0 : tensor<2x2xi32>
}
func.func @composite_once() {
  %0 = stablehlo.constant dense<[[1, 0], [-6, -9]]> : tensor<2x2xi32>
  %r = stablehlo.composite "our.twice" %0 {decomposition = @twice} : (tensor<2x2xi32>) -> tensor<2x2xi32>
  %w0 = stablehlo.constant dense<[[2, 0], [-12, -18]]> : tensor<2x2xi32>
  check.expect_eq %r, %w0 : tensor<2x2xi32>
  return
}
// -----
func.func private @twice(%a: tensor<2x2xi32>) -> tensor<2x2xi32> {
  %0 = stablehlo.add %a, %a : tensor<2x2xi32>
  return %0 : tensor<2x2xi32>
}
func.func @composite_again() {
  %0 = stablehlo.constant dense<[[1, 0], [-6, -9]]> : tensor<2x2xi32>
  %a = stablehlo.composite "our.twice" %0 {composite_attributes = {n = 2 : i64}, decomposition = @twice, version = 1 : i32} : (tensor<2x2xi32>) -> tensor<2x2xi32>
  %r = stablehlo.composite "our.twice" %a {decomposition = @twice} : (tensor<2x2xi32>) -> tensor<2x2xi32>
  %w0 = stablehlo.constant dense<[[4, 0], [-24, -36]]> : tensor<2x2xi32>
  check.expect_eq %r, %w0 : tensor<2x2xi32>
  return
}
// -----
func.func @tokens() {
  %0 = stablehlo.constant dense<[[1, 0], [-6, -9]]> : tensor<2x2xi32>
  %t = stablehlo.create_token : !stablehlo.token
  %u = stablehlo.after_all %t, %t, %t : !stablehlo.token
  %r = stablehlo.add %0, %0 : tensor<2x2xi32>
  %w0 = stablehlo.constant dense<[[2, 0], [-12, -18]]> : tensor<2x2xi32>
  check.expect_eq %r, %w0 : tensor<2x2xi32>
  return
}
// -----
func.func @while_count() {
  %0 = stablehlo.constant dense<[0xC03E17FD, 0x408946B4]> : tensor<2xf32>
  %c = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %w:2 = stablehlo.while(%i = %c, %x = %0) : tensor<i32>, tensor<2xf32>
  cond {
    %go = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %y = stablehlo.add %x, %x : tensor<2xf32>
    stablehlo.return %j, %y : tensor<i32>, tensor<2xf32>
  }
  %r = stablehlo.add %w#1, %0 : tensor<2xf32>
  %w0 = stablehlo.constant dense<[0xC0BE17FD, 0x410946B4]> : tensor<2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
  return
}
// -----
func.func @while_count_2() {
  %0 = stablehlo.constant dense<[[-9, -5], [-6, -8]]> : tensor<2x2xi64>
  %c = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<5> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %w:2 = stablehlo.while(%i = %c, %x = %0) : tensor<i32>, tensor<2x2xi64>
  cond {
    %go = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %y = stablehlo.add %x, %x : tensor<2x2xi64>
    stablehlo.return %j, %y : tensor<i32>, tensor<2x2xi64>
  }
  %r = stablehlo.add %w#1, %0 : tensor<2x2xi64>
  %w0 = stablehlo.constant dense<[[-297, -165], [-198, -264]]> : tensor<2x2xi64>
  check.expect_eq %r, %w0 : tensor<2x2xi64>
  return
}
// -----
func.func @while_count_3() {
  %0 = stablehlo.constant dense<0x401575F774472AAB> : tensor<f64>
  %c = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %w:2 = stablehlo.while(%i = %c, %x = %0) : tensor<i32>, tensor<f64>
  cond {
    %go = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %y = stablehlo.add %x, %x : tensor<f64>
    stablehlo.return %j, %y : tensor<i32>, tensor<f64>
  }
  %r = stablehlo.add %w#1, %0 : tensor<f64>
  %w0 = stablehlo.constant dense<0x404824B662D01000> : tensor<f64>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<f64>, tensor<f64>
  return
}
// -----
func.func @while_count_4() {
  %0 = stablehlo.constant dense<> : tensor<0x3xi8>
  %c = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<2> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %w:2 = stablehlo.while(%i = %c, %x = %0) : tensor<i32>, tensor<0x3xi8>
  cond {
    %go = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %y = stablehlo.add %x, %x : tensor<0x3xi8>
    stablehlo.return %j, %y : tensor<i32>, tensor<0x3xi8>
  }
  %r = stablehlo.add %w#1, %0 : tensor<0x3xi8>
  %w0 = stablehlo.constant dense<> : tensor<0x3xi8>
  check.expect_eq %r, %w0 : tensor<0x3xi8>
  return
}
// -----
func.func @batch_norm_inference() {
  %0 = stablehlo.constant dense<[[0xC0140BBB89B2F33C, 0xC005FA0276310FB3], [0xC02169B4F56154A2, 0xC00473A2E0B044DB], [0x4019C6D02A921504, 0xC0002C5BF9EC1E2A]]> : tensor<3x2xf64>
  %1 = stablehlo.constant dense<[0x401D8A389348466A, 0x3FE54CA37633F801]> : tensor<2xf64>
  %2 = stablehlo.constant dense<[0x3FD258AB6716AD10, 0xBFF6203BA23316B4]> : tensor<2xf64>
  %3 = stablehlo.constant dense<[0xC003658E31425A53, 0xC00388AB1AEF263D]> : tensor<2xf64>
  %4 = stablehlo.constant dense<[0x4044CD28371ADECF, 0x3FB82321BBFBFEBB]> : tensor<2xf64>
  %r = "stablehlo.batch_norm_inference"(%0, %1, %2, %3, %4) <{epsilon = 2.500000e-01 : f32, feature_index = 1 : i64}> : (tensor<3x2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) -> tensor<3x2xf64>
  %w0 = stablehlo.constant dense<[[0xC00554A32C80BB6E, 0xBFFBAAFA26E1F7AA], [0xC01B8980C48CE31E, 0xBFF83551173BB9FC], [0x4024D2393F10C0A4, 0xBFED00CF50F724F0]]> : tensor<3x2xf64>
  check.expect_almost_eq %r, %w0, tolerance = 1.0e-11 : tensor<3x2xf64>
  return
}
// -----
func.func @batch_norm_training() {
  %0 = stablehlo.constant dense<[[0xC0140BBB89B2F33C, 0xC005FA0276310FB3], [0xC02169B4F56154A2, 0xC00473A2E0B044DB], [0x4019C6D02A921504, 0xC0002C5BF9EC1E2A]]> : tensor<3x2xf64>
  %1 = stablehlo.constant dense<[0x401D8A389348466A, 0x3FE54CA37633F801]> : tensor<2xf64>
  %2 = stablehlo.constant dense<[0x3FD258AB6716AD10, 0xBFF6203BA23316B4]> : tensor<2xf64>
  %r:3 = "stablehlo.batch_norm_training"(%0, %1, %2) <{epsilon = 2.500000e-01 : f32, feature_index = 1 : i64}> : (tensor<3x2xf64>, tensor<2xf64>, tensor<2xf64>) -> (tensor<3x2xf64>, tensor<2xf64>, tensor<2xf64>)
  %w0 = stablehlo.constant dense<[[0xC00554A32C80BB6E, 0xBFFBAAFA26E1F7AA], [0xC01B8980C48CE31E, 0xBFF83551173BB9FC], [0x4024D2393F10C0A4, 0xBFED00CF50F724F0]]> : tensor<3x2xf64>
  check.expect_almost_eq %r#0, %w0, tolerance = 1.0e-11 : tensor<3x2xf64>
  %w1 = stablehlo.constant dense<[0xC003658E31425A53, 0xC00388AB1AEF263D]> : tensor<2xf64>
  check.expect_almost_eq %r#1, %w1, tolerance = 1.0e-11 : tensor<2xf64>
  %w2 = stablehlo.constant dense<[0x4044CD28371ADECF, 0x3FB82321BBFBFEBB]> : tensor<2xf64>
  check.expect_almost_eq %r#2, %w2, tolerance = 1.0e-11 : tensor<2xf64>
  return
}
// -----
func.func @batch_norm_grad() {
  %0 = stablehlo.constant dense<[[0xC0140BBB89B2F33C, 0xC005FA0276310FB3], [0xC02169B4F56154A2, 0xC00473A2E0B044DB], [0x4019C6D02A921504, 0xC0002C5BF9EC1E2A]]> : tensor<3x2xf64>
  %1 = stablehlo.constant dense<[0x401D8A389348466A, 0x3FE54CA37633F801]> : tensor<2xf64>
  %2 = stablehlo.constant dense<[0xC003658E31425A53, 0xC00388AB1AEF263D]> : tensor<2xf64>
  %3 = stablehlo.constant dense<[0x4044CD28371ADECF, 0x3FB82321BBFBFEBB]> : tensor<2xf64>
  %4 = stablehlo.constant dense<[[0x40191E50BD6037C8, 0x401E87D458DF192A], [0xC010B59F54F3DAEF, 0xC0245AD6637EB3E7], [0x4005E9708826CBC3, 0x3FEB79E05584E15D]]> : tensor<3x2xf64>
  %r:3 = "stablehlo.batch_norm_grad"(%0, %1, %2, %3, %4) <{epsilon = 2.500000e-01 : f32, feature_index = 1 : i64}> : (tensor<3x2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<3x2xf64>) -> (tensor<3x2xf64>, tensor<2xf64>, tensor<2xf64>)
  %w0 = stablehlo.constant dense<[[0x401887D4D84B9A70, 0x40220DBD48A8CF72], [0xC0129C145B02D34F, 0xC026045E125BBFE7], [0xBFF7AF01F5231C84, 0x3FFFB5064D9783A9]]> : tensor<3x2xf64>
  check.expect_almost_eq %r#0, %w0, tolerance = 1.0e-11 : tensor<3x2xf64>
  %w1 = stablehlo.constant dense<[0x4015335434481520, 0xBFF5E01C2D0125D4]> : tensor<2xf64>
  check.expect_almost_eq %r#1, %w1, tolerance = 1.0e-11 : tensor<2xf64>
  %w2 = stablehlo.constant dense<[0x40135D69AC7FC2BA, 0xBFFAFA718DB6C9E2]> : tensor<2xf64>
  check.expect_almost_eq %r#2, %w2, tolerance = 1.0e-11 : tensor<2xf64>
  return
}
// -----
func.func @batch_norm_inference_2() {
  %0 = stablehlo.constant dense<[[[[0x3F10E7D7, 0x404E88F4, 0xC0D52DFD], [0x409CE3E2, 0xBECB733C, 0xBFCAC481]], [[0xC0438925, 0x40D5EFF7, 0xBF82EEE3], [0xC0908093, 0xBE3480EB, 0xC0A5FCE3]]], [[[0xC093EBBE, 0xC05BB659, 0xC00317CE], [0xC0A93B15, 0xC10ACBA7, 0x402D13FA]], [[0x4020875A, 0xC12C6CB6, 0x40C41EF0], [0x3FB50929, 0x3F820C98, 0x40855AF5]]]]> : tensor<2x2x2x3xf32>
  %1 = stablehlo.constant dense<[0xBFEDC6D9, 0xC09BBB57, 0x3F8D1C7F]> : tensor<3xf32>
  %2 = stablehlo.constant dense<[0x3FF67EAB, 0x3FC2E1E5, 0x3E1462E1]> : tensor<3xf32>
  %3 = stablehlo.constant dense<[0xBF817292, 0xBFC877C5, 0xBEE03F7C]> : tensor<3xf32>
  %4 = stablehlo.constant dense<[0x414F0F0F, 0x41EFE11C, 0x418BBEE3]> : tensor<3xf32>
  %r = "stablehlo.batch_norm_inference"(%0, %1, %2, %3, %4) <{epsilon = 2.500000e-01 : f32, feature_index = 3 : i64}> : (tensor<2x2x2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x2x2x3xf32>
  %w0 = stablehlo.constant dense<[[[[0x3F8F3ABB, 0xC02E115C, 0xBFBE1964], [0xBF8CB0A1, 0x3EF9E3FF, 0xBE1EFEF4]], [[0x403E2745, 0xC0B8FBC2, 0xBC07C738], [0x406DF5A8, 0x3E95B407, 0xBF8CA90A]]], [[[0x407174E5, 0x404B2FD1, 0xBE8DBEDE], [0x4083A0AD, 0x40FA0C85, 0x3F77C812]], [[0x3E009C5C, 0x411AC9CC, 0x3FEEB0BE], [0x3F2F62B8, 0xBF434A52, 0x3FACEFAD]]]]> : tensor<2x2x2x3xf32>
  check.expect_almost_eq %r, %w0, tolerance = 0.0001 : tensor<2x2x2x3xf32>
  return
}
// -----
func.func @batch_norm_training_2() {
  %0 = stablehlo.constant dense<[[[[0x3F10E7D7, 0x404E88F4, 0xC0D52DFD], [0x409CE3E2, 0xBECB733C, 0xBFCAC481]], [[0xC0438925, 0x40D5EFF7, 0xBF82EEE3], [0xC0908093, 0xBE3480EB, 0xC0A5FCE3]]], [[[0xC093EBBE, 0xC05BB659, 0xC00317CE], [0xC0A93B15, 0xC10ACBA7, 0x402D13FA]], [[0x4020875A, 0xC12C6CB6, 0x40C41EF0], [0x3FB50929, 0x3F820C98, 0x40855AF5]]]]> : tensor<2x2x2x3xf32>
  %1 = stablehlo.constant dense<[0xBFEDC6D9, 0xC09BBB57, 0x3F8D1C7F]> : tensor<3xf32>
  %2 = stablehlo.constant dense<[0x3FF67EAB, 0x3FC2E1E5, 0x3E1462E1]> : tensor<3xf32>
  %r:3 = "stablehlo.batch_norm_training"(%0, %1, %2) <{epsilon = 2.500000e-01 : f32, feature_index = 3 : i64}> : (tensor<2x2x2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x2x2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %w0 = stablehlo.constant dense<[[[[0x3F8F3ABB, 0xC02E115C, 0xBFBE1964], [0xBF8CB0A1, 0x3EF9E3FF, 0xBE1EFEF4]], [[0x403E2745, 0xC0B8FBC2, 0xBC07C738], [0x406DF5A8, 0x3E95B407, 0xBF8CA90A]]], [[[0x407174E5, 0x404B2FD1, 0xBE8DBEDE], [0x4083A0AD, 0x40FA0C85, 0x3F77C812]], [[0x3E009C5C, 0x411AC9CC, 0x3FEEB0BE], [0x3F2F62B8, 0xBF434A52, 0x3FACEFAD]]]]> : tensor<2x2x2x3xf32>
  check.expect_almost_eq %r#0, %w0, tolerance = 0.0001 : tensor<2x2x2x3xf32>
  %w1 = stablehlo.constant dense<[0xBF817292, 0xBFC877C5, 0xBEE03F7C]> : tensor<3xf32>
  check.expect_almost_eq %r#1, %w1, tolerance = 0.0001 : tensor<3xf32>
  %w2 = stablehlo.constant dense<[0x414F0F0F, 0x41EFE11C, 0x418BBEE3]> : tensor<3xf32>
  check.expect_almost_eq %r#2, %w2, tolerance = 0.0001 : tensor<3xf32>
  return
}
// -----
func.func @batch_norm_grad_2() {
  %0 = stablehlo.constant dense<[[[[0x3F10E7D7, 0x404E88F4, 0xC0D52DFD], [0x409CE3E2, 0xBECB733C, 0xBFCAC481]], [[0xC0438925, 0x40D5EFF7, 0xBF82EEE3], [0xC0908093, 0xBE3480EB, 0xC0A5FCE3]]], [[[0xC093EBBE, 0xC05BB659, 0xC00317CE], [0xC0A93B15, 0xC10ACBA7, 0x402D13FA]], [[0x4020875A, 0xC12C6CB6, 0x40C41EF0], [0x3FB50929, 0x3F820C98, 0x40855AF5]]]]> : tensor<2x2x2x3xf32>
  %1 = stablehlo.constant dense<[0xBFEDC6D9, 0xC09BBB57, 0x3F8D1C7F]> : tensor<3xf32>
  %2 = stablehlo.constant dense<[0xBF817292, 0xBFC877C5, 0xBEE03F7C]> : tensor<3xf32>
  %3 = stablehlo.constant dense<[0x414F0F0F, 0x41EFE11C, 0x418BBEE3]> : tensor<3xf32>
  %4 = stablehlo.constant dense<[[[[0x401B42D3, 0xBFBFF091, 0x40215B73], [0x40B7B36C, 0xBEF00939, 0xC03CF891]], [[0x3FE8B06F, 0xC00C65D5, 0x3F4EF827], [0x408E6DCA, 0xC0022637, 0x40F55D30]]], [[[0xC0B1A519, 0x404BBCE3, 0x4010B5F3], [0xC08DA7E7, 0xC11936C3, 0x3E8000E7]], [[0xC02B9E22, 0x4093C681, 0x3FC1F32D], [0x4032205E, 0xC096D910, 0xBFB282FE]]]]> : tensor<2x2x2x3xf32>
  %r:3 = "stablehlo.batch_norm_grad"(%0, %1, %2, %3, %4) <{epsilon = 2.500000e-01 : f32, feature_index = 3 : i64}> : (tensor<2x2x2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x2x2x3xf32>) -> (tensor<2x2x2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %w0 = stablehlo.constant dense<[[[[0xBF07DC1E, 0xBEE5B775, 0xBE7D26D9], [0xBF899C89, 0xBF8A22DB, 0xBF9CE05D]], [[0xBF9723A8, 0xBDD31B06, 0xBE42C9BE], [0xC03A90A1, 0x3E93BAF6, 0x3F9DCEA4]]], [[[0x400B08EA, 0xC0826BF7, 0x3DC94D88], [0x3FB5D181, 0x40F3FBA1, 0xBB17BAB7]], [[0x40263659, 0xC098C962, 0x3F22D5C7], [0xBEFA0216, 0x40245D47, 0xBE9A904C]]]]> : tensor<2x2x2x3xf32>
  check.expect_almost_eq %r#0, %w0, tolerance = 0.0001 : tensor<2x2x2x3xf32>
  %w1 = stablehlo.constant dense<[0x41713AE4, 0xC0773D5A, 0xC1387105]> : tensor<3xf32>
  check.expect_almost_eq %r#1, %w1, tolerance = 0.0001 : tensor<3xf32>
  %w2 = stablehlo.constant dense<[0x4091E2D9, 0xC14AF231, 0x412AD25D]> : tensor<3xf32>
  check.expect_almost_eq %r#2, %w2, tolerance = 0.0001 : tensor<3xf32>
  return
}
// -----
func.func @dynamic_reshape() {
  %0 = stablehlo.constant dense<[[0xC0047AC7, 0xC04728FB, 0xC007DE49], [0xBF874081, 0xC0AEEA36, 0x4041AD5D]]> : tensor<2x3xf32>
  %1 = stablehlo.constant dense<[3, 2]> : tensor<2xi64>
  %r = stablehlo.dynamic_reshape %0, %1 : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<3x2xf32>
  %w0 = stablehlo.constant dense<[[0xC0047AC7, 0xC04728FB], [0xC007DE49, 0xBF874081], [0xC0AEEA36, 0x4041AD5D]]> : tensor<3x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3x2xf32>, tensor<3x2xf32>
  return
}
// -----
func.func @dynamic_broadcast_in_dim() {
  %0 = stablehlo.constant dense<[[0xC0047AC7, 0xC04728FB, 0xC007DE49], [0xBF874081, 0xC0AEEA36, 0x4041AD5D]]> : tensor<2x3xf32>
  %1 = stablehlo.constant dense<[2, 2, 3]> : tensor<3xi64>
  %r = stablehlo.dynamic_broadcast_in_dim %0, %1, dims = [1, 2] : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<2x2x3xf32>
  %w0 = stablehlo.constant dense<[[[0xC0047AC7, 0xC04728FB, 0xC007DE49], [0xBF874081, 0xC0AEEA36, 0x4041AD5D]], [[0xC0047AC7, 0xC04728FB, 0xC007DE49], [0xBF874081, 0xC0AEEA36, 0x4041AD5D]]]> : tensor<2x2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x2x3xf32>, tensor<2x2x3xf32>
  return
}
// -----
func.func @dynamic_pad() {
  %0 = stablehlo.constant dense<[[0xC0047AC7, 0xC04728FB, 0xC007DE49], [0xBF874081, 0xC0AEEA36, 0x4041AD5D]]> : tensor<2x3xf32>
  %1 = stablehlo.constant dense<0x3FF5E685> : tensor<f32>
  %2 = stablehlo.constant dense<[1, 0]> : tensor<2xi64>
  %3 = stablehlo.constant dense<[0, 1]> : tensor<2xi64>
  %4 = stablehlo.constant dense<[0, 1]> : tensor<2xi64>
  %r = stablehlo.dynamic_pad %0, %1, %2, %3, %4 : (tensor<2x3xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<3x6xf32>
  %w0 = stablehlo.constant dense<[[0x3FF5E685, 0x3FF5E685, 0x3FF5E685, 0x3FF5E685, 0x3FF5E685, 0x3FF5E685], [0xC0047AC7, 0x3FF5E685, 0xC04728FB, 0x3FF5E685, 0xC007DE49, 0x3FF5E685], [0xBF874081, 0x3FF5E685, 0xC0AEEA36, 0x3FF5E685, 0x4041AD5D, 0x3FF5E685]]> : tensor<3x6xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3x6xf32>, tensor<3x6xf32>
  return
}
// -----
func.func @real_dynamic_slice() {
  %0 = stablehlo.constant dense<[[0xC0047AC7, 0xC04728FB, 0xC007DE49], [0xBF874081, 0xC0AEEA36, 0x4041AD5D]]> : tensor<2x3xf32>
  %1 = stablehlo.constant dense<[0, 0]> : tensor<2xi64>
  %2 = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %3 = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %r = stablehlo.real_dynamic_slice %0, %1, %2, %3 : (tensor<2x3xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x2xf32>
  %w0 = stablehlo.constant dense<[[0xC0047AC7, 0xC007DE49], [0xBF874081, 0x4041AD5D]]> : tensor<2x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x2xf32>, tensor<2x2xf32>
  return
}
// -----
func.func @dynamic_gather() {
  %0 = stablehlo.constant dense<[[0xC0047AC7, 0xC04728FB, 0xC007DE49], [0xBF874081, 0xC0AEEA36, 0x4041AD5D]]> : tensor<2x3xf32>
  %1 = stablehlo.constant dense<[[1], [0], [7]]> : tensor<3x1xi32>
  %2 = stablehlo.constant dense<[1, 3]> : tensor<2xi64>
  %r = "stablehlo.dynamic_gather"(%0, %1, %2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false}> : (tensor<2x3xf32>, tensor<3x1xi32>, tensor<2xi64>) -> tensor<3x3xf32>
  %w0 = stablehlo.constant dense<[[0xBF874081, 0xC0AEEA36, 0x4041AD5D], [0xC0047AC7, 0xC04728FB, 0xC007DE49], [0xBF874081, 0xC0AEEA36, 0x4041AD5D]]> : tensor<3x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3x3xf32>, tensor<3x3xf32>
  return
}
// -----
func.func @dynamic_conv() {
  %0 = stablehlo.constant dense<[[[0x3F800000], [0x40000000], [0x40400000], [0x40800000]]]> : tensor<1x4x1xf32>
  %1 = stablehlo.constant dense<[[[0x3F800000]], [[0x40000000]]]> : tensor<2x1x1xf32>
  %2 = stablehlo.constant dense<[[1, 1]]> : tensor<1x2xi64>
  %r = "stablehlo.dynamic_conv"(%0, %1, %2) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<1x4x1xf32>, tensor<2x1x1xf32>, tensor<1x2xi64>) -> tensor<1x5x1xf32>
  %w0 = stablehlo.constant dense<[[[0x40000000], [0x40A00000], [0x41000000], [0x41300000], [0x40800000]]]> : tensor<1x5x1xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<1x5x1xf32>, tensor<1x5x1xf32>
  return
}
// -----
func.func @dynamic_reshape_2() {
  %0 = stablehlo.constant dense<[[1, -1, -8], [-5, 3, 1]]> : tensor<2x3xi8>
  %1 = stablehlo.constant dense<[3, 2]> : tensor<2xi64>
  %r = stablehlo.dynamic_reshape %0, %1 : (tensor<2x3xi8>, tensor<2xi64>) -> tensor<3x2xi8>
  %w0 = stablehlo.constant dense<[[1, -1], [-8, -5], [3, 1]]> : tensor<3x2xi8>
  check.expect_eq %r, %w0 : tensor<3x2xi8>
  return
}
// -----
func.func @dynamic_broadcast_in_dim_2() {
  %0 = stablehlo.constant dense<[[1, -1, -8], [-5, 3, 1]]> : tensor<2x3xi8>
  %1 = stablehlo.constant dense<[2, 2, 3]> : tensor<3xi64>
  %r = stablehlo.dynamic_broadcast_in_dim %0, %1, dims = [1, 2] : (tensor<2x3xi8>, tensor<3xi64>) -> tensor<2x2x3xi8>
  %w0 = stablehlo.constant dense<[[[1, -1, -8], [-5, 3, 1]], [[1, -1, -8], [-5, 3, 1]]]> : tensor<2x2x3xi8>
  check.expect_eq %r, %w0 : tensor<2x2x3xi8>
  return
}
// -----
func.func @dynamic_pad_2() {
  %0 = stablehlo.constant dense<[[1, -1, -8], [-5, 3, 1]]> : tensor<2x3xi8>
  %1 = stablehlo.constant dense<-2> : tensor<i8>
  %2 = stablehlo.constant dense<[1, 0]> : tensor<2xi64>
  %3 = stablehlo.constant dense<[0, 1]> : tensor<2xi64>
  %4 = stablehlo.constant dense<[0, 1]> : tensor<2xi64>
  %r = stablehlo.dynamic_pad %0, %1, %2, %3, %4 : (tensor<2x3xi8>, tensor<i8>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<3x6xi8>
  %w0 = stablehlo.constant dense<[[-2, -2, -2, -2, -2, -2], [1, -2, -1, -2, -8, -2], [-5, -2, 3, -2, 1, -2]]> : tensor<3x6xi8>
  check.expect_eq %r, %w0 : tensor<3x6xi8>
  return
}
// -----
func.func @real_dynamic_slice_2() {
  %0 = stablehlo.constant dense<[[1, -1, -8], [-5, 3, 1]]> : tensor<2x3xi8>
  %1 = stablehlo.constant dense<[0, 0]> : tensor<2xi64>
  %2 = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %3 = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %r = stablehlo.real_dynamic_slice %0, %1, %2, %3 : (tensor<2x3xi8>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x2xi8>
  %w0 = stablehlo.constant dense<[[1, -8], [-5, 1]]> : tensor<2x2xi8>
  check.expect_eq %r, %w0 : tensor<2x2xi8>
  return
}
// -----
func.func @dynamic_gather_2() {
  %0 = stablehlo.constant dense<[[1, -1, -8], [-5, 3, 1]]> : tensor<2x3xi8>
  %1 = stablehlo.constant dense<[[1], [0], [7]]> : tensor<3x1xi32>
  %2 = stablehlo.constant dense<[1, 3]> : tensor<2xi64>
  %r = "stablehlo.dynamic_gather"(%0, %1, %2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false}> : (tensor<2x3xi8>, tensor<3x1xi32>, tensor<2xi64>) -> tensor<3x3xi8>
  %w0 = stablehlo.constant dense<[[-5, 3, 1], [1, -1, -8], [-5, 3, 1]]> : tensor<3x3xi8>
  check.expect_eq %r, %w0 : tensor<3x3xi8>
  return
}
// -----
func.func @dynamic_conv_2() {
  %0 = stablehlo.constant dense<[[[1], [2], [3], [4]]]> : tensor<1x4x1xi8>
  %1 = stablehlo.constant dense<[[[1]], [[2]]]> : tensor<2x1x1xi8>
  %2 = stablehlo.constant dense<[[1, 1]]> : tensor<1x2xi64>
  %r = "stablehlo.dynamic_conv"(%0, %1, %2) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<1x4x1xi8>, tensor<2x1x1xi8>, tensor<1x2xi64>) -> tensor<1x5x1xi8>
  %w0 = stablehlo.constant dense<[[[2], [5], [8], [11], [4]]]> : tensor<1x5x1xi8>
  check.expect_eq %r, %w0 : tensor<1x5x1xi8>
  return
}
// -----
func.func @all_gather() {
  %0 = stablehlo.constant dense<[[0x407063CE, 0x3FB776BC], [0xC103104B, 0x3F584AC4]]> : tensor<2x2xf32>
  %r = "stablehlo.all_gather"(%0) <{all_gather_dim = 1 : i64, replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %w0 = stablehlo.constant dense<[[0x407063CE, 0x3FB776BC], [0xC103104B, 0x3F584AC4]]> : tensor<2x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x2xf32>, tensor<2x2xf32>
  return
}
// -----
func.func @all_to_all() {
  %0 = stablehlo.constant dense<[[0x407063CE, 0x3FB776BC], [0xC103104B, 0x3F584AC4]]> : tensor<2x2xf32>
  %r = "stablehlo.all_to_all"(%0) <{concat_dimension = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>, split_count = 1 : i64, split_dimension = 1 : i64}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %w0 = stablehlo.constant dense<[[0x407063CE, 0x3FB776BC], [0xC103104B, 0x3F584AC4]]> : tensor<2x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x2xf32>, tensor<2x2xf32>
  return
}
// -----
func.func @reduce_scatter() {
  %0 = stablehlo.constant dense<[[0x407063CE, 0x3FB776BC], [0xC103104B, 0x3F584AC4]]> : tensor<2x2xf32>
  %r = "stablehlo.reduce_scatter"(%0) <{replica_groups = dense<0> : tensor<1x1xi64>, scatter_dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %w0 = stablehlo.constant dense<[[0x407063CE, 0x3FB776BC], [0xC103104B, 0x3F584AC4]]> : tensor<2x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x2xf32>, tensor<2x2xf32>
  return
}
// -----
func.func @all_reduce() {
  %0 = stablehlo.constant dense<[[0x407063CE, 0x3FB776BC], [0xC103104B, 0x3F584AC4]]> : tensor<2x2xf32>
  %r = "stablehlo.all_reduce"(%0) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %w0 = stablehlo.constant dense<[[0x407063CE, 0x3FB776BC], [0xC103104B, 0x3F584AC4]]> : tensor<2x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x2xf32>, tensor<2x2xf32>
  return
}
// -----
func.func @collective_broadcast() {
  %0 = stablehlo.constant dense<[[0x407063CE, 0x3FB776BC], [0xC103104B, 0x3F584AC4]]> : tensor<2x2xf32>
  %r = "stablehlo.collective_broadcast"(%0) <{replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %w0 = stablehlo.constant dense<[[0x407063CE, 0x3FB776BC], [0xC103104B, 0x3F584AC4]]> : tensor<2x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x2xf32>, tensor<2x2xf32>
  return
}
// -----
func.func @collective_permute() {
  %0 = stablehlo.constant dense<[[0x407063CE, 0x3FB776BC], [0xC103104B, 0x3F584AC4]]> : tensor<2x2xf32>
  %r = "stablehlo.collective_permute"(%0) <{source_target_pairs = dense<0> : tensor<1x2xi64>}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %w0 = stablehlo.constant dense<[[0x407063CE, 0x3FB776BC], [0xC103104B, 0x3F584AC4]]> : tensor<2x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x2xf32>, tensor<2x2xf32>
  return
}
// -----
func.func @collective_permute_nothing() {
  %0 = stablehlo.constant dense<[[0x407063CE, 0x3FB776BC], [0xC103104B, 0x3F584AC4]]> : tensor<2x2xf32>
  %r = "stablehlo.collective_permute"(%0) <{source_target_pairs = dense<> : tensor<0x2xi64>}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %w0 = stablehlo.constant dense<[[0x0, 0x0], [0x80000000, 0x0]]> : tensor<2x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x2xf32>, tensor<2x2xf32>
  return
}
// -----
func.func @numbers_of_processes() {
  %0 = stablehlo.constant dense<[[0x407063CE, 0x3FB776BC], [0xC103104B, 0x3F584AC4]]> : tensor<2x2xf32>
  %p = stablehlo.partition_id : tensor<ui32>
  %q = stablehlo.replica_id : tensor<ui32>
  %r = stablehlo.add %p, %q : tensor<ui32>
  %w0 = stablehlo.constant dense<0> : tensor<ui32>
  check.expect_eq %r, %w0 : tensor<ui32>
  return
}
// -----
func.func @all_gather_2() {
  %0 = stablehlo.constant dense<[[-7, 7], [2, -4]]> : tensor<2x2xi8>
  %r = "stablehlo.all_gather"(%0) <{all_gather_dim = 1 : i64, replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<2x2xi8>) -> tensor<2x2xi8>
  %w0 = stablehlo.constant dense<[[-7, 7], [2, -4]]> : tensor<2x2xi8>
  check.expect_eq %r, %w0 : tensor<2x2xi8>
  return
}
// -----
func.func @all_to_all_2() {
  %0 = stablehlo.constant dense<[[-7, 7], [2, -4]]> : tensor<2x2xi8>
  %r = "stablehlo.all_to_all"(%0) <{concat_dimension = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>, split_count = 1 : i64, split_dimension = 1 : i64}> : (tensor<2x2xi8>) -> tensor<2x2xi8>
  %w0 = stablehlo.constant dense<[[-7, 7], [2, -4]]> : tensor<2x2xi8>
  check.expect_eq %r, %w0 : tensor<2x2xi8>
  return
}
// -----
func.func @reduce_scatter_2() {
  %0 = stablehlo.constant dense<[[-7, 7], [2, -4]]> : tensor<2x2xi8>
  %r = "stablehlo.reduce_scatter"(%0) <{replica_groups = dense<0> : tensor<1x1xi64>, scatter_dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>):
    %s = stablehlo.add %a, %b : tensor<i8>
    stablehlo.return %s : tensor<i8>
  }) : (tensor<2x2xi8>) -> tensor<2x2xi8>
  %w0 = stablehlo.constant dense<[[-7, 7], [2, -4]]> : tensor<2x2xi8>
  check.expect_eq %r, %w0 : tensor<2x2xi8>
  return
}
// -----
func.func @all_reduce_2() {
  %0 = stablehlo.constant dense<[[-7, 7], [2, -4]]> : tensor<2x2xi8>
  %r = "stablehlo.all_reduce"(%0) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>):
    %s = stablehlo.add %a, %b : tensor<i8>
    stablehlo.return %s : tensor<i8>
  }) : (tensor<2x2xi8>) -> tensor<2x2xi8>
  %w0 = stablehlo.constant dense<[[-7, 7], [2, -4]]> : tensor<2x2xi8>
  check.expect_eq %r, %w0 : tensor<2x2xi8>
  return
}
// -----
func.func @collective_broadcast_2() {
  %0 = stablehlo.constant dense<[[-7, 7], [2, -4]]> : tensor<2x2xi8>
  %r = "stablehlo.collective_broadcast"(%0) <{replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<2x2xi8>) -> tensor<2x2xi8>
  %w0 = stablehlo.constant dense<[[-7, 7], [2, -4]]> : tensor<2x2xi8>
  check.expect_eq %r, %w0 : tensor<2x2xi8>
  return
}
// -----
func.func @collective_permute_2() {
  %0 = stablehlo.constant dense<[[-7, 7], [2, -4]]> : tensor<2x2xi8>
  %r = "stablehlo.collective_permute"(%0) <{source_target_pairs = dense<0> : tensor<1x2xi64>}> : (tensor<2x2xi8>) -> tensor<2x2xi8>
  %w0 = stablehlo.constant dense<[[-7, 7], [2, -4]]> : tensor<2x2xi8>
  check.expect_eq %r, %w0 : tensor<2x2xi8>
  return
}
// -----
func.func @collective_permute_nothing_2() {
  %0 = stablehlo.constant dense<[[-7, 7], [2, -4]]> : tensor<2x2xi8>
  %r = "stablehlo.collective_permute"(%0) <{source_target_pairs = dense<> : tensor<0x2xi64>}> : (tensor<2x2xi8>) -> tensor<2x2xi8>
  %w0 = stablehlo.constant dense<[[0, 0], [0, 0]]> : tensor<2x2xi8>
  check.expect_eq %r, %w0 : tensor<2x2xi8>
  return
}
// -----
func.func @numbers_of_processes_2() {
  %0 = stablehlo.constant dense<[[-7, 7], [2, -4]]> : tensor<2x2xi8>
  %p = stablehlo.partition_id : tensor<ui32>
  %q = stablehlo.replica_id : tensor<ui32>
  %r = stablehlo.add %p, %q : tensor<ui32>
  %w0 = stablehlo.constant dense<0> : tensor<ui32>
  check.expect_eq %r, %w0 : tensor<ui32>
  return
}
// -----
func.func @all_gather_3() {
  %0 = stablehlo.constant dense<[[7, 0], [2, 1]]> : tensor<2x2xui16>
  %r = "stablehlo.all_gather"(%0) <{all_gather_dim = 1 : i64, replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<2x2xui16>) -> tensor<2x2xui16>
  %w0 = stablehlo.constant dense<[[7, 0], [2, 1]]> : tensor<2x2xui16>
  check.expect_eq %r, %w0 : tensor<2x2xui16>
  return
}
// -----
func.func @all_to_all_3() {
  %0 = stablehlo.constant dense<[[7, 0], [2, 1]]> : tensor<2x2xui16>
  %r = "stablehlo.all_to_all"(%0) <{concat_dimension = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>, split_count = 1 : i64, split_dimension = 1 : i64}> : (tensor<2x2xui16>) -> tensor<2x2xui16>
  %w0 = stablehlo.constant dense<[[7, 0], [2, 1]]> : tensor<2x2xui16>
  check.expect_eq %r, %w0 : tensor<2x2xui16>
  return
}
// -----
func.func @reduce_scatter_3() {
  %0 = stablehlo.constant dense<[[7, 0], [2, 1]]> : tensor<2x2xui16>
  %r = "stablehlo.reduce_scatter"(%0) <{replica_groups = dense<0> : tensor<1x1xi64>, scatter_dimension = 0 : i64}> ({
  ^bb0(%a: tensor<ui16>, %b: tensor<ui16>):
    %s = stablehlo.add %a, %b : tensor<ui16>
    stablehlo.return %s : tensor<ui16>
  }) : (tensor<2x2xui16>) -> tensor<2x2xui16>
  %w0 = stablehlo.constant dense<[[7, 0], [2, 1]]> : tensor<2x2xui16>
  check.expect_eq %r, %w0 : tensor<2x2xui16>
  return
}
// -----
func.func @all_reduce_3() {
  %0 = stablehlo.constant dense<[[7, 0], [2, 1]]> : tensor<2x2xui16>
  %r = "stablehlo.all_reduce"(%0) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({
  ^bb0(%a: tensor<ui16>, %b: tensor<ui16>):
    %s = stablehlo.add %a, %b : tensor<ui16>
    stablehlo.return %s : tensor<ui16>
  }) : (tensor<2x2xui16>) -> tensor<2x2xui16>
  %w0 = stablehlo.constant dense<[[7, 0], [2, 1]]> : tensor<2x2xui16>
  check.expect_eq %r, %w0 : tensor<2x2xui16>
  return
}
// -----
func.func @collective_broadcast_3() {
  %0 = stablehlo.constant dense<[[7, 0], [2, 1]]> : tensor<2x2xui16>
  %r = "stablehlo.collective_broadcast"(%0) <{replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<2x2xui16>) -> tensor<2x2xui16>
  %w0 = stablehlo.constant dense<[[7, 0], [2, 1]]> : tensor<2x2xui16>
  check.expect_eq %r, %w0 : tensor<2x2xui16>
  return
}
// -----
func.func @collective_permute_3() {
  %0 = stablehlo.constant dense<[[7, 0], [2, 1]]> : tensor<2x2xui16>
  %r = "stablehlo.collective_permute"(%0) <{source_target_pairs = dense<0> : tensor<1x2xi64>}> : (tensor<2x2xui16>) -> tensor<2x2xui16>
  %w0 = stablehlo.constant dense<[[7, 0], [2, 1]]> : tensor<2x2xui16>
  check.expect_eq %r, %w0 : tensor<2x2xui16>
  return
}
// -----
func.func @collective_permute_nothing_3() {
  %0 = stablehlo.constant dense<[[7, 0], [2, 1]]> : tensor<2x2xui16>
  %r = "stablehlo.collective_permute"(%0) <{source_target_pairs = dense<> : tensor<0x2xi64>}> : (tensor<2x2xui16>) -> tensor<2x2xui16>
  %w0 = stablehlo.constant dense<[[0, 0], [0, 0]]> : tensor<2x2xui16>
  check.expect_eq %r, %w0 : tensor<2x2xui16>
  return
}
// -----
func.func @numbers_of_processes_3() {
  %0 = stablehlo.constant dense<[[7, 0], [2, 1]]> : tensor<2x2xui16>
  %p = stablehlo.partition_id : tensor<ui32>
  %q = stablehlo.replica_id : tensor<ui32>
  %r = stablehlo.add %p, %q : tensor<ui32>
  %w0 = stablehlo.constant dense<0> : tensor<ui32>
  check.expect_eq %r, %w0 : tensor<ui32>
  return
}
