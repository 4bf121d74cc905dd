module {
  func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %s = "surject.cholesky"(%x) {lower = true} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %s : tensor<4x4xf32>
  }
}
