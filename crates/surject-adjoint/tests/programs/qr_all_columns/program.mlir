module @jit_qr_all_columns attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x5x3xf64>, %arg1: tensor<4x4xf64>, %arg2: tensor<3x5xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0:2 = call @qr(%arg0) : (tensor<2x5x3xf64>) -> (tensor<2x5x5xf64>, tensor<2x5x3xf64>)
    %1 = stablehlo.sine %0#0 : tensor<2x5x5xf64>
    %2 = stablehlo.iota dim = 0 : tensor<50xi64>
    %3 = stablehlo.reshape %2 : (tensor<50xi64>) -> tensor<2x5x5xi64>
    %4 = stablehlo.convert %3 : (tensor<2x5x5xi64>) -> tensor<2x5x5xf64>
    %5 = stablehlo.multiply %1, %4 : tensor<2x5x5xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %6 = stablehlo.reduce(%5 init: %cst) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x5x5xf64>, tensor<f64>) -> tensor<f64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.add %cst_0, %6 : tensor<f64>
    %8 = stablehlo.sine %0#1 : tensor<2x5x3xf64>
    %9 = stablehlo.iota dim = 0 : tensor<30xi64>
    %10 = stablehlo.reshape %9 : (tensor<30xi64>) -> tensor<2x5x3xi64>
    %11 = stablehlo.convert %10 : (tensor<2x5x3xi64>) -> tensor<2x5x3xf64>
    %12 = stablehlo.multiply %8, %11 : tensor<2x5x3xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %13 = stablehlo.reduce(%12 init: %cst_1) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x5x3xf64>, tensor<f64>) -> tensor<f64>
    %14 = stablehlo.add %7, %13 : tensor<f64>
    %15:2 = call @qr_0(%arg1) : (tensor<4x4xf64>) -> (tensor<4x4xf64>, tensor<4x4xf64>)
    %16 = stablehlo.sine %15#0 : tensor<4x4xf64>
    %17 = stablehlo.iota dim = 0 : tensor<16xi64>
    %18 = stablehlo.reshape %17 : (tensor<16xi64>) -> tensor<4x4xi64>
    %19 = stablehlo.convert %18 : (tensor<4x4xi64>) -> tensor<4x4xf64>
    %20 = stablehlo.multiply %16, %19 : tensor<4x4xf64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %21 = stablehlo.reduce(%20 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x4xf64>, tensor<f64>) -> tensor<f64>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %22 = stablehlo.add %cst_3, %21 : tensor<f64>
    %23 = stablehlo.sine %15#1 : tensor<4x4xf64>
    %24 = stablehlo.iota dim = 0 : tensor<16xi64>
    %25 = stablehlo.reshape %24 : (tensor<16xi64>) -> tensor<4x4xi64>
    %26 = stablehlo.convert %25 : (tensor<4x4xi64>) -> tensor<4x4xf64>
    %27 = stablehlo.multiply %23, %26 : tensor<4x4xf64>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %28 = stablehlo.reduce(%27 init: %cst_4) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x4xf64>, tensor<f64>) -> tensor<f64>
    %29 = stablehlo.add %22, %28 : tensor<f64>
    %30 = stablehlo.add %14, %29 : tensor<f64>
    %31:2 = call @qr_1(%arg2) : (tensor<3x5xf64>) -> (tensor<3x3xf64>, tensor<3x5xf64>)
    %32 = stablehlo.sine %31#0 : tensor<3x3xf64>
    %33 = stablehlo.iota dim = 0 : tensor<9xi64>
    %34 = stablehlo.reshape %33 : (tensor<9xi64>) -> tensor<3x3xi64>
    %35 = stablehlo.convert %34 : (tensor<3x3xi64>) -> tensor<3x3xf64>
    %36 = stablehlo.multiply %32, %35 : tensor<3x3xf64>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %37 = stablehlo.reduce(%36 init: %cst_5) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x3xf64>, tensor<f64>) -> tensor<f64>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %38 = stablehlo.add %cst_6, %37 : tensor<f64>
    %39 = stablehlo.sine %31#1 : tensor<3x5xf64>
    %40 = stablehlo.iota dim = 0 : tensor<15xi64>
    %41 = stablehlo.reshape %40 : (tensor<15xi64>) -> tensor<3x5xi64>
    %42 = stablehlo.convert %41 : (tensor<3x5xi64>) -> tensor<3x5xf64>
    %43 = stablehlo.multiply %39, %42 : tensor<3x5xf64>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %44 = stablehlo.reduce(%43 init: %cst_7) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x5xf64>, tensor<f64>) -> tensor<f64>
    %45 = stablehlo.add %38, %44 : tensor<f64>
    %46 = stablehlo.add %30, %45 : tensor<f64>
    return %46 : tensor<f64>
  }
  func.func private @qr(%arg0: tensor<2x5x3xf64>) -> (tensor<2x5x5xf64>, tensor<2x5x3xf64>) {
    %0:2 = stablehlo.custom_call @lapack_dgeqrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n]) {i=2, j=5, k=3, l=5, m=3, n=3}, custom>} : (tensor<2x5x3xf64>) -> (tensor<2x5x3xf64>, tensor<2x3xf64>)
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %1 = stablehlo.pad %0#0, %cst, low = [0, 0, 0], high = [0, 0, 2], interior = [0, 0, 0] : (tensor<2x5x3xf64>, tensor<f64>) -> tensor<2x5x5xf64>
    %2 = stablehlo.custom_call @lapack_dorgqr_ffi(%1, %0#1) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l])->([i, m, n]) {i=2, j=5, k=5, l=3, m=5, n=5}, custom>} : (tensor<2x5x5xf64>, tensor<2x3xf64>) -> tensor<2x5x5xf64>
    %3 = stablehlo.iota dim = 0 : tensor<5x3xi64>
    %c = stablehlo.constant dense<-1> : tensor<i64>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<5x3xi64>
    %5 = stablehlo.add %3, %4 : tensor<5x3xi64>
    %6 = stablehlo.iota dim = 1 : tensor<5x3xi64>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<5x3xi64>, tensor<5x3xi64>) -> tensor<5x3xi1>
    %8 = stablehlo.broadcast_in_dim %7, dims = [1, 2] : (tensor<5x3xi1>) -> tensor<2x5x3xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %9 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<2x5x3xf64>
    %10 = stablehlo.select %8, %9, %0#0 : tensor<2x5x3xi1>, tensor<2x5x3xf64>
    return %2, %10 : tensor<2x5x5xf64>, tensor<2x5x3xf64>
  }
  func.func private @qr_0(%arg0: tensor<4x4xf64>) -> (tensor<4x4xf64>, tensor<4x4xf64>) {
    %0:2 = stablehlo.custom_call @lapack_dgeqrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m]) {i=4, j=4, k=4, l=4, m=4}, custom>} : (tensor<4x4xf64>) -> (tensor<4x4xf64>, tensor<4xf64>)
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %1 = stablehlo.pad %0#0, %cst, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<4x4xf64>, tensor<f64>) -> tensor<4x4xf64>
    %2 = stablehlo.custom_call @lapack_dorgqr_ffi(%1, %0#1) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k])->([l, m]) {i=4, j=4, k=4, l=4, m=4}, custom>} : (tensor<4x4xf64>, tensor<4xf64>) -> tensor<4x4xf64>
    %3 = stablehlo.iota dim = 0 : tensor<4x4xi64>
    %c = stablehlo.constant dense<-1> : tensor<i64>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<4x4xi64>
    %5 = stablehlo.add %3, %4 : tensor<4x4xi64>
    %6 = stablehlo.iota dim = 1 : tensor<4x4xi64>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<4x4xi64>, tensor<4x4xi64>) -> tensor<4x4xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<4x4xf64>
    %9 = stablehlo.select %7, %8, %0#0 : tensor<4x4xi1>, tensor<4x4xf64>
    return %2, %9 : tensor<4x4xf64>, tensor<4x4xf64>
  }
  func.func private @qr_1(%arg0: tensor<3x5xf64>) -> (tensor<3x3xf64>, tensor<3x5xf64>) {
    %0:2 = stablehlo.custom_call @lapack_dgeqrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m]) {i=3, j=5, k=3, l=5, m=3}, custom>} : (tensor<3x5xf64>) -> (tensor<3x5xf64>, tensor<3xf64>)
    %1 = stablehlo.slice %0#0 [0:3, 0:3] : (tensor<3x5xf64>) -> tensor<3x3xf64>
    %2 = stablehlo.custom_call @lapack_dorgqr_ffi(%1, %0#1) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k])->([l, m]) {i=3, j=3, k=3, l=3, m=3}, custom>} : (tensor<3x3xf64>, tensor<3xf64>) -> tensor<3x3xf64>
    %3 = stablehlo.iota dim = 0 : tensor<3x5xi64>
    %c = stablehlo.constant dense<-1> : tensor<i64>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<3x5xi64>
    %5 = stablehlo.add %3, %4 : tensor<3x5xi64>
    %6 = stablehlo.iota dim = 1 : tensor<3x5xi64>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<3x5xi64>, tensor<3x5xi64>) -> tensor<3x5xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %8 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3x5xf64>
    %9 = stablehlo.select %7, %8, %0#0 : tensor<3x5xi1>, tensor<3x5xf64>
    return %2, %9 : tensor<3x3xf64>, tensor<3x5xf64>
  }
}
