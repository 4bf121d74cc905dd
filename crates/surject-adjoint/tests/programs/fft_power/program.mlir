module @jit_fft_power attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x8xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<3x8xf64>) -> tensor<3x8xcomplex<f64>>
    %1 = call @fft(%0) : (tensor<3x8xcomplex<f64>>) -> tensor<3x8xcomplex<f64>>
    %2 = call @fft_0(%arg0) : (tensor<3x8xf64>) -> tensor<3x5xcomplex<f64>>
    %3 = stablehlo.multiply %2, %2 : tensor<3x5xcomplex<f64>>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %4 = call @_pad(%3, %c) : (tensor<3x5xcomplex<f64>>, tensor<i64>) -> tensor<3x5xcomplex<f64>>
    %5 = call @fft_1(%4) : (tensor<3x5xcomplex<f64>>) -> tensor<3x8xf64>
    %6 = stablehlo.abs %1 : (tensor<3x8xcomplex<f64>>) -> tensor<3x8xf64>
    %7 = stablehlo.multiply %6, %6 : tensor<3x8xf64>
    %8 = stablehlo.multiply %7, %6 : tensor<3x8xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %9 = stablehlo.reduce(%8 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x8xf64>, tensor<f64>) -> tensor<f64>
    %10 = stablehlo.sine %5 : tensor<3x8xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %11 = stablehlo.reduce(%10 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x8xf64>, tensor<f64>) -> tensor<f64>
    %12 = stablehlo.add %9, %11 : tensor<f64>
    %13 = stablehlo.imag %2 : (tensor<3x5xcomplex<f64>>) -> tensor<3x5xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %14 = stablehlo.reduce(%13 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x5xf64>, tensor<f64>) -> tensor<f64>
    %15 = stablehlo.add %12, %14 : tensor<f64>
    return %15 : tensor<f64>
  }
  func.func private @fft(%arg0: tensor<3x8xcomplex<f64>>) -> tensor<3x8xcomplex<f64>> {
    %0 = stablehlo.fft %arg0, type = FFT, length = [8] : (tensor<3x8xcomplex<f64>>) -> tensor<3x8xcomplex<f64>>
    return %0 : tensor<3x8xcomplex<f64>>
  }
  func.func private @fft_0(%arg0: tensor<3x8xf64>) -> tensor<3x5xcomplex<f64>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [8] : (tensor<3x8xf64>) -> tensor<3x5xcomplex<f64>>
    return %0 : tensor<3x5xcomplex<f64>>
  }
  func.func private @_pad(%arg0: tensor<3x5xcomplex<f64>>, %arg1: tensor<i64>) -> tensor<3x5xcomplex<f64>> {
    %0 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<complex<f64>>
    %1 = stablehlo.pad %arg0, %0, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<3x5xcomplex<f64>>, tensor<complex<f64>>) -> tensor<3x5xcomplex<f64>>
    return %1 : tensor<3x5xcomplex<f64>>
  }
  func.func private @fft_1(%arg0: tensor<3x5xcomplex<f64>>) -> tensor<3x8xf64> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [8] : (tensor<3x5xcomplex<f64>>) -> tensor<3x8xf64>
    return %0 : tensor<3x8xf64>
  }
}
