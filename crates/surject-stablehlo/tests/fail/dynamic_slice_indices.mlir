module {
  func.func @main(%x: tensor<4x6xf32>, %s: tensor<f32>, %i: tensor<i32>) {
    %0 = stablehlo.dynamic_slice %x, %i, sizes = [2, 2] : (tensor<4x6xf32>, tensor<i32>) -> tensor<2x2xf32>
    return
  }
}
