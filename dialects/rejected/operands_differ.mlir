module {
  func.func @main(%x: tensor<4xui8>, %y: tensor<5xui8>) -> tensor<4xui8> {
    %s = "surject.binary"(%x, %y) {op = "add"} : (tensor<4xui8>, tensor<5xui8>) -> tensor<4xui8>
    return %s : tensor<4xui8>
  }
}
