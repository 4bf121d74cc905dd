module {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = sdy.propagation_barrier %x allowed_direction=SIDEWAYS : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
