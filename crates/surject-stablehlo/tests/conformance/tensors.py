"""Programs of operations on whole tensors; see generate.py."""
import numpy as np
from generate import RNG, arr, dt, ty

ADD = lambda t: f"({{\n^bb0(%a: tensor<{t}>, %b: tensor<{t}>):\n  %s = stablehlo.add %a, %b : tensor<{t}>\n  stablehlo.return %s : tensor<{t}>\n}})"
def region(op, t): return ADD(t).replace("stablehlo.add", "stablehlo." + op)
def rnd(shape, t="f32"):
    if t == "i1": return RNG.rand(*shape) < 0.5
    if t[0] in "iu": return arr(RNG.randint(0 if t[0] == "u" else -9, 10, shape), t)
    if t.startswith("complex"): return arr(RNG.randn(*shape) + 1j * RNG.randn(*shape), t)
    return arr(RNG.randint(-16, 17, shape) / 4.0, t)
def tx(a): return ty(a)[7:-1]

def movement(f):
    for t in ["f32", "i8", "i64", "i1", "complex<f32>", "bf16"]:
        x = rnd((2, 3, 4), t)
        f.case("transpose", "stablehlo.transpose %0, dims = [2, 0, 1] : ({0}) -> {r0}", [x], [f"4x2x3x{t}"])
        f.case("reshape", "stablehlo.reshape %0 : ({0}) -> {r0}", [x], [f"6x4x{t}"])
        f.case("reverse", "stablehlo.reverse %0, dims = [0, 2] : {0}", [x], [tx(x)])
        f.case("slice", "stablehlo.slice %0 [0:2, 1:3, 0:4:3] : ({0}) -> {r0}", [x], [f"2x2x2x{t}"])
        f.case("broadcast_in_dim", "stablehlo.broadcast_in_dim %0, dims = [1] : ({0}) -> {r0}", [rnd((3,), t)], [f"2x3x4x{t}"])
        f.case("broadcast_in_dim_ones", "stablehlo.broadcast_in_dim %0, dims = [2, 0] : ({0}) -> {r0}", [rnd((1, 2), t)], [f"2x2x4x{t}"])
        f.case("broadcast_in_dim_scalar", "stablehlo.broadcast_in_dim %0, dims = [] : ({0}) -> {r0}", [rnd((), t)], [f"2x2x{t}"])
        f.case("broadcast", "stablehlo.broadcast %0, sizes = [2, 1] : ({0}) -> {r0}", [rnd((3,), t)], [f"2x1x3x{t}"])
        f.case("concatenate", "stablehlo.concatenate %0, %1, %2, dim = 1 : ({0}, {1}, {2}) -> {r0}", [x, rnd((2, 0, 4), t), rnd((2, 2, 4), t)], [f"2x5x4x{t}"])
        f.case("concatenate_one", "stablehlo.concatenate %0, dim = 0 : ({0}) -> {r0}", [rnd((3,), t)], [f"3x{t}"])
        z = rnd((), t)
        for low, high, inner, shape in [([1, 0, 2], [0, 2, 1], [0, 1, 2], "3x7x13x"), ([-1, 1, -1], [0, -1, -2], [0, 0, 1], "1x3x4x"), ([0, -2, 0], [0, -2, 0], [0, 2, 0], "2x3x4x"), ([-3, 0, 0], [2, 0, 0], [0, 0, 0], "1x3x4x")]:
            f.case("pad", f"stablehlo.pad %0, %1, low = {low}, high = {high}, interior = {inner} : ({{0}}, {{1}}) -> {{r0}}", [x, z], [shape + t])
        f.case("pad_empty", "stablehlo.pad %0, %1, low = [2], high = [1], interior = [3] : ({0}, {1}) -> {r0}", [rnd((0,), t), z], [f"3x{t}"])
        for i in ([0, 1, 5], [-3, 100, 1]):
            ix = [arr(k, "i32") for k in i]
            f.case("dynamic_slice", "stablehlo.dynamic_slice %0, %1, %2, %3, sizes = [1, 2, 2] : ({0}, {1}, {2}, {3}) -> {r0}", [x] + ix, [f"1x2x2x{t}"])
            f.case("dynamic_update_slice", "stablehlo.dynamic_update_slice %0, %1, %2, %3, %4 : ({0}, {1}, {2}, {3}, {4}) -> {r0}", [x, rnd((1, 2, 2), t)] + ix, [tx(x)])
    f.case("dynamic_slice_unsigned", "stablehlo.dynamic_slice %0, %1, sizes = [2] : ({0}, {1}) -> {r0}", [rnd((5,)), arr(2**64 - 1, "ui64")], ["2xf32"])
    f.case("dynamic_slice_scalar", "stablehlo.dynamic_slice %0, sizes = [] : ({0}) -> {r0}", [rnd(())], ["f32"])
    for t in ["i32", "f32", "ui8", "bf16", "complex<f32>", "f64"]:
        f.case("iota", "stablehlo.iota dim = 1 : {r0}", [], [f"2x3x{t}"])
    f.case("iota_empty", "stablehlo.iota dim = 0 : {r0}", [], ["0x3xi32"])
    f.case("transpose_scalar", "stablehlo.transpose %0, dims = [] : ({0}) -> {r0}", [rnd(())], ["f32"])
    f.case("transpose_empty", "stablehlo.transpose %0, dims = [1, 0] : ({0}) -> {r0}", [rnd((0, 3))], ["3x0xf32"])
    f.case("reshape_scalar", "stablehlo.reshape %0 : ({0}) -> {r0}", [rnd((1, 1))], ["f32"])
    f.case("slice_empty", "stablehlo.slice %0 [1:1, 0:3] : ({0}) -> {r0}", [rnd((2, 3))], ["0x3xf32"])
    f.case("reverse_empty", "stablehlo.reverse %0, dims = [0] : {0}", [rnd((0, 2))], ["0x2xf32"])
    f.case("map", '"stablehlo.map"(%0, %1) <{dimensions = array<i64: 0, 1>}> ' + region("subtract", "f32") + " : ({0}, {1}) -> {r0}", [rnd((2, 3)), rnd((2, 3))], ["2x3xf32"])
    f.case("map_i32", '"stablehlo.map"(%0, %1) <{dimensions = array<i64: 0>}> ' + region("maximum", "i32") + " : ({0}, {1}) -> {r0}", [rnd((3,), "i32"), rnd((3,), "i32")], ["3xi32"])
    f.case("map_scalar", '"stablehlo.map"(%0, %1) <{dimensions = array<i64>}> ' + region("multiply", "f64") + " : ({0}, {1}) -> {r0}", [rnd((), "f64"), rnd((), "f64")], ["f64"])

