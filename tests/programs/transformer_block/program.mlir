module @jit_transformer_block attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x10x24xf32>, %arg1: tensor<24xf32>, %arg2: tensor<24xf32>, %arg3: tensor<24x72xf32>, %arg4: tensor<24x24xf32>, %arg5: tensor<24xf32>, %arg6: tensor<24xf32>, %arg7: tensor<24x96xf32>, %arg8: tensor<96xf32>, %arg9: tensor<96x24xf32>, %arg10: tensor<24xf32>) -> (tensor<2x10x24xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x10x24xf32>, tensor<f32>) -> tensor<2x10xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x10xf32>) -> tensor<2x10x1xf32>
    %cst_0 = stablehlo.constant dense<2.400000e+01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x10x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<2x10x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x10x1xf32>) -> tensor<2x10x24xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x10x24xf32>
    %6 = stablehlo.multiply %5, %5 : tensor<2x10x24xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<2x10x24xf32>, tensor<f32>) -> tensor<2x10xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<2x10xf32>) -> tensor<2x10x1xf32>
    %cst_2 = stablehlo.constant dense<2.400000e+01> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x10x1xf32>
    %10 = stablehlo.divide %8, %9 : tensor<2x10x1xf32>
    %11 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x10x1xf32>) -> tensor<2x10x24xf32>
    %12 = stablehlo.subtract %arg0, %11 : tensor<2x10x24xf32>
    %cst_3 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x10x1xf32>
    %14 = stablehlo.add %10, %13 : tensor<2x10x1xf32>
    %15 = stablehlo.sqrt %14 : tensor<2x10x1xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2] : (tensor<2x10x1xf32>) -> tensor<2x10x24xf32>
    %17 = stablehlo.divide %12, %16 : tensor<2x10x24xf32>
    %18 = stablehlo.broadcast_in_dim %arg1, dims = [2] : (tensor<24xf32>) -> tensor<1x1x24xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2] : (tensor<1x1x24xf32>) -> tensor<2x10x24xf32>
    %20 = stablehlo.multiply %17, %19 : tensor<2x10x24xf32>
    %21 = stablehlo.broadcast_in_dim %arg2, dims = [2] : (tensor<24xf32>) -> tensor<1x1x24xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<1x1x24xf32>) -> tensor<2x10x24xf32>
    %23 = stablehlo.add %20, %22 : tensor<2x10x24xf32>
    %cst_4 = stablehlo.constant dense<2.000000e-01> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<24x72xf32>
    %25 = stablehlo.multiply %arg3, %24 : tensor<24x72xf32>
    %26 = stablehlo.dot_general %23, %25, contracting_dims = [2] x [0], precision = [HIGHEST, HIGHEST] : (tensor<2x10x24xf32>, tensor<24x72xf32>) -> tensor<2x10x72xf32>
    %27 = stablehlo.slice %26 [0:2, 0:10, 0:24] : (tensor<2x10x72xf32>) -> tensor<2x10x24xf32>
    %28 = stablehlo.slice %26 [0:2, 0:10, 24:48] : (tensor<2x10x72xf32>) -> tensor<2x10x24xf32>
    %29 = stablehlo.slice %26 [0:2, 0:10, 48:72] : (tensor<2x10x72xf32>) -> tensor<2x10x24xf32>
    %30 = stablehlo.reshape %27 : (tensor<2x10x24xf32>) -> tensor<2x10x3x8xf32>
    %31 = stablehlo.reshape %28 : (tensor<2x10x24xf32>) -> tensor<2x10x3x8xf32>
    %32 = stablehlo.reshape %29 : (tensor<2x10x24xf32>) -> tensor<2x10x3x8xf32>
    %33 = stablehlo.dot_general %30, %31, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [HIGHEST, HIGHEST] : (tensor<2x10x3x8xf32>, tensor<2x10x3x8xf32>) -> tensor<2x3x10x10xf32>
    %cst_5 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x3x10x10xf32>
    %35 = stablehlo.divide %33, %34 : tensor<2x3x10x10xf32>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %36 = stablehlo.reduce(%35 init: %cst_6) applies stablehlo.maximum across dimensions = [3] : (tensor<2x3x10x10xf32>, tensor<f32>) -> tensor<2x3x10xf32>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x3x10xf32>
    %38 = stablehlo.maximum %37, %36 : tensor<2x3x10xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2] : (tensor<2x3x10xf32>) -> tensor<2x3x10x1xf32>
    %40 = stablehlo.broadcast_in_dim %39, dims = [0, 1, 2, 3] : (tensor<2x3x10x1xf32>) -> tensor<2x3x10x10xf32>
    %41 = stablehlo.subtract %35, %40 : tensor<2x3x10x10xf32>
    %42 = stablehlo.exponential %41 : tensor<2x3x10x10xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.reduce(%42 init: %cst_8) applies stablehlo.add across dimensions = [3] : (tensor<2x3x10x10xf32>, tensor<f32>) -> tensor<2x3x10xf32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0, 1, 2] : (tensor<2x3x10xf32>) -> tensor<2x3x10x1xf32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 1, 2, 3] : (tensor<2x3x10x1xf32>) -> tensor<2x3x10x10xf32>
    %46 = stablehlo.divide %42, %45 : tensor<2x3x10x10xf32>
    %47 = stablehlo.dot_general %32, %46, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [HIGHEST, HIGHEST] : (tensor<2x10x3x8xf32>, tensor<2x3x10x10xf32>) -> tensor<2x3x8x10xf32>
    %48 = stablehlo.transpose %47, dims = [0, 3, 1, 2] : (tensor<2x3x8x10xf32>) -> tensor<2x10x3x8xf32>
    %49 = stablehlo.reshape %48 : (tensor<2x10x3x8xf32>) -> tensor<2x10x24xf32>
    %cst_9 = stablehlo.constant dense<2.000000e-01> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<24x24xf32>
    %51 = stablehlo.multiply %arg4, %50 : tensor<24x24xf32>
    %52 = stablehlo.dot_general %49, %51, contracting_dims = [2] x [0], precision = [HIGHEST, HIGHEST] : (tensor<2x10x24xf32>, tensor<24x24xf32>) -> tensor<2x10x24xf32>
    %53 = stablehlo.add %arg0, %52 : tensor<2x10x24xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %54 = stablehlo.reduce(%53 init: %cst_10) applies stablehlo.add across dimensions = [2] : (tensor<2x10x24xf32>, tensor<f32>) -> tensor<2x10xf32>
    %55 = stablehlo.broadcast_in_dim %54, dims = [0, 1] : (tensor<2x10xf32>) -> tensor<2x10x1xf32>
    %cst_11 = stablehlo.constant dense<2.400000e+01> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<2x10x1xf32>
    %57 = stablehlo.divide %55, %56 : tensor<2x10x1xf32>
    %58 = stablehlo.broadcast_in_dim %57, dims = [0, 1, 2] : (tensor<2x10x1xf32>) -> tensor<2x10x24xf32>
    %59 = stablehlo.subtract %53, %58 : tensor<2x10x24xf32>
    %60 = stablehlo.multiply %59, %59 : tensor<2x10x24xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %61 = stablehlo.reduce(%60 init: %cst_12) applies stablehlo.add across dimensions = [2] : (tensor<2x10x24xf32>, tensor<f32>) -> tensor<2x10xf32>
    %62 = stablehlo.broadcast_in_dim %61, dims = [0, 1] : (tensor<2x10xf32>) -> tensor<2x10x1xf32>
    %cst_13 = stablehlo.constant dense<2.400000e+01> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<2x10x1xf32>
    %64 = stablehlo.divide %62, %63 : tensor<2x10x1xf32>
    %65 = stablehlo.broadcast_in_dim %57, dims = [0, 1, 2] : (tensor<2x10x1xf32>) -> tensor<2x10x24xf32>
    %66 = stablehlo.subtract %53, %65 : tensor<2x10x24xf32>
    %cst_14 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<2x10x1xf32>
    %68 = stablehlo.add %64, %67 : tensor<2x10x1xf32>
    %69 = stablehlo.sqrt %68 : tensor<2x10x1xf32>
    %70 = stablehlo.broadcast_in_dim %69, dims = [0, 1, 2] : (tensor<2x10x1xf32>) -> tensor<2x10x24xf32>
    %71 = stablehlo.divide %66, %70 : tensor<2x10x24xf32>
    %72 = stablehlo.broadcast_in_dim %arg5, dims = [2] : (tensor<24xf32>) -> tensor<1x1x24xf32>
    %73 = stablehlo.broadcast_in_dim %72, dims = [0, 1, 2] : (tensor<1x1x24xf32>) -> tensor<2x10x24xf32>
    %74 = stablehlo.multiply %71, %73 : tensor<2x10x24xf32>
    %75 = stablehlo.broadcast_in_dim %arg6, dims = [2] : (tensor<24xf32>) -> tensor<1x1x24xf32>
    %76 = stablehlo.broadcast_in_dim %75, dims = [0, 1, 2] : (tensor<1x1x24xf32>) -> tensor<2x10x24xf32>
    %77 = stablehlo.add %74, %76 : tensor<2x10x24xf32>
    %cst_15 = stablehlo.constant dense<2.000000e-01> : tensor<f32>
    %78 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<24x96xf32>
    %79 = stablehlo.multiply %arg7, %78 : tensor<24x96xf32>
    %80 = stablehlo.dot_general %77, %79, contracting_dims = [2] x [0], precision = [HIGHEST, HIGHEST] : (tensor<2x10x24xf32>, tensor<24x96xf32>) -> tensor<2x10x96xf32>
    %81 = stablehlo.broadcast_in_dim %arg8, dims = [2] : (tensor<96xf32>) -> tensor<1x1x96xf32>
    %82 = stablehlo.broadcast_in_dim %81, dims = [0, 1, 2] : (tensor<1x1x96xf32>) -> tensor<2x10x96xf32>
    %83 = stablehlo.add %80, %82 : tensor<2x10x96xf32>
    %84 = stablehlo.multiply %83, %83 : tensor<2x10x96xf32>
    %85 = stablehlo.multiply %84, %83 : tensor<2x10x96xf32>
    %cst_16 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<2x10x96xf32>
    %87 = stablehlo.multiply %86, %85 : tensor<2x10x96xf32>
    %88 = stablehlo.add %83, %87 : tensor<2x10x96xf32>
    %cst_17 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %89 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<2x10x96xf32>
    %90 = stablehlo.multiply %89, %88 : tensor<2x10x96xf32>
    %91 = stablehlo.tanh %90 : tensor<2x10x96xf32>
    %cst_18 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %92 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<2x10x96xf32>
    %93 = stablehlo.add %92, %91 : tensor<2x10x96xf32>
    %cst_19 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %94 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<2x10x96xf32>
    %95 = stablehlo.multiply %94, %93 : tensor<2x10x96xf32>
    %96 = stablehlo.multiply %83, %95 : tensor<2x10x96xf32>
    %cst_20 = stablehlo.constant dense<2.000000e-01> : tensor<f32>
    %97 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<96x24xf32>
    %98 = stablehlo.multiply %arg9, %97 : tensor<96x24xf32>
    %99 = stablehlo.dot_general %96, %98, contracting_dims = [2] x [0], precision = [HIGHEST, HIGHEST] : (tensor<2x10x96xf32>, tensor<96x24xf32>) -> tensor<2x10x24xf32>
    %100 = stablehlo.add %53, %99 : tensor<2x10x24xf32>
    %101 = stablehlo.broadcast_in_dim %arg10, dims = [2] : (tensor<24xf32>) -> tensor<1x1x24xf32>
    %102 = stablehlo.broadcast_in_dim %101, dims = [0, 1, 2] : (tensor<1x1x24xf32>) -> tensor<2x10x24xf32>
    %103 = stablehlo.add %100, %102 : tensor<2x10x24xf32>
    return %103 : tensor<2x10x24xf32>
  }
}
