module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x2x8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<8x24xf32>, %arg3: tensor<8x8xf32>, %arg4: tensor<8xf32>, %arg5: tensor<8x32xf32>, %arg6: tensor<32x8xf32>) -> (tensor<2x2x8xf32> {jax.result_info = "result"}) {
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
    %10 = stablehlo.broadcast_in_dim %arg1, dims = [2] : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<2x2x8xf32>
    %12 = stablehlo.multiply %9, %11 : tensor<2x2x8xf32>
    %13 = stablehlo.dot_general %12, %arg2, contracting_dims = [2] x [0], precision = [HIGHEST, HIGHEST] : (tensor<2x2x8xf32>, tensor<8x24xf32>) -> tensor<2x2x24xf32>
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
    %27 = call @_where(%26, %24, %cst_4) : (tensor<2x2xi1>, tensor<2x4x2x2xf32>, tensor<f32>) -> tensor<2x4x2x2xf32>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %28 = stablehlo.reduce(%27 init: %cst_5) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x2x2xf32>, tensor<f32>) -> tensor<2x4x2xf32>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x4x2xf32>
    %30 = stablehlo.maximum %29, %28 : tensor<2x4x2xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2] : (tensor<2x4x2xf32>) -> tensor<2x4x2x1xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2, 3] : (tensor<2x4x2x1xf32>) -> tensor<2x4x2x2xf32>
    %33 = stablehlo.subtract %27, %32 : tensor<2x4x2x2xf32>
    %34 = stablehlo.exponential %33 : tensor<2x4x2x2xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.reduce(%34 init: %cst_7) applies stablehlo.add across dimensions = [3] : (tensor<2x4x2x2xf32>, tensor<f32>) -> tensor<2x4x2xf32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2] : (tensor<2x4x2xf32>) -> tensor<2x4x2x1xf32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [0, 1, 2, 3] : (tensor<2x4x2x1xf32>) -> tensor<2x4x2x2xf32>
    %38 = stablehlo.divide %34, %37 : tensor<2x4x2x2xf32>
    %39 = stablehlo.dot_general %21, %38, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [HIGHEST, HIGHEST] : (tensor<2x2x4x2xf32>, tensor<2x4x2x2xf32>) -> tensor<2x4x2x2xf32>
    %40 = stablehlo.transpose %39, dims = [0, 3, 1, 2] : (tensor<2x4x2x2xf32>) -> tensor<2x2x4x2xf32>
    %41 = stablehlo.reshape %40 : (tensor<2x2x4x2xf32>) -> tensor<2x2x8xf32>
    %42 = stablehlo.dot_general %41, %arg3, contracting_dims = [2] x [0], precision = [HIGHEST, HIGHEST] : (tensor<2x2x8xf32>, tensor<8x8xf32>) -> tensor<2x2x8xf32>
    %cst_8 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x2x8xf32>
    %44 = stablehlo.multiply %42, %43 : tensor<2x2x8xf32>
    %45 = stablehlo.add %arg0, %44 : tensor<2x2x8xf32>
    %46 = stablehlo.multiply %45, %45 : tensor<2x2x8xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %47 = stablehlo.reduce(%46 init: %cst_9) applies stablehlo.add across dimensions = [2] : (tensor<2x2x8xf32>, tensor<f32>) -> tensor<2x2xf32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2x1xf32>
    %cst_10 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<2x2x1xf32>
    %50 = stablehlo.divide %48, %49 : tensor<2x2x1xf32>
    %cst_11 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<2x2x1xf32>
    %52 = stablehlo.add %50, %51 : tensor<2x2x1xf32>
    %53 = stablehlo.rsqrt %52 : tensor<2x2x1xf32>
    %54 = stablehlo.broadcast_in_dim %53, dims = [0, 1, 2] : (tensor<2x2x1xf32>) -> tensor<2x2x8xf32>
    %55 = stablehlo.multiply %45, %54 : tensor<2x2x8xf32>
    %56 = stablehlo.broadcast_in_dim %arg4, dims = [2] : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %57 = stablehlo.broadcast_in_dim %56, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<2x2x8xf32>
    %58 = stablehlo.multiply %55, %57 : tensor<2x2x8xf32>
    %59 = stablehlo.dot_general %58, %arg5, contracting_dims = [2] x [0], precision = [HIGHEST, HIGHEST] : (tensor<2x2x8xf32>, tensor<8x32xf32>) -> tensor<2x2x32xf32>
    %cst_12 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<2x2x32xf32>
    %61 = stablehlo.multiply %59, %60 : tensor<2x2x32xf32>
    %62 = stablehlo.multiply %61, %61 : tensor<2x2x32xf32>
    %63 = stablehlo.multiply %62, %61 : tensor<2x2x32xf32>
    %cst_13 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %64 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<2x2x32xf32>
    %65 = stablehlo.multiply %64, %63 : tensor<2x2x32xf32>
    %66 = stablehlo.add %61, %65 : tensor<2x2x32xf32>
    %cst_14 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<2x2x32xf32>
    %68 = stablehlo.multiply %67, %66 : tensor<2x2x32xf32>
    %69 = stablehlo.tanh %68 : tensor<2x2x32xf32>
    %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<2x2x32xf32>
    %71 = stablehlo.add %70, %69 : tensor<2x2x32xf32>
    %cst_16 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %72 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<2x2x32xf32>
    %73 = stablehlo.multiply %72, %71 : tensor<2x2x32xf32>
    %74 = stablehlo.multiply %61, %73 : tensor<2x2x32xf32>
    %75 = stablehlo.dot_general %74, %arg6, contracting_dims = [2] x [0], precision = [HIGHEST, HIGHEST] : (tensor<2x2x32xf32>, tensor<32x8xf32>) -> tensor<2x2x8xf32>
    %cst_17 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %76 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<2x2x8xf32>
    %77 = stablehlo.multiply %75, %76 : tensor<2x2x8xf32>
    %78 = stablehlo.add %45, %77 : tensor<2x2x8xf32>
    return %78 : tensor<2x2x8xf32>
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
  func.func private @_where(%arg0: tensor<2x2xi1>, %arg1: tensor<2x4x2x2xf32>, %arg2: tensor<f32>) -> tensor<2x4x2x2xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<2x2xi1>) -> tensor<2x4x2x2xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x4x2x2xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x4x2x2xi1>, tensor<2x4x2x2xf32>
    return %3 : tensor<2x4x2x2xf32>
  }
}