class Form(str):
    def __mod__(self, two): return self.replace("{D}", two[0]).replace("{Z}", two[1])

def gathers(f):
    x = rnd((3, 4, 5))
    G = Form('"stablehlo.gather"(%0, %1) <{dimension_numbers = #stablehlo.gather<{D}>, slice_sizes = array<i64: {Z}>, indices_are_sorted = false}> : ({0}, {1}) -> {r0}')
    for name, dims, sizes, ix, out in [
        ("rows", "offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1", "1, 4, 5", [[0], [2], [-1], [7]], "4x4x5xf32"),
        ("scalar_index", "offset_dims = [0, 1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 0", "1, 4, 5", [1], "4x5xf32"),
        ("no_vector", "offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2", "1, 2, 5", [[0, 1], [2, 9]], None),
        ("two", "offset_dims = [1], collapsed_slice_dims = [0, 2], start_index_map = [2, 0], index_vector_dim = 1", "1, 3, 1", [[0, 0], [4, 2], [9, -5]], "3x3xf32"),
        ("windows", "offset_dims = [0, 2, 3], start_index_map = [1, 2], index_vector_dim = 0", "3, 2, 3", [[0, 1, 5], [0, 4, 1]], "3x3x2x3xf32"),
        ("batched", "offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [1], index_vector_dim = 2", "1, 1, 5", [[[0], [1], [2]], [[3], [9], [-1]]], "2x3x5xf32")]:
        for t in ("i32", "i64") + (("ui32",) if name == "rows" else ()):
            if out: f.case("gather_" + name, G % (dims, sizes), [x, arr(ix, "i64").astype(dt(t)) if t != "ui32" else arr(ix, "i64").astype(np.uint32)], [out])
    f.case("gather_empty", G % ("offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1", "1, 2"), [rnd((3, 2)), arr(np.zeros((0, 1)), "i32")], ["0x2xf32"])
    S = Form('"stablehlo.scatter"(%0, %1, %2) <{scatter_dimension_numbers = #stablehlo.scatter<{D}>, indices_are_sorted = false, unique_indices = false}> {Z} : ({0}, {1}, {2}) -> {r0}')
    for t in ("f32", "i32", "bf16"):
        for op in ("add", "maximum", "multiply"):
            f.case("scatter_rows_" + op, S % ("update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1", region(op, t)),
                   [rnd((4, 3), t), arr([[0], [3], [0], [4], [-1]], "i32"), rnd((5, 3), t)], [f"4x3x{t}"])
    keep = "({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n  stablehlo.return %b : tensor<f32>\n})"
    f.case("scatter_set", S % ("update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 0", keep), [rnd((4, 5)), arr([1, 3], "i32"), rnd((2, 2))], ["4x5xf32"])
    # A window that does not fit: each element outside is dropped (XLA drops the whole window).
    x, u = rnd((4, 5)), rnd((2, 2)); w = x.copy(); w[1:3, 4] = u[:, 0]
    f.case("scatter_partly_outside", S % ("update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 0", keep), [x, arr([1, 4], "i32"), u], want=[w])
    f.case("scatter_batched", S % ("update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 2", region("add", "f32")),
           [rnd((3, 4, 2)), arr([[[0], [1], [2]], [[3], [9], [0]]], "i32"), rnd((2, 3, 2))], ["3x4x2xf32"])
    f.case("scatter_scalar", S % ("inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 0", region("add", "f32")), [rnd((3,)), arr([2], "i64"), rnd(())], ["3xf32"])
    two = '"stablehlo.scatter"(%0, %1, %2, %3, %4) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({\n^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):\n  %s = stablehlo.add %a, %c : tensor<f32>\n  %t = stablehlo.maximum %b, %d : tensor<i32>\n  stablehlo.return %s, %t : tensor<f32>, tensor<i32>\n}) : ({0}, {1}, {2}, {3}, {4}) -> ({r0}, {r1})'
    f.case("scatter_two", two, [rnd((4,)), rnd((4,), "i32"), arr([[0], [2], [0]], "i32"), rnd((3,)), rnd((3,), "i32")], ["4xf32", "4xi32"])
    x, i = rnd((3, 4)), arr([[2, 0], [1, 1]], "i32")
    f.case("torch_index_select", '"stablehlo.torch_index_select"(%0, %1) <{dim = 1 : i64, batch_dims = 0 : i64}> : ({0}, {1}) -> {r0}', [x, i], want=[x[:, i]])
    b = arr([[2, 0], [1, 1], [3, 0]], "i32")
    f.case("torch_index_select_batch", '"stablehlo.torch_index_select"(%0, %1) <{dim = 1 : i64, batch_dims = 1 : i64}> : ({0}, {1}) -> {r0}', [x, b], want=[np.take_along_axis(x, b, 1)])
    f.case("torch_index_select_scalar", '"stablehlo.torch_index_select"(%0, %1) <{dim = 0 : i64, batch_dims = 0 : i64}> : ({0}, {1}) -> {r0}', [x, arr(1, "i64")], want=[x[1]])

