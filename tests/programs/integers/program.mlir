module @jit_integers attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x6xi32>, %arg1: tensor<4x6xi32>) -> (tensor<4x6xi32> {jax.result_info = "result[0]"}, tensor<4x6xi32> {jax.result_info = "result[1]"}, tensor<4x6xi32> {jax.result_info = "result[2]"}, tensor<4x6xui8> {jax.result_info = "result[3]"}, tensor<4x6xi32> {jax.result_info = "result[4]"}, tensor<6xi1> {jax.result_info = "result[5]"}, tensor<4xi1> {jax.result_info = "result[6]"}, tensor<6xi64> {jax.result_info = "result[7]"}, tensor<4xi32> {jax.result_info = "result[8]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<4x6xi32>) -> tensor<4x6xui8>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %2 = stablehlo.compare EQ, %arg1, %1, SIGNED : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %c_0 = stablehlo.constant dense<1> : tensor<i64>
    %3 = call @_where(%2, %c_0, %arg1) : (tensor<4x6xi1>, tensor<i64>, tensor<4x6xi32>) -> tensor<4x6xi32>
    %4 = call @floor_divide(%arg0, %3) : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %6 = stablehlo.compare EQ, %arg1, %5, SIGNED : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %c_2 = stablehlo.constant dense<1> : tensor<i64>
    %7 = call @_where(%6, %c_2, %arg1) : (tensor<4x6xi1>, tensor<i64>, tensor<4x6xi32>) -> tensor<4x6xi32>
    %8 = call @remainder(%arg0, %7) : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi32>
    %9 = stablehlo.abs %arg1 : tensor<4x6xi32>
    %10 = stablehlo.shift_left %arg0, %9 : tensor<4x6xi32>
    %11 = stablehlo.multiply %0, %0 : tensor<4x6xui8>
    %12 = stablehlo.xor %arg0, %arg1 : tensor<4x6xi32>
    %13 = stablehlo.compare GT, %arg0, %arg1, SIGNED : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %c_3 = stablehlo.constant dense<false> : tensor<i1>
    %14 = stablehlo.reduce(%13 init: %c_3) applies stablehlo.or across dimensions = [0] : (tensor<4x6xi1>, tensor<i1>) -> tensor<6xi1>
    %15 = stablehlo.compare GT, %arg0, %arg1, SIGNED : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %c_4 = stablehlo.constant dense<true> : tensor<i1>
    %16 = stablehlo.reduce(%15 init: %c_4) applies stablehlo.and across dimensions = [1] : (tensor<4x6xi1>, tensor<i1>) -> tensor<4xi1>
    %17 = stablehlo.convert %arg1 : (tensor<4x6xi32>) -> tensor<4x6xi64>
    %c_5 = stablehlo.constant dense<1> : tensor<i64>
    %18 = stablehlo.reduce(%17 init: %c_5) applies stablehlo.multiply across dimensions = [0] : (tensor<4x6xi64>, tensor<i64>) -> tensor<6xi64>
    %c_6 = stablehlo.constant dense<-2147483648> : tensor<i32>
    %19 = stablehlo.reduce(%arg0 init: %c_6) applies stablehlo.maximum across dimensions = [1] : (tensor<4x6xi32>, tensor<i32>) -> tensor<4xi32>
    return %4, %8, %10, %11, %12, %14, %16, %18, %19 : tensor<4x6xi32>, tensor<4x6xi32>, tensor<4x6xi32>, tensor<4x6xui8>, tensor<4x6xi32>, tensor<6xi1>, tensor<4xi1>, tensor<6xi64>, tensor<4xi32>
  }
  func.func private @_where(%arg0: tensor<4x6xi1>, %arg1: tensor<i64>, %arg2: tensor<4x6xi32>) -> tensor<4x6xi32> {
    %0 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %2 = stablehlo.select %arg0, %1, %arg2 : tensor<4x6xi1>, tensor<4x6xi32>
    return %2 : tensor<4x6xi32>
  }
  func.func private @floor_divide(%arg0: tensor<4x6xi32>, %arg1: tensor<4x6xi32>) -> tensor<4x6xi32> {
    %0 = stablehlo.divide %arg0, %arg1 : tensor<4x6xi32>
    %1 = stablehlo.sign %arg0 : tensor<4x6xi32>
    %2 = stablehlo.sign %arg1 : tensor<4x6xi32>
    %3 = stablehlo.compare NE, %1, %2, SIGNED : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %4 = stablehlo.remainder %arg0, %arg1 : tensor<4x6xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %7 = stablehlo.and %3, %6 : tensor<4x6xi1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %8 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %9 = stablehlo.subtract %0, %8 : tensor<4x6xi32>
    %10 = call @_where_0(%7, %9, %0) : (tensor<4x6xi1>, tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi32>
    return %10 : tensor<4x6xi32>
  }
  func.func private @_where_0(%arg0: tensor<4x6xi1>, %arg1: tensor<4x6xi32>, %arg2: tensor<4x6xi32>) -> tensor<4x6xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<4x6xi1>, tensor<4x6xi32>
    return %0 : tensor<4x6xi32>
  }
  func.func private @remainder(%arg0: tensor<4x6xi32>, %arg1: tensor<4x6xi32>) -> tensor<4x6xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %1 = stablehlo.compare EQ, %arg1, %0, SIGNED : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %3 = call @_where_0(%1, %2, %arg1) : (tensor<4x6xi1>, tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi32>
    %4 = stablehlo.remainder %arg0, %3 : tensor<4x6xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %8 = stablehlo.compare LT, %4, %7, SIGNED : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %10 = stablehlo.compare LT, %3, %9, SIGNED : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %11 = stablehlo.compare NE, %8, %10, UNSIGNED : (tensor<4x6xi1>, tensor<4x6xi1>) -> tensor<4x6xi1>
    %12 = stablehlo.and %11, %6 : tensor<4x6xi1>
    %13 = stablehlo.add %4, %3 : tensor<4x6xi32>
    %14 = stablehlo.select %12, %13, %4 : tensor<4x6xi1>, tensor<4x6xi32>
    return %14 : tensor<4x6xi32>
  }
}
