"""Programs of operations that the other files hold fewer of."""
import numpy as np
from generate import RNG, arr

INDEX = lambda *n: np.array(n, np.int64)


def rnd(shape, t="f32"): return arr(RNG.randn(*shape) * 4 if t[0] in "fbc" else RNG.randint(-9, 9, shape), t)


def moved(f):
    for shape, t in [((), "f32"), ((2, 3), "f64"), ((0, 2), "f32")]:
        a, b = rnd(shape, t), rnd(shape, t)
        z = (a + 1j * b).astype(np.complex64 if t == "f32" else np.complex128)
        f.case("complex_rank", "stablehlo.complex %0, %1 : {r0}", [a, b], want=[z])
        f.case("real_rank", "stablehlo.real %0 : ({0}) -> {r0}", [z], want=[a])
        f.case("imag_rank", "stablehlo.imag %0 : ({0}) -> {r0}", [z], want=[b])
    for t in ("i8", "bf16"):
        a, b = rnd((2, 2), t), rnd((3,), "i32")
        f.case("tuple_parts", "%t = stablehlo.tuple %0, %1 : tuple<{0}, {1}>\n%r = stablehlo.get_tuple_element %t[0] : (tuple<{0}, {1}>) -> {0}", [a, b], want=[a])
        f.case("tuple_nested", "%t = stablehlo.tuple %0, %1 : tuple<{0}, {1}>\n%u = stablehlo.tuple %t, %0 : tuple<tuple<{0}, {1}>, {0}>\n%v = stablehlo.get_tuple_element %u[0] : (tuple<tuple<{0}, {1}>, {0}>) -> tuple<{0}, {1}>\n%r = stablehlo.get_tuple_element %v[1] : (tuple<{0}, {1}>) -> {1}", [a, b], want=[b])
        f.case("barrier", "%r:2 = stablehlo.optimization_barrier %0, %1 : {0}, {1}", [a, b], want=[a, b])
    x = rnd((2, 2), "i32")
    twice = "func.func private @twice(%a: tensor<2x2xi32>) -> tensor<2x2xi32> {\n  %0 = stablehlo.add %a, %a : tensor<2x2xi32>\n  return %0 : tensor<2x2xi32>\n}"
    f.case("composite_once", '%r = stablehlo.composite "our.twice" %0 {decomposition = @twice} : ({0}) -> {0}', [x], want=[2 * x], helpers=twice)
    f.case("composite_again", '%a = stablehlo.composite "our.twice" %0 {composite_attributes = {n = 2 : i64}, decomposition = @twice, version = 1 : i32} : ({0}) -> {0}\n%r = stablehlo.composite "our.twice" %a {decomposition = @twice} : ({0}) -> {0}', [x], want=[4 * x], helpers=twice)
    f.case("tokens", "%t = stablehlo.create_token : !stablehlo.token\n%u = stablehlo.after_all %t, %t, %t : !stablehlo.token\n%r = stablehlo.add %0, %0 : {0}", [x], want=[2 * x])


def looped(f):
    count = lambda t, n: f"""%c = stablehlo.constant dense<0> : tensor<i32>
%n = stablehlo.constant dense<{n}> : tensor<i32>
%one = stablehlo.constant dense<1> : tensor<i32>
%w:2 = stablehlo.while(%i = %c, %x = %0) : tensor<i32>, {t}
cond {{
  %go = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %go : tensor<i1>
}} do {{
  %j = stablehlo.add %i, %one : tensor<i32>
  %y = stablehlo.add %x, %x : {t}
  stablehlo.return %j, %y : tensor<i32>, {t}
}}
%r = stablehlo.add %w#1, %0 : {t}"""
    for n, a in [(0, rnd((2,))), (5, rnd((2, 2), "i64")), (3, rnd((), "f64")), (2, rnd((0, 3), "i8"))]:
        f.case("while_count", count("{0}", n), [a], want=[a * a.dtype.type(2**n) + a])


def statistics(f):
    for t, shape, feature in [("f64", (3, 2), 1), ("f32", (2, 2, 2, 3), 3)]:
        axes = tuple(d for d in range(len(shape)) if d != feature)
        x, g = rnd(shape, t), rnd(shape, t)
        along = [1] * len(shape); along[feature] = shape[feature]
        scale, offset = rnd((shape[feature],), t), rnd((shape[feature],), t)
        mean, var = x.astype(np.float64).mean(axes), x.astype(np.float64).var(axes)
        spread = lambda v: np.asarray(v, np.float64).reshape(along)
        normal = (x - spread(mean)) / np.sqrt(spread(var) + 0.25)
        out = (normal * spread(scale) + spread(offset)).astype(x.dtype)
        attributes = f"<{{epsilon = 2.500000e-01 : f32, feature_index = {feature} : i64}}>"
        tol = 1e-4 if t == "f32" else 1e-11
        f.case("batch_norm_inference", f'%r = "stablehlo.batch_norm_inference"(%0, %1, %2, %3, %4) {attributes} : ({{0}}, {{1}}, {{2}}, {{3}}, {{4}}) -> {{0}}', [x, scale, offset, mean.astype(x.dtype), var.astype(x.dtype)], want=[out], tol=tol)
        f.case("batch_norm_training", f'%r:3 = "stablehlo.batch_norm_training"(%0, %1, %2) {attributes} : ({{0}}, {{1}}, {{2}}) -> ({{r0}}, {{r1}}, {{r2}})', [x, scale, offset], want=[out, mean.astype(x.dtype), var.astype(x.dtype)], tol=tol)
        n = x.size / shape[feature]
        of_scale, of_offset = (g * normal).sum(axes), g.astype(np.float64).sum(axes)
        of_x = spread(scale) / np.sqrt(spread(var) + 0.25) * (g - spread(of_offset) / n - normal * spread(of_scale) / n)
        f.case("batch_norm_grad", f'%r:3 = "stablehlo.batch_norm_grad"(%0, %1, %2, %3, %4) {attributes} : ({{0}}, {{1}}, {{2}}, {{3}}, {{4}}) -> ({{r0}}, {{r1}}, {{r2}})', [x, scale, mean.astype(x.dtype), var.astype(x.dtype), g], want=[v.astype(x.dtype) for v in (of_x, of_scale, of_offset)], tol=tol)


