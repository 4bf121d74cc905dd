module {
  func.func @main(%x: tensor<4x6xf32>, %s: tensor<f32>, %i: tensor<i32>) {
    %0 = stablehlo.slice %x [0:5, 0:6] : (tensor<4x6xf32>) -> tensor<5x6xf32>
    return
  }
}
