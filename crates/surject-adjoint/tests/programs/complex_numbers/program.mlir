module @jit_complex_numbers attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf64>, %arg1: tensor<4xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.complex %arg0, %arg1 : tensor<4xcomplex<f64>>
    %1 = stablehlo.exponential %0 : tensor<4xcomplex<f64>>
    %2 = stablehlo.real %0 : (tensor<4xcomplex<f64>>) -> tensor<4xf64>
    %3 = stablehlo.imag %0 : (tensor<4xcomplex<f64>>) -> tensor<4xf64>
    %4 = stablehlo.negate %3 : tensor<4xf64>
    %5 = stablehlo.complex %2, %4 : tensor<4xcomplex<f64>>
    %6 = stablehlo.multiply %1, %5 : tensor<4xcomplex<f64>>
    %cst = stablehlo.constant dense<(2.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f64>>) -> tensor<4xcomplex<f64>>
    %8 = stablehlo.add %0, %7 : tensor<4xcomplex<f64>>
    %9 = stablehlo.divide %6, %8 : tensor<4xcomplex<f64>>
    %10 = stablehlo.real %0 : (tensor<4xcomplex<f64>>) -> tensor<4xf64>
    %11 = stablehlo.imag %0 : (tensor<4xcomplex<f64>>) -> tensor<4xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %12 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<4xf64>
    %13 = stablehlo.compare EQ, %10, %12, FLOAT : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xi1>
    %14 = stablehlo.sine %10 : tensor<4xf64>
    %15 = stablehlo.cosine %10 : tensor<4xf64>
    %16 = stablehlo.exponential_minus_one %11 : tensor<4xf64>
    %17 = stablehlo.negate %11 : tensor<4xf64>
    %18 = stablehlo.exponential_minus_one %17 : tensor<4xf64>
    %19 = stablehlo.subtract %16, %18 : tensor<4xf64>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %20 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<4xf64>
    %21 = stablehlo.divide %19, %20 : tensor<4xf64>
    %22 = stablehlo.add %16, %18 : tensor<4xf64>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %23 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f64>) -> tensor<4xf64>
    %24 = stablehlo.add %22, %23 : tensor<4xf64>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %25 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f64>) -> tensor<4xf64>
    %26 = stablehlo.divide %24, %25 : tensor<4xf64>
    %27 = stablehlo.multiply %14, %26 : tensor<4xf64>
    %28 = stablehlo.multiply %15, %21 : tensor<4xf64>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %29 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f64>) -> tensor<4xf64>
    %30 = stablehlo.complex %29, %28 : tensor<4xcomplex<f64>>
    %31 = stablehlo.complex %27, %28 : tensor<4xcomplex<f64>>
    %32 = stablehlo.select %13, %30, %31 : tensor<4xi1>, tensor<4xcomplex<f64>>
    %33 = stablehlo.multiply %32, %32 : tensor<4xcomplex<f64>>
    %34 = stablehlo.add %9, %33 : tensor<4xcomplex<f64>>
    %35 = stablehlo.abs %34 : (tensor<4xcomplex<f64>>) -> tensor<4xf64>
    %36 = stablehlo.real %34 : (tensor<4xcomplex<f64>>) -> tensor<4xf64>
    %37 = stablehlo.imag %34 : (tensor<4xcomplex<f64>>) -> tensor<4xf64>
    %38 = stablehlo.multiply %36, %37 : tensor<4xf64>
    %39 = stablehlo.add %35, %38 : tensor<4xf64>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %40 = stablehlo.reduce(%39 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<4xf64>, tensor<f64>) -> tensor<f64>
    %cst_6 = stablehlo.constant dense<(3.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %41 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<complex<f64>>) -> tensor<4xcomplex<f64>>
    %42 = stablehlo.add %0, %41 : tensor<4xcomplex<f64>>
    %43 = stablehlo.log %42 : tensor<4xcomplex<f64>>
    %cst_7 = stablehlo.constant dense<(3.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %44 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<complex<f64>>) -> tensor<4xcomplex<f64>>
    %45 = stablehlo.add %0, %44 : tensor<4xcomplex<f64>>
    %46 = stablehlo.sqrt %45 : tensor<4xcomplex<f64>>
    %47 = stablehlo.multiply %43, %46 : tensor<4xcomplex<f64>>
    %48 = stablehlo.real %47 : (tensor<4xcomplex<f64>>) -> tensor<4xf64>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %49 = stablehlo.reduce(%48 init: %cst_8) applies stablehlo.add across dimensions = [0] : (tensor<4xf64>, tensor<f64>) -> tensor<f64>
    %50 = stablehlo.add %40, %49 : tensor<f64>
    return %50 : tensor<f64>
  }
}
