#later = dense<3> : tensor<2xi64>
module @constants {
  func.func @main() -> tensor<2xi64> {
    %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
    %1 = stablehlo.constant dense<> : tensor<0x4xf32>
    %2 = stablehlo.constant dense<[[1.5, -0.0], [0x7FC00000, 3.40282347E+38]]> : tensor<2x2xf32>
    %3 = stablehlo.constant dense<"0x0000803F00000040"> : tensor<2xf32>
    %4 = stablehlo.constant dense<"0x0000803F"> : tensor<7xf32>
    %5 = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
    %6 = stablehlo.constant dense<"0x0500"> : tensor<9xi1>
    %7 = stablehlo.constant dense<"0x010001"> : tensor<3xi1>
    %8 = stablehlo.constant dense<"0x01000101000101000101"> : tensor<10xi1>
    %9 = stablehlo.constant dense<[(1.0,2.0), (0x7F800000,-1.0)]> : tensor<2xcomplex<f32>>
    %10 = stablehlo.constant dense<(1.0,2.0)> : tensor<complex<f64>>
    %11 = stablehlo.constant dense<[-8, 7, 0]> : tensor<3xi4>
    %12 = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
    %13 = stablehlo.constant dense<[1.0, 0x7F80, 0.1]> : tensor<3xbf16>
    %14 = stablehlo.constant dense<[0xFF, 1.5]> : tensor<2xf8E4M3FN>
    %15 = stablehlo.constant {mhlo.sharding = "{replicated}"} dense<[1, 2]> : tensor<2xui4>
    %16 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %17 = stablehlo.constant() <{value = dense<3> : tensor<1xi8>}> : () -> tensor<1x!quant.uniform<i8:f32, 2.0:15>>
    %18 = stablehlo.constant dense_resource<weights> : tensor<2xf32>
    %19 = stablehlo.constant dense<5.0> : tensor<1000000x1000000xf64>
    %20 = "stablehlo.constant"() {value = #later} : () -> tensor<2xi64>
    %21 = stablehlo.constant dense<[[[1, 2]], [[3, 4]]]> : tensor<2x1x2xi64>
    %22 = "other.op"() {a = array<i1: true, false>, b = array<f32: 1.0, 2.5>, c = array<i32>, "odd key" = unit, e = [1 : i8, 2.5 : f16, "s\22\0A\FF", @f::@g, tensor<2xf32>, {x}], f = affine_map<(d0) -> (d0 + 1)>, g = #foo.bar<[a -> "b>"]>, h = -1 : i64, i = 0xFF : i32, j = 0x7FC00000 : f32} : () -> i32
    return %20 : tensor<2xi64>
  }
}
{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F00000040"
    }
  }
#-}
