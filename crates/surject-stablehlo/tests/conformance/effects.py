"""Programs of queues, channels, futures, groups of processes, sizes that change, quantized numbers and random bits."""
import numpy as np
from generate import arr
from rare import rnd

SHAPES = [((), "f32"), ((2, 3), "i8"), ((0, 2), "ui16"), ((4,), "f64")]
TOKEN = "!stablehlo.token"
SIDE_BY_SIDE = '"interpreter.run_parallel"'


def text(a): return "tensor<" + "".join(f"{n}x" for n in a.shape) + {"float32": "f32", "float64": "f64", "int8": "i8", "uint16": "ui16", "int32": "i32"}[a.dtype.name] + ">"


def queues(f):
    "What is fed is doubled on its way from the infeed to the outfeed, once or twice."
    for shape, t in SHAPES:
        a = rnd(shape, t)
        ty = text(a)
        take = f'"stablehlo.infeed"(%t) <{{infeed_config = "", layout = [{list(reversed(range(len(shape))))}]}}> : ({TOKEN}) -> ({ty}, {TOKEN})'
        worker = f"""func.func @worker() -> ({ty}, {ty}) {{
  %t = stablehlo.create_token : {TOKEN}
  %a:2 = {take}
  %b:2 = {take.replace("(%t)", "(%a#1)")}
  %s = stablehlo.add %a#0, %b#0 : {ty}
  %o = "stablehlo.outfeed"(%s, %b#1) <{{outfeed_config = "queue"}}> : ({ty}, {TOKEN}) -> {TOKEN}
  %p = "stablehlo.outfeed"(%o) <{{outfeed_config = ""}}> : ({TOKEN}) -> {TOKEN}
  return %a#0, %s : {ty}, {ty}
}}
func.func @first() -> {ty} {{
  %0 = stablehlo.constant dense<{"1.0" if t[0] == "f" else "1"}> : {ty}
  return %0 : {ty}
}}
func.func @second() -> {ty} {{
  %0 = stablehlo.constant dense<{"2.0" if t[0] == "f" else "2"}> : {ty}
  return %0 : {ty}
}}"""
        run = f"%r:2 = {SIDE_BY_SIDE}() {{programs = [[@worker]], infeed = [@first, @second]}} : () -> ({ty}, {ty})"
        f.case("queues", run, [], want=[np.full_like(a, 1), np.full_like(a, 3)], helpers=worker)


def channels(f):
    "Two processes side by side: one sends what the other adds to its own."
    for shape, t in SHAPES:
        a = rnd(shape, t)
        ty, host = text(a), "is_host_transfer = false"
        channel = "channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>"
        pair = f"""func.func @sender(%x: {ty}) -> {ty} {{
  %t = stablehlo.create_token : {TOKEN}
  %u = "stablehlo.send"(%x, %x, %t) <{{{channel}, {host}}}> : ({ty}, {ty}, {TOKEN}) -> {TOKEN}
  return %x : {ty}
}}
func.func @receiver() -> {ty} {{
  %t = stablehlo.create_token : {TOKEN}
  %a:3 = "stablehlo.recv"(%t) <{{{channel}, {host}}}> : ({TOKEN}) -> ({ty}, {ty}, {TOKEN})
  %s = stablehlo.add %a#0, %a#1 : {ty}
  return %s : {ty}
}}"""
        run = f"%r:2 = {SIDE_BY_SIDE}(%0) {{programs = [[@sender], [@receiver]]}} : ({{0}}) -> ({{0}}, {{0}})"
        f.case("channels", run, [a], want=[a, a + a], helpers=pair)


def futures(f):
    "A collective of one process, started and awaited."
    one = "replica_groups = dense<0> : tensor<1x1xi64>"
    for shape, t in [((2, 3), "f32"), ((1, 0), "i8"), ((3,), "f64")]:
        a = rnd(shape, t)
        start = lambda op: f'%f = "stablehlo.async_start"(%0) ({{\n^bb0(%a: {{0}}):\n  %g = {op} : ({{0}}) -> {{0}}\n  stablehlo.return %g : {{0}}\n}}) : ({{0}}) -> !stablehlo.future<{{0}}>\n%r = "stablehlo.async_done"(%f) : (!stablehlo.future<{{0}}>) -> {{0}}'
        f.case("async_gather", start(f'"stablehlo.all_gather"(%a) <{{all_gather_dim = 0 : i64, {one}}}>'), [a], want=[a])
        f.case("async_permute", start('"stablehlo.collective_permute"(%a) <{source_target_pairs = dense<0> : tensor<1x2xi64>}>'), [a], want=[a])


