module attributes {jax.uses_shape_polymorphism = true} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  sdy.mesh @maximal = <[], device_ids=[0]> {stablehlo.mesh = {axes = []}}
  func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %s: tensor<2xui64>, %m: tensor<3x3xf32>, %v: tensor<8xf32>) -> tensor<4x5xcomplex<f32>> {
    %0 = stablehlo.fft %x, type = RFFT, length = [8] : (tensor<4x8xf32>) -> tensor<4x5xcomplex<f32>>
    %1 = stablehlo.cholesky %m, lower = true : tensor<3x3xf32>
    %2 = "stablehlo.triangular_solve"(%m, %1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %output_state, %output = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
    %c = stablehlo.constant dense<4> : tensor<1xi64>
    %f = stablehlo.constant dense<0.0> : tensor<f32>
    %3 = stablehlo.rng %f, %f, %c, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
    %values, %indices = chlo.top_k(%x, k = 3) : tensor<4x8xf32> -> (tensor<4x3xf32>, tensor<4x3xi32>)
    %4 = chlo.erf %x : tensor<4x8xf32> -> tensor<4x8xf32>
    %5 = chlo.is_inf %x : tensor<4x8xf32> -> tensor<4x8xi1>
    %6 = chlo.next_after %x, %4 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
    %7 = chlo.broadcast_add %x, %v {broadcast_dimensions = array<i64: 1>} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    %8 = chlo.broadcast_compare %x, %v {broadcast_dimensions = array<i64: 1>, comparison_direction = #chlo<comparison_direction LT>} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
    %9 = chlo.constant dense<1.0> : tensor<2xf32>
    %10:3 = "stablehlo.batch_norm_training"(%x, %v, %v) {epsilon = 0.001 : f32, feature_index = 1 : i64} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)
    %11 = stablehlo.tuple %x, %m : tuple<tensor<4x8xf32>, tensor<3x3xf32>>
    %12 = stablehlo.get_tuple_element %11[1] : (tuple<tensor<4x8xf32>, tensor<3x3xf32>>) -> tensor<3x3xf32>
    %13:2 = stablehlo.optimization_barrier %x, %m : tensor<4x8xf32>, tensor<3x3xf32>
    stablehlo.optimization_barrier()
    %14 = stablehlo.custom_call @"odd name"(%x) {api_version = 4 : i32, backend_config = {a = 1 : i64}, called_computations = [@main], operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    stablehlo.custom_call @shape_assertion(%f) {api_version = 2 : i32, error_message = "m", has_side_effect = true} : (tensor<f32>) -> ()
    %15 = stablehlo.composite "ns.name" %x {composite_attributes = {n = 1 : i64}, decomposition = @dec, version = 1 : i32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %16 = stablehlo.create_token : !stablehlo.token
    %17 = stablehlo.after_all %16, %16 : !stablehlo.token
    %18 = stablehlo.partition_id : tensor<ui32>
    %19 = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %20 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %20 : tensor<f32>
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %21 = "stablehlo.cross-replica-sum"(%x) {replica_groups = dense<[[0]]> : tensor<1x1xi64>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %22 = "stablehlo.async_start"(%x) ({
    ^bb0(%a: tensor<4x8xf32>):
      %part = stablehlo.slice %a [0:4, 0:8] : (tensor<4x8xf32>) -> tensor<4x8xf32>
      stablehlo.return %part : tensor<4x8xf32>
    }) : (tensor<4x8xf32>) -> !stablehlo.future<tensor<4x8xf32>>
    %23 = stablehlo.uniform_quantize %x : (tensor<4x8xf32>) -> tensor<4x8x!quant.uniform<i8:f32, 1.0:17>>
    %24 = stablehlo.add %23, %23 : tensor<4x8x!quant.uniform<i8:f32, 1.0:17>>
    %25 = stablehlo.uniform_dequantize %24 : (tensor<4x8x!quant.uniform<i8:f32, 1.0:17>>) -> tensor<4x8xf32>
    return %0 : tensor<4x5xcomplex<f32>>
  }
  func.func private @dec(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
    return %arg0 : tensor<4x8xf32>
  }
}
