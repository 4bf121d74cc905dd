module {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %s = "surject.acc"(%x) {kind = "sub", map = affine_map<(i) -> (i)>} : (tensor<4xf32>) -> tensor<4xf32>
    return %s : tensor<4xf32>
  }
}
