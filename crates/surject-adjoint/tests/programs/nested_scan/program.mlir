module @jit_nested_scan attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x4xf64>, %arg1: tensor<4xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3x4xf64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1:4 = stablehlo.while(%iterArg = %arg0, %iterArg_2 = %c, %iterArg_3 = %arg1, %iterArg_4 = %0) : tensor<3x4xf64>, tensor<i64>, tensor<4xf64>, tensor<3x4xf64>
    cond {
      %c_5 = stablehlo.constant dense<3> : tensor<i64>
      %7 = stablehlo.compare LT, %iterArg_2, %c_5, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %7 : tensor<i1>
    } do {
      %7 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_2) : (tensor<3x4xf64>, tensor<i64>) -> tensor<4xf64>
      %8:2 = func.call @closed_call(%iterArg_3, %7) : (tensor<4xf64>, tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>)
      %9 = func.call @dynamic_update_index_in_dim(%iterArg_4, %8#1, %iterArg_2) : (tensor<3x4xf64>, tensor<4xf64>, tensor<i64>) -> tensor<3x4xf64>
      %c_5 = stablehlo.constant dense<1> : tensor<i64>
      %10 = stablehlo.add %iterArg_2, %c_5 : tensor<i64>
      stablehlo.return %iterArg, %10, %8#0, %9 : tensor<3x4xf64>, tensor<i64>, tensor<4xf64>, tensor<3x4xf64>
    }
    %2 = stablehlo.multiply %1#2, %1#2 : tensor<4xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %3 = stablehlo.reduce(%2 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<4xf64>, tensor<f64>) -> tensor<f64>
    %4 = stablehlo.cosine %1#3 : tensor<3x4xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %5 = stablehlo.reduce(%4 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x4xf64>, tensor<f64>) -> tensor<f64>
    %6 = stablehlo.add %3, %5 : tensor<f64>
    return %6 : tensor<f64>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<3x4xf64>, %arg1: tensor<i64>) -> tensor<4xf64> {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 4] : (tensor<3x4xf64>, tensor<i64>, tensor<i64>) -> tensor<1x4xf64>
    %1 = stablehlo.reshape %0 : (tensor<1x4xf64>) -> tensor<4xf64>
    return %1 : tensor<4xf64>
  }
  func.func private @closed_call(%arg0: tensor<4xf64>, %arg1: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<4xf64>
    %1 = stablehlo.iota dim = 0 : tensor<3xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3x4xf64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %3:4 = stablehlo.while(%iterArg = %1, %iterArg_1 = %c, %iterArg_2 = %0, %iterArg_3 = %2) : tensor<3xf64>, tensor<i64>, tensor<4xf64>, tensor<3x4xf64>
    cond {
      %c_4 = stablehlo.constant dense<3> : tensor<i64>
      %5 = stablehlo.compare LT, %iterArg_1, %c_4, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    } do {
      %5 = func.call @dynamic_index_in_dim_0(%iterArg, %iterArg_1) : (tensor<3xf64>, tensor<i64>) -> tensor<f64>
      %6:2 = func.call @closed_call_1(%iterArg_2, %5) : (tensor<4xf64>, tensor<f64>) -> (tensor<4xf64>, tensor<4xf64>)
      %7 = func.call @dynamic_update_index_in_dim(%iterArg_3, %6#1, %iterArg_1) : (tensor<3x4xf64>, tensor<4xf64>, tensor<i64>) -> tensor<3x4xf64>
      %c_4 = stablehlo.constant dense<1> : tensor<i64>
      %8 = stablehlo.add %iterArg_1, %c_4 : tensor<i64>
      stablehlo.return %iterArg, %8, %6#0, %7 : tensor<3xf64>, tensor<i64>, tensor<4xf64>, tensor<3x4xf64>
    }
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %4 = stablehlo.reduce(%3#3 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<3x4xf64>, tensor<f64>) -> tensor<4xf64>
    return %3#2, %4 : tensor<4xf64>, tensor<4xf64>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<3xf64>, %arg1: tensor<i64>) -> tensor<f64> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<3xf64>, tensor<i64>) -> tensor<1xf64>
    %1 = stablehlo.reshape %0 : (tensor<1xf64>) -> tensor<f64>
    return %1 : tensor<f64>
  }
  func.func private @closed_call_1(%arg0: tensor<4xf64>, %arg1: tensor<f64>) -> (tensor<4xf64>, tensor<4xf64>) {
    %cst = stablehlo.constant dense<9.000000e-01> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<4xf64>
    %1 = stablehlo.multiply %arg0, %0 : tensor<4xf64>
    %2 = stablehlo.sine %arg0 : tensor<4xf64>
    %3 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f64>) -> tensor<4xf64>
    %4 = stablehlo.multiply %2, %3 : tensor<4xf64>
    %5 = stablehlo.add %1, %4 : tensor<4xf64>
    return %5, %arg0 : tensor<4xf64>, tensor<4xf64>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<3x4xf64>, %arg1: tensor<4xf64>, %arg2: tensor<i64>) -> tensor<3x4xf64> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<4xf64>) -> tensor<1x4xf64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<3x4xf64>, tensor<1x4xf64>, tensor<i64>, tensor<i64>) -> tensor<3x4xf64>
    return %1 : tensor<3x4xf64>
  }
}
