module @jit_log_sums_by_scan attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<9xf64>, %arg1: tensor<3x4xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [0:8:2] : (tensor<9xf64>) -> tensor<4xf64>
    %1 = stablehlo.slice %arg0 [1:9:2] : (tensor<9xf64>) -> tensor<4xf64>
    %2 = stablehlo.maximum %0, %1 : tensor<4xf64>
    %3 = stablehlo.subtract %0, %1 : tensor<4xf64>
    %4 = stablehlo.compare NE, %3, %3, FLOAT : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xi1>
    %5 = stablehlo.add %0, %1 : tensor<4xf64>
    %6 = stablehlo.abs %3 : tensor<4xf64>
    %7 = stablehlo.negate %6 : tensor<4xf64>
    %8 = stablehlo.exponential %7 : tensor<4xf64>
    %9 = stablehlo.log_plus_one %8 : tensor<4xf64>
    %10 = stablehlo.add %2, %9 : tensor<4xf64>
    %11 = stablehlo.select %4, %5, %10 : tensor<4xi1>, tensor<4xf64>
    %12 = stablehlo.slice %11 [0:3:2] : (tensor<4xf64>) -> tensor<2xf64>
    %13 = stablehlo.slice %11 [1:4:2] : (tensor<4xf64>) -> tensor<2xf64>
    %14 = stablehlo.maximum %12, %13 : tensor<2xf64>
    %15 = stablehlo.subtract %12, %13 : tensor<2xf64>
    %16 = stablehlo.compare NE, %15, %15, FLOAT : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xi1>
    %17 = stablehlo.add %12, %13 : tensor<2xf64>
    %18 = stablehlo.abs %15 : tensor<2xf64>
    %19 = stablehlo.negate %18 : tensor<2xf64>
    %20 = stablehlo.exponential %19 : tensor<2xf64>
    %21 = stablehlo.log_plus_one %20 : tensor<2xf64>
    %22 = stablehlo.add %14, %21 : tensor<2xf64>
    %23 = stablehlo.select %16, %17, %22 : tensor<2xi1>, tensor<2xf64>
    %24 = stablehlo.slice %23 [0:1:2] : (tensor<2xf64>) -> tensor<1xf64>
    %25 = stablehlo.slice %23 [1:2:2] : (tensor<2xf64>) -> tensor<1xf64>
    %26 = stablehlo.maximum %24, %25 : tensor<1xf64>
    %27 = stablehlo.subtract %24, %25 : tensor<1xf64>
    %28 = stablehlo.compare NE, %27, %27, FLOAT : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xi1>
    %29 = stablehlo.add %24, %25 : tensor<1xf64>
    %30 = stablehlo.abs %27 : tensor<1xf64>
    %31 = stablehlo.negate %30 : tensor<1xf64>
    %32 = stablehlo.exponential %31 : tensor<1xf64>
    %33 = stablehlo.log_plus_one %32 : tensor<1xf64>
    %34 = stablehlo.add %26, %33 : tensor<1xf64>
    %35 = stablehlo.select %28, %29, %34 : tensor<1xi1>, tensor<1xf64>
    %36 = stablehlo.slice %35 [0:0] : (tensor<1xf64>) -> tensor<0xf64>
    %37 = stablehlo.slice %23 [2:2:2] : (tensor<2xf64>) -> tensor<0xf64>
    %38 = stablehlo.maximum %36, %37 : tensor<0xf64>
    %39 = stablehlo.subtract %36, %37 : tensor<0xf64>
    %40 = stablehlo.compare NE, %39, %39, FLOAT : (tensor<0xf64>, tensor<0xf64>) -> tensor<0xi1>
    %41 = stablehlo.add %36, %37 : tensor<0xf64>
    %42 = stablehlo.abs %39 : tensor<0xf64>
    %43 = stablehlo.negate %42 : tensor<0xf64>
    %44 = stablehlo.exponential %43 : tensor<0xf64>
    %45 = stablehlo.log_plus_one %44 : tensor<0xf64>
    %46 = stablehlo.add %38, %45 : tensor<0xf64>
    %47 = stablehlo.select %40, %41, %46 : tensor<0xi1>, tensor<0xf64>
    %48 = stablehlo.slice %23 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
    %49 = stablehlo.concatenate %48, %47, dim = 0 : (tensor<1xf64>, tensor<0xf64>) -> tensor<1xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %50 = stablehlo.pad %49, %cst, low = [0], high = [1], interior = [1] : (tensor<1xf64>, tensor<f64>) -> tensor<2xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %51 = stablehlo.pad %35, %cst_0, low = [1], high = [0], interior = [1] : (tensor<1xf64>, tensor<f64>) -> tensor<2xf64>
    %52 = stablehlo.add %50, %51 : tensor<2xf64>
    %53 = stablehlo.slice %52 [0:1] : (tensor<2xf64>) -> tensor<1xf64>
    %54 = stablehlo.slice %11 [2:4:2] : (tensor<4xf64>) -> tensor<1xf64>
    %55 = stablehlo.maximum %53, %54 : tensor<1xf64>
    %56 = stablehlo.subtract %53, %54 : tensor<1xf64>
    %57 = stablehlo.compare NE, %56, %56, FLOAT : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xi1>
    %58 = stablehlo.add %53, %54 : tensor<1xf64>
    %59 = stablehlo.abs %56 : tensor<1xf64>
    %60 = stablehlo.negate %59 : tensor<1xf64>
    %61 = stablehlo.exponential %60 : tensor<1xf64>
    %62 = stablehlo.log_plus_one %61 : tensor<1xf64>
    %63 = stablehlo.add %55, %62 : tensor<1xf64>
    %64 = stablehlo.select %57, %58, %63 : tensor<1xi1>, tensor<1xf64>
    %65 = stablehlo.slice %11 [0:1] : (tensor<4xf64>) -> tensor<1xf64>
    %66 = stablehlo.concatenate %65, %64, dim = 0 : (tensor<1xf64>, tensor<1xf64>) -> tensor<2xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %67 = stablehlo.pad %66, %cst_1, low = [0], high = [1], interior = [1] : (tensor<2xf64>, tensor<f64>) -> tensor<4xf64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %68 = stablehlo.pad %52, %cst_2, low = [1], high = [0], interior = [1] : (tensor<2xf64>, tensor<f64>) -> tensor<4xf64>
    %69 = stablehlo.add %67, %68 : tensor<4xf64>
    %70 = stablehlo.slice %arg0 [2:9:2] : (tensor<9xf64>) -> tensor<4xf64>
    %71 = stablehlo.maximum %69, %70 : tensor<4xf64>
    %72 = stablehlo.subtract %69, %70 : tensor<4xf64>
    %73 = stablehlo.compare NE, %72, %72, FLOAT : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xi1>
    %74 = stablehlo.add %69, %70 : tensor<4xf64>
    %75 = stablehlo.abs %72 : tensor<4xf64>
    %76 = stablehlo.negate %75 : tensor<4xf64>
    %77 = stablehlo.exponential %76 : tensor<4xf64>
    %78 = stablehlo.log_plus_one %77 : tensor<4xf64>
    %79 = stablehlo.add %71, %78 : tensor<4xf64>
    %80 = stablehlo.select %73, %74, %79 : tensor<4xi1>, tensor<4xf64>
    %81 = stablehlo.slice %arg0 [0:1] : (tensor<9xf64>) -> tensor<1xf64>
    %82 = stablehlo.concatenate %81, %80, dim = 0 : (tensor<1xf64>, tensor<4xf64>) -> tensor<5xf64>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %83 = stablehlo.pad %82, %cst_3, low = [0], high = [0], interior = [1] : (tensor<5xf64>, tensor<f64>) -> tensor<9xf64>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %84 = stablehlo.pad %69, %cst_4, low = [1], high = [1], interior = [1] : (tensor<4xf64>, tensor<f64>) -> tensor<9xf64>
    %85 = stablehlo.add %83, %84 : tensor<9xf64>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %86 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f64>) -> tensor<4xf64>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %87 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f64>) -> tensor<3x4xf64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %88:4 = stablehlo.while(%iterArg = %arg1, %iterArg_11 = %c, %iterArg_12 = %86, %iterArg_13 = %87) : tensor<3x4xf64>, tensor<i64>, tensor<4xf64>, tensor<3x4xf64>
    cond {
      %c_14 = stablehlo.constant dense<3> : tensor<i64>
      %98 = stablehlo.compare LT, %iterArg_11, %c_14, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %98 : tensor<i1>
    } do {
      %98 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_11) : (tensor<3x4xf64>, tensor<i64>) -> tensor<4xf64>
      %99:2 = func.call @closed_call(%iterArg_12, %98) : (tensor<4xf64>, tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>)
      %100 = func.call @dynamic_update_index_in_dim(%iterArg_13, %99#1, %iterArg_11) : (tensor<3x4xf64>, tensor<4xf64>, tensor<i64>) -> tensor<3x4xf64>
      %c_14 = stablehlo.constant dense<1> : tensor<i64>
      %101 = stablehlo.add %iterArg_11, %c_14 : tensor<i64>
      stablehlo.return %iterArg, %101, %99#0, %100 : tensor<3x4xf64>, tensor<i64>, tensor<4xf64>, tensor<3x4xf64>
    }
    %89 = stablehlo.sine %85 : tensor<9xf64>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %90 = stablehlo.reduce(%89 init: %cst_7) applies stablehlo.add across dimensions = [0] : (tensor<9xf64>, tensor<f64>) -> tensor<f64>
    %91 = stablehlo.multiply %88#3, %88#3 : tensor<3x4xf64>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %92 = stablehlo.reduce(%91 init: %cst_8) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x4xf64>, tensor<f64>) -> tensor<f64>
    %93 = stablehlo.add %90, %92 : tensor<f64>
    %cst_9 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %94 = stablehlo.reduce(%arg1 init: %cst_9) across dimensions = [1] : (tensor<3x4xf64>, tensor<f64>) -> tensor<3xf64>
     reducer(%arg2: tensor<f64>, %arg3: tensor<f64>)  {
      %98 = stablehlo.maximum %arg2, %arg3 : tensor<f64>
      %99 = stablehlo.subtract %arg2, %arg3 : tensor<f64>
      %100 = stablehlo.compare NE, %99, %99, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %101 = stablehlo.add %arg2, %arg3 : tensor<f64>
      %102 = stablehlo.abs %99 : tensor<f64>
      %103 = stablehlo.negate %102 : tensor<f64>
      %104 = stablehlo.exponential %103 : tensor<f64>
      %105 = stablehlo.log_plus_one %104 : tensor<f64>
      %106 = stablehlo.add %98, %105 : tensor<f64>
      %107 = stablehlo.select %100, %101, %106 : tensor<i1>, tensor<f64>
      stablehlo.return %107 : tensor<f64>
    }
    %95 = stablehlo.multiply %94, %94 : tensor<3xf64>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %96 = stablehlo.reduce(%95 init: %cst_10) applies stablehlo.add across dimensions = [0] : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
    %97 = stablehlo.add %93, %96 : tensor<f64>
    return %97 : tensor<f64>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<3x4xf64>, %arg1: tensor<i64>) -> tensor<4xf64> {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 4] : (tensor<3x4xf64>, tensor<i64>, tensor<i64>) -> tensor<1x4xf64>
    %1 = stablehlo.reshape %0 : (tensor<1x4xf64>) -> tensor<4xf64>
    return %1 : tensor<4xf64>
  }
  func.func private @closed_call(%arg0: tensor<4xf64>, %arg1: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>) {
    %0 = stablehlo.maximum %arg0, %arg1 : tensor<4xf64>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<4xf64>
    %2 = stablehlo.compare NE, %1, %1, FLOAT : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xi1>
    %3 = stablehlo.add %arg0, %arg1 : tensor<4xf64>
    %4 = stablehlo.abs %1 : tensor<4xf64>
    %5 = stablehlo.negate %4 : tensor<4xf64>
    %6 = stablehlo.exponential %5 : tensor<4xf64>
    %7 = stablehlo.log_plus_one %6 : tensor<4xf64>
    %8 = stablehlo.add %0, %7 : tensor<4xf64>
    %9 = stablehlo.select %2, %3, %8 : tensor<4xi1>, tensor<4xf64>
    return %9, %arg0 : tensor<4xf64>, tensor<4xf64>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<3x4xf64>, %arg1: tensor<4xf64>, %arg2: tensor<i64>) -> tensor<3x4xf64> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<4xf64>) -> tensor<1x4xf64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<3x4xf64>, tensor<1x4xf64>, tensor<i64>, tensor<i64>) -> tensor<3x4xf64>
    return %1 : tensor<3x4xf64>
  }
}
