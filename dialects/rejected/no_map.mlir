module {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %s = "surject.read"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %s : tensor<4xf32>
  }
}