def collected(f):
    "Two replicas: the first of the group has the result, the other zeros."
    for (shape, t), groups in zip(SHAPES, ("[[0, 1]]", "[[1, 0]]", "[[0, 1]]", "[[0], [1]]")):
        a, b = rnd(shape, t), rnd(shape, t)
        ty, element = text(a), text(a).rsplit("x", 1)[-1].removeprefix("tensor<").rstrip(">")
        members = f"tensor<{'2x1' if groups == '[[0], [1]]' else '1x2'}xi64>"
        body = f"""func.func @replica(%x: {ty}) -> {ty} {{
  %r = "stablehlo.collective_reduce"(%x) <{{replica_groups = dense<{groups}> : {members}}}> ({{
  ^bb0(%a: tensor<{element}>, %b: tensor<{element}>):
    %s = stablehlo.add %a, %b : tensor<{element}>
    stablehlo.return %s : tensor<{element}>
  }}) : ({ty}) -> {ty}
  return %r : {ty}
}}"""
        zero = np.zeros_like(a)
        want = {"[[0, 1]]": [a + b, zero], "[[1, 0]]": [zero, a + b], "[[0], [1]]": [a, b]}[groups]
        run = f"%r:2 = {SIDE_BY_SIDE}(%0, %1) {{programs = [[@replica], [@replica]]}} : ({{0}}, {{1}}) -> ({{0}}, {{1}})"
        f.case("collective_reduce", run, [a, b], want=want, helpers=body)


def sized(f):
    "The size of a dimension is set, asked for, and kept to by a sum."
    for shape, t, dim, n in [((4,), "i32", 0, 3), ((2, 3), "f32", 1, 0), ((3, 2), "i8", 0, 3), ((0, 5), "f64", 1, 4)]:
        a = arr(np.arange(np.prod(shape)).reshape(shape) + 1, t)
        sizes = list(shape); sizes[dim] = "?"
        bounds = ["?"] * len(shape); bounds[dim] = shape[dim]
        bounded = f"tensor<{''.join(f'{s}x' for s in sizes)}{t}, #stablehlo.bounds<{', '.join(map(str, bounds))}>>"
        set_ = f"%s = stablehlo.set_dimension_size %0, %1, dim = {dim} : ({{0}}, {{1}}) -> {bounded}\n"
        f.case("set_dimension_size", set_ + f"%r = stablehlo.get_dimension_size %s, dim = {dim} : ({bounded}) -> tensor<i32>", [a, np.int32(n)], want=[np.int32(n)])
        kept = np.take(a, range(n), dim)
        total = f"%z = stablehlo.constant dense<0{'.0' if t[0] == 'f' else ''}> : tensor<{t}>\n%r = stablehlo.reduce(%s init: %z) applies stablehlo.add across dimensions = [{', '.join(map(str, range(len(shape))))}] : ({bounded}, tensor<{t}>) -> tensor<{t}>"
        f.case("set_dimension_size_sum", set_ + total, [a, np.int32(n)], want=[arr(kept.sum(), t)])


def dequantized(f):
    "A stored number less the zero point, times the scale; of an axis that of its index."
    for shape, axis, storage, scales, zeros in [((), None, "i8", [0.5], [3]), ((2, 3), None, "ui8", [0.25], [128]), ((2, 3), 1, "i8", [0.5, 2.0, 0.125], [0, -4, 7]), ((0, 2), 0, "i8", [], [])]:
        if axis == 0: axis, scales, zeros = 1, [1.5, 4.0], [1, 0]
        low, high = (-128, 128) if storage == "i8" else (0, 256)
        a = arr(np.random.RandomState(3).randint(low, high, shape), storage)
        one = [f"{s}:{z}" for s, z in zip(scales, zeros)]
        storage_name = storage.replace("ui", "u")
        q = f"!quant.uniform<{storage_name}:f32, {one[0]}>" if axis is None else f"!quant.uniform<{storage_name}:f32:{axis}, {{{', '.join(one)}}}>"
        stored = "tensor<" + "".join(f"{n}x" for n in shape) + q + ">"
        scale, zero = (np.float32(scales[0]), zeros[0]) if axis is None else (np.array(scales, np.float32), np.array(zeros))
        want = ((a.astype(np.int64) - zero).astype(np.float32) * scale).astype(np.float32)
        f.case("uniform_dequantize", f"%q = stablehlo.bitcast_convert %0 : ({{0}}) -> {stored}\n%r = stablehlo.uniform_dequantize %q : ({stored}) -> {{r0}}", [a], want=[want])


def bits(f):
    "Random bits as XLA makes them, and the state behind them."
    state2, state3 = np.array([5, 2**63 + 9], np.uint64), np.array([7, 2**64 - 1, 3], np.uint64)
    for algorithm, state in [("THREE_FRY", state2), ("PHILOX", state2), ("PHILOX", state3)]:
        for shape, t in [((), "ui32"), ((2, 3), "ui64"), ((0, 2), "ui32"), ((5,), "ui32"), ((3,), "ui16"), ((7,), "ui8")]:
            out = "".join(f"{n}x" for n in shape) + t
            f.case(f"rng_{algorithm.lower()}_{t}", f"%r:2 = stablehlo.rng_bit_generator %0, algorithm = {algorithm} : ({{0}}) -> ({{r0}}, {{r1}})", [state], [f"{len(state)}xui64", out])


def effects(f):
    for part in (queues, channels, futures, collected, sized, dequantized, bits): part(f)


TABLE = {"effects": effects}
