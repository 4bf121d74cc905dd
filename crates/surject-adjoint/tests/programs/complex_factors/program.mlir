module @jit_complex_factors attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x3xf64>, %arg1: tensor<3x3xf64>, %arg2: tensor<5x3xf64>, %arg3: tensor<2x4xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.complex %arg0, %arg1 : tensor<3x3xcomplex<f64>>
    %1 = stablehlo.reverse %arg2, dims = [0] : tensor<5x3xf64>
    %cst = stablehlo.constant dense<0.69999999999999996> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<5x3xf64>
    %3 = stablehlo.multiply %1, %2 : tensor<5x3xf64>
    %4 = stablehlo.complex %arg2, %3 : tensor<5x3xcomplex<f64>>
    %5 = stablehlo.reverse %arg3, dims = [0] : tensor<2x4xf64>
    %cst_0 = stablehlo.constant dense<3.000000e-01> : tensor<f64>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<2x4xf64>
    %7 = stablehlo.subtract %5, %6 : tensor<2x4xf64>
    %8 = stablehlo.complex %arg3, %7 : tensor<2x4xcomplex<f64>>
    %9:2 = call @qr(%0) : (tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>)
    %10 = stablehlo.real %9#0 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %11 = stablehlo.sine %10 : tensor<3x3xf64>
    %12 = stablehlo.imag %9#0 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %13 = stablehlo.cosine %12 : tensor<3x3xf64>
    %14 = stablehlo.add %11, %13 : tensor<3x3xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %15 = stablehlo.reduce(%14 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x3xf64>, tensor<f64>) -> tensor<f64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %16 = stablehlo.add %cst_2, %15 : tensor<f64>
    %17 = stablehlo.real %9#1 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %18 = stablehlo.sine %17 : tensor<3x3xf64>
    %19 = stablehlo.imag %9#1 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %20 = stablehlo.cosine %19 : tensor<3x3xf64>
    %21 = stablehlo.add %18, %20 : tensor<3x3xf64>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %22 = stablehlo.reduce(%21 init: %cst_3) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x3xf64>, tensor<f64>) -> tensor<f64>
    %23 = stablehlo.add %16, %22 : tensor<f64>
    %24:2 = call @qr_0(%4) : (tensor<5x3xcomplex<f64>>) -> (tensor<5x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>)
    %25 = stablehlo.real %24#0 : (tensor<5x3xcomplex<f64>>) -> tensor<5x3xf64>
    %26 = stablehlo.sine %25 : tensor<5x3xf64>
    %27 = stablehlo.imag %24#0 : (tensor<5x3xcomplex<f64>>) -> tensor<5x3xf64>
    %28 = stablehlo.cosine %27 : tensor<5x3xf64>
    %29 = stablehlo.add %26, %28 : tensor<5x3xf64>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %30 = stablehlo.reduce(%29 init: %cst_4) applies stablehlo.add across dimensions = [0, 1] : (tensor<5x3xf64>, tensor<f64>) -> tensor<f64>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %31 = stablehlo.add %cst_5, %30 : tensor<f64>
    %32 = stablehlo.real %24#1 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %33 = stablehlo.sine %32 : tensor<3x3xf64>
    %34 = stablehlo.imag %24#1 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %35 = stablehlo.cosine %34 : tensor<3x3xf64>
    %36 = stablehlo.add %33, %35 : tensor<3x3xf64>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %37 = stablehlo.reduce(%36 init: %cst_6) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x3xf64>, tensor<f64>) -> tensor<f64>
    %38 = stablehlo.add %31, %37 : tensor<f64>
    %39 = stablehlo.add %23, %38 : tensor<f64>
    %40:2 = call @qr_1(%8) : (tensor<2x4xcomplex<f64>>) -> (tensor<2x2xcomplex<f64>>, tensor<2x4xcomplex<f64>>)
    %41 = stablehlo.real %40#0 : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xf64>
    %42 = stablehlo.sine %41 : tensor<2x2xf64>
    %43 = stablehlo.imag %40#0 : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xf64>
    %44 = stablehlo.cosine %43 : tensor<2x2xf64>
    %45 = stablehlo.add %42, %44 : tensor<2x2xf64>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %46 = stablehlo.reduce(%45 init: %cst_7) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x2xf64>, tensor<f64>) -> tensor<f64>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %47 = stablehlo.add %cst_8, %46 : tensor<f64>
    %48 = stablehlo.real %40#1 : (tensor<2x4xcomplex<f64>>) -> tensor<2x4xf64>
    %49 = stablehlo.sine %48 : tensor<2x4xf64>
    %50 = stablehlo.imag %40#1 : (tensor<2x4xcomplex<f64>>) -> tensor<2x4xf64>
    %51 = stablehlo.cosine %50 : tensor<2x4xf64>
    %52 = stablehlo.add %49, %51 : tensor<2x4xf64>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %53 = stablehlo.reduce(%52 init: %cst_9) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf64>, tensor<f64>) -> tensor<f64>
    %54 = stablehlo.add %47, %53 : tensor<f64>
    %55 = stablehlo.add %39, %54 : tensor<f64>
    %56:2 = call @eigh(%0) : (tensor<3x3xcomplex<f64>>) -> (tensor<3xf64>, tensor<3x3xcomplex<f64>>)
    %cst_10 = stablehlo.constant dense<4.000000e+00> : tensor<f64>
    %57 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %58 = stablehlo.divide %56#0, %57 : tensor<3xf64>
    %59 = stablehlo.exponential %58 : tensor<3xf64>
    %60 = stablehlo.convert %59 : (tensor<3xf64>) -> tensor<3xcomplex<f64>>
    %61 = stablehlo.broadcast_in_dim %60, dims = [1] : (tensor<3xcomplex<f64>>) -> tensor<1x3xcomplex<f64>>
    %62 = stablehlo.broadcast_in_dim %61, dims = [0, 1] : (tensor<1x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %63 = stablehlo.multiply %56#1, %62 : tensor<3x3xcomplex<f64>>
    %64 = stablehlo.real %56#1 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %65 = stablehlo.imag %56#1 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %66 = stablehlo.negate %65 : tensor<3x3xf64>
    %67 = stablehlo.complex %64, %66 : tensor<3x3xcomplex<f64>>
    %68 = stablehlo.transpose %67, dims = [1, 0] : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %69 = stablehlo.dot_general %63, %68, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %70 = stablehlo.real %69 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %71 = stablehlo.sine %70 : tensor<3x3xf64>
    %72 = stablehlo.imag %69 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %73 = stablehlo.cosine %72 : tensor<3x3xf64>
    %74 = stablehlo.add %71, %73 : tensor<3x3xf64>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %75 = stablehlo.reduce(%74 init: %cst_11) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x3xf64>, tensor<f64>) -> tensor<f64>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %76 = stablehlo.add %cst_12, %75 : tensor<f64>
    %77 = stablehlo.iota dim = 0 : tensor<9xi64>
    %c = stablehlo.constant dense<1> : tensor<i64>
    %78 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<9xi64>
    %79 = stablehlo.add %78, %77 : tensor<9xi64>
    %80 = stablehlo.reshape %79 : (tensor<9xi64>) -> tensor<3x3xi64>
    %81 = stablehlo.convert %80 : (tensor<3x3xi64>) -> tensor<3x3xcomplex<f64>>
    %82 = stablehlo.multiply %56#1, %81 : tensor<3x3xcomplex<f64>>
    %83 = stablehlo.abs %82 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %84 = stablehlo.multiply %83, %83 : tensor<3x3xf64>
    %85 = stablehlo.multiply %84, %83 : tensor<3x3xf64>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %86 = stablehlo.reduce(%85 init: %cst_13) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x3xf64>, tensor<f64>) -> tensor<f64>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %87 = stablehlo.add %cst_14, %86 : tensor<f64>
    %88 = stablehlo.iota dim = 0 : tensor<3xi64>
    %c_15 = stablehlo.constant dense<1> : tensor<i64>
    %89 = stablehlo.broadcast_in_dim %c_15, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %90 = stablehlo.add %89, %88 : tensor<3xi64>
    %91 = stablehlo.convert %90 : (tensor<3xi64>) -> tensor<3xf64>
    %92 = stablehlo.multiply %56#0, %91 : tensor<3xf64>
    %93 = stablehlo.abs %92 : tensor<3xf64>
    %94 = stablehlo.multiply %93, %93 : tensor<3xf64>
    %95 = stablehlo.multiply %94, %93 : tensor<3xf64>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %96 = stablehlo.reduce(%95 init: %cst_16) applies stablehlo.add across dimensions = [0] : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
    %97 = stablehlo.add %87, %96 : tensor<f64>
    %98 = stablehlo.add %76, %97 : tensor<f64>
    %99 = stablehlo.add %55, %98 : tensor<f64>
    %100:3 = call @svd(%0) : (tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>>, tensor<3xf64>, tensor<3x3xcomplex<f64>>)
    %101 = stablehlo.sqrt %100#1 : tensor<3xf64>
    %102 = stablehlo.convert %101 : (tensor<3xf64>) -> tensor<3xcomplex<f64>>
    %103 = stablehlo.broadcast_in_dim %102, dims = [1] : (tensor<3xcomplex<f64>>) -> tensor<1x3xcomplex<f64>>
    %104 = stablehlo.broadcast_in_dim %103, dims = [0, 1] : (tensor<1x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %105 = stablehlo.multiply %100#0, %104 : tensor<3x3xcomplex<f64>>
    %106 = stablehlo.dot_general %105, %100#2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %107 = stablehlo.real %106 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %108 = stablehlo.sine %107 : tensor<3x3xf64>
    %109 = stablehlo.imag %106 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %110 = stablehlo.cosine %109 : tensor<3x3xf64>
    %111 = stablehlo.add %108, %110 : tensor<3x3xf64>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %112 = stablehlo.reduce(%111 init: %cst_17) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x3xf64>, tensor<f64>) -> tensor<f64>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %113 = stablehlo.add %cst_18, %112 : tensor<f64>
    %114 = stablehlo.iota dim = 0 : tensor<9xi64>
    %c_19 = stablehlo.constant dense<1> : tensor<i64>
    %115 = stablehlo.broadcast_in_dim %c_19, dims = [] : (tensor<i64>) -> tensor<9xi64>
    %116 = stablehlo.add %115, %114 : tensor<9xi64>
    %117 = stablehlo.reshape %116 : (tensor<9xi64>) -> tensor<3x3xi64>
    %118 = stablehlo.convert %117 : (tensor<3x3xi64>) -> tensor<3x3xcomplex<f64>>
    %119 = stablehlo.multiply %100#0, %118 : tensor<3x3xcomplex<f64>>
    %120 = stablehlo.abs %119 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %121 = stablehlo.multiply %120, %120 : tensor<3x3xf64>
    %122 = stablehlo.multiply %121, %120 : tensor<3x3xf64>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %123 = stablehlo.reduce(%122 init: %cst_20) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x3xf64>, tensor<f64>) -> tensor<f64>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %124 = stablehlo.add %cst_21, %123 : tensor<f64>
    %125 = stablehlo.iota dim = 0 : tensor<3xi64>
    %c_22 = stablehlo.constant dense<1> : tensor<i64>
    %126 = stablehlo.broadcast_in_dim %c_22, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %127 = stablehlo.add %126, %125 : tensor<3xi64>
    %128 = stablehlo.convert %127 : (tensor<3xi64>) -> tensor<3xf64>
    %129 = stablehlo.multiply %100#1, %128 : tensor<3xf64>
    %130 = stablehlo.abs %129 : tensor<3xf64>
    %131 = stablehlo.multiply %130, %130 : tensor<3xf64>
    %132 = stablehlo.multiply %131, %130 : tensor<3xf64>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %133 = stablehlo.reduce(%132 init: %cst_23) applies stablehlo.add across dimensions = [0] : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
    %134 = stablehlo.add %124, %133 : tensor<f64>
    %135 = stablehlo.iota dim = 0 : tensor<9xi64>
    %c_24 = stablehlo.constant dense<1> : tensor<i64>
    %136 = stablehlo.broadcast_in_dim %c_24, dims = [] : (tensor<i64>) -> tensor<9xi64>
    %137 = stablehlo.add %136, %135 : tensor<9xi64>
    %138 = stablehlo.reshape %137 : (tensor<9xi64>) -> tensor<3x3xi64>
    %139 = stablehlo.convert %138 : (tensor<3x3xi64>) -> tensor<3x3xcomplex<f64>>
    %140 = stablehlo.multiply %100#2, %139 : tensor<3x3xcomplex<f64>>
    %141 = stablehlo.abs %140 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %142 = stablehlo.multiply %141, %141 : tensor<3x3xf64>
    %143 = stablehlo.multiply %142, %141 : tensor<3x3xf64>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %144 = stablehlo.reduce(%143 init: %cst_25) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x3xf64>, tensor<f64>) -> tensor<f64>
    %145 = stablehlo.add %134, %144 : tensor<f64>
    %146 = stablehlo.add %113, %145 : tensor<f64>
    %147 = stablehlo.add %99, %146 : tensor<f64>
    %148:3 = call @svd_2(%4) : (tensor<5x3xcomplex<f64>>) -> (tensor<5x3xcomplex<f64>>, tensor<3xf64>, tensor<3x3xcomplex<f64>>)
    %149 = stablehlo.sqrt %148#1 : tensor<3xf64>
    %150 = stablehlo.convert %149 : (tensor<3xf64>) -> tensor<3xcomplex<f64>>
    %151 = stablehlo.broadcast_in_dim %150, dims = [1] : (tensor<3xcomplex<f64>>) -> tensor<1x3xcomplex<f64>>
    %152 = stablehlo.broadcast_in_dim %151, dims = [0, 1] : (tensor<1x3xcomplex<f64>>) -> tensor<5x3xcomplex<f64>>
    %153 = stablehlo.multiply %148#0, %152 : tensor<5x3xcomplex<f64>>
    %154 = stablehlo.dot_general %153, %148#2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<5x3xcomplex<f64>>
    %155 = stablehlo.real %154 : (tensor<5x3xcomplex<f64>>) -> tensor<5x3xf64>
    %156 = stablehlo.sine %155 : tensor<5x3xf64>
    %157 = stablehlo.imag %154 : (tensor<5x3xcomplex<f64>>) -> tensor<5x3xf64>
    %158 = stablehlo.cosine %157 : tensor<5x3xf64>
    %159 = stablehlo.add %156, %158 : tensor<5x3xf64>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %160 = stablehlo.reduce(%159 init: %cst_26) applies stablehlo.add across dimensions = [0, 1] : (tensor<5x3xf64>, tensor<f64>) -> tensor<f64>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %161 = stablehlo.add %cst_27, %160 : tensor<f64>
    %162 = stablehlo.iota dim = 0 : tensor<15xi64>
    %c_28 = stablehlo.constant dense<1> : tensor<i64>
    %163 = stablehlo.broadcast_in_dim %c_28, dims = [] : (tensor<i64>) -> tensor<15xi64>
    %164 = stablehlo.add %163, %162 : tensor<15xi64>
    %165 = stablehlo.reshape %164 : (tensor<15xi64>) -> tensor<5x3xi64>
    %166 = stablehlo.convert %165 : (tensor<5x3xi64>) -> tensor<5x3xcomplex<f64>>
    %167 = stablehlo.multiply %148#0, %166 : tensor<5x3xcomplex<f64>>
    %168 = stablehlo.abs %167 : (tensor<5x3xcomplex<f64>>) -> tensor<5x3xf64>
    %169 = stablehlo.multiply %168, %168 : tensor<5x3xf64>
    %170 = stablehlo.multiply %169, %168 : tensor<5x3xf64>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %171 = stablehlo.reduce(%170 init: %cst_29) applies stablehlo.add across dimensions = [0, 1] : (tensor<5x3xf64>, tensor<f64>) -> tensor<f64>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %172 = stablehlo.add %cst_30, %171 : tensor<f64>
    %173 = stablehlo.iota dim = 0 : tensor<3xi64>
    %c_31 = stablehlo.constant dense<1> : tensor<i64>
    %174 = stablehlo.broadcast_in_dim %c_31, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %175 = stablehlo.add %174, %173 : tensor<3xi64>
    %176 = stablehlo.convert %175 : (tensor<3xi64>) -> tensor<3xf64>
    %177 = stablehlo.multiply %148#1, %176 : tensor<3xf64>
    %178 = stablehlo.abs %177 : tensor<3xf64>
    %179 = stablehlo.multiply %178, %178 : tensor<3xf64>
    %180 = stablehlo.multiply %179, %178 : tensor<3xf64>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %181 = stablehlo.reduce(%180 init: %cst_32) applies stablehlo.add across dimensions = [0] : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
    %182 = stablehlo.add %172, %181 : tensor<f64>
    %183 = stablehlo.iota dim = 0 : tensor<9xi64>
    %c_33 = stablehlo.constant dense<1> : tensor<i64>
    %184 = stablehlo.broadcast_in_dim %c_33, dims = [] : (tensor<i64>) -> tensor<9xi64>
    %185 = stablehlo.add %184, %183 : tensor<9xi64>
    %186 = stablehlo.reshape %185 : (tensor<9xi64>) -> tensor<3x3xi64>
    %187 = stablehlo.convert %186 : (tensor<3x3xi64>) -> tensor<3x3xcomplex<f64>>
    %188 = stablehlo.multiply %148#2, %187 : tensor<3x3xcomplex<f64>>
    %189 = stablehlo.abs %188 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %190 = stablehlo.multiply %189, %189 : tensor<3x3xf64>
    %191 = stablehlo.multiply %190, %189 : tensor<3x3xf64>
    %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %192 = stablehlo.reduce(%191 init: %cst_34) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x3xf64>, tensor<f64>) -> tensor<f64>
    %193 = stablehlo.add %182, %192 : tensor<f64>
    %194 = stablehlo.add %161, %193 : tensor<f64>
    %195 = stablehlo.add %147, %194 : tensor<f64>
    %196:3 = call @svd_3(%8) : (tensor<2x4xcomplex<f64>>) -> (tensor<2x2xcomplex<f64>>, tensor<2xf64>, tensor<2x4xcomplex<f64>>)
    %197 = stablehlo.sqrt %196#1 : tensor<2xf64>
    %198 = stablehlo.convert %197 : (tensor<2xf64>) -> tensor<2xcomplex<f64>>
    %199 = stablehlo.broadcast_in_dim %198, dims = [1] : (tensor<2xcomplex<f64>>) -> tensor<1x2xcomplex<f64>>
    %200 = stablehlo.broadcast_in_dim %199, dims = [0, 1] : (tensor<1x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
    %201 = stablehlo.multiply %196#0, %200 : tensor<2x2xcomplex<f64>>
    %202 = stablehlo.dot_general %201, %196#2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x2xcomplex<f64>>, tensor<2x4xcomplex<f64>>) -> tensor<2x4xcomplex<f64>>
    %203 = stablehlo.real %202 : (tensor<2x4xcomplex<f64>>) -> tensor<2x4xf64>
    %204 = stablehlo.sine %203 : tensor<2x4xf64>
    %205 = stablehlo.imag %202 : (tensor<2x4xcomplex<f64>>) -> tensor<2x4xf64>
    %206 = stablehlo.cosine %205 : tensor<2x4xf64>
    %207 = stablehlo.add %204, %206 : tensor<2x4xf64>
    %cst_35 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %208 = stablehlo.reduce(%207 init: %cst_35) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf64>, tensor<f64>) -> tensor<f64>
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %209 = stablehlo.add %cst_36, %208 : tensor<f64>
    %210 = stablehlo.iota dim = 0 : tensor<4xi64>
    %c_37 = stablehlo.constant dense<1> : tensor<i64>
    %211 = stablehlo.broadcast_in_dim %c_37, dims = [] : (tensor<i64>) -> tensor<4xi64>
    %212 = stablehlo.add %211, %210 : tensor<4xi64>
    %213 = stablehlo.reshape %212 : (tensor<4xi64>) -> tensor<2x2xi64>
    %214 = stablehlo.convert %213 : (tensor<2x2xi64>) -> tensor<2x2xcomplex<f64>>
    %215 = stablehlo.multiply %196#0, %214 : tensor<2x2xcomplex<f64>>
    %216 = stablehlo.abs %215 : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xf64>
    %217 = stablehlo.multiply %216, %216 : tensor<2x2xf64>
    %218 = stablehlo.multiply %217, %216 : tensor<2x2xf64>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %219 = stablehlo.reduce(%218 init: %cst_38) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x2xf64>, tensor<f64>) -> tensor<f64>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %220 = stablehlo.add %cst_39, %219 : tensor<f64>
    %221 = stablehlo.iota dim = 0 : tensor<2xi64>
    %c_40 = stablehlo.constant dense<1> : tensor<i64>
    %222 = stablehlo.broadcast_in_dim %c_40, dims = [] : (tensor<i64>) -> tensor<2xi64>
    %223 = stablehlo.add %222, %221 : tensor<2xi64>
    %224 = stablehlo.convert %223 : (tensor<2xi64>) -> tensor<2xf64>
    %225 = stablehlo.multiply %196#1, %224 : tensor<2xf64>
    %226 = stablehlo.abs %225 : tensor<2xf64>
    %227 = stablehlo.multiply %226, %226 : tensor<2xf64>
    %228 = stablehlo.multiply %227, %226 : tensor<2xf64>
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %229 = stablehlo.reduce(%228 init: %cst_41) applies stablehlo.add across dimensions = [0] : (tensor<2xf64>, tensor<f64>) -> tensor<f64>
    %230 = stablehlo.add %220, %229 : tensor<f64>
    %231 = stablehlo.iota dim = 0 : tensor<8xi64>
    %c_42 = stablehlo.constant dense<1> : tensor<i64>
    %232 = stablehlo.broadcast_in_dim %c_42, dims = [] : (tensor<i64>) -> tensor<8xi64>
    %233 = stablehlo.add %232, %231 : tensor<8xi64>
    %234 = stablehlo.reshape %233 : (tensor<8xi64>) -> tensor<2x4xi64>
    %235 = stablehlo.convert %234 : (tensor<2x4xi64>) -> tensor<2x4xcomplex<f64>>
    %236 = stablehlo.multiply %196#2, %235 : tensor<2x4xcomplex<f64>>
    %237 = stablehlo.abs %236 : (tensor<2x4xcomplex<f64>>) -> tensor<2x4xf64>
    %238 = stablehlo.multiply %237, %237 : tensor<2x4xf64>
    %239 = stablehlo.multiply %238, %237 : tensor<2x4xf64>
    %cst_43 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %240 = stablehlo.reduce(%239 init: %cst_43) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf64>, tensor<f64>) -> tensor<f64>
    %241 = stablehlo.add %230, %240 : tensor<f64>
    %242 = stablehlo.add %209, %241 : tensor<f64>
    %243 = stablehlo.add %195, %242 : tensor<f64>
    return %243 : tensor<f64>
  }
  func.func private @qr(%arg0: tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) {
    %0:2 = stablehlo.custom_call @lapack_zgeqrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m]) {i=3, j=3, k=3, l=3, m=3}, custom>} : (tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>>, tensor<3xcomplex<f64>>)
    %1 = stablehlo.custom_call @lapack_zungqr_ffi(%0#0, %0#1) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k])->([l, m]) {i=3, j=3, k=3, l=3, m=3}, custom>} : (tensor<3x3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %2 = stablehlo.iota dim = 0 : tensor<3x3xi64>
    %c = stablehlo.constant dense<-1> : tensor<i64>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<3x3xi64>
    %4 = stablehlo.add %2, %3 : tensor<3x3xi64>
    %5 = stablehlo.iota dim = 1 : tensor<3x3xi64>
    %6 = stablehlo.compare GE, %4, %5, SIGNED : (tensor<3x3xi64>, tensor<3x3xi64>) -> tensor<3x3xi1>
    %cst = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f64>>) -> tensor<3x3xcomplex<f64>>
    %8 = stablehlo.select %6, %7, %0#0 : tensor<3x3xi1>, tensor<3x3xcomplex<f64>>
    return %1, %8 : tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>
  }
  func.func private @qr_0(%arg0: tensor<5x3xcomplex<f64>>) -> (tensor<5x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) {
    %0:2 = stablehlo.custom_call @lapack_zgeqrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m]) {i=5, j=3, k=5, l=3, m=3}, custom>} : (tensor<5x3xcomplex<f64>>) -> (tensor<5x3xcomplex<f64>>, tensor<3xcomplex<f64>>)
    %1 = stablehlo.custom_call @lapack_zungqr_ffi(%0#0, %0#1) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k])->([l, m]) {i=5, j=3, k=3, l=5, m=3}, custom>} : (tensor<5x3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<5x3xcomplex<f64>>
    %2 = stablehlo.slice %0#0 [0:3, 0:3] : (tensor<5x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %3 = stablehlo.iota dim = 0 : tensor<3x3xi64>
    %c = stablehlo.constant dense<-1> : tensor<i64>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<3x3xi64>
    %5 = stablehlo.add %3, %4 : tensor<3x3xi64>
    %6 = stablehlo.iota dim = 1 : tensor<3x3xi64>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<3x3xi64>, tensor<3x3xi64>) -> tensor<3x3xi1>
    %cst = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %8 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f64>>) -> tensor<3x3xcomplex<f64>>
    %9 = stablehlo.select %7, %8, %2 : tensor<3x3xi1>, tensor<3x3xcomplex<f64>>
    return %1, %9 : tensor<5x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>
  }
  func.func private @qr_1(%arg0: tensor<2x4xcomplex<f64>>) -> (tensor<2x2xcomplex<f64>>, tensor<2x4xcomplex<f64>>) {
    %0:2 = stablehlo.custom_call @lapack_zgeqrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m]) {i=2, j=4, k=2, l=4, m=2}, custom>} : (tensor<2x4xcomplex<f64>>) -> (tensor<2x4xcomplex<f64>>, tensor<2xcomplex<f64>>)
    %1 = stablehlo.slice %0#0 [0:2, 0:2] : (tensor<2x4xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
    %2 = stablehlo.custom_call @lapack_zungqr_ffi(%1, %0#1) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k])->([l, m]) {i=2, j=2, k=2, l=2, m=2}, custom>} : (tensor<2x2xcomplex<f64>>, tensor<2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
    %3 = stablehlo.iota dim = 0 : tensor<2x4xi64>
    %c = stablehlo.constant dense<-1> : tensor<i64>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<2x4xi64>
    %5 = stablehlo.add %3, %4 : tensor<2x4xi64>
    %6 = stablehlo.iota dim = 1 : tensor<2x4xi64>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<2x4xi64>, tensor<2x4xi64>) -> tensor<2x4xi1>
    %cst = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %8 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f64>>) -> tensor<2x4xcomplex<f64>>
    %9 = stablehlo.select %7, %8, %0#0 : tensor<2x4xi1>, tensor<2x4xcomplex<f64>>
    return %2, %9 : tensor<2x2xcomplex<f64>>, tensor<2x4xcomplex<f64>>
  }
  func.func private @eigh(%arg0: tensor<3x3xcomplex<f64>>) -> (tensor<3xf64>, tensor<3x3xcomplex<f64>>) {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %1 = stablehlo.real %0 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %2 = stablehlo.imag %0 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %3 = stablehlo.negate %2 : tensor<3x3xf64>
    %4 = stablehlo.complex %1, %3 : tensor<3x3xcomplex<f64>>
    %5 = stablehlo.add %arg0, %4 : tensor<3x3xcomplex<f64>>
    %cst = stablehlo.constant dense<(2.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f64>>) -> tensor<3x3xcomplex<f64>>
    %7 = stablehlo.divide %5, %6 : tensor<3x3xcomplex<f64>>
    %8:3 = stablehlo.custom_call @lapack_zheevd_ffi(%7) {backend_config = "", mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], []) {i=3, j=3, k=3, l=3, m=3}, custom>} : (tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>>, tensor<3xf64>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %10 = stablehlo.compare EQ, %8#2, %9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %11 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_0 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %12 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f64>>) -> tensor<3x3xcomplex<f64>>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<3x3xi1>
    %14 = stablehlo.select %13, %8#0, %12 : tensor<3x3xi1>, tensor<3x3xcomplex<f64>>
    %15 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_1 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %16 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %17 = stablehlo.broadcast_in_dim %15, dims = [0] : (tensor<1xi1>) -> tensor<3xi1>
    %18 = stablehlo.select %17, %8#1, %16 : tensor<3xi1>, tensor<3xf64>
    return %18, %14 : tensor<3xf64>, tensor<3x3xcomplex<f64>>
  }
  func.func private @svd(%arg0: tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>>, tensor<3xf64>, tensor<3x3xcomplex<f64>>) {
    %0:5 = stablehlo.custom_call @lapack_zgesdd_ffi(%arg0) {backend_config = "", mhlo.backend_config = {mode = 83 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=3, j=3, k=3, l=3, m=3, n=3, o=3, p=3, q=3}, custom>} : (tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>>, tensor<3xf64>, tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %2 = stablehlo.compare EQ, %0#4, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<1xi1>) -> tensor<3xi1>
    %6 = stablehlo.select %5, %0#1, %4 : tensor<3xi1>, tensor<3xf64>
    %7 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_0 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f64>>) -> tensor<3x3xcomplex<f64>>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<3x3xi1>
    %10 = stablehlo.select %9, %0#2, %8 : tensor<3x3xi1>, tensor<3x3xcomplex<f64>>
    %11 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_1 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<complex<f64>>) -> tensor<3x3xcomplex<f64>>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<3x3xi1>
    %14 = stablehlo.select %13, %0#3, %12 : tensor<3x3xi1>, tensor<3x3xcomplex<f64>>
    return %10, %6, %14 : tensor<3x3xcomplex<f64>>, tensor<3xf64>, tensor<3x3xcomplex<f64>>
  }
  func.func private @svd_2(%arg0: tensor<5x3xcomplex<f64>>) -> (tensor<5x3xcomplex<f64>>, tensor<3xf64>, tensor<3x3xcomplex<f64>>) {
    %0:5 = stablehlo.custom_call @lapack_zgesdd_ffi(%arg0) {backend_config = "", mhlo.backend_config = {mode = 83 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=5, j=3, k=5, l=3, m=3, n=5, o=3, p=3, q=3}, custom>} : (tensor<5x3xcomplex<f64>>) -> (tensor<5x3xcomplex<f64>>, tensor<3xf64>, tensor<5x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %2 = stablehlo.compare EQ, %0#4, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<1xi1>) -> tensor<3xi1>
    %6 = stablehlo.select %5, %0#1, %4 : tensor<3xi1>, tensor<3xf64>
    %7 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_0 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f64>>) -> tensor<5x3xcomplex<f64>>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<5x3xi1>
    %10 = stablehlo.select %9, %0#2, %8 : tensor<5x3xi1>, tensor<5x3xcomplex<f64>>
    %11 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_1 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<complex<f64>>) -> tensor<3x3xcomplex<f64>>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<3x3xi1>
    %14 = stablehlo.select %13, %0#3, %12 : tensor<3x3xi1>, tensor<3x3xcomplex<f64>>
    return %10, %6, %14 : tensor<5x3xcomplex<f64>>, tensor<3xf64>, tensor<3x3xcomplex<f64>>
  }
  func.func private @svd_3(%arg0: tensor<2x4xcomplex<f64>>) -> (tensor<2x2xcomplex<f64>>, tensor<2xf64>, tensor<2x4xcomplex<f64>>) {
    %0:5 = stablehlo.custom_call @lapack_zgesdd_ffi(%arg0) {backend_config = "", mhlo.backend_config = {mode = 83 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=2, j=4, k=2, l=4, m=2, n=2, o=2, p=2, q=4}, custom>} : (tensor<2x4xcomplex<f64>>) -> (tensor<2x4xcomplex<f64>>, tensor<2xf64>, tensor<2x2xcomplex<f64>>, tensor<2x4xcomplex<f64>>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %2 = stablehlo.compare EQ, %0#4, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<2xf64>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<1xi1>) -> tensor<2xi1>
    %6 = stablehlo.select %5, %0#1, %4 : tensor<2xi1>, tensor<2xf64>
    %7 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_0 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f64>>) -> tensor<2x2xcomplex<f64>>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<2x2xi1>
    %10 = stablehlo.select %9, %0#2, %8 : tensor<2x2xi1>, tensor<2x2xcomplex<f64>>
    %11 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_1 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<complex<f64>>) -> tensor<2x4xcomplex<f64>>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<2x4xi1>
    %14 = stablehlo.select %13, %0#3, %12 : tensor<2x4xi1>, tensor<2x4xcomplex<f64>>
    return %10, %6, %14 : tensor<2x2xcomplex<f64>>, tensor<2xf64>, tensor<2x4xcomplex<f64>>
  }
}
