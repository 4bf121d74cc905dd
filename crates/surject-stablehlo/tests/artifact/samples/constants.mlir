module {
  func.func @constants() -> tensor<3xi1> {
    %c = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
    %c_0 = stablehlo.constant dense<true> : tensor<20xi1>
    %c_1 = stablehlo.constant dense<false> : tensor<20xi1>
    %c_2 = stablehlo.constant dense<[true, false, true, true, false, true, true, true, false, true]> : tensor<10xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %c_4 = stablehlo.constant dense<[1, -2, 7, -8]> : tensor<4xi4>
    %c_5 = stablehlo.constant dense<[1, 15]> : tensor<2xui4>
    %c_6 = stablehlo.constant dense<[1, -128]> : tensor<2xi8>
    %c_7 = stablehlo.constant dense<[1, -32768]> : tensor<2xi16>
    %c_8 = stablehlo.constant dense<[1, -9223372036854775808]> : tensor<2xi64>
    %c_9 = stablehlo.constant dense<[1, 18446744073709551615]> : tensor<2xui64>
    %cst = stablehlo.constant dense<[1.000000e+00, 2.500000e+00]> : tensor<2xf16>
    %cst_10 = stablehlo.constant dense<[1.000000e+00, 2.500000e+00]> : tensor<2xbf16>
    %cst_11 = stablehlo.constant dense<[1.000000e+00, 0x7FF0000000000000]> : tensor<2xf64>
    %cst_12 = stablehlo.constant dense<[(1.000000e+00,2.000000e+00), (3.000000e+00,4.000000e+00)]> : tensor<2xcomplex<f32>>
    %cst_13 = stablehlo.constant dense<(1.000000e+00,2.000000e+00)> : tensor<2xcomplex<f64>>
    %cst_14 = stablehlo.constant dense<> : tensor<0x3xf32>
    %cst_15 = stablehlo.constant dense<[[0.000000e+00, 1.000000e+00], [2.000000e+00, 3.000000e+00]]> : tensor<2x2xf32>
    %cst_16 = stablehlo.constant dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf8E4M3FN>
    %cst_17 = stablehlo.constant dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf8E5M2>
    %c_18 = stablehlo.constant dense<[1, 4294967295]> : tensor<2xui32>
    %c_19 = stablehlo.constant dense<[1, 65535]> : tensor<2xui16>
    %c_20 = stablehlo.constant dense<[1, 255]> : tensor<2xui8>
    return %c : tensor<3xi1>
  }
}
