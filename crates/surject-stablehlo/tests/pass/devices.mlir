// Shardy in its pretty forms, as JAX and its partitioner print it.
module @devices attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  sdy.mesh @order = <["x"=2], device_ids=[1, 0]>
  sdy.mesh @one = <[], device_ids=[0]>
  func.func public @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y"}p1]>}, %arg1: tensor<2xui32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>}) -> (tensor<8x8xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{?}, {}], replicated={"x"}>}) {
    %0 = sdy.sharding_constraint %arg1 <@empty_mesh, [{?}]> : tensor<2xui32>
    %1 = sdy.sharding_constraint %arg0 <@mesh, [{"x", ?}p1, {"y":(1)2}], replicated={"y"}> {note} : tensor<8x8xf32>
    %2 = sdy.reshard %1 <mesh<["x"=2]>, [{}, {}]> : tensor<8x8xf32>
    %3:2 = sdy.manual_computation(%2, %0) in_shardings=[<@mesh, [{"x"}, {"y"}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>, <@mesh, [{"x"}]>] manual_axes={"x", "y"} (%arg2: tensor<4x4xf32>, %arg3: tensor<2xui32>) {
      %12 = sdy.manual_computation(%arg2) in_shardings=[<@mesh, [{?}, {?}]>] out_shardings=[<@mesh, [{?}, {?}]>] manual_axes={} (%arg4: tensor<4x4xf32>) {
        sdy.return %arg4 : tensor<4x4xf32>
      } {note = 1 : i32} : (tensor<4x4xf32>) -> tensor<4x4xf32>
      sdy.return %12, %arg3 : tensor<4x4xf32>, tensor<2xui32>
    } : (tensor<8x8xf32>, tensor<2xui32>) -> (tensor<8x8xf32>, tensor<4xui32>)
    %4 = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} () {
      %12 = stablehlo.constant dense<1.0> : tensor<2xf32>
      sdy.return %12 : tensor<2xf32>
    } : () -> tensor<4xf32>
    %5 = sdy.named_computation<"block">(%3#0) (%arg2: tensor<8x8xf32>) {
      sdy.return %arg2 : tensor<8x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %6 = sdy.named_computation<"block">(%5) in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>] (%arg2: tensor<8x8xf32>) {
      sdy.return %arg2 : tensor<8x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %7 = sdy.propagation_barrier %6 allowed_direction=BACKWARD : tensor<8x8xf32>
    sdy.sharding_group %7 group_id=3 : tensor<8x8xf32>
    %8 = sdy.data_flow_edge %7 : tensor<8x8xf32>
    %9 = sdy.data_flow_edge %8 sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
    %10 = sdy.all_slice [{"x"}, {}] %9 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
    %11 = sdy.all_reduce {"y"} %10 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
    return %11 : tensor<8x8xf32>
  }
}
