module {
  func.func @main(%arg0: tensor<?x3xf32, #stablehlo.bounds<4>>) -> tensor<?x3xf32, #stablehlo.bounds<4>> {
    return %arg0 : tensor<?x3xf32, #stablehlo.bounds<4>>
  }
}
