module @jit_scan_rnn attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<7x3xf64>, %arg1: tensor<4xf64>, %arg2: tensor<3x4xf64>, %arg3: tensor<4x4xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<7xf64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1:6 = stablehlo.while(%iterArg = %arg0, %iterArg_2 = %arg2, %iterArg_3 = %arg3, %iterArg_4 = %c, %iterArg_5 = %arg1, %iterArg_6 = %0) : tensor<7x3xf64>, tensor<3x4xf64>, tensor<4x4xf64>, tensor<i64>, tensor<4xf64>, tensor<7xf64>
    cond {
      %c_7 = stablehlo.constant dense<7> : tensor<i64>
      %6 = stablehlo.compare LT, %iterArg_4, %c_7, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %6 : tensor<i1>
    } do {
      %6 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_4) : (tensor<7x3xf64>, tensor<i64>) -> tensor<3xf64>
      %7:2 = func.call @closed_call(%iterArg_2, %iterArg_3, %iterArg_5, %6) : (tensor<3x4xf64>, tensor<4x4xf64>, tensor<4xf64>, tensor<3xf64>) -> (tensor<4xf64>, tensor<f64>)
      %8 = func.call @dynamic_update_index_in_dim(%iterArg_6, %7#1, %iterArg_4) : (tensor<7xf64>, tensor<f64>, tensor<i64>) -> tensor<7xf64>
      %c_7 = stablehlo.constant dense<1> : tensor<i64>
      %9 = stablehlo.add %iterArg_4, %c_7 : tensor<i64>
      stablehlo.return %iterArg, %iterArg_2, %iterArg_3, %9, %7#0, %8 : tensor<7x3xf64>, tensor<3x4xf64>, tensor<4x4xf64>, tensor<i64>, tensor<4xf64>, tensor<7xf64>
    }
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %2 = stablehlo.reduce(%1#4 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<4xf64>, tensor<f64>) -> tensor<f64>
    %3 = stablehlo.multiply %1#5, %1#5 : tensor<7xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %4 = stablehlo.reduce(%3 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<7xf64>, tensor<f64>) -> tensor<f64>
    %5 = stablehlo.add %2, %4 : tensor<f64>
    return %5 : tensor<f64>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<7x3xf64>, %arg1: tensor<i64>) -> tensor<3xf64> {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 3] : (tensor<7x3xf64>, tensor<i64>, tensor<i64>) -> tensor<1x3xf64>
    %1 = stablehlo.reshape %0 : (tensor<1x3xf64>) -> tensor<3xf64>
    return %1 : tensor<3xf64>
  }
  func.func private @closed_call(%arg0: tensor<3x4xf64>, %arg1: tensor<4x4xf64>, %arg2: tensor<4xf64>, %arg3: tensor<3xf64>) -> (tensor<4xf64>, tensor<f64>) {
    %0 = stablehlo.dot_general %arg3, %arg0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3xf64>, tensor<3x4xf64>) -> tensor<4xf64>
    %1 = stablehlo.dot_general %arg2, %arg1, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4xf64>, tensor<4x4xf64>) -> tensor<4xf64>
    %2 = stablehlo.add %0, %1 : tensor<4xf64>
    %3 = stablehlo.tanh %2 : tensor<4xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<4xf64>, tensor<f64>) -> tensor<f64>
    return %3, %4 : tensor<4xf64>, tensor<f64>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<7xf64>, %arg1: tensor<f64>, %arg2: tensor<i64>) -> tensor<7xf64> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f64>) -> tensor<1xf64>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2 : (tensor<7xf64>, tensor<1xf64>, tensor<i64>) -> tensor<7xf64>
    return %1 : tensor<7xf64>
  }
}
