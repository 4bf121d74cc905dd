module {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf64> {
    %s = "surject.store"(%x) : (tensor<4xf32>) -> tensor<4xf64>
    return %s : tensor<4xf64>
  }
}
