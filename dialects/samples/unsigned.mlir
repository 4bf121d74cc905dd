// Unsigned elements keep their sign in the type, so their arithmetic is the dialect's own.
module {
  func.func @main(%x: tensor<4xui8>) -> (tensor<4xui8>, tensor<4xi1>) {
    %i = "surject.index"() {axis = 0} : () -> tensor<4xui8>
    %c = "surject.constant"() {value = dense<200> : tensor<ui8>} : () -> tensor<4xui8>
    %s = "surject.binary"(%x, %c) {op = "div"} : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
    %t = "surject.binary"(%s, %i) {op = "add"} : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
    %l = "surject.binary"(%x, %i) {op = "lt"} : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
    %r = "surject.store"(%t) : (tensor<4xui8>) -> tensor<4xui8>
    %b = "surject.store"(%l) : (tensor<4xi1>) -> tensor<4xi1>
    return %r, %b : tensor<4xui8>, tensor<4xi1>
  }
}