def dynamic(f):
    for t in ("f32", "i8"):
        x = rnd((2, 3), t)
        f.case("dynamic_reshape", "stablehlo.dynamic_reshape %0, %1 : ({0}, {1}) -> {r0}", [x, INDEX(3, 2)], want=[x.reshape(3, 2)])
        f.case("dynamic_broadcast_in_dim", "stablehlo.dynamic_broadcast_in_dim %0, %1, dims = [1, 2] : ({0}, {1}) -> {r0}", [x, INDEX(2, 2, 3)], want=[np.broadcast_to(x, (2, 2, 3)).copy()])
        value = rnd((), t)
        padded = np.full((3, 6), value); padded[1:3, 0:5:2] = x
        f.case("dynamic_pad", "stablehlo.dynamic_pad %0, %1, %2, %3, %4 : ({0}, {1}, {2}, {3}, {4}) -> {r0}", [x, value, INDEX(1, 0), INDEX(0, 1), INDEX(0, 1)], want=[padded])
        f.case("real_dynamic_slice", "stablehlo.real_dynamic_slice %0, %1, %2, %3 : ({0}, {1}, {2}, {3}) -> {r0}", [x, INDEX(0, 0), INDEX(2, 3), INDEX(1, 2)], want=[x[:, ::2].copy()])
        gather = '"stablehlo.dynamic_gather"(%0, %1, %2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false}> : ({0}, {1}, {2}) -> {r0}'
        f.case("dynamic_gather", gather, [x, np.array([[1], [0], [7]], np.int32), INDEX(1, 3)], want=[x[[1, 0, 1]]])
        conv = '"stablehlo.dynamic_conv"(%0, %1, %2) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : ({0}, {1}, {2}) -> {r0}'
        line, kernel = arr([1, 2, 3, 4], t), arr([1, 2], t)
        around = np.concatenate([arr([0], t), line, arr([0], t)])
        f.case("dynamic_conv", conv, [line.reshape(1, 4, 1), kernel.reshape(2, 1, 1), np.array([[1, 1]], np.int64)], want=[(around[:-1] * kernel[0] + around[1:] * kernel[1]).reshape(1, 5, 1)])


def processes(f):
    "Of one process, which meets itself."
    one = "replica_groups = dense<0> : tensor<1x1xi64>"
    joined = lambda t: f"({{\n^bb0(%a: tensor<{t}>, %b: tensor<{t}>):\n  %s = stablehlo.add %a, %b : tensor<{t}>\n  stablehlo.return %s : tensor<{t}>\n}})"
    for t in ("f32", "i8", "ui16"):
        x = rnd((2, 2), t)
        f.case("all_gather", f'"stablehlo.all_gather"(%0) <{{all_gather_dim = 1 : i64, {one}}}> : ({{0}}) -> {{0}}', [x], want=[x])
        f.case("all_to_all", f'"stablehlo.all_to_all"(%0) <{{concat_dimension = 0 : i64, {one}, split_count = 1 : i64, split_dimension = 1 : i64}}> : ({{0}}) -> {{0}}', [x], want=[x])
        f.case("reduce_scatter", f'"stablehlo.reduce_scatter"(%0) <{{{one}, scatter_dimension = 0 : i64}}> {joined(t)} : ({{0}}) -> {{0}}', [x], want=[x])
        f.case("all_reduce", f'"stablehlo.all_reduce"(%0) <{{{one}}}> {joined(t)} : ({{0}}) -> {{0}}', [x], want=[x])
        f.case("collective_broadcast", f'"stablehlo.collective_broadcast"(%0) <{{{one}}}> : ({{0}}) -> {{0}}', [x], want=[x])
        f.case("collective_permute", '"stablehlo.collective_permute"(%0) <{source_target_pairs = dense<0> : tensor<1x2xi64>}> : ({0}) -> {0}', [x], want=[x])
        f.case("collective_permute_nothing", '"stablehlo.collective_permute"(%0) <{source_target_pairs = dense<> : tensor<0x2xi64>}> : ({0}) -> {0}', [x], want=[x * 0])
        f.case("numbers_of_processes", "%p = stablehlo.partition_id : tensor<ui32>\n%q = stablehlo.replica_id : tensor<ui32>\n%r = stablehlo.add %p, %q : tensor<ui32>", [x], want=[np.uint32(0)])


def rare(f):
    for part in (moved, looped, statistics, dynamic, processes): part(f)


TABLE = {"rare": rare}