def contractions(f):
    for t, r in [("f32", "f32"), ("f64", "f64"), ("i8", "i32"), ("i32", "i32"), ("ui8", "ui8"), ("complex<f32>", "complex<f32>"), ("bf16", "f32"), ("i8", "i8")]:
        a, b = rnd((2, 3, 4), t), rnd((2, 4, 5), t)
        g = None
        if t in ("i8", "ui8") and r == t: g = [np.einsum("bij,bjk->bik", a.astype(int), b.astype(int)).astype(dt(r))]
        f.case("dot_general", "stablehlo.dot_general %0, %1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : ({0}, {1}) -> {r0}", [a, b], None if g else [f"2x3x5x{r}"], want=g, tol=1e-4)
        f.case("dot_general_two", "stablehlo.dot_general %0, %1, contracting_dims = [0, 2] x [0, 1] : ({0}, {1}) -> {r0}", [a, b], [f"3x5x{r}"], tol=1e-4) if not g else None
        f.case("dot_general_outer", "stablehlo.dot_general %0, %1, contracting_dims = [] x [] : ({0}, {1}) -> {r0}", [a[0, 0], b[0, :, 0]], [f"4x4x{r}"], tol=1e-4) if not g else None
    f.case("dot_general_empty", "stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : ({0}, {1}) -> {r0}", [rnd((2, 0)), rnd((0, 3))], ["2x3xf32"])
    f.case("dot_matrix", "stablehlo.dot %0, %1 : ({0}, {1}) -> {r0}", [rnd((2, 3)), rnd((3, 4))], ["2x4xf32"], tol=1e-5)
    f.case("dot_vector", "stablehlo.dot %0, %1 : ({0}, {1}) -> {r0}", [rnd((3,)), rnd((3,))], ["f32"], tol=1e-5)
    f.case("dot_matrix_vector", "stablehlo.dot %0, %1 : ({0}, {1}) -> {r0}", [rnd((2, 3), "i32"), rnd((3,), "i32")], ["2xi32"])
    for spec, sa, sb in [("ij,jk->ik", (2, 3), (3, 4)), ("bij,bjk->bki", (2, 2, 3), (2, 3, 2)), ("i,i->", (3,), (3,)), ("i,j->ij", (2,), (3,))]:
        a, b = rnd(sa), rnd(sb)
        f.case("einsum", f'stablehlo.einsum %0, %1, config = "{spec}" : ({{0}}, {{1}}) -> {{r0}}', [a, b], want=[np.einsum(spec, a, b)], tol=1e-5)
    for spec, sa in [("ij->ji", (2, 3)), ("ij->i", (2, 3)), ("ii->i", (3, 3))]:
        a = rnd(sa)
        f.case("unary_einsum", f'stablehlo.unary_einsum %0, config = "{spec}" : ({{0}}) -> {{r0}}', [a], want=[np.einsum(spec, a)], tol=1e-5)
    C = "stablehlo.convolution(%0, %1) dim_numbers = {d}, window = {{w}} {{batch_group_count = {b} : i64, feature_group_count = {g} : i64, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}} : ({{0}}, {{1}}) -> {{r0}}"
    def conv(name, a, k, out, d="[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", w="", b=1, g=1, **kw):
        text = C.replace("{d}", d).replace("{{w}}", "{" + w + "}").replace("{b}", str(b)).replace("{g}", str(g)).replace("{{", "{").replace("}}", "}")
        f.case("convolution_" + name, text, [a, k], [out], tol=1e-3, **kw)
    a, k = rnd((2, 6, 5, 4)), rnd((3, 2, 4, 6))
    conv("valid", a, k, "2x4x4x6xf32")
    conv("stride_pad", a, k, "2x3x3x6xf32", w="stride = [2, 2], pad = [[1, 1], [0, 2]]")
    conv("negative_pad", a, k, "2x3x5x6xf32", w="pad = [[-1, 0], [1, 0]]")
    conv("dilated", a, k, "2x9x8x6xf32", w="lhs_dilate = [2, 2], rhs_dilate = [1, 2]".replace("[1, 2]", "[1, 2]") + ", pad = [[0, 0], [1, 0]]")
    conv("kernel_dilated", a, k, "2x2x3x6xf32", w="rhs_dilate = [2, 2]")
    conv("reversed", a, k, "2x4x4x6xf32", w="reverse = [true, false]")
    conv("nchw", rnd((2, 4, 6, 5)), rnd((6, 4, 3, 2)), "2x6x4x4xf32", d="[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]")
    conv("groups", a, rnd((3, 2, 2, 6)), "2x4x4x6xf32", g=2)
    conv("depthwise", a, rnd((3, 2, 1, 8)), "2x4x4x8xf32", g=4)
    conv("batch_groups", rnd((4, 6, 5, 4)), rnd((3, 2, 4, 6)), "2x4x4x6xf32", b=2)
    conv("one_dim", rnd((2, 7, 3), "f64"), rnd((3, 3, 2), "f64"), "2x5x2xf64", d="[b, 0, f]x[0, i, o]->[b, 0, f]")
    conv("no_dim", rnd((2, 3)), rnd((3, 4)), "2x4xf32", d="[b, f]x[i, o]->[b, f]")
    conv("three_dim", rnd((1, 3, 3, 3, 2)), rnd((2, 2, 2, 2, 3)), "1x2x2x2x3xf32", d="[b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f]")
    conv("integers", rnd((1, 4, 4, 2), "i32"), rnd((2, 2, 2, 3), "i32"), "1x3x3x3xi32")
    conv("complex", rnd((1, 4, 4, 2), "complex<f32>"), rnd((2, 2, 2, 3), "complex<f32>"), "1x3x3x3xcomplex<f32>")
    conv("too_small", rnd((1, 2, 2, 1)), rnd((3, 3, 1, 1)), "1x0x0x1xf32")

