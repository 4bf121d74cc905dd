#loc1 = loc("x")
!pair = tuple<!t, tensor<2xf32>>
module @jit_f attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%arg0: tensor<?x4xf32> {jax.global_constant = "b"} loc("x"), %arg1: !t loc(unknown)) -> (tensor<?x4xf32> {jax.result_info = "r"}) {
    %0 = stablehlo.add %arg0, %arg0 : tensor<?x4xf32> loc(#loc5)
    %1 = "stablehlo.tuple"(%arg1, %arg1) : (!t, !t) -> !pair loc(fused<"m">["a", callsite("f"("f.py":1:2 to :3) at #loc1)])
    %2 = stablehlo.sine %0 : tensor<?x4xf32> loc(unknown)
    return %0 : tensor<?x4xf32> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc5 = loc("mlp"(#loc1))
!t = tensor<2xf32>
