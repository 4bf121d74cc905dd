// Two elements of -1 in front, one behind: a read through a guarded map.
module {
  func.func @main(%x: tensor<4xf32>) -> tensor<7xf32> {
    %p = "surject.read"(%x) {
      map = affine_map<(i) -> (i - 2)>, guards = affine_set<(i) : (i - 2 >= 0, 5 - i >= 0)>,
      fill = dense<-1.0> : tensor<f32>
    } : (tensor<4xf32>) -> tensor<7xf32>
    %r = "surject.store"(%p) {surject.names = ["padded"], surject.origin = "model.py:3"} : (tensor<7xf32>) -> tensor<7xf32>
    return %r : tensor<7xf32>
  }
}
