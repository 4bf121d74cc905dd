module {
  func.func private @declared(tensor<2xf32>, tensor<i32> {a.b = 1 : i64}) -> (tensor<2xf32>, tensor<i32>)
  func.func public @main(%x: tensor<4x6xf32>, %i: tensor<i32>, %s: tensor<f32>) -> (tensor<4x6xf32> {jax.result_info = "a"}) attributes {note = "n"} {
    %0 = stablehlo.iota dim = 0 : tensor<4x6xi32>
    %1 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %2 = "stablehlo.broadcast_in_dim"(%x) {broadcast_dimensions = dense<[0, 2]> : tensor<2xi64>} : (tensor<4x6xf32>) -> tensor<4x3x6xf32>
    %3 = stablehlo.broadcast %s, sizes = [2, 3] : (tensor<f32>) -> tensor<2x3xf32>
    %4 = stablehlo.reshape %x : (tensor<4x6xf32>) -> tensor<2x12xf32>
    %5 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
    %6 = stablehlo.reverse %x, dims = [0, 1] : tensor<4x6xf32>
    %7 = stablehlo.slice %x [1:4, 0:6:2] : (tensor<4x6xf32>) -> tensor<3x3xf32>
    %8 = stablehlo.concatenate %x, %6, %x, dim = 1 : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x18xf32>
    %9 = stablehlo.pad %x, %s, low = [1, -1], high = [0, 2], interior = [1, 0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<8x7xf32>
    %10 = stablehlo.dynamic_slice %x, %i, %i, sizes = [2, 2] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
    %11 = stablehlo.dynamic_update_slice %x, %10, %i, %i : (tensor<4x6xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
    %12 = stablehlo.constant dense<[[1], [0]]> : tensor<2x1xi32>
    %13 = "stablehlo.gather"(%x, %12) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>} : (tensor<4x6xf32>, tensor<2x1xi32>) -> tensor<2x6xf32>
    %14 = "stablehlo.scatter"(%x, %12, %13) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<4x6xf32>, tensor<2x1xi32>, tensor<2x6xf32>) -> tensor<4x6xf32>
    %15 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<4x6xf32>) -> tensor<i32>
    %16 = stablehlo.set_dimension_size %x, %15, dim = 0 : (tensor<4x6xf32>, tensor<i32>) -> tensor<?x6xf32, #stablehlo.bounds<4, ?>>
    %17 = stablehlo.constant dense<[4, 6]> : tensor<2xi32>
    %18 = stablehlo.dynamic_broadcast_in_dim %s, %17, dims = [] {known_expanding_dimensions = array<i64>} : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %19 = stablehlo.dynamic_iota %17, dim = 1 : (tensor<2xi32>) -> tensor<?x?xi32>
    %20 = stablehlo.dynamic_reshape %x, %17 : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %21 = stablehlo.real_dynamic_slice %x, %17, %17, %17 : (tensor<4x6xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    %22 = stablehlo.dynamic_pad %x, %s, %17, %17, %17 : (tensor<4x6xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    %23 = stablehlo.slice %s [] : (tensor<f32>) -> tensor<f32>
    return %14 : tensor<4x6xf32>
  }
}