def reductions(f):
    R = "stablehlo.reduce(%0 init: %1) applies stablehlo.{op} across dimensions = {d} : ({0}, {1}) -> {r0}"
    for t in ("f32", "f64", "i32", "ui8", "bf16"):
        x = rnd((2, 3, 4), t)
        for op, i in (("add", 0), ("maximum", -9 if t[0] != "u" else 0), ("multiply", 1), ("minimum", 10)):
            for d, out in (([1], "2x4x"), ([0, 2], "3x"), ([0, 1, 2], ""), ([], "2x3x4x")):
                if t == "bf16" and op in ("add", "multiply"): continue
                f.case("reduce_" + op, R.replace("{op}", op).replace("{d}", str(d)), [x, arr(i, t)], [out + t], tol=1e-2 if op == "multiply" else 1e-4)
        f.case("reduce_empty", R.replace("{op}", "add").replace("{d}", "[0]"), [rnd((0, 3), t), arr(2, t)], ["3x" + t])
    for op in ("and", "or", "xor"):
        f.case("reduce_" + op, R.replace("{op}", op).replace("{d}", "[1]"), [rnd((3, 4), "i1"), arr(op == "and", "i1")], ["3xi1"])
    arg = "%r:2 = stablehlo.reduce(%0 init: %2), (%1 init: %3) across dimensions = [1] : ({0}, {1}, {2}, {3}) -> ({r0}, {r1})\n reducer(%a: tensor<f32>, %c: tensor<f32>) (%b: tensor<i32>, %d: tensor<i32>)  {\n  %p = stablehlo.compare GE, %a, %c, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>\n  %v = stablehlo.select %p, %a, %c : tensor<i1>, tensor<f32>\n  %i = stablehlo.select %p, %b, %d : tensor<i1>, tensor<i32>\n  stablehlo.return %v, %i : tensor<f32>, tensor<i32>\n}"
    f.case("reduce_argmax", arg, [rnd((3, 5)), arr(np.tile(np.arange(5), (3, 1)), "i32"), arr(-np.inf, "f32"), arr(0, "i32")], ["3xf32", "3xi32"])
    def window(name, x, init, op, out, dims, strides=None, base=None, dil=None, pad=None):
        n = x.ndim; one = [1] * n; l = lambda v: "array<i64: " + ", ".join(map(str, v)) + ">"
        attrs = f"window_dimensions = {l(dims)}, window_strides = {l(strides or one)}, base_dilations = {l(base or one)}, window_dilations = {l(dil or one)}, padding = dense<{pad or [[0, 0]] * n}> : tensor<{n}x2xi64>"
        t = tx(init)
        f.case("reduce_window_" + name, f'"stablehlo.reduce_window"(%0, %1) <{{{attrs}}}> {region(op, t)} : ({{0}}, {{1}}) -> {{r0}}', [x, init], [out], tol=1e-4)
    x = rnd((5, 6)); z = arr(0, "f32")
    window("sum", x, z, "add", "4x5xf32", [2, 2])
    window("strides", x, arr(-np.inf, "f32"), "maximum", "2x3xf32", [2, 2], strides=[2, 2])
    window("pad", x, z, "add", "6x7xf32", [2, 3], pad=[[1, 1], [2, 1]])
    window("negative_pad", x, z, "add", "3x4xf32", [2, 2], pad=[[-1, 0], [0, -1]])
    window("dilations", x, z, "add", "8x9xf32", [2, 2], base=[2, 2], dil=[1, 2])
    window("window_dilation", x, arr(9, "f32"), "minimum", "3x2xf32", [2, 3], dil=[2, 2])
    window("integers", rnd((5, 6), "i32"), arr(0, "i32"), "add", "4x5xi32", [2, 2])
    window("cumsum", rnd((6,)), z, "add", "6xf32", [6], pad=[[5, 0]])
    window("none", rnd((2, 2)), z, "add", "0x0xf32", [3, 3])
    ss = '"stablehlo.select_and_scatter"(%0, %1, %2) <{window_dimensions = array<i64: {w}>, window_strides = array<i64: {s}>, padding = dense<{p}> : tensor<2x2xi64>}> ({\n^bb0(%a: tensor<{t}>, %b: tensor<{t}>):\n  %s = stablehlo.compare GE, %a, %b : (tensor<{t}>, tensor<{t}>) -> tensor<i1>\n  stablehlo.return %s : tensor<i1>\n}, {\n^bb0(%a: tensor<{t}>, %b: tensor<{t}>):\n  %s = stablehlo.add %a, %b : tensor<{t}>\n  stablehlo.return %s : tensor<{t}>\n}) : ({0}, {1}, {2}) -> {r0}'
    for t in ("f32", "i32"):
        for w, s, p, shape in (("2, 2", "2, 2", [[0, 0], [0, 0]], (2, 3)), ("3, 2", "1, 2", [[1, 1], [0, 0]], (5, 3)), ("2, 3", "2, 2", [[0, 1], [1, 1]], (3, 3))):
            f.case("select_and_scatter", ss.replace("{w}", w).replace("{s}", s).replace("{p}", str(p)).replace("{t}", t), [rnd((5, 6), t), rnd(shape, t), arr(0, t)], [f"5x6x{t}"])

