module {
  func.func @main(%x: tensor<4x6xf32>, %s: tensor<f32>, %i: tensor<i32>) {
    %0 = stablehlo.select %i, %x, %x : tensor<i32>, tensor<4x6xf32>
    return
  }
}
