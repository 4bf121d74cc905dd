module {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = sdy.sharding_constraint %x @mesh : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
