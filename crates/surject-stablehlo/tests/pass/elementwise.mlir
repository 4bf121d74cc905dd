// Elementwise operations, in pretty, functional and generic forms, without a module around them.
func.func @unary(%a: tensor<2x3xf32>, %i: tensor<4xi32>, %z: tensor<2xcomplex<f32>>, %d: tensor<?x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.abs %a : tensor<2x3xf32>
  %1 = stablehlo.abs %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %2 = stablehlo.cbrt %0 {result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-05, rtol = 0.0, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<2x3xf32>
  %3 = stablehlo.convert %i : (tensor<4xi32>) -> tensor<4xf32>
  %4 = stablehlo.convert %i : tensor<4xi32>
  %5 = "stablehlo.exponential"(%a) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo<result_accuracy_mode HIGHEST>>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = stablehlo.is_finite %a : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %7 = stablehlo.not %i : tensor<4xi32>
  %8 = stablehlo.popcnt %i : tensor<4xi32>
  %9 = stablehlo.real %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %10 = stablehlo.imag %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %11 = stablehlo.complex %9, %10 : tensor<2xcomplex<f32>>
  %12 = stablehlo.reduce_precision %a, format = e8m7 : tensor<2x3xf32>
  %13 = stablehlo.bitcast_convert %i : (tensor<4xi32>) -> tensor<4x4xi8>
  %14 = stablehlo.round_nearest_even %a {mhlo.note = "kept"} : tensor<2x3xf32>
  %15 = stablehlo.tanh %d : tensor<?x3xf32>
  %16 = stablehlo.sign %z : tensor<2xcomplex<f32>>
  return %12 : tensor<2x3xf32>
}
func.func @binary(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>, %d: tensor<?x3xf32>, %p: tensor<i1>, %l: tensor<f32>) -> tensor<2x3xi1> {
  %0 = stablehlo.add %a, %b : tensor<2x3xf32>
  %1 = stablehlo.add %a, %d : (tensor<2x3xf32>, tensor<?x3xf32>) -> tensor<2x3xf32>
  %2 = "stablehlo.atan2"(%0, %1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = stablehlo.compare  LT, %a, %2,  TOTALORDER : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %4 = stablehlo.compare GE, %a, %2 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %5 = "stablehlo.compare"(%a, %b) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %6 = stablehlo.select %p, %a, %b : tensor<i1>, tensor<2x3xf32>
  %7 = stablehlo.select %3, %a, %d : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<?x3xf32>) -> tensor<2x3xf32>
  %8 = stablehlo.clamp %l, %a, %b : (tensor<f32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %9 = stablehlo.clamp %a, %a, %b : tensor<2x3xf32>
  %10 = "stablehlo.map"(%a, %b) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %11 = stablehlo.multiply %x, %y : tensor<f32>
    stablehlo.return %11 : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %5 : tensor<2x3xi1>
}
