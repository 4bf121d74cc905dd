// Shape arithmetic of other dialects, attributes and types that are kept as they stand.
#csr = #sparse_tensor.encoding<{
  map = (d0, d1) -> (d0 : dense, d1 : compressed), posWidth = 32, crdWidth = 32
}>
!q = !quant.uniform<i8<-127:127>:f32:1, {1.0e-1:-30, 5.0e-1:-20}>
module @shapes attributes {dlti.dl_spec = #dlti.dl_spec<#dlti.dl_entry<index, 32>>, a.b = [#foo<x>, {c = #bar.baz}]} {
  func.func @main(%e: tensor<4xf32, "layout">, %x: tensor<?x4xf32>, %n: index, %s: tensor<2x3xf32, #csr>, %q: tensor<3x2x!q>, %u: tensor<*xf32>, %m: memref<2xf32>) -> tensor<?x4xf32> {
    %c0 = arith.constant 0 : index
    %t = arith.constant true
    %f = arith.constant 1.5 : f32
    %d = arith.constant dense<[1, 2]> : tensor<2xi32>
    %0 = shape.shape_of %x : tensor<?x4xf32> -> tensor<2xindex>
    %1 = tensor.dim %x, %c0 : tensor<?x4xf32>
    %2 = arith.index_cast %1 : index to i32
    %3 = arith.index_cast %2 : i32 to index
    %4 = arith.addi %3, %n : index
    %5 = arith.muli %4, %n overflow<nsw> : index
    %6 = arith.cmpi slt, %4, %5 : index
    %7 = arith.select %6, %4, %5 : index
    %8 = tensor.from_elements %7, %4 : tensor<2xindex>
    %9 = tensor.extract %8[%c0] : tensor<2xindex>
    %10 = shape.broadcast %0, %8 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
    %11 = shape.const_shape [4, 4] : tensor<2xindex>
    %12 = shape.num_elements %11 : tensor<2xindex> -> index
    %13 = tensor.cast %x : tensor<?x4xf32> to tensor<4x4xf32>
    %14 = shape.cstr_broadcastable %0, %8 : tensor<2xindex>, tensor<2xindex>
    %15 = stablehlo.dynamic_reshape %x, %10 : (tensor<?x4xf32>, tensor<2xindex>) -> tensor<?x4xf32>
    %16 = stablehlo.abs %s : tensor<2x3xf32, #csr>
    %17 = stablehlo.add %q, %q : tensor<3x2x!q>
    %18 = "foo.bar"(%u, %m) {a = #foo.bar<[1, {x = "}"}]>, b = affine_map<(d0) -> (d0 + 1)>} : (tensor<*xf32>, memref<2xf32>) -> !foo.type<"x", 3>
    return %15 : tensor<?x4xf32>
  }
}
