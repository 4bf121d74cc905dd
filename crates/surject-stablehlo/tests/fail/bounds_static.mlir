#sizes = #stablehlo.bounds<?, 3>
module {
  func.func @main(%arg0: tensor<?x3xf32, #sizes>) -> tensor<?x3xf32, #sizes> {
    return %arg0 : tensor<?x3xf32, #sizes>
  }
}
