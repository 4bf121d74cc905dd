module @jit_qr_pivoted_wide attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x5xf64>, %arg1: tensor<2x7xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0:2 = call @_qr(%arg0) : (tensor<3x5xf64>) -> (tensor<3x3xf64>, tensor<3x5xf64>)
    %1 = stablehlo.sine %0#0 : tensor<3x3xf64>
    %2 = stablehlo.iota dim = 0 : tensor<9xi64>
    %3 = stablehlo.reshape %2 : (tensor<9xi64>) -> tensor<3x3xi64>
    %4 = stablehlo.convert %3 : (tensor<3x3xi64>) -> tensor<3x3xf64>
    %5 = stablehlo.multiply %1, %4 : tensor<3x3xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %6 = stablehlo.reduce(%5 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x3xf64>, tensor<f64>) -> tensor<f64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.add %cst_0, %6 : tensor<f64>
    %8 = stablehlo.sine %0#1 : tensor<3x5xf64>
    %9 = stablehlo.iota dim = 0 : tensor<15xi64>
    %10 = stablehlo.reshape %9 : (tensor<15xi64>) -> tensor<3x5xi64>
    %11 = stablehlo.convert %10 : (tensor<3x5xi64>) -> tensor<3x5xf64>
    %12 = stablehlo.multiply %8, %11 : tensor<3x5xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %13 = stablehlo.reduce(%12 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x5xf64>, tensor<f64>) -> tensor<f64>
    %14 = stablehlo.add %7, %13 : tensor<f64>
    %15:2 = call @_qr_0(%arg1) : (tensor<2x7xf64>) -> (tensor<2x2xf64>, tensor<2x7xf64>)
    %16 = stablehlo.sine %15#0 : tensor<2x2xf64>
    %17 = stablehlo.iota dim = 0 : tensor<4xi64>
    %18 = stablehlo.reshape %17 : (tensor<4xi64>) -> tensor<2x2xi64>
    %19 = stablehlo.convert %18 : (tensor<2x2xi64>) -> tensor<2x2xf64>
    %20 = stablehlo.multiply %16, %19 : tensor<2x2xf64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %21 = stablehlo.reduce(%20 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x2xf64>, tensor<f64>) -> tensor<f64>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %22 = stablehlo.add %cst_3, %21 : tensor<f64>
    %23 = stablehlo.sine %15#1 : tensor<2x7xf64>
    %24 = stablehlo.iota dim = 0 : tensor<14xi64>
    %25 = stablehlo.reshape %24 : (tensor<14xi64>) -> tensor<2x7xi64>
    %26 = stablehlo.convert %25 : (tensor<2x7xi64>) -> tensor<2x7xf64>
    %27 = stablehlo.multiply %23, %26 : tensor<2x7xf64>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %28 = stablehlo.reduce(%27 init: %cst_4) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x7xf64>, tensor<f64>) -> tensor<f64>
    %29 = stablehlo.add %22, %28 : tensor<f64>
    %30 = stablehlo.add %14, %29 : tensor<f64>
    return %30 : tensor<f64>
  }
  func.func private @_qr(%arg0: tensor<3x5xf64>) -> (tensor<3x3xf64>, tensor<3x5xf64>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %1:3 = stablehlo.custom_call @lapack_dgeqp3_ffi(%arg0, %0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>, #stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k])->([l, m], [n], [o]) {i=3, j=5, k=5, l=3, m=5, n=5, o=3}, custom>} : (tensor<3x5xf64>, tensor<5xi32>) -> (tensor<3x5xf64>, tensor<5xi32>, tensor<3xf64>)
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %3 = stablehlo.subtract %1#1, %2 : tensor<5xi32>
    %4 = stablehlo.slice %1#0 [0:3, 0:3] : (tensor<3x5xf64>) -> tensor<3x3xf64>
    %5 = stablehlo.custom_call @lapack_dorgqr_ffi(%4, %1#2) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k])->([l, m]) {i=3, j=3, k=3, l=3, m=3}, custom>} : (tensor<3x3xf64>, tensor<3xf64>) -> tensor<3x3xf64>
    %6 = stablehlo.iota dim = 0 : tensor<3x5xi64>
    %c_1 = stablehlo.constant dense<-1> : tensor<i64>
    %7 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i64>) -> tensor<3x5xi64>
    %8 = stablehlo.add %6, %7 : tensor<3x5xi64>
    %9 = stablehlo.iota dim = 1 : tensor<3x5xi64>
    %10 = stablehlo.compare GE, %8, %9, SIGNED : (tensor<3x5xi64>, tensor<3x5xi64>) -> tensor<3x5xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %11 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3x5xf64>
    %12 = stablehlo.select %10, %11, %1#0 : tensor<3x5xi1>, tensor<3x5xf64>
    return %5, %12 : tensor<3x3xf64>, tensor<3x5xf64>
  }
  func.func private @_qr_0(%arg0: tensor<2x7xf64>) -> (tensor<2x2xf64>, tensor<2x7xf64>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<7xi32>
    %1:3 = stablehlo.custom_call @lapack_dgeqp3_ffi(%arg0, %0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>, #stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k])->([l, m], [n], [o]) {i=2, j=7, k=7, l=2, m=7, n=7, o=2}, custom>} : (tensor<2x7xf64>, tensor<7xi32>) -> (tensor<2x7xf64>, tensor<7xi32>, tensor<2xf64>)
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<7xi32>
    %3 = stablehlo.subtract %1#1, %2 : tensor<7xi32>
    %4 = stablehlo.slice %1#0 [0:2, 0:2] : (tensor<2x7xf64>) -> tensor<2x2xf64>
    %5 = stablehlo.custom_call @lapack_dorgqr_ffi(%4, %1#2) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k])->([l, m]) {i=2, j=2, k=2, l=2, m=2}, custom>} : (tensor<2x2xf64>, tensor<2xf64>) -> tensor<2x2xf64>
    %6 = stablehlo.iota dim = 0 : tensor<2x7xi64>
    %c_1 = stablehlo.constant dense<-1> : tensor<i64>
    %7 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i64>) -> tensor<2x7xi64>
    %8 = stablehlo.add %6, %7 : tensor<2x7xi64>
    %9 = stablehlo.iota dim = 1 : tensor<2x7xi64>
    %10 = stablehlo.compare GE, %8, %9, SIGNED : (tensor<2x7xi64>, tensor<2x7xi64>) -> tensor<2x7xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %11 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<2x7xf64>
    %12 = stablehlo.select %10, %11, %1#0 : tensor<2x7xi1>, tensor<2x7xf64>
    return %5, %12 : tensor<2x2xf64>, tensor<2x7xf64>
  }
}
