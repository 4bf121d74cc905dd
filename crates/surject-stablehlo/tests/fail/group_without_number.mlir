module {
  func.func @main(%x: tensor<4x6xf32>, %s: tensor<f32>, %i: tensor<i32>) {
    %0:2 = stablehlo.optimization_barrier %x, %s : tensor<4x6xf32>, tensor<f32>
    %1 = stablehlo.negate %0 : tensor<4x6xf32>
    return
  }
}
