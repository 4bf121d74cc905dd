module {
  func.func @main(%x: tensor<4x6xf32>, %i: tensor<4x6xi32>, %zero: tensor<f32>, %izero: tensor<i32>, %p: tensor<i1>) -> tensor<4xf32> {
    %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %1:2 = stablehlo.reduce(%x init: %zero), (%i init: %izero) across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
     reducer(%a: tensor<f32> loc("a"), %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>) {
      %m = stablehlo.maximum %a, %b : tensor<f32>
      %n = stablehlo.minimum %c, %d : tensor<i32>
      stablehlo.return %m, %n : tensor<f32>, tensor<i32>
    }
    %2 = "stablehlo.reduce"(%x, %zero) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.subtract %a, %b : tensor<f32>
      "stablehlo.return"(%m) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 1>} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %3 = "stablehlo.reduce_window"(%x, %zero) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) {window_dimensions = array<i64: 2, 3>, padding = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf32>
    %4 = stablehlo.while(%it = %izero) : tensor<i32> attributes {note = "n"}
    cond {
      %c = stablehlo.constant dense<3> : tensor<i32>
      %5 = stablehlo.compare LT, %it, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    } do {
      %c = stablehlo.constant dense<1> : tensor<i32>
      %5 = stablehlo.add %it, %c : tensor<i32>
      stablehlo.return %5 : tensor<i32>
    } loc("w")
    stablehlo.while()
    cond {
      stablehlo.return %p : tensor<i1>
    } do {
      stablehlo.return
    }
    %6 = "stablehlo.if"(%p) ({
      stablehlo.return %zero : tensor<f32>
    }, {
      %7 = func.call @helper(%zero) : (tensor<f32>) -> tensor<f32>
      stablehlo.return %7 : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    %8:2 = "stablehlo.case"(%izero) ({
      stablehlo.return %zero, %izero : tensor<f32>, tensor<i32>
    }) : (tensor<i32>) -> (tensor<f32>, tensor<i32>)
    %9 = "stablehlo.sort"(%x) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %5 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    }) {dimension = -1 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %10 = call @helper(%8#0) : (tensor<f32>) -> tensor<f32>
    return %0 : tensor<4xf32>
  }
  func.func private @helper(%arg0: tensor<f32>) -> tensor<f32> {
    return %arg0 : tensor<f32>
  }
}
