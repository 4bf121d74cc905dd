module @jit_special_functions attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.abs %arg0 : tensor<5xf64>
    %cst = stablehlo.constant dense<3.000000e-01> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<5xf64>
    %2 = stablehlo.add %0, %1 : tensor<5xf64>
    %3 = chlo.lgamma %2 : tensor<5xf64> -> tensor<5xf64>
    %4 = chlo.digamma %2 : tensor<5xf64> -> tensor<5xf64>
    %5 = stablehlo.add %3, %4 : tensor<5xf64>
    %6 = chlo.erf %arg0 : tensor<5xf64> -> tensor<5xf64>
    %7 = stablehlo.add %5, %6 : tensor<5xf64>
    %8 = chlo.erfc %arg0 : tensor<5xf64> -> tensor<5xf64>
    %9 = stablehlo.add %7, %8 : tensor<5xf64>
    %cst_0 = stablehlo.constant dense<5.000000e-01> : tensor<f64>
    %10 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<5xf64>
    %11 = stablehlo.multiply %arg0, %10 : tensor<5xf64>
    %12 = chlo.erf_inv %11 : tensor<5xf64> -> tensor<5xf64>
    %13 = stablehlo.add %9, %12 : tensor<5xf64>
    %cst_1 = stablehlo.constant dense<3.000000e-01> : tensor<f64>
    %14 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<5xf64>
    %15 = stablehlo.multiply %arg0, %14 : tensor<5xf64>
    %16 = chlo.asin %15 : tensor<5xf64> -> tensor<5xf64>
    %17 = stablehlo.add %13, %16 : tensor<5xf64>
    %cst_2 = stablehlo.constant dense<3.000000e-01> : tensor<f64>
    %18 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f64>) -> tensor<5xf64>
    %19 = stablehlo.multiply %arg0, %18 : tensor<5xf64>
    %20 = chlo.acos %19 : tensor<5xf64> -> tensor<5xf64>
    %21 = stablehlo.add %17, %20 : tensor<5xf64>
    %22 = chlo.atan %arg0 : tensor<5xf64> -> tensor<5xf64>
    %23 = stablehlo.add %21, %22 : tensor<5xf64>
    %24 = chlo.asinh %arg0 : tensor<5xf64> -> tensor<5xf64>
    %25 = stablehlo.add %23, %24 : tensor<5xf64>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %26 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f64>) -> tensor<5xf64>
    %27 = stablehlo.add %2, %26 : tensor<5xf64>
    %28 = call @arccosh(%27) : (tensor<5xf64>) -> tensor<5xf64>
    %29 = stablehlo.add %25, %28 : tensor<5xf64>
    %cst_4 = stablehlo.constant dense<3.000000e-01> : tensor<f64>
    %30 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f64>) -> tensor<5xf64>
    %31 = stablehlo.multiply %arg0, %30 : tensor<5xf64>
    %32 = chlo.atanh %31 : tensor<5xf64> -> tensor<5xf64>
    %33 = stablehlo.add %29, %32 : tensor<5xf64>
    %34 = chlo.sinh %arg0 : tensor<5xf64> -> tensor<5xf64>
    %35 = stablehlo.add %33, %34 : tensor<5xf64>
    %36 = chlo.cosh %arg0 : tensor<5xf64> -> tensor<5xf64>
    %37 = stablehlo.add %35, %36 : tensor<5xf64>
    %cst_5 = stablehlo.constant dense<5.000000e-01> : tensor<f64>
    %38 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f64>) -> tensor<5xf64>
    %39 = stablehlo.multiply %arg0, %38 : tensor<5xf64>
    %40 = stablehlo.tan %39 : tensor<5xf64>
    %41 = stablehlo.add %37, %40 : tensor<5xf64>
    %42 = stablehlo.negate %arg0 : tensor<5xf64>
    %43 = stablehlo.exponential %42 : tensor<5xf64>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %44 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f64>) -> tensor<5xf64>
    %45 = stablehlo.add %44, %43 : tensor<5xf64>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %46 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f64>) -> tensor<5xf64>
    %47 = stablehlo.divide %46, %45 : tensor<5xf64>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %48 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f64>) -> tensor<5xf64>
    %49 = stablehlo.subtract %48, %47 : tensor<5xf64>
    %50 = stablehlo.divide %47, %49 : tensor<5xf64>
    %51 = stablehlo.log %50 : tensor<5xf64>
    %52 = stablehlo.add %41, %51 : tensor<5xf64>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %53 = stablehlo.reduce(%52 init: %cst_9) applies stablehlo.add across dimensions = [0] : (tensor<5xf64>, tensor<f64>) -> tensor<f64>
    return %53 : tensor<f64>
  }
  func.func private @arccosh(%arg0: tensor<5xf64>) -> tensor<5xf64> {
    %0 = chlo.acosh %arg0 : tensor<5xf64> -> tensor<5xf64>
    return %0 : tensor<5xf64>
  }
}
