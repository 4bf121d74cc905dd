module @jit_qr_complex attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x3xf64>, %arg1: tensor<5x3xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg1 : (tensor<5x3xf64>) -> tensor<5x3xcomplex<f64>>
    %cst = stablehlo.constant dense<(0.000000e+00,1.000000e+00)> : tensor<complex<f64>>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f64>>) -> tensor<5x3xcomplex<f64>>
    %2 = stablehlo.multiply %1, %0 : tensor<5x3xcomplex<f64>>
    %3 = stablehlo.convert %arg0 : (tensor<5x3xf64>) -> tensor<5x3xcomplex<f64>>
    %4 = stablehlo.add %3, %2 : tensor<5x3xcomplex<f64>>
    %5:2 = call @qr(%4) : (tensor<5x3xcomplex<f64>>) -> (tensor<5x5xcomplex<f64>>, tensor<5x3xcomplex<f64>>)
    %6 = stablehlo.real %5#0 : (tensor<5x5xcomplex<f64>>) -> tensor<5x5xf64>
    %7 = stablehlo.sine %6 : tensor<5x5xf64>
    %8 = stablehlo.iota dim = 0 : tensor<25xi64>
    %9 = stablehlo.reshape %8 : (tensor<25xi64>) -> tensor<5x5xi64>
    %10 = stablehlo.convert %9 : (tensor<5x5xi64>) -> tensor<5x5xf64>
    %11 = stablehlo.multiply %7, %10 : tensor<5x5xf64>
    %12 = stablehlo.imag %5#0 : (tensor<5x5xcomplex<f64>>) -> tensor<5x5xf64>
    %13 = stablehlo.multiply %12, %12 : tensor<5x5xf64>
    %14 = stablehlo.multiply %13, %12 : tensor<5x5xf64>
    %15 = stablehlo.add %11, %14 : tensor<5x5xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %16 = stablehlo.reduce(%15 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<5x5xf64>, tensor<f64>) -> tensor<f64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %17 = stablehlo.add %cst_1, %16 : tensor<f64>
    %18 = stablehlo.real %5#1 : (tensor<5x3xcomplex<f64>>) -> tensor<5x3xf64>
    %19 = stablehlo.sine %18 : tensor<5x3xf64>
    %20 = stablehlo.iota dim = 0 : tensor<15xi64>
    %21 = stablehlo.reshape %20 : (tensor<15xi64>) -> tensor<5x3xi64>
    %22 = stablehlo.convert %21 : (tensor<5x3xi64>) -> tensor<5x3xf64>
    %23 = stablehlo.multiply %19, %22 : tensor<5x3xf64>
    %24 = stablehlo.imag %5#1 : (tensor<5x3xcomplex<f64>>) -> tensor<5x3xf64>
    %25 = stablehlo.multiply %24, %24 : tensor<5x3xf64>
    %26 = stablehlo.multiply %25, %24 : tensor<5x3xf64>
    %27 = stablehlo.add %23, %26 : tensor<5x3xf64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %28 = stablehlo.reduce(%27 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<5x3xf64>, tensor<f64>) -> tensor<f64>
    %29 = stablehlo.add %17, %28 : tensor<f64>
    %30:2 = call @_qr(%4) : (tensor<5x3xcomplex<f64>>) -> (tensor<5x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>)
    %31 = stablehlo.real %30#0 : (tensor<5x3xcomplex<f64>>) -> tensor<5x3xf64>
    %32 = stablehlo.sine %31 : tensor<5x3xf64>
    %33 = stablehlo.iota dim = 0 : tensor<15xi64>
    %34 = stablehlo.reshape %33 : (tensor<15xi64>) -> tensor<5x3xi64>
    %35 = stablehlo.convert %34 : (tensor<5x3xi64>) -> tensor<5x3xf64>
    %36 = stablehlo.multiply %32, %35 : tensor<5x3xf64>
    %37 = stablehlo.imag %30#0 : (tensor<5x3xcomplex<f64>>) -> tensor<5x3xf64>
    %38 = stablehlo.multiply %37, %37 : tensor<5x3xf64>
    %39 = stablehlo.multiply %38, %37 : tensor<5x3xf64>
    %40 = stablehlo.add %36, %39 : tensor<5x3xf64>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %41 = stablehlo.reduce(%40 init: %cst_3) applies stablehlo.add across dimensions = [0, 1] : (tensor<5x3xf64>, tensor<f64>) -> tensor<f64>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %42 = stablehlo.add %cst_4, %41 : tensor<f64>
    %43 = stablehlo.real %30#1 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %44 = stablehlo.sine %43 : tensor<3x3xf64>
    %45 = stablehlo.iota dim = 0 : tensor<9xi64>
    %46 = stablehlo.reshape %45 : (tensor<9xi64>) -> tensor<3x3xi64>
    %47 = stablehlo.convert %46 : (tensor<3x3xi64>) -> tensor<3x3xf64>
    %48 = stablehlo.multiply %44, %47 : tensor<3x3xf64>
    %49 = stablehlo.imag %30#1 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %50 = stablehlo.multiply %49, %49 : tensor<3x3xf64>
    %51 = stablehlo.multiply %50, %49 : tensor<3x3xf64>
    %52 = stablehlo.add %48, %51 : tensor<3x3xf64>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %53 = stablehlo.reduce(%52 init: %cst_5) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x3xf64>, tensor<f64>) -> tensor<f64>
    %54 = stablehlo.add %42, %53 : tensor<f64>
    %55 = stablehlo.add %29, %54 : tensor<f64>
    return %55 : tensor<f64>
  }
  func.func private @qr(%arg0: tensor<5x3xcomplex<f64>>) -> (tensor<5x5xcomplex<f64>>, tensor<5x3xcomplex<f64>>) {
    %0:2 = stablehlo.custom_call @lapack_zgeqrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m]) {i=5, j=3, k=5, l=3, m=3}, custom>} : (tensor<5x3xcomplex<f64>>) -> (tensor<5x3xcomplex<f64>>, tensor<3xcomplex<f64>>)
    %cst = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %1 = stablehlo.pad %0#0, %cst, low = [0, 0], high = [0, 2], interior = [0, 0] : (tensor<5x3xcomplex<f64>>, tensor<complex<f64>>) -> tensor<5x5xcomplex<f64>>
    %2 = stablehlo.custom_call @lapack_zungqr_ffi(%1, %0#1) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k])->([l, m]) {i=5, j=5, k=3, l=5, m=5}, custom>} : (tensor<5x5xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<5x5xcomplex<f64>>
    %3 = stablehlo.iota dim = 0 : tensor<5x3xi64>
    %c = stablehlo.constant dense<-1> : tensor<i64>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<5x3xi64>
    %5 = stablehlo.add %3, %4 : tensor<5x3xi64>
    %6 = stablehlo.iota dim = 1 : tensor<5x3xi64>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<5x3xi64>, tensor<5x3xi64>) -> tensor<5x3xi1>
    %cst_0 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f64>>) -> tensor<5x3xcomplex<f64>>
    %9 = stablehlo.select %7, %8, %0#0 : tensor<5x3xi1>, tensor<5x3xcomplex<f64>>
    return %2, %9 : tensor<5x5xcomplex<f64>>, tensor<5x3xcomplex<f64>>
  }
  func.func private @_qr(%arg0: tensor<5x3xcomplex<f64>>) -> (tensor<5x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %1:3 = stablehlo.custom_call @lapack_zgeqp3_ffi(%arg0, %0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>, #stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k])->([l, m], [n], [o]) {i=5, j=3, k=3, l=5, m=3, n=3, o=3}, custom>} : (tensor<5x3xcomplex<f64>>, tensor<3xi32>) -> (tensor<5x3xcomplex<f64>>, tensor<3xi32>, tensor<3xcomplex<f64>>)
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %3 = stablehlo.subtract %1#1, %2 : tensor<3xi32>
    %4 = stablehlo.custom_call @lapack_zungqr_ffi(%1#0, %1#2) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k])->([l, m]) {i=5, j=3, k=3, l=5, m=3}, custom>} : (tensor<5x3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<5x3xcomplex<f64>>
    %5 = stablehlo.slice %1#0 [0:3, 0:3] : (tensor<5x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %6 = stablehlo.iota dim = 0 : tensor<3x3xi64>
    %c_1 = stablehlo.constant dense<-1> : tensor<i64>
    %7 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i64>) -> tensor<3x3xi64>
    %8 = stablehlo.add %6, %7 : tensor<3x3xi64>
    %9 = stablehlo.iota dim = 1 : tensor<3x3xi64>
    %10 = stablehlo.compare GE, %8, %9, SIGNED : (tensor<3x3xi64>, tensor<3x3xi64>) -> tensor<3x3xi1>
    %cst = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %11 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f64>>) -> tensor<3x3xcomplex<f64>>
    %12 = stablehlo.select %10, %11, %5 : tensor<3x3xi1>, tensor<3x3xcomplex<f64>>
    return %4, %12 : tensor<5x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>
  }
}
