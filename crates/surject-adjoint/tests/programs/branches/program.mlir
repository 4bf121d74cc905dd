module @jit_branches attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf64>, %arg1: tensor<i32>, %arg2: tensor<3xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %0 = stablehlo.clamp %c, %arg1, %c_0 : tensor<i32>
    %1 = "stablehlo.case"(%0) ({
      %6 = stablehlo.multiply %arg0, %arg2 : tensor<3xf64>
      stablehlo.return %6 : tensor<3xf64>
    }, {
      %6 = stablehlo.sine %arg0 : tensor<3xf64>
      %7 = stablehlo.multiply %arg2, %arg2 : tensor<3xf64>
      %8 = stablehlo.add %6, %7 : tensor<3xf64>
      stablehlo.return %8 : tensor<3xf64>
    }, {
      stablehlo.return %arg0 : tensor<3xf64>
    }) : (tensor<i32>) -> tensor<3xf64>
    %c_1 = stablehlo.constant dense<5> : tensor<i32>
    %2 = stablehlo.compare GT, %arg1, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.convert %2 : (tensor<i1>) -> tensor<i32>
    %4 = "stablehlo.case"(%3) ({
      %6 = stablehlo.multiply %1, %arg2 : tensor<3xf64>
      stablehlo.return %6 : tensor<3xf64>
    }, {
      stablehlo.return %1 : tensor<3xf64>
    }) : (tensor<i32>) -> tensor<3xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %5 = stablehlo.reduce(%4 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
    return %5 : tensor<f64>
  }
}
