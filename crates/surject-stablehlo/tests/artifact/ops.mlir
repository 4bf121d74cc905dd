func.func @unary(%x: tensor<2x3xf32>, %i: tensor<4xi32>, %c: tensor<2xcomplex<f32>>) -> tensor<2x3xf32> {
  %0 = stablehlo.abs %x : tensor<2x3xf32>
  %1 = stablehlo.cbrt %0 : tensor<2x3xf32>
  %2 = stablehlo.ceil %1 : tensor<2x3xf32>
  %3 = stablehlo.cosine %2 : tensor<2x3xf32>
  %4 = stablehlo.exponential %3 : tensor<2x3xf32>
  %5 = stablehlo.exponential_minus_one %4 : tensor<2x3xf32>
  %6 = stablehlo.floor %5 : tensor<2x3xf32>
  %7 = stablehlo.log %6 : tensor<2x3xf32>
  %8 = stablehlo.log_plus_one %7 : tensor<2x3xf32>
  %9 = stablehlo.logistic %8 : tensor<2x3xf32>
  %10 = stablehlo.negate %9 : tensor<2x3xf32>
  %11 = stablehlo.round_nearest_afz %10 : tensor<2x3xf32>
  %12 = stablehlo.round_nearest_even %11 : tensor<2x3xf32>
  %13 = stablehlo.rsqrt %12 : tensor<2x3xf32>
  %14 = stablehlo.sign %13 : tensor<2x3xf32>
  %15 = stablehlo.sine %14 : tensor<2x3xf32>
  %16 = stablehlo.sqrt %15 : tensor<2x3xf32>
  %17 = stablehlo.tanh %16 : tensor<2x3xf32>
  %18 = stablehlo.reduce_precision %17, format = e5m10 : tensor<2x3xf32>
  %19 = stablehlo.is_finite %18 : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %20 = stablehlo.not %i : tensor<4xi32>
  %21 = stablehlo.popcnt %20 : tensor<4xi32>
  %22 = stablehlo.count_leading_zeros %21 : tensor<4xi32>
  %23 = stablehlo.convert %22 : (tensor<4xi32>) -> tensor<4xf64>
  %24 = stablehlo.real %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %25 = stablehlo.imag %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %26 = stablehlo.complex %24, %25 : tensor<2xcomplex<f32>>
  %27 = stablehlo.bitcast_convert %x : (tensor<2x3xf32>) -> tensor<2x3xui32>
  return %18 : tensor<2x3xf32>
}
// -----
func.func @tangent(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.tan %x : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// -----
func.func @accurate(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.tanh %x {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<2x3xf32>
  %1 = stablehlo.exponential %0 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
// -----
func.func @accurate_exponential(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.exponential %x {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// -----
func.func @binary(%x: tensor<4xf32>, %i: tensor<4xi32>, %p: tensor<4xi1>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  %1 = stablehlo.atan2 %0, %x : tensor<4xf32>
  %2 = stablehlo.divide %1, %x : tensor<4xf32>
  %3 = stablehlo.maximum %2, %x : tensor<4xf32>
  %4 = stablehlo.minimum %3, %x : tensor<4xf32>
  %5 = stablehlo.multiply %4, %x : tensor<4xf32>
  %6 = stablehlo.power %5, %x : tensor<4xf32>
  %7 = stablehlo.remainder %6, %x : tensor<4xf32>
  %8 = stablehlo.subtract %7, %x : tensor<4xf32>
  %9 = stablehlo.shift_left %i, %i : tensor<4xi32>
  %10 = stablehlo.shift_right_arithmetic %9, %i : tensor<4xi32>
  %11 = stablehlo.shift_right_logical %10, %i : tensor<4xi32>
  %12 = stablehlo.and %11, %i : tensor<4xi32>
  %13 = stablehlo.or %12, %i : tensor<4xi32>
  %14 = stablehlo.xor %13, %i : tensor<4xi32>
  %15 = stablehlo.compare LT, %x, %8, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %16 = stablehlo.compare NE, %i, %14 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %17 = stablehlo.select %15, %x, %8 : tensor<4xi1>, tensor<4xf32>
  %18 = stablehlo.clamp %x, %17, %8 : tensor<4xf32>
  return %18 : tensor<4xf32>
}
// -----
func.func @constants() -> tensor<3xi1> {
  %0 = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
  %1 = stablehlo.constant dense<true> : tensor<20xi1>
  %2 = stablehlo.constant dense<false> : tensor<20xi1>
  %3 = stablehlo.constant dense<[true, false, true, true, false, true, true, true, false, true]> : tensor<10xi1>
  %4 = stablehlo.constant dense<true> : tensor<i1>
  %5 = stablehlo.constant dense<[1, -2, 7, -8]> : tensor<4xi4>
  %6 = stablehlo.constant dense<[1, 15]> : tensor<2xui4>
  %7 = stablehlo.constant dense<[1, -128]> : tensor<2xi8>
  %8 = stablehlo.constant dense<[1, -32768]> : tensor<2xi16>
  %9 = stablehlo.constant dense<[1, -9223372036854775808]> : tensor<2xi64>
  %10 = stablehlo.constant dense<[1, 18446744073709551615]> : tensor<2xui64>
  %11 = stablehlo.constant dense<[1.000000e+00, 2.500000e+00]> : tensor<2xf16>
  %12 = stablehlo.constant dense<[1.000000e+00, 2.500000e+00]> : tensor<2xbf16>
  %13 = stablehlo.constant dense<[1.000000e+00, 0x7FF0000000000000]> : tensor<2xf64>
  %14 = stablehlo.constant dense<[(1.000000e+00,2.000000e+00), (3.000000e+00,4.000000e+00)]> : tensor<2xcomplex<f32>>
  %15 = stablehlo.constant dense<(1.000000e+00,2.000000e+00)> : tensor<2xcomplex<f64>>
  %16 = stablehlo.constant dense<> : tensor<0x3xf32>
  %17 = stablehlo.constant dense<[[0.000000e+00, 1.000000e+00], [2.000000e+00, 3.000000e+00]]> : tensor<2x2xf32>
  %18 = stablehlo.constant dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf8E4M3FN>
  %19 = stablehlo.constant dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf8E5M2>
  %20 = stablehlo.constant dense<[1, 4294967295]> : tensor<2xui32>
  %21 = stablehlo.constant dense<[1, 65535]> : tensor<2xui16>
  %22 = stablehlo.constant dense<[1, 255]> : tensor<2xui8>
  return %0 : tensor<3xi1>
}
// -----
func.func @floats8_fnuz(%x: tensor<2xf8E4M3FNUZ>, %y: tensor<2xf8E5M2FNUZ>) -> tensor<2xf8E4M3FNUZ> {
  return %x : tensor<2xf8E4M3FNUZ>
}
// -----
func.func @floats8_b11(%x: tensor<2xf8E4M3B11FNUZ>) -> tensor<2xf8E4M3B11FNUZ> {
  return %x : tensor<2xf8E4M3B11FNUZ>
}
// -----
func.func @two_bits(%x: tensor<2xi2>, %y: tensor<2xui2>) -> tensor<2xi2> {
  %0 = stablehlo.constant dense<[1, -2]> : tensor<2xi2>
  %1 = stablehlo.constant dense<[1, 3]> : tensor<2xui2>
  return %x : tensor<2xi2>
}
// -----
func.func @floats8_ieee(%x: tensor<2xf8E4M3>, %y: tensor<2xf8E3M4>) -> tensor<2xf8E4M3> {
  return %x : tensor<2xf8E4M3>
}
// -----
func.func @small_floats(%x: tensor<2xf4E2M1FN>, %y: tensor<2xf6E2M3FN>, %z: tensor<2xf6E3M2FN>, %w: tensor<2xf8E8M0FNU>) -> tensor<2xf4E2M1FN> {
  %0 = stablehlo.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf4E2M1FN>
  return %x : tensor<2xf4E2M1FN>
}
// -----
func.func @movement(%x: tensor<2x3xf32>, %s: tensor<f32>, %i: tensor<i32>) -> tensor<2x3xf32> {
  %0 = stablehlo.iota dim = 1 : tensor<2x3xf32>
  %1 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %2 = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x4x3xf32>
  %3 = stablehlo.broadcast %x, sizes = [5] : (tensor<2x3xf32>) -> tensor<5x2x3xf32>
  %4 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %5 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %6 = stablehlo.reverse %x, dims = [0, 1] : tensor<2x3xf32>
  %7 = stablehlo.slice %x [0:2:2, 1:3] : (tensor<2x3xf32>) -> tensor<1x2xf32>
  %8 = stablehlo.concatenate %x, %x, dim = 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %9 = stablehlo.pad %x, %s, low = [0, -1], high = [1, 2], interior = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x6xf32>
  %10 = stablehlo.dynamic_slice %x, %i, %i, sizes = [1, 2] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
  %11 = stablehlo.dynamic_update_slice %x, %10, %i, %i : (tensor<2x3xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  return %11 : tensor<2x3xf32>
}
// -----
func.func @indexing(%x: tensor<10x4xf32>, %i: tensor<3x1xi32>, %u: tensor<3x4xf32>) -> tensor<10x4xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 4>}> : (tensor<10x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
  %1 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<10x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<10x4xf32>
  %3 = "stablehlo.torch_index_select"(%x, %i) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<10x4xf32>, tensor<3x1xi32>) -> tensor<3x1x4xf32>
  return %1 : tensor<10x4xf32>
}
// -----
func.func @batched_gather(%x: tensor<3x10x4xf32>, %i: tensor<3x2x1xi32>) -> tensor<3x2x4xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 4>}> : (tensor<3x10x4xf32>, tensor<3x2x1xi32>) -> tensor<3x2x4xf32>
  return %0 : tensor<3x2x4xf32>
}
// -----
func.func @batched_scatter(%x: tensor<3x10xf32>, %i: tensor<3x2x1xi32>, %u: tensor<3x2xf32>) -> tensor<3x10xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<3x10xf32>, tensor<3x2x1xi32>, tensor<3x2xf32>) -> tensor<3x10xf32>
  return %0 : tensor<3x10xf32>
}
// -----
func.func @contractions(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>, %m: tensor<3x4xf32>, %n: tensor<4x5xf32>, %a: tensor<1x8x8x4xf32>, %k: tensor<3x3x2x6xf32>) -> tensor<2x3x5xf32> {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGH, DEFAULT] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %1 = stablehlo.dot %m, %n, precision = [HIGHEST, DEFAULT] : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  %2 = stablehlo.dot_general %m, %n, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  %3 = stablehlo.einsum %m, %n, config = "ab,bc->ac" : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  %4 = stablehlo.unary_einsum %m, config = "ab->a" : (tensor<3x4xf32>) -> tensor<3xf32>
  %5 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[1, 0], [0, 1]], lhs_dilate = [1, 2], rhs_dilate = [2, 1], reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<1x3x14x6xf32>
  %6 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<1x6x6x6xf32>
  return %0 : tensor<2x3x5xf32>
}
// -----
func.func @algorithm(%m: tensor<3x4xf32>, %n: tensor<4x5xf32>) -> tensor<3x5xf32> {
  %0 = stablehlo.dot_general %m, %n, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
// -----
func.func @reductions(%x: tensor<4x6xf32>, %s: tensor<f32>, %i: tensor<4x6xi32>, %c: tensor<i32>, %w: tensor<2x3xf32>) -> tensor<4xf32> {
  %0 = stablehlo.reduce(%x init: %s) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %1:2 = stablehlo.reduce(%x init: %s), (%i init: %c) across dimensions = [0] : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<6xf32>, tensor<6xi32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%d: tensor<i32>, %e: tensor<i32>)  {
    %7 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %8 = stablehlo.select %7, %a, %b : tensor<i1>, tensor<f32>
    %9 = stablehlo.select %7, %d, %e : tensor<i1>, tensor<i32>
    stablehlo.return %8, %9 : tensor<f32>, tensor<i32>
  }
  %2 = "stablehlo.reduce_window"(%x, %s) <{base_dilations = array<i64: 1, 2>, padding = dense<[[1, 1], [0, 2]]> : tensor<2x2xi64>, window_dilations = array<i64: 2, 1>, window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %7 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %7 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  %3 = "stablehlo.select_and_scatter"(%x, %w, %s) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %7 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %7 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %7 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %7 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  %4:2 = "stablehlo.sort"(%x, %i) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %d: tensor<i32>, %e: tensor<i32>):
    %7 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %7 : tensor<i1>
  }) : (tensor<4x6xf32>, tensor<4x6xi32>) -> (tensor<4x6xf32>, tensor<4x6xi32>)
  %5 = "stablehlo.map"(%x, %x) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %7 = stablehlo.multiply %a, %b : tensor<f32>
    stablehlo.return %7 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @promotion(%x: tensor<4x6xf16>, %s: tensor<f32>) -> tensor<4xf32> {
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf16>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @library(%x: tensor<8xcomplex<f32>>, %a: tensor<4x4xf32>, %b: tensor<4x2xf32>, %k: tensor<2xui64>, %s: tensor<f32>, %m: tensor<2x2x2x2xf32>, %v: tensor<2xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.fft %x, type = IFFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  %1 = stablehlo.cholesky %a, lower = true : tensor<4x4xf32>
  %2 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %3, %4 = stablehlo.rng_bit_generator %k, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
  %5 = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %6 = stablehlo.rng %s, %s, %5, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>
  %7 = "stablehlo.batch_norm_inference"(%m, %v, %v, %v, %v) <{epsilon = 1.000000e-03 : f32, feature_index = 3 : i64}> : (tensor<2x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x2x2xf32>
  %8, %9, %10 = "stablehlo.batch_norm_training"(%m, %v, %v) <{epsilon = 1.000000e-03 : f32, feature_index = 3 : i64}> : (tensor<2x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  %11, %12, %13 = "stablehlo.batch_norm_grad"(%m, %v, %v, %v, %m) <{epsilon = 1.000000e-03 : f32, feature_index = 3 : i64}> : (tensor<2x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x2x2x2xf32>) -> (tensor<2x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return %1 : tensor<4x4xf32>
}
// -----
func.func @control(%x: tensor<4xf32>, %p: tensor<i1>, %i: tensor<i32>) -> tensor<4xf32> {
  %0 = "stablehlo.if"(%p) ({
    %6 = stablehlo.sine %x : tensor<4xf32>
    stablehlo.return %6 : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  %1 = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    stablehlo.return %0 : tensor<4xf32>
  }, {
    %6 = "stablehlo.if"(%p) ({
      %7 = stablehlo.add %x, %0 : tensor<4xf32>
      stablehlo.return %7 : tensor<4xf32>
    }, {
      stablehlo.return %x : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    stablehlo.return %6 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  %2:2 = stablehlo.while(%a = %i, %b = %1) : tensor<i32>, tensor<4xf32>
  cond {
    %6 = stablehlo.constant dense<3> : tensor<i32>
    %7 = stablehlo.compare LT, %a, %6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %7 : tensor<i1>
  } do {
    %6 = stablehlo.constant dense<1> : tensor<i32>
    %7 = stablehlo.add %a, %6 : tensor<i32>
    %8 = stablehlo.multiply %b, %x : tensor<4xf32>
    stablehlo.return %7, %8 : tensor<i32>, tensor<4xf32>
  }
  %3:2 = stablehlo.optimization_barrier %x, %p : tensor<4xf32>, tensor<i1>
  %4 = stablehlo.tuple %x, %p : tuple<tensor<4xf32>, tensor<i1>>
  %5 = stablehlo.get_tuple_element %4[0] : (tuple<tensor<4xf32>, tensor<i1>>) -> tensor<4xf32>
  return %2#1 : tensor<4xf32>
}
// -----
func.func @dynamic(%x: tensor<?x?xf32>, %s: tensor<2xi64>, %f: tensor<f32>, %i: tensor<i32>, %k: tensor<2x1xi32>) -> tensor<?x?xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0, 1] : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = "stablehlo.dynamic_broadcast_in_dim"(%x, %s) <{broadcast_dimensions = array<i64: 0, 1>, known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 1>}> : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %2 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi64>) -> tensor<?x?xf32>
  %3 = stablehlo.dynamic_reshape %x, %s : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %4 = stablehlo.dynamic_pad %x, %f, %s, %s, %s : (tensor<?x?xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  %5 = stablehlo.real_dynamic_slice %x, %s, %s, %s : (tensor<?x?xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  %6 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %7 = "stablehlo.dynamic_gather"(%x, %k, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<?x?xf32>, tensor<2x1xi32>, tensor<2xi64>) -> tensor<2x?xf32>
  return %0 : tensor<?x?xf32>
}
// -----
func.func @dynamic_conv(%a: tensor<1x8x8x4xf32>, %k: tensor<3x3x2x6xf32>, %p: tensor<2x2xi32>) -> tensor<1x?x?x6xf32> {
  %0 = "stablehlo.dynamic_conv"(%a, %k, %p) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64}> : (tensor<1x8x8x4xf32>, tensor<3x3x2x6xf32>, tensor<2x2xi32>) -> tensor<1x?x?x6xf32>
  return %0 : tensor<1x?x?x6xf32>
}
// -----
func.func @bounded(%x: tensor<?x4xf32, #stablehlo.bounds<8, ?>>, %n: tensor<i32>) -> tensor<?x4xf32, #stablehlo.bounds<8, ?>> {
  %0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<?x4xf32, #stablehlo.bounds<8, ?>>, tensor<i32>) -> tensor<?x4xf32, #stablehlo.bounds<8, ?>>
  return %0 : tensor<?x4xf32, #stablehlo.bounds<8, ?>>
}
// -----
func.func @collectives(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 3, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  %1 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %6 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %6 : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = "stablehlo.reduce_scatter"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 1 : i64, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %6 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %6 : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x4xf32>
  %3 = "stablehlo.all_to_all"(%x) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 1 : i64}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %4 = "stablehlo.collective_permute"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = "stablehlo.cross-replica-sum"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %7 = stablehlo.partition_id : tensor<ui32>
  %8 = stablehlo.replica_id : tensor<ui32>
  return %1 : tensor<4x8xf32>
}
// -----
func.func @collective_broadcast(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// -----
func.func @several_operands(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0:2 = "stablehlo.all_reduce"(%x, %x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %6 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %6 : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  return %0#0 : tensor<4x8xf32>
}
// -----
func.func @mesh_axes(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 4>], device_ids=dense<[1, 0, 2, 3]> : tensor<4xi64>>, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (1)2>]>, use_global_device_ids, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %6 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %6 : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// -----
func.func @tokens(%x: tensor<4xf32>, %t: !stablehlo.token) -> !stablehlo.token {
  %0 = stablehlo.create_token : !stablehlo.token
  %1 = stablehlo.after_all %0, %t : !stablehlo.token
  %2:2 = "stablehlo.infeed"(%1) <{infeed_config = "foo", layout = [[0]]}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  %3 = "stablehlo.outfeed"(%2#0, %2#1) <{outfeed_config = ""}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  %4 = "stablehlo.send"(%x, %3) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  %5:2 = "stablehlo.recv"(%4) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return %5#1 : !stablehlo.token
}
// -----
func.func @transfer_pairs(%x: tensor<4xf32>, %t: !stablehlo.token) -> !stablehlo.token {
  %0 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return %0 : !stablehlo.token
}
// -----
func.func @custom(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @foo(%x) {api_version = 2 : i32, backend_config = "text\22", called_computations = [@callee], has_side_effect = true, operand_layouts = [dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.custom_call @bar(%0) {mine = 3 : i32, other = {a = "x", b = [1 : i64, 2.500000e+00 : f64]}} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @callee(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
// -----
func.func @custom_dictionary(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @foo(%x) {api_version = 4 : i32, backend_config = {a = 1 : i64, b = "c"}} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @composite(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.composite "my.op" %x {composite_attributes = {k = 3 : i64}, decomposition = @body, version = 2 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.composite "my.op" %0 {decomposition = @body} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @body(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
// -----
module @functions attributes {mhlo.num_partitions = 2 : i32, some.flag = true} {
  func.func public @main(%x: tensor<4xf32> {jax.global_constant = "b", tf.aliasing_output = 0 : i32}, %y: tensor<f32>) -> (tensor<4xf32> {jax.result_info = "result"}) attributes {execution_thread = "main"} {
    %0:2 = call @helper(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    return %0#1 : tensor<4xf32>
  }
  func.func private @helper(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    return %x, %x : tensor<4xf32>, tensor<4xf32>
  }
  func.func nested @third() {
    return
  }
  func.func private @declared(tensor<4xf32>) -> tensor<4xf32>
}
// -----
func.func @asynchronous(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%y: tensor<4x8xf32>):
    %1 = "stablehlo.all_gather"(%y) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
    stablehlo.return %1 : tensor<4x16xf32>
  }) : (tensor<4x8xf32>) -> !stablehlo.future<tensor<4x16xf32>>
  %2 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4x16xf32>>) -> tensor<4x16xf32>
  return %2 : tensor<4x16xf32>
}
// -----
func.func @buffers(%x: memref<4xf32>) -> memref<4xf32> {
  %0 = stablehlo.custom_call @foo(%x) {api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> memref<4xf32>
  return %0 : memref<4xf32>
}
// -----
func.func @tilings(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @LayoutConstraint(%x) {operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<0> : tensor<1xindex>], result_tilings = [[dense<2> : tensor<1xindex>]]} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @collective_reduce(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @dynamic_root(%x: tensor<4xf32>, %r: tensor<1xi32>) -> tensor<4xf32> {
  %0 = "stablehlo.collective_broadcast"(%x, %r) <{has_dynamic_root = true, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @quantized(%x: tensor<4x2x!quant.uniform<i8:f32, 3.4000000000000002E-2:-12>>) -> tensor<4x2xf32> {
  %0 = stablehlo.uniform_dequantize %x : (tensor<4x2x!quant.uniform<i8:f32, 3.4000000000000002E-2:-12>>) -> tensor<4x2xf32>
  %1 = stablehlo.uniform_quantize %0 : (tensor<4x2xf32>) -> tensor<4x2x!quant.uniform<u8<1:255>:f32, 5.000000e-01>>
  return %0 : tensor<4x2xf32>
}
// -----
func.func @quantized_per_axis(%x: tensor<4x2x!quant.uniform<i8<-127:127>:f32:1, {2.000000e-01,5.000000e-01:3}>>) -> tensor<4x2xf32> {
  %0 = stablehlo.uniform_dequantize %x : (tensor<4x2x!quant.uniform<i8<-127:127>:f32:1, {2.000000e-01,5.000000e-01:3}>>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
// -----
module @foreign attributes {unit.of, path.to = @a::@b, list = array<i32: 1, 2>, ty = tensor<4xf32>} {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
    %0 = chlo.erf %x : tensor<4xf32> -> tensor<4xf32>
    %1, %2 = chlo.top_k(%0, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
    %3 = stablehlo.custom_call @f(%0) {some.unit} : (tensor<4xf32>) -> tensor<4xf32>
    return %3 : tensor<4xf32>
  }
}