def sorting(f):
    def sort(name, ins, body, dim, outs, stable="true"):
        params = ", ".join(f"%a{i}: tensor<{tx(np.zeros((), x.dtype))}>, %b{i}: tensor<{tx(np.zeros((), x.dtype))}>" for i, x in enumerate(ins))
        names = ", ".join(f"%{i}" for i in range(len(ins)))
        sig = ", ".join("{%d}" % i for i in range(len(ins))); res = ", ".join("{r%d}" % i for i in range(len(ins)))
        f.case("sort_" + name, f'"stablehlo.sort"({names}) <{{dimension = {dim} : i64, is_stable = {stable}}}> ({{\n^bb0({params}):\n{body}\n}}) : ({sig}) -> ({res})', ins, outs)
    for t in ("f32", "i32", "ui8", "f64", "bf16"):
        lt = lambda d: f"  %p = stablehlo.compare {d}, %a0, %b0 : (tensor<{t}>, tensor<{t}>) -> tensor<i1>\n  stablehlo.return %p : tensor<i1>"
        x = rnd((3, 7), t)
        for dim in (0, 1, -1): sort(f"{t}", [x], lt("LT"), dim, [tx(x)])
        sort(f"down_{t}", [x], lt("GT"), 1, [tx(x)])
        sort(f"pairs_{t}", [x, arr(np.tile(np.arange(7), (3, 1)), "i32")], lt("LT"), 1, [tx(x), "3x7xi32"])
    x = arr([np.nan, 1, -np.inf, -0.0, 0.0, -np.nan, np.inf, 3], "f32")
    sort("total", [x, arr(np.arange(8), "i32")], "  %p = stablehlo.compare LT, %a0, %b0, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>\n  stablehlo.return %p : tensor<i1>", 0, ["8xf32", "8xi32"])
    two = "  %l = stablehlo.compare LT, %a0, %b0 : (tensor<i32>, tensor<i32>) -> tensor<i1>\n  %e = stablehlo.compare EQ, %a0, %b0 : (tensor<i32>, tensor<i32>) -> tensor<i1>\n  %m = stablehlo.compare GT, %a1, %b1 : (tensor<f32>, tensor<f32>) -> tensor<i1>\n  %n = stablehlo.and %e, %m : tensor<i1>\n  %p = stablehlo.or %l, %n : tensor<i1>\n  stablehlo.return %p : tensor<i1>"
    sort("two_keys", [arr(RNG.randint(0, 3, 12), "i32"), rnd((12,))], two, 0, ["12xi32", "12xf32"])
    sort("empty", [rnd((0,))], "  %p = stablehlo.compare LT, %a0, %b0 : (tensor<f32>, tensor<f32>) -> tensor<i1>\n  stablehlo.return %p : tensor<i1>", 0, ["0xf32"])
    for t in ("f32", "i32"):
        f.case("top_k", "%r:2 = chlo.top_k(%0, k = 3) : {0} -> ({r0}, {r1})", [rnd((2, 6), t)], [f"2x3x{t}", "2x3xi32"])
    f.case("top_k_nan", "%r:2 = chlo.top_k(%0, k = 2) : {0} -> ({r0}, {r1})", [arr([1, np.nan, 3, 3], "f32")], ["2xf32", "2xi32"])

