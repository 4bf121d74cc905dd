module {
  func.func @main(%x: tensor<4x6xf32>, %s: tensor<f32>, %i: tensor<i32>) {
    "other.op"() ({
    ^bb0:
      "other.br"() : () -> ()
    ^bb1:
      "other.br"() : () -> ()
    }) : () -> ()
    return
  }
}
