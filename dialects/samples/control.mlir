// A loop and a choice are the upstream operations; their conditions are read out of stored tensors of rank 0.
module {
  func.func @main(%n: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
    %r:2 = scf.while (%i = %n, %y = %x) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) {
      %zero = "surject.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %more = arith.cmpi sgt, %i, %zero : tensor<i32>
      %c = "surject.store"(%more) : (tensor<i1>) -> tensor<i1>
      %bit = tensor.extract %c[] : tensor<i1>
      scf.condition(%bit) %i, %y : tensor<i32>, tensor<4xf32>
    } do {
    ^bb0(%i: tensor<i32>, %y: tensor<4xf32>):
      %one = "surject.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
      %less = arith.subi %i, %one : tensor<i32>
      %j = "surject.store"(%less) : (tensor<i32>) -> tensor<i32>
      %double = arith.addf %y, %y : tensor<4xf32>
      %z = "surject.store"(%double) : (tensor<4xf32>) -> tensor<4xf32>
      scf.yield %j, %z : tensor<i32>, tensor<4xf32>
    }
    %value = tensor.extract %r#0[] : tensor<i32>
    %case = arith.index_cast %value : i32 to index
    %s = scf.index_switch %case -> tensor<4xf32>
    case 0 {
      scf.yield %r#1 : tensor<4xf32>
    }
    default {
      %minus = arith.negf %r#1 : tensor<4xf32>
      %m = "surject.store"(%minus) : (tensor<4xf32>) -> tensor<4xf32>
      scf.yield %m : tensor<4xf32>
    }
    return %s : tensor<4xf32>
  }
}
