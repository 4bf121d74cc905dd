module @jit_complex_lu attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x3xf64>, %arg1: tensor<3x3xf64>, %arg2: tensor<3x2xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.complex %arg0, %arg1 : tensor<3x3xcomplex<f64>>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3x2xf64>
    %2 = stablehlo.multiply %arg2, %1 : tensor<3x2xf64>
    %3 = stablehlo.complex %arg2, %2 : tensor<3x2xcomplex<f64>>
    %4 = call @solve(%0, %3) : (tensor<3x3xcomplex<f64>>, tensor<3x2xcomplex<f64>>) -> tensor<3x2xcomplex<f64>>
    %5 = stablehlo.abs %4 : (tensor<3x2xcomplex<f64>>) -> tensor<3x2xf64>
    %6 = stablehlo.multiply %5, %5 : tensor<3x2xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x2xf64>, tensor<f64>) -> tensor<f64>
    %8 = call @det(%0) : (tensor<3x3xcomplex<f64>>) -> tensor<complex<f64>>
    %9 = stablehlo.abs %8 : (tensor<complex<f64>>) -> tensor<f64>
    %10 = stablehlo.multiply %9, %9 : tensor<f64>
    %11 = stablehlo.add %7, %10 : tensor<f64>
    return %11 : tensor<f64>
  }
  func.func private @solve(%arg0: tensor<3x3xcomplex<f64>>, %arg1: tensor<3x2xcomplex<f64>>) -> tensor<3x2xcomplex<f64>> {
    %0:3 = stablehlo.custom_call @lapack_zgetrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], []) {i=3, j=3, k=3, l=3, m=3}, custom>} : (tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>>, tensor<3xi32>, tensor<i32>)
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %2 = stablehlo.subtract %0#1, %1 : tensor<3xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<i32>
    %4 = stablehlo.compare GE, %0#2, %3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f64>>) -> tensor<3x3xcomplex<f64>>
    %7 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<3x3xi1>
    %8 = stablehlo.select %7, %0#0, %6 : tensor<3x3xi1>, tensor<3x3xcomplex<f64>>
    %9 = stablehlo.iota dim = 0 : tensor<3xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %10:4 = stablehlo.while(%iterArg = %2, %iterArg_3 = %c_2, %iterArg_4 = %c_1, %iterArg_5 = %9) : tensor<3xi32>, tensor<i64>, tensor<i64>, tensor<3xi32>
    cond {
      %c_6 = stablehlo.constant dense<3> : tensor<i64>
      %14 = stablehlo.compare LT, %iterArg_3, %c_6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %14 : tensor<i1>
    } do {
      %14:2 = func.call @closed_call(%iterArg, %iterArg_4, %iterArg_5) : (tensor<3xi32>, tensor<i64>, tensor<3xi32>) -> (tensor<i64>, tensor<3xi32>)
      %c_6 = stablehlo.constant dense<1> : tensor<i64>
      %15 = stablehlo.add %iterArg_3, %c_6 : tensor<i64>
      stablehlo.return %iterArg, %15, %14#0, %14#1 : tensor<3xi32>, tensor<i64>, tensor<i64>, tensor<3xi32>
    }
    %11 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<3x2xcomplex<f64>>) -> tensor<2x3xcomplex<f64>>
    %12 = call @_lu_solve(%8, %10#3, %11) : (tensor<3x3xcomplex<f64>>, tensor<3xi32>, tensor<2x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>>
    %13 = stablehlo.transpose %12, dims = [1, 0] : (tensor<2x3xcomplex<f64>>) -> tensor<3x2xcomplex<f64>>
    return %13 : tensor<3x2xcomplex<f64>>
  }
  func.func private @closed_call(%arg0: tensor<3xi32>, %arg1: tensor<i64>, %arg2: tensor<3xi32>) -> (tensor<i64>, tensor<3xi32>) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.add %arg1, %c : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.compare LT, %arg1, %c_0, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %2 = stablehlo.convert %arg1 : tensor<i64>
    %c_1 = stablehlo.constant dense<3> : tensor<i64>
    %3 = stablehlo.add %2, %c_1 : tensor<i64>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<i1>, tensor<i64>
    %5 = stablehlo.dynamic_slice %arg0, %4, sizes = [1] : (tensor<3xi32>, tensor<i64>) -> tensor<1xi32>
    %6 = stablehlo.reshape %5 : (tensor<1xi32>) -> tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %7 = stablehlo.compare LT, %arg1, %c_2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %8 = stablehlo.convert %arg1 : tensor<i64>
    %c_3 = stablehlo.constant dense<3> : tensor<i64>
    %9 = stablehlo.add %8, %c_3 : tensor<i64>
    %10 = stablehlo.select %7, %9, %arg1 : tensor<i1>, tensor<i64>
    %11 = stablehlo.dynamic_slice %arg2, %10, sizes = [1] : (tensor<3xi32>, tensor<i64>) -> tensor<1xi32>
    %12 = stablehlo.reshape %11 : (tensor<1xi32>) -> tensor<i32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %13 = stablehlo.compare LT, %6, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_5 = stablehlo.constant dense<3> : tensor<i32>
    %14 = stablehlo.add %6, %c_5 : tensor<i32>
    %15 = stablehlo.select %13, %14, %6 : tensor<i1>, tensor<i32>
    %16 = stablehlo.dynamic_slice %arg2, %15, sizes = [1] : (tensor<3xi32>, tensor<i32>) -> tensor<1xi32>
    %17 = stablehlo.reshape %16 : (tensor<1xi32>) -> tensor<i32>
    %c_6 = stablehlo.constant dense<0> : tensor<i64>
    %18 = stablehlo.compare LT, %arg1, %c_6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_7 = stablehlo.constant dense<3> : tensor<i64>
    %19 = stablehlo.add %arg1, %c_7 : tensor<i64>
    %20 = stablehlo.select %18, %19, %arg1 : tensor<i1>, tensor<i64>
    %21 = stablehlo.convert %20 : (tensor<i64>) -> tensor<i32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %23 = "stablehlo.scatter"(%arg2, %22, %17) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<3xi32>, tensor<1xi32>, tensor<i32>) -> tensor<3xi32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %24 = stablehlo.compare LT, %6, %c_8, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_9 = stablehlo.constant dense<3> : tensor<i32>
    %25 = stablehlo.add %6, %c_9 : tensor<i32>
    %26 = stablehlo.select %24, %25, %6 : tensor<i1>, tensor<i32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %28 = "stablehlo.scatter"(%23, %27, %12) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<3xi32>, tensor<1xi32>, tensor<i32>) -> tensor<3xi32>
    return %0, %28 : tensor<i64>, tensor<3xi32>
  }
  func.func private @_lu_solve(%arg0: tensor<3x3xcomplex<f64>>, %arg1: tensor<3xi32>, %arg2: tensor<2x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<2x3xcomplex<f64>>) -> tensor<2x3x1xcomplex<f64>>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %2 = stablehlo.compare LT, %arg1, %1, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %c_0 = stablehlo.constant dense<3> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %4 = stablehlo.add %arg1, %3 : tensor<3xi32>
    %5 = stablehlo.select %2, %4, %arg1 : tensor<3xi1>, tensor<3xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %7 = "stablehlo.gather"(%0, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 2, 1, 1>}> : (tensor<2x3x1xcomplex<f64>>, tensor<3x1xi32>) -> tensor<2x3x1xcomplex<f64>>
    %8 = stablehlo.transpose %7, dims = [1, 2, 0] : (tensor<2x3x1xcomplex<f64>>) -> tensor<3x1x2xcomplex<f64>>
    %9 = stablehlo.reshape %8 : (tensor<3x1x2xcomplex<f64>>) -> tensor<3x2xcomplex<f64>>
    %10 = stablehlo.custom_call @lapack_ztrsm_ffi(%arg0, %9) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k, l])->([m, n]) {i=3, j=3, k=3, l=2, m=3, n=2}, custom>} : (tensor<3x3xcomplex<f64>>, tensor<3x2xcomplex<f64>>) -> tensor<3x2xcomplex<f64>>
    %11 = stablehlo.reshape %10 : (tensor<3x2xcomplex<f64>>) -> tensor<3x1x2xcomplex<f64>>
    %12 = stablehlo.reshape %11 : (tensor<3x1x2xcomplex<f64>>) -> tensor<3x2xcomplex<f64>>
    %13 = stablehlo.custom_call @lapack_ztrsm_ffi(%arg0, %12) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k, l])->([m, n]) {i=3, j=3, k=3, l=2, m=3, n=2}, custom>} : (tensor<3x3xcomplex<f64>>, tensor<3x2xcomplex<f64>>) -> tensor<3x2xcomplex<f64>>
    %14 = stablehlo.reshape %13 : (tensor<3x2xcomplex<f64>>) -> tensor<3x1x2xcomplex<f64>>
    %15 = stablehlo.transpose %14, dims = [2, 0, 1] : (tensor<3x1x2xcomplex<f64>>) -> tensor<2x3x1xcomplex<f64>>
    %16 = stablehlo.reshape %15 : (tensor<2x3x1xcomplex<f64>>) -> tensor<2x3xcomplex<f64>>
    return %16 : tensor<2x3xcomplex<f64>>
  }
  func.func private @det(%arg0: tensor<3x3xcomplex<f64>>) -> tensor<complex<f64>> {
    %0 = stablehlo.slice %arg0 [0:1, 0:1] : (tensor<3x3xcomplex<f64>>) -> tensor<1x1xcomplex<f64>>
    %1 = stablehlo.reshape %0 : (tensor<1x1xcomplex<f64>>) -> tensor<complex<f64>>
    %2 = stablehlo.slice %arg0 [1:2, 1:2] : (tensor<3x3xcomplex<f64>>) -> tensor<1x1xcomplex<f64>>
    %3 = stablehlo.reshape %2 : (tensor<1x1xcomplex<f64>>) -> tensor<complex<f64>>
    %4 = stablehlo.multiply %1, %3 : tensor<complex<f64>>
    %5 = stablehlo.slice %arg0 [2:3, 2:3] : (tensor<3x3xcomplex<f64>>) -> tensor<1x1xcomplex<f64>>
    %6 = stablehlo.reshape %5 : (tensor<1x1xcomplex<f64>>) -> tensor<complex<f64>>
    %7 = stablehlo.multiply %4, %6 : tensor<complex<f64>>
    %8 = stablehlo.slice %arg0 [0:1, 1:2] : (tensor<3x3xcomplex<f64>>) -> tensor<1x1xcomplex<f64>>
    %9 = stablehlo.reshape %8 : (tensor<1x1xcomplex<f64>>) -> tensor<complex<f64>>
    %10 = stablehlo.slice %arg0 [1:2, 2:3] : (tensor<3x3xcomplex<f64>>) -> tensor<1x1xcomplex<f64>>
    %11 = stablehlo.reshape %10 : (tensor<1x1xcomplex<f64>>) -> tensor<complex<f64>>
    %12 = stablehlo.multiply %9, %11 : tensor<complex<f64>>
    %13 = stablehlo.slice %arg0 [2:3, 0:1] : (tensor<3x3xcomplex<f64>>) -> tensor<1x1xcomplex<f64>>
    %14 = stablehlo.reshape %13 : (tensor<1x1xcomplex<f64>>) -> tensor<complex<f64>>
    %15 = stablehlo.multiply %12, %14 : tensor<complex<f64>>
    %16 = stablehlo.add %7, %15 : tensor<complex<f64>>
    %17 = stablehlo.slice %arg0 [0:1, 2:3] : (tensor<3x3xcomplex<f64>>) -> tensor<1x1xcomplex<f64>>
    %18 = stablehlo.reshape %17 : (tensor<1x1xcomplex<f64>>) -> tensor<complex<f64>>
    %19 = stablehlo.slice %arg0 [1:2, 0:1] : (tensor<3x3xcomplex<f64>>) -> tensor<1x1xcomplex<f64>>
    %20 = stablehlo.reshape %19 : (tensor<1x1xcomplex<f64>>) -> tensor<complex<f64>>
    %21 = stablehlo.multiply %18, %20 : tensor<complex<f64>>
    %22 = stablehlo.slice %arg0 [2:3, 1:2] : (tensor<3x3xcomplex<f64>>) -> tensor<1x1xcomplex<f64>>
    %23 = stablehlo.reshape %22 : (tensor<1x1xcomplex<f64>>) -> tensor<complex<f64>>
    %24 = stablehlo.multiply %21, %23 : tensor<complex<f64>>
    %25 = stablehlo.add %16, %24 : tensor<complex<f64>>
    %26 = stablehlo.slice %arg0 [0:1, 2:3] : (tensor<3x3xcomplex<f64>>) -> tensor<1x1xcomplex<f64>>
    %27 = stablehlo.reshape %26 : (tensor<1x1xcomplex<f64>>) -> tensor<complex<f64>>
    %28 = stablehlo.slice %arg0 [1:2, 1:2] : (tensor<3x3xcomplex<f64>>) -> tensor<1x1xcomplex<f64>>
    %29 = stablehlo.reshape %28 : (tensor<1x1xcomplex<f64>>) -> tensor<complex<f64>>
    %30 = stablehlo.multiply %27, %29 : tensor<complex<f64>>
    %31 = stablehlo.slice %arg0 [2:3, 0:1] : (tensor<3x3xcomplex<f64>>) -> tensor<1x1xcomplex<f64>>
    %32 = stablehlo.reshape %31 : (tensor<1x1xcomplex<f64>>) -> tensor<complex<f64>>
    %33 = stablehlo.multiply %30, %32 : tensor<complex<f64>>
    %34 = stablehlo.subtract %25, %33 : tensor<complex<f64>>
    %35 = stablehlo.slice %arg0 [0:1, 0:1] : (tensor<3x3xcomplex<f64>>) -> tensor<1x1xcomplex<f64>>
    %36 = stablehlo.reshape %35 : (tensor<1x1xcomplex<f64>>) -> tensor<complex<f64>>
    %37 = stablehlo.slice %arg0 [1:2, 2:3] : (tensor<3x3xcomplex<f64>>) -> tensor<1x1xcomplex<f64>>
    %38 = stablehlo.reshape %37 : (tensor<1x1xcomplex<f64>>) -> tensor<complex<f64>>
    %39 = stablehlo.multiply %36, %38 : tensor<complex<f64>>
    %40 = stablehlo.slice %arg0 [2:3, 1:2] : (tensor<3x3xcomplex<f64>>) -> tensor<1x1xcomplex<f64>>
    %41 = stablehlo.reshape %40 : (tensor<1x1xcomplex<f64>>) -> tensor<complex<f64>>
    %42 = stablehlo.multiply %39, %41 : tensor<complex<f64>>
    %43 = stablehlo.subtract %34, %42 : tensor<complex<f64>>
    %44 = stablehlo.slice %arg0 [0:1, 1:2] : (tensor<3x3xcomplex<f64>>) -> tensor<1x1xcomplex<f64>>
    %45 = stablehlo.reshape %44 : (tensor<1x1xcomplex<f64>>) -> tensor<complex<f64>>
    %46 = stablehlo.slice %arg0 [1:2, 0:1] : (tensor<3x3xcomplex<f64>>) -> tensor<1x1xcomplex<f64>>
    %47 = stablehlo.reshape %46 : (tensor<1x1xcomplex<f64>>) -> tensor<complex<f64>>
    %48 = stablehlo.multiply %45, %47 : tensor<complex<f64>>
    %49 = stablehlo.slice %arg0 [2:3, 2:3] : (tensor<3x3xcomplex<f64>>) -> tensor<1x1xcomplex<f64>>
    %50 = stablehlo.reshape %49 : (tensor<1x1xcomplex<f64>>) -> tensor<complex<f64>>
    %51 = stablehlo.multiply %48, %50 : tensor<complex<f64>>
    %52 = stablehlo.subtract %43, %51 : tensor<complex<f64>>
    return %52 : tensor<complex<f64>>
  }
}
