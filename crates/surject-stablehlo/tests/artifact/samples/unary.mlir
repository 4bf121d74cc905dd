module {
  func.func @unary(%arg0: tensor<2x3xf32>, %arg1: tensor<4xi32>, %arg2: tensor<2xcomplex<f32>>) -> tensor<2x3xf32> {
    %0 = stablehlo.abs %arg0 : tensor<2x3xf32>
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
    %20 = stablehlo.not %arg1 : tensor<4xi32>
    %21 = stablehlo.popcnt %20 : tensor<4xi32>
    %22 = stablehlo.count_leading_zeros %21 : tensor<4xi32>
    %23 = stablehlo.convert %22 : (tensor<4xi32>) -> tensor<4xf64>
    %24 = stablehlo.real %arg2 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
    %25 = stablehlo.imag %arg2 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
    %26 = stablehlo.complex %24, %25 : tensor<2xcomplex<f32>>
    %27 = stablehlo.bitcast_convert %arg0 : (tensor<2x3xf32>) -> tensor<2x3xui32>
    return %18 : tensor<2x3xf32>
  }
}
