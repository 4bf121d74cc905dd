module {
  func.func @main(%x: tensor<4x6xf32>, %s: tensor<f32>, %i: tensor<i32>) {
    %0 = stablehlo.pad %x, %i, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<4x6xf32>, tensor<i32>) -> tensor<4x6xf32>
    return
  }
}
