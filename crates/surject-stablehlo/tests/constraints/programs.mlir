// ok stablehlo.composite
func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.composite "my.op" %a {composite_attributes = {n = 1 : i64}, decomposition = @inner, version = 1 : i32} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @inner(%a: tensor<f32>) -> tensor<f32> {
  return %a : tensor<f32>
}
// -----
// C1 stablehlo.composite
func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.composite "op" %a {decomposition = @inner} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @inner(%a: tensor<f32>) -> tensor<f32> {
  return %a : tensor<f32>
}
// -----
// C2 stablehlo.composite
func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.composite "my.op" %a {decomposition = @missing} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// -----
// C3 stablehlo.composite
func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.composite "my.op" %a {decomposition = @inner} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @inner(%a: tensor<f64>) -> tensor<f32> {
  %0 = stablehlo.convert %a : (tensor<f64>) -> tensor<f32>
  return %0 : tensor<f32>
}
// -----
// C4 stablehlo.composite
func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.composite "my.op" %a {decomposition = @inner} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @inner(%a: tensor<f32>) -> tensor<f64> {
  %0 = stablehlo.convert %a : (tensor<f32>) -> tensor<f64>
  return %0 : tensor<f64>
}
// -----
// ok stablehlo.async_start
func.func @main(%a: tensor<2x2xf32>) -> tensor<4x2xf32> {
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<2x2xf32>):
    %1 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x2xf32>) -> tensor<4x2xf32>
    stablehlo.return %1 : tensor<4x2xf32>
  }) : (tensor<2x2xf32>) -> !stablehlo.future<tensor<4x2xf32>>
  %2 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4x2xf32>>) -> tensor<4x2xf32>
  return %2 : tensor<4x2xf32>
}
// -----
// no stablehlo.async_start
func.func @main(%a: tensor<2x2xf32>) -> !stablehlo.future<tensor<4x2xf32>> {
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<2x2xf32>):
    stablehlo.return %x : tensor<2x2xf32>
  }) : (tensor<2x2xf32>) -> !stablehlo.future<tensor<4x2xf32>>
  return %0 : !stablehlo.future<tensor<4x2xf32>>
}
// -----
// ok module without functions
module @empty {
}
// -----
// ok foreign attributes and encodings
#csr = #sparse_tensor.encoding<{
  map = (d0, d1) -> (d0 : dense, d1 : compressed)
}>
func.func @main(%a: tensor<2x3xf32, #csr>) -> tensor<2x3xf32, #csr> attributes {foo.bar = #foo<bar<[1, {}]>>} {
  %0 = stablehlo.abs %a {mhlo.frontend_attributes = {a = "b"}} : tensor<2x3xf32, #csr>
  return %0 : tensor<2x3xf32, #csr>
}
// -----
// no quantized type with a storage range beyond its type
func.func @main(%a: tensor<2x!quant.uniform<i8<-129:127>:f32, 1.0>>) {
  return
}
// -----
// no quantized type without a float
func.func @main(%a: tensor<2x!quant.uniform<i8:i32, 1.0>>) {
  return
}
// -----
// no list of scales without a dimension
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, {1.0, 2.0}>>) {
  return
}
