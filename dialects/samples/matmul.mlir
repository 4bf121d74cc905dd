// c : f32[4,6] =:+ over i<4, j<6, k<5 at [i,j]: a[i,k] * b[k,j]
module @matmul {
  func.func @main(%a: tensor<4x5xf32>, %b: tensor<5x6xf32>) -> tensor<4x6xf32> {
    %x = "surject.read"(%a) {map = affine_map<(i, j, k) -> (i, k)>} : (tensor<4x5xf32>) -> tensor<4x6x5xf32>
    %y = "surject.read"(%b) {map = affine_map<(i, j, k) -> (k, j)>} : (tensor<5x6xf32>) -> tensor<4x6x5xf32>
    %m = arith.mulf %x, %y : tensor<4x6x5xf32>
    %s = "surject.acc"(%m) {kind = "add", map = affine_map<(i, j, k) -> (i, j)>} : (tensor<4x6x5xf32>) -> tensor<4x6xf32>
    %c = "surject.store"(%s) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return %c : tensor<4x6xf32>
  }
}
