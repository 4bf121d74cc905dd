module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x2x8xf32>, %arg1: tensor<2x2x8xf32>, %arg2: tensor<8xf32>, %arg3: tensor<8x24xf32>, %arg4: tensor<8x8xf32>, %arg5: tensor<8xf32>, %arg6: tensor<8x32xf32>, %arg7: tensor<32x8xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<8xf32> {jax.result_info = "result[1]"}, tensor<8x24xf32> {jax.result_info = "result[2]"}, tensor<8x8xf32> {jax.result_info = "result[3]"}, tensor<8xf32> {jax.result_info = "result[4]"}, tensor<8x32xf32> {jax.result_info = "result[5]"}, tensor<32x8xf32> {jax.result_info = "result[6]"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<2x2x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x2x8xf32>, tensor<f32>) -> tensor<2x2xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2x1xf32>
    %cst_0 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x2x1xf32>
    %4 = stablehlo.divide %2, %3 : tensor<2x2x1xf32>
    %cst_1 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x2x1xf32>
    %6 = stablehlo.add %4, %5 : tensor<2x2x1xf32>
    %7 = stablehlo.rsqrt %6 : tensor<2x2x1xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<2x2x1xf32>) -> tensor<2x2x8xf32>
    %9 = stablehlo.multiply %arg0, %8 : tensor<2x2x8xf32>
    %10 = stablehlo.broadcast_in_dim %arg2, dims = [2] : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<2x2x8xf32>
    %12 = stablehlo.multiply %9, %11 : tensor<2x2x8xf32>
    %13 = stablehlo.dot_general %12, %arg3, contracting_dims = [2] x [0], precision = [HIGHEST, HIGHEST] : (tensor<2x2x8xf32>, tensor<8x24xf32>) -> tensor<2x2x24xf32>
    %cst_2 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x2x24xf32>
    %15 = stablehlo.multiply %13, %14 : tensor<2x2x24xf32>
    %16 = stablehlo.slice %15 [0:2, 0:2, 0:8] : (tensor<2x2x24xf32>) -> tensor<2x2x8xf32>
    %17 = stablehlo.slice %15 [0:2, 0:2, 8:16] : (tensor<2x2x24xf32>) -> tensor<2x2x8xf32>
    %18 = stablehlo.slice %15 [0:2, 0:2, 16:24] : (tensor<2x2x24xf32>) -> tensor<2x2x8xf32>
    %19 = stablehlo.reshape %16 : (tensor<2x2x8xf32>) -> tensor<2x2x4x2xf32>
    %20 = stablehlo.reshape %17 : (tensor<2x2x8xf32>) -> tensor<2x2x4x2xf32>
    %21 = stablehlo.reshape %18 : (tensor<2x2x8xf32>) -> tensor<2x2x4x2xf32>
    %22 = stablehlo.dot_general %19, %20, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [HIGHEST, HIGHEST] : (tensor<2x2x4x2xf32>, tensor<2x2x4x2xf32>) -> tensor<2x4x2x2xf32>
    %cst_3 = stablehlo.constant dense<1.41421354> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x4x2x2xf32>
    %24 = stablehlo.divide %22, %23 : tensor<2x4x2x2xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %25 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<2x2xi1>
    %26 = call @tril(%25) : (tensor<2x2xi1>) -> tensor<2x2xi1>
    %cst_4 = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %27:3 = call @_where(%26, %24, %cst_4) : (tensor<2x2xi1>, tensor<2x4x2x2xf32>, tensor<f32>) -> (tensor<2x4x2x2xf32>, tensor<2x4x2x2xi1>, tensor<2x4x2x2xf32>)
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %28 = stablehlo.reduce(%27#0 init: %cst_5) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x2x2xf32>, tensor<f32>) -> tensor<2x4x2xf32>
    %29 = stablehlo.reshape %28 : (tensor<2x4x2xf32>) -> tensor<2x4x2x1xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2, 3] : (tensor<2x4x2x1xf32>) -> tensor<2x4x2x2xf32>
    %31 = stablehlo.compare EQ, %27#0, %30, FLOAT : (tensor<2x4x2x2xf32>, tensor<2x4x2x2xf32>) -> tensor<2x4x2x2xi1>
    %32 = stablehlo.convert %31 : (tensor<2x4x2x2xi1>) -> tensor<2x4x2x2xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.reduce(%32 init: %cst_6) applies stablehlo.add across dimensions = [3] : (tensor<2x4x2x2xf32>, tensor<f32>) -> tensor<2x4x2xf32>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x4x2xf32>
    %35 = stablehlo.maximum %34, %28 : tensor<2x4x2xf32>
    %36 = stablehlo.compare EQ, %28, %35, FLOAT : (tensor<2x4x2xf32>, tensor<2x4x2xf32>) -> tensor<2x4x2xi1>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x4x2xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<2x4x2xf32>
    %39 = stablehlo.select %36, %37, %38 : tensor<2x4x2xi1>, tensor<2x4x2xf32>
    %cst_10 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<2x4x2xf32>
    %41 = stablehlo.compare EQ, %40, %35, FLOAT : (tensor<2x4x2xf32>, tensor<2x4x2xf32>) -> tensor<2x4x2xi1>
    %cst_11 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<2x4x2xf32>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<2x4x2xf32>
    %44 = stablehlo.select %41, %42, %43 : tensor<2x4x2xi1>, tensor<2x4x2xf32>
    %45 = stablehlo.divide %39, %44 : tensor<2x4x2xf32>
    %46 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2] : (tensor<2x4x2xf32>) -> tensor<2x4x2x1xf32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [0, 1, 2, 3] : (tensor<2x4x2x1xf32>) -> tensor<2x4x2x2xf32>
    %48 = stablehlo.subtract %27#0, %47 : tensor<2x4x2x2xf32>
    %49 = stablehlo.exponential %48 : tensor<2x4x2x2xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.reduce(%49 init: %cst_13) applies stablehlo.add across dimensions = [3] : (tensor<2x4x2x2xf32>, tensor<f32>) -> tensor<2x4x2xf32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [0, 1, 2] : (tensor<2x4x2xf32>) -> tensor<2x4x2x1xf32>
    %52 = stablehlo.broadcast_in_dim %51, dims = [0, 1, 2, 3] : (tensor<2x4x2x1xf32>) -> tensor<2x4x2x2xf32>
    %53 = stablehlo.divide %49, %52 : tensor<2x4x2x2xf32>
    %54 = stablehlo.multiply %51, %51 : tensor<2x4x2x1xf32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<2x4x2x1xf32>
    %56 = stablehlo.divide %55, %54 : tensor<2x4x2x1xf32>
    %57 = stablehlo.dot_general %21, %53, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [HIGHEST, HIGHEST] : (tensor<2x2x4x2xf32>, tensor<2x4x2x2xf32>) -> tensor<2x4x2x2xf32>
    %58 = stablehlo.transpose %57, dims = [0, 3, 1, 2] : (tensor<2x4x2x2xf32>) -> tensor<2x2x4x2xf32>
    %59 = stablehlo.reshape %58 : (tensor<2x2x4x2xf32>) -> tensor<2x2x8xf32>
    %60 = stablehlo.dot_general %59, %arg4, contracting_dims = [2] x [0], precision = [HIGHEST, HIGHEST] : (tensor<2x2x8xf32>, tensor<8x8xf32>) -> tensor<2x2x8xf32>
    %cst_15 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<2x2x8xf32>
    %62 = stablehlo.multiply %60, %61 : tensor<2x2x8xf32>
    %63 = stablehlo.add %arg0, %62 : tensor<2x2x8xf32>
    %64 = stablehlo.multiply %63, %63 : tensor<2x2x8xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %65 = stablehlo.reduce(%64 init: %cst_16) applies stablehlo.add across dimensions = [2] : (tensor<2x2x8xf32>, tensor<f32>) -> tensor<2x2xf32>
    %66 = stablehlo.broadcast_in_dim %65, dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2x1xf32>
    %cst_17 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<2x2x1xf32>
    %68 = stablehlo.divide %66, %67 : tensor<2x2x1xf32>
    %cst_18 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %69 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<2x2x1xf32>
    %70 = stablehlo.add %68, %69 : tensor<2x2x1xf32>
    %71 = stablehlo.rsqrt %70 : tensor<2x2x1xf32>
    %72 = stablehlo.divide %71, %70 : tensor<2x2x1xf32>
    %cst_19 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %73 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<2x2x1xf32>
    %74 = stablehlo.multiply %73, %72 : tensor<2x2x1xf32>
    %75 = stablehlo.broadcast_in_dim %71, dims = [0, 1, 2] : (tensor<2x2x1xf32>) -> tensor<2x2x8xf32>
    %76 = stablehlo.multiply %63, %75 : tensor<2x2x8xf32>
    %77 = stablehlo.broadcast_in_dim %arg5, dims = [2] : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %78 = stablehlo.broadcast_in_dim %77, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<2x2x8xf32>
    %79 = stablehlo.multiply %76, %78 : tensor<2x2x8xf32>
    %80 = stablehlo.dot_general %79, %arg6, contracting_dims = [2] x [0], precision = [HIGHEST, HIGHEST] : (tensor<2x2x8xf32>, tensor<8x32xf32>) -> tensor<2x2x32xf32>
    %cst_20 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<2x2x32xf32>
    %82 = stablehlo.multiply %80, %81 : tensor<2x2x32xf32>
    %83 = stablehlo.multiply %82, %82 : tensor<2x2x32xf32>
    %84 = stablehlo.multiply %83, %82 : tensor<2x2x32xf32>
    %85 = stablehlo.multiply %82, %82 : tensor<2x2x32xf32>
    %cst_21 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<2x2x32xf32>
    %87 = stablehlo.multiply %86, %85 : tensor<2x2x32xf32>
    %cst_22 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %88 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<2x2x32xf32>
    %89 = stablehlo.multiply %88, %84 : tensor<2x2x32xf32>
    %90 = stablehlo.add %82, %89 : tensor<2x2x32xf32>
    %cst_23 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %91 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<2x2x32xf32>
    %92 = stablehlo.multiply %91, %90 : tensor<2x2x32xf32>
    %93 = stablehlo.tanh %92 : tensor<2x2x32xf32>
    %cst_24 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %94 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<2x2x32xf32>
    %95 = stablehlo.subtract %94, %93 : tensor<2x2x32xf32>
    %cst_25 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %96 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<2x2x32xf32>
    %97 = stablehlo.add %96, %93 : tensor<2x2x32xf32>
    %cst_26 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %98 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<2x2x32xf32>
    %99 = stablehlo.multiply %98, %97 : tensor<2x2x32xf32>
    %100 = stablehlo.multiply %82, %99 : tensor<2x2x32xf32>
    %101 = stablehlo.dot_general %100, %arg7, contracting_dims = [2] x [0], precision = [HIGHEST, HIGHEST] : (tensor<2x2x32xf32>, tensor<32x8xf32>) -> tensor<2x2x8xf32>
    %cst_27 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %102 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<2x2x8xf32>
    %103 = stablehlo.multiply %101, %102 : tensor<2x2x8xf32>
    %104 = stablehlo.add %63, %103 : tensor<2x2x8xf32>
    %105 = stablehlo.subtract %104, %arg1 : tensor<2x2x8xf32>
    %106 = stablehlo.multiply %105, %105 : tensor<2x2x8xf32>
    %cst_28 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %107 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<2x2x8xf32>
    %108 = stablehlo.multiply %107, %105 : tensor<2x2x8xf32>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %109 = stablehlo.reduce(%106 init: %cst_29) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x2x8xf32>, tensor<f32>) -> tensor<f32>
    %cst_30 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %110 = stablehlo.divide %109, %cst_30 : tensor<f32>
    %cst_31 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_32 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %111 = stablehlo.divide %cst_31, %cst_32 : tensor<f32>
    %112 = stablehlo.broadcast_in_dim %111, dims = [] : (tensor<f32>) -> tensor<2x2x8xf32>
    %113 = stablehlo.multiply %112, %108 : tensor<2x2x8xf32>
    %cst_33 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %114 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<2x2x8xf32>
    %115 = stablehlo.multiply %113, %114 : tensor<2x2x8xf32>
    %116 = stablehlo.dot_general %115, %100, contracting_dims = [0, 1] x [0, 1], precision = [HIGHEST, HIGHEST] : (tensor<2x2x8xf32>, tensor<2x2x32xf32>) -> tensor<8x32xf32>
    %117 = stablehlo.transpose %116, dims = [1, 0] : (tensor<8x32xf32>) -> tensor<32x8xf32>
    %118 = stablehlo.dot_general %115, %arg7, contracting_dims = [2] x [1], precision = [HIGHEST, HIGHEST] : (tensor<2x2x8xf32>, tensor<32x8xf32>) -> tensor<2x2x32xf32>
    %119 = stablehlo.multiply %82, %118 : tensor<2x2x32xf32>
    %120 = stablehlo.multiply %118, %99 : tensor<2x2x32xf32>
    %cst_34 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %121 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<2x2x32xf32>
    %122 = stablehlo.multiply %121, %119 : tensor<2x2x32xf32>
    %123 = stablehlo.multiply %122, %95 : tensor<2x2x32xf32>
    %124 = stablehlo.multiply %123, %93 : tensor<2x2x32xf32>
    %125 = stablehlo.add %123, %124 : tensor<2x2x32xf32>
    %cst_35 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %126 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<2x2x32xf32>
    %127 = stablehlo.multiply %126, %125 : tensor<2x2x32xf32>
    %128 = stablehlo.add %120, %127 : tensor<2x2x32xf32>
    %cst_36 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %129 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<2x2x32xf32>
    %130 = stablehlo.multiply %129, %127 : tensor<2x2x32xf32>
    %131 = stablehlo.multiply %130, %87 : tensor<2x2x32xf32>
    %132 = stablehlo.add %128, %131 : tensor<2x2x32xf32>
    %cst_37 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %133 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<2x2x32xf32>
    %134 = stablehlo.multiply %132, %133 : tensor<2x2x32xf32>
    %135 = stablehlo.dot_general %134, %79, contracting_dims = [0, 1] x [0, 1], precision = [HIGHEST, HIGHEST] : (tensor<2x2x32xf32>, tensor<2x2x8xf32>) -> tensor<32x8xf32>
    %136 = stablehlo.transpose %135, dims = [1, 0] : (tensor<32x8xf32>) -> tensor<8x32xf32>
    %137 = stablehlo.dot_general %134, %arg6, contracting_dims = [2] x [1], precision = [HIGHEST, HIGHEST] : (tensor<2x2x32xf32>, tensor<8x32xf32>) -> tensor<2x2x8xf32>
    %138 = stablehlo.multiply %76, %137 : tensor<2x2x8xf32>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %139 = stablehlo.reduce(%138 init: %cst_38) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x2x8xf32>, tensor<f32>) -> tensor<8xf32>
    %140 = stablehlo.reshape %139 : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %141 = stablehlo.broadcast_in_dim %77, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<2x2x8xf32>
    %142 = stablehlo.multiply %137, %141 : tensor<2x2x8xf32>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %143 = stablehlo.reduce(%140 init: %cst_39) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x8xf32>, tensor<f32>) -> tensor<8xf32>
    %144 = stablehlo.multiply %63, %142 : tensor<2x2x8xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %145 = stablehlo.reduce(%144 init: %cst_40) applies stablehlo.add across dimensions = [2] : (tensor<2x2x8xf32>, tensor<f32>) -> tensor<2x2xf32>
    %146 = stablehlo.reshape %145 : (tensor<2x2xf32>) -> tensor<2x2x1xf32>
    %147 = stablehlo.broadcast_in_dim %71, dims = [0, 1, 2] : (tensor<2x2x1xf32>) -> tensor<2x2x8xf32>
    %148 = stablehlo.multiply %142, %147 : tensor<2x2x8xf32>
    %149 = stablehlo.add %113, %148 : tensor<2x2x8xf32>
    %150 = stablehlo.multiply %146, %74 : tensor<2x2x1xf32>
    %cst_41 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %151 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<2x2x1xf32>
    %152 = stablehlo.divide %150, %151 : tensor<2x2x1xf32>
    %cst_42 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %153 = stablehlo.reduce(%152 init: %cst_42) applies stablehlo.add across dimensions = [2] : (tensor<2x2x1xf32>, tensor<f32>) -> tensor<2x2xf32>
    %154 = stablehlo.broadcast_in_dim %153, dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2x8xf32>
    %155 = stablehlo.multiply %63, %154 : tensor<2x2x8xf32>
    %156 = stablehlo.add %149, %155 : tensor<2x2x8xf32>
    %157 = stablehlo.multiply %154, %63 : tensor<2x2x8xf32>
    %158 = stablehlo.add %156, %157 : tensor<2x2x8xf32>
    %cst_43 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %159 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<2x2x8xf32>
    %160 = stablehlo.multiply %158, %159 : tensor<2x2x8xf32>
    %161 = stablehlo.dot_general %160, %59, contracting_dims = [0, 1] x [0, 1], precision = [HIGHEST, HIGHEST] : (tensor<2x2x8xf32>, tensor<2x2x8xf32>) -> tensor<8x8xf32>
    %162 = stablehlo.transpose %161, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %163 = stablehlo.dot_general %160, %arg4, contracting_dims = [2] x [1], precision = [HIGHEST, HIGHEST] : (tensor<2x2x8xf32>, tensor<8x8xf32>) -> tensor<2x2x8xf32>
    %164 = stablehlo.reshape %163 : (tensor<2x2x8xf32>) -> tensor<2x2x4x2xf32>
    %165 = stablehlo.transpose %164, dims = [0, 2, 3, 1] : (tensor<2x2x4x2xf32>) -> tensor<2x4x2x2xf32>
    %166 = stablehlo.dot_general %165, %21, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [HIGHEST, HIGHEST] : (tensor<2x4x2x2xf32>, tensor<2x2x4x2xf32>) -> tensor<2x4x2x2xf32>
    %167 = stablehlo.dot_general %165, %53, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [HIGHEST, HIGHEST] : (tensor<2x4x2x2xf32>, tensor<2x4x2x2xf32>) -> tensor<2x4x2x2xf32>
    %168 = stablehlo.transpose %167, dims = [0, 3, 1, 2] : (tensor<2x4x2x2xf32>) -> tensor<2x2x4x2xf32>
    %169 = stablehlo.broadcast_in_dim %56, dims = [0, 1, 2, 3] : (tensor<2x4x2x1xf32>) -> tensor<2x4x2x2xf32>
    %170 = stablehlo.multiply %166, %169 : tensor<2x4x2x2xf32>
    %171 = stablehlo.multiply %170, %49 : tensor<2x4x2x2xf32>
    %cst_44 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %172 = stablehlo.reduce(%171 init: %cst_44) applies stablehlo.add across dimensions = [3] : (tensor<2x4x2x2xf32>, tensor<f32>) -> tensor<2x4x2xf32>
    %173 = stablehlo.reshape %172 : (tensor<2x4x2xf32>) -> tensor<2x4x2x1xf32>
    %174 = stablehlo.negate %173 : tensor<2x4x2x1xf32>
    %175 = stablehlo.broadcast_in_dim %51, dims = [0, 1, 2, 3] : (tensor<2x4x2x1xf32>) -> tensor<2x4x2x2xf32>
    %176 = stablehlo.divide %166, %175 : tensor<2x4x2x2xf32>
    %cst_45 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %177 = stablehlo.reduce(%174 init: %cst_45) applies stablehlo.add across dimensions = [3] : (tensor<2x4x2x1xf32>, tensor<f32>) -> tensor<2x4x2xf32>
    %178 = stablehlo.broadcast_in_dim %177, dims = [0, 1, 2] : (tensor<2x4x2xf32>) -> tensor<2x4x2x2xf32>
    %179 = stablehlo.add %176, %178 : tensor<2x4x2x2xf32>
    %180 = stablehlo.multiply %179, %49 : tensor<2x4x2x2xf32>
    %181 = call @_where_0(%27#1, %27#2, %180) : (tensor<2x4x2x2xi1>, tensor<2x4x2x2xf32>, tensor<2x4x2x2xf32>) -> tensor<2x4x2x2xf32>
    %cst_46 = stablehlo.constant dense<1.41421354> : tensor<f32>
    %182 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<2x4x2x2xf32>
    %183 = stablehlo.divide %181, %182 : tensor<2x4x2x2xf32>
    %184 = stablehlo.dot_general %183, %19, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [HIGHEST, HIGHEST] : (tensor<2x4x2x2xf32>, tensor<2x2x4x2xf32>) -> tensor<2x4x2x2xf32>
    %185 = stablehlo.transpose %184, dims = [0, 2, 1, 3] : (tensor<2x4x2x2xf32>) -> tensor<2x2x4x2xf32>
    %186 = stablehlo.dot_general %183, %20, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [HIGHEST, HIGHEST] : (tensor<2x4x2x2xf32>, tensor<2x2x4x2xf32>) -> tensor<2x4x2x2xf32>
    %187 = stablehlo.transpose %186, dims = [0, 2, 1, 3] : (tensor<2x4x2x2xf32>) -> tensor<2x2x4x2xf32>
    %188 = stablehlo.reshape %168 : (tensor<2x2x4x2xf32>) -> tensor<2x2x8xf32>
    %189 = stablehlo.reshape %185 : (tensor<2x2x4x2xf32>) -> tensor<2x2x8xf32>
    %190 = stablehlo.reshape %187 : (tensor<2x2x4x2xf32>) -> tensor<2x2x8xf32>
    %191 = stablehlo.concatenate %190, %189, %188, dim = 2 : (tensor<2x2x8xf32>, tensor<2x2x8xf32>, tensor<2x2x8xf32>) -> tensor<2x2x24xf32>
    %cst_47 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %192 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<2x2x24xf32>
    %193 = stablehlo.multiply %191, %192 : tensor<2x2x24xf32>
    %194 = stablehlo.dot_general %193, %12, contracting_dims = [0, 1] x [0, 1], precision = [HIGHEST, HIGHEST] : (tensor<2x2x24xf32>, tensor<2x2x8xf32>) -> tensor<24x8xf32>
    %195 = stablehlo.transpose %194, dims = [1, 0] : (tensor<24x8xf32>) -> tensor<8x24xf32>
    %196 = stablehlo.dot_general %193, %arg3, contracting_dims = [2] x [1], precision = [HIGHEST, HIGHEST] : (tensor<2x2x24xf32>, tensor<8x24xf32>) -> tensor<2x2x8xf32>
    %197 = stablehlo.multiply %9, %196 : tensor<2x2x8xf32>
    %cst_48 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %198 = stablehlo.reduce(%197 init: %cst_48) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x2x8xf32>, tensor<f32>) -> tensor<8xf32>
    %199 = stablehlo.reshape %198 : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %cst_49 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %200 = stablehlo.reduce(%199 init: %cst_49) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x8xf32>, tensor<f32>) -> tensor<8xf32>
    %cst_50 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %201 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %202 = stablehlo.multiply %201, %200 : tensor<8xf32>
    %203 = stablehlo.subtract %arg2, %202 : tensor<8xf32>
    %cst_51 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %204 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<8x24xf32>
    %205 = stablehlo.multiply %204, %195 : tensor<8x24xf32>
    %206 = stablehlo.subtract %arg3, %205 : tensor<8x24xf32>
    %cst_52 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %207 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %208 = stablehlo.multiply %207, %162 : tensor<8x8xf32>
    %209 = stablehlo.subtract %arg4, %208 : tensor<8x8xf32>
    %cst_53 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %210 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %211 = stablehlo.multiply %210, %143 : tensor<8xf32>
    %212 = stablehlo.subtract %arg5, %211 : tensor<8xf32>
    %cst_54 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %213 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %214 = stablehlo.multiply %213, %136 : tensor<8x32xf32>
    %215 = stablehlo.subtract %arg6, %214 : tensor<8x32xf32>
    %cst_55 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %216 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<32x8xf32>
    %217 = stablehlo.multiply %216, %117 : tensor<32x8xf32>
    %218 = stablehlo.subtract %arg7, %217 : tensor<32x8xf32>
    return %110, %203, %206, %209, %212, %215, %218 : tensor<f32>, tensor<8xf32>, tensor<8x24xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x32xf32>, tensor<32x8xf32>
  }
  func.func private @tril(%arg0: tensor<2x2xi1>) -> tensor<2x2xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<2x2xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x2xi32>
    %2 = stablehlo.add %0, %1 : tensor<2x2xi32>
    %3 = stablehlo.iota dim = 1 : tensor<2x2xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<2x2xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<2x2xi1>, tensor<2x2xi1>
    return %6 : tensor<2x2xi1>
  }
  func.func private @_where(%arg0: tensor<2x2xi1>, %arg1: tensor<2x4x2x2xf32>, %arg2: tensor<f32>) -> (tensor<2x4x2x2xf32>, tensor<2x4x2x2xi1>, tensor<2x4x2x2xf32>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<2x2xi1>) -> tensor<2x4x2x2xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x4x2x2xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x4x2x2xi1>, tensor<2x4x2x2xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x2x2xf32>
    return %3, %1, %4 : tensor<2x4x2x2xf32>, tensor<2x4x2x2xi1>, tensor<2x4x2x2xf32>
  }
  func.func private @_where_0(%arg0: tensor<2x4x2x2xi1>, %arg1: tensor<2x4x2x2xf32>, %arg2: tensor<2x4x2x2xf32>) -> tensor<2x4x2x2xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x2x2xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<2x4x2x2xi1>, tensor<2x4x2x2xf32>
    return %1 : tensor<2x4x2x2xf32>
  }
}
