// Library operations take and give tuples; their scalar functions are functions of the module, whose last parameters
// are what they use of the variables around them (`captures` says how many).
module {
  func.func @main(%keys: tensor<8xf32>, %values: tensor<8xi32>, %offset: tensor<f32>) -> (tensor<8xf32>, tensor<8xi32>) {
    %args = builtin.unrealized_conversion_cast %keys, %values, %offset : tensor<8xf32>, tensor<8xi32>, tensor<f32> to tuple<tensor<8xf32>, tensor<8xi32>, tensor<f32>>
    %sorted = "surject.sort"(%args) {axis = 0, stable = true, regions = [@less], captures = array<i64: 1>}
      : (tuple<tensor<8xf32>, tensor<8xi32>, tensor<f32>>) -> tuple<tensor<8xf32>, tensor<8xi32>>
    %r:2 = builtin.unrealized_conversion_cast %sorted : tuple<tensor<8xf32>, tensor<8xi32>> to tensor<8xf32>, tensor<8xi32>
    return %r#0, %r#1 : tensor<8xf32>, tensor<8xi32>
  }
  func.func private @less(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>, %offset: tensor<f32>) -> tensor<i1> attributes {surject.region} {
    %s = arith.addf %a, %offset : tensor<f32>
    %l = arith.cmpf olt, %s, %b : tensor<f32>
    %r = "surject.store"(%l) : (tensor<i1>) -> tensor<i1>
    return %r : tensor<i1>
  }
}