def library(f):
    for t, r in (("complex<f32>", "f32"), ("complex<f64>", "f64")):
        tol = 1e-4 if r == "f32" else 1e-9
        for n in (1, 4, 5, 7, 12):
            f.case("fft", f"stablehlo.fft %0, type = FFT, length = [{n}] : ({{0}}) -> {{r0}}", [rnd((2, n), t)], [f"2x{n}x{t}"], tol=tol)
            f.case("ifft", f"stablehlo.fft %0, type = IFFT, length = [{n}] : ({{0}}) -> {{r0}}", [rnd((n,), t)], [f"{n}x{t}"], tol=tol)
            f.case("rfft", f"stablehlo.fft %0, type = RFFT, length = [{n}] : ({{0}}) -> {{r0}}", [rnd((2, n), r)], [f"2x{n // 2 + 1}x{t}"], tol=tol)
            f.case("irfft", f"stablehlo.fft %0, type = IRFFT, length = [{n}] : ({{0}}) -> {{r0}}", [rnd((2, n // 2 + 1), t)], [f"2x{n}x{r}"], tol=tol)
        f.case("fft2", "stablehlo.fft %0, type = FFT, length = [3, 4] : ({0}) -> {r0}", [rnd((2, 3, 4), t)], [f"2x3x4x{t}"], tol=tol)
        f.case("rfft2", "stablehlo.fft %0, type = RFFT, length = [3, 4] : ({0}) -> {r0}", [rnd((2, 3, 4), r)], [f"2x3x3x{t}"], tol=tol)
        f.case("irfft2", "stablehlo.fft %0, type = IRFFT, length = [3, 4] : ({0}) -> {r0}", [rnd((2, 3, 3), t)], [f"2x3x4x{r}"], tol=tol)
        f.case("fft3", "stablehlo.fft %0, type = IFFT, length = [2, 3, 4] : ({0}) -> {r0}", [rnd((2, 3, 4), t)], [f"2x3x4x{t}"], tol=tol)
    for t in ("f32", "f64", "complex<f64>"):
        a = RNG.randn(2, 4, 4) + (1j * RNG.randn(2, 4, 4) if "c" in t else 0)
        h = arr(a @ a.conj().swapaxes(-1, -2) + 4 * np.eye(4), t)
        l = np.linalg.cholesky(h.astype(complex if "c" in t else float))
        f.case("cholesky", "stablehlo.cholesky %0, lower = true : {0}", [h], want=[arr(l, t)], tol=1e-4)
        f.case("cholesky_upper", "stablehlo.cholesky %0, lower = false : {0}", [h], want=[arr(l.conj().swapaxes(-1, -2), t)], tol=1e-4)
        b, c = rnd((2, 4, 3), t), rnd((2, 3, 4), t)
        full = arr(a + 3 * np.eye(4), t)
        for left in (True, False):
            for lower in (True, False):
                for unit in (False, True):
                    for tr in ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"):
                        m = np.tril(full.astype(complex)) if lower else np.triu(full.astype(complex))
                        if unit: m = m - np.stack([np.diag(np.diag(x)) for x in m]) + np.eye(4)
                        m = m if tr == "NO_TRANSPOSE" else m.swapaxes(-1, -2) if tr == "TRANSPOSE" else m.conj().swapaxes(-1, -2)
                        x = np.linalg.solve(m, b.astype(complex)) if left else np.linalg.solve(m.swapaxes(-1, -2), c.astype(complex).swapaxes(-1, -2)).swapaxes(-1, -2)
                        s = lambda v: str(v).lower()
                        f.case("triangular_solve", f'"stablehlo.triangular_solve"(%0, %1) <{{left_side = {s(left)}, lower = {s(lower)}, unit_diagonal = {s(unit)}, transpose_a = #stablehlo<transpose {tr}>}}> : ({{0}}, {{1}}) -> {{r0}}',
                               [full, b if left else c], want=[arr(x if "c" in t else x.real, t)], tol=1e-2 if t == "f32" else 1e-6)
    for t in ("f32", "f64"):
        x, s, o, m = rnd((2, 3, 4), t), rnd((3,), t), rnd((3,), t), rnd((3,), t); v = np.abs(m) + arr(0.5, t); u = rnd((2, 3, 4), t)
        e = "epsilon = 1.000000e-03 : f32, feature_index = 1 : i64"
        f.case("batch_norm_inference", f'"stablehlo.batch_norm_inference"(%0, %1, %2, %3, %4) <{{{e}}}> : ({{0}}, {{1}}, {{2}}, {{3}}, {{4}}) -> {{r0}}', [x, s, o, m, v], [tx(x)], tol=1e-4)
        f.case("batch_norm_training", f'"stablehlo.batch_norm_training"(%0, %1, %2) <{{{e}}}> : ({{0}}, {{1}}, {{2}}) -> ({{r0}}, {{r1}}, {{r2}})', [x, s, o], [tx(x), tx(s), tx(s)], tol=1e-4)
        f.case("batch_norm_grad", f'"stablehlo.batch_norm_grad"(%0, %1, %2, %3, %4) <{{{e}}}> : ({{0}}, {{1}}, {{2}}, {{3}}, {{4}}) -> ({{r0}}, {{r1}}, {{r2}})', [x, s, m, v, u], [tx(x), tx(s), tx(s)], tol=1e-3)

def control(f):
    f.case("while", "stablehlo.while(%i = %0, %x = %1) : {0}, {1}\ncond {\n  %n = stablehlo.constant dense<5> : tensor<i32>\n  %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n  stablehlo.return %p : tensor<i1>\n} do {\n  %o = stablehlo.constant dense<1> : tensor<i32>\n  %j = stablehlo.add %i, %o : tensor<i32>\n  %y = stablehlo.add %x, %x : tensor<2xf32>\n  stablehlo.return %j, %y : tensor<i32>, tensor<2xf32>\n}", [arr(0, "i32"), rnd((2,))], ["i32", "2xf32"])
    for p in (True, False):
        f.case("if", '"stablehlo.if"(%0) ({\n  %a = stablehlo.add %1, %1 : {1}\n  stablehlo.return %a : {1}\n}, {\n  %b = stablehlo.negate %1 : {1}\n  stablehlo.return %b : {1}\n}) : ({0}) -> {r0}', [arr(p, "i1"), rnd((3,))], ["3xf32"])
    for i in (0, 1, 2, -1, 7):
        f.case("case", '"stablehlo.case"(%0) ({\n  stablehlo.return %1 : {1}\n}, {\n  %b = stablehlo.negate %1 : {1}\n  stablehlo.return %b : {1}\n}, {\n  %c = stablehlo.add %1, %1 : {1}\n  stablehlo.return %c : {1}\n}) : ({0}) -> {r0}', [arr(i, "i32"), rnd((3,))], ["3xf32"])
    f.case("tuple", "%t = stablehlo.tuple %0, %1 : tuple<{0}, {1}>\n%r = stablehlo.get_tuple_element %t[1] : (tuple<{0}, {1}>) -> {1}", [rnd((2,)), rnd((3,), "i32")], ["3xi32"])
    f.case("optimization_barrier", "stablehlo.optimization_barrier %0, %1 : {0}, {1}", [rnd((2,)), rnd((3,), "i32")], ["2xf32", "3xi32"])
    f.case("get_dimension_size", "stablehlo.get_dimension_size %0, dim = 1 : ({0}) -> {r0}", [rnd((2, 5))], ["i32"])

TABLE = {"movement": movement, "gathers": gathers, "contractions": contractions, "reductions": reductions, "sorting": sorting, "library": library, "control": control}
