#!/usr/bin/env python3
"""Writes the programs of this folder: every one holds its inputs and what XLA computes on them (jaxlib on a CPU), or
what a formula says where XLA rounds several times (functions of floats: NumPy, SciPy, mpmath in higher precision).

    generate.py [FILE...]      needs jax, numpy, scipy, mpmath

One function a program, `// -----` between them; checks are those of the dialect `check`."""
import cmath, os, sys
os.environ["JAX_PLATFORMS"] = "cpu"
import jax, ml_dtypes, mpmath, numpy as np, scipy.special as sp
jax.config.update("jax_enable_x64", True)
from jax._src import xla_bridge
from jaxlib import xla_client as xc

HERE = os.path.dirname(os.path.abspath(__file__))
BACKEND = xla_bridge.get_backend("cpu")
DEVICE = BACKEND.local_devices()[0]
NAMES = {"bool": "i1", "int2": "i2", "int4": "i4", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
         "uint2": "ui2", "uint4": "ui4", "uint8": "ui8", "uint16": "ui16", "uint32": "ui32", "uint64": "ui64",
         "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "complex64": "complex<f32>",
         "complex128": "complex<f64>", "float8_e3m4": "f8E3M4", "float8_e4m3": "f8E4M3", "float8_e4m3fn": "f8E4M3FN",
         "float8_e4m3fnuz": "f8E4M3FNUZ", "float8_e4m3b11fnuz": "f8E4M3B11FNUZ", "float8_e5m2": "f8E5M2",
         "float8_e5m2fnuz": "f8E5M2FNUZ", "float8_e8m0fnu": "f8E8M0FNU", "float4_e2m1fn": "f4E2M1FN",
         "float6_e2m3fn": "f6E2M3FN", "float6_e3m2fn": "f6E3M2FN"}
DTYPES = {v: k for k, v in NAMES.items()}

def dt(name):
    k = DTYPES[name]
    return np.dtype(getattr(ml_dtypes, k) if hasattr(ml_dtypes, k) and k not in np.sctypeDict else k)

def arr(values, name):
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(dt(name))

def ty(a):
    return "tensor<" + "".join(f"{n}x" for n in a.shape) + NAMES[a.dtype.name] + ">"

def decimal(x):
    "A float with the point that MLIR asks for."
    text = repr(float(x))
    return text if "." in text else text.replace("e", ".0e")
def bits(v):
    return "0x%X" % int.from_bytes(v.tobytes(), "little")

def one(v):
    k = v.dtype.kind
    if v.dtype == np.bool_: return "true" if v else "false"
    if k == "c": return f"({bits(v.real)}, {bits(v.imag)})"
    if k in "iu" or v.dtype.name.startswith(("int", "uint")): return str(int(v))
    return bits(v)

def lit(a):
    if a.size == 0: return f"dense<> : {ty(a)}"
    def go(a): return one(a[()]) if a.ndim == 0 else "[" + ", ".join(go(x) for x in a) + "]"
    return f"dense<{go(a)}> : {ty(a)}"

class File:
    def __init__(self, name): self.name, self.cases, self.seen = name, [], set()

    def xla(self, text, ins):
        exe = BACKEND.compile_and_load(text, xc.DeviceList((DEVICE,)), xc.CompileOptions())
        outs = exe.execute_sharded([jax.device_put(a, DEVICE) for a in ins]).disassemble_into_single_device_arrays()
        return [np.asarray(o[0]) for o in outs]

    def case(self, name, body, ins, outs=None, want=None, ulps=0, helpers="", tol=None):
        """`body` computes %r (or %r:n) from %0, %1, …; {0}, {1}, … are the types of inputs, {r0}, … of results."""
        ins = [np.asarray(a) for a in ins]
        if want is not None: want = [np.asarray(a) for a in want]
        types = [f"tensor<{o}>" for o in outs] if outs else [ty(a) for a in want]
        fields = {"r%d" % i: t for i, t in enumerate(types)}
        body = body.strip()
        for i, a in enumerate(ins): body = body.replace("{%d}" % i, ty(a))
        for k, t in fields.items(): body = body.replace("{%s}" % k, t)
        result = "%r" if len(types) == 1 else f"%r:{len(types)}"
        names = ["%r"] if len(types) == 1 else [f"%r#{i}" for i in range(len(types))]
        if "%r =" not in body and "%r:" not in body: body = f"{result} = {body}"
        if want is None:
            args = ", ".join(f"%{i}: {ty(a)}" for i, a in enumerate(ins))
            text = f"{helpers}\nfunc.func @main({args}) -> ({', '.join(types)}) {{\n{body}\nreturn {', '.join(names)} : {', '.join(types)} }}"
            try: want = self.xla(text, ins)
            except Exception as e:
                print(f"{self.name}: {name}: XLA: {str(e)[:300]}", file=sys.stderr); return
        base, k = name, 2
        while name in self.seen: name, k = f"{base}_{k}", k + 1
        self.seen.add(name)
        lines = [f"func.func @{name}() {{"]
        lines += [f"  %{i} = stablehlo.constant {lit(a)}" for i, a in enumerate(ins)]
        lines += ["  " + line for line in body.split("\n")]
        for i, (n, t, w) in enumerate(zip(names, types, want)):
            lines.append(f"  %w{i} = stablehlo.constant {lit(w)}")
            if t != ty(w): raise SystemExit(f"{name}: {t} computed {ty(w)}")
            if w.dtype.kind in "biu" or w.dtype.name.startswith(("int", "uint")):
                lines.append(f"  check.expect_eq {n}, %w{i} : {t}")
            elif tol is not None:
                lines.append(f"  check.expect_almost_eq {n}, %w{i}, tolerance = {decimal(tol)} : {t}")
            else:
                lines.append(f"  check.expect_close {n}, %w{i}, max_ulp_difference = {ulps} : {t}, {t}")
        lines += ["  return", "}"]
        self.cases.append((helpers + "\n" if helpers else "") + "\n".join(lines) + "\n")

    def write(self):
        with open(os.path.join(HERE, self.name + ".mlir"), "w") as f:
            f.write("// Written by generate.py.\n" + "// -----\n".join(self.cases))
        print(self.name, len(self.cases))

RNG = np.random.RandomState(7)
INTS = ["i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"]
FLOATS = ["f16", "bf16", "f32", "f64"]
SMALL = ["f8E3M4", "f8E4M3", "f8E4M3FN", "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E5M2", "f8E5M2FNUZ"]

def ints(name):
    i = np.iinfo(dt(name)) if name not in ("i4", "ui4", "i2", "ui2") else ml_dtypes.iinfo(dt(name))
    base = [0, 1, 2, 7, int(i.max), int(i.max) - 1, int(i.min), -1, -7]
    return sorted({v for v in base if i.min <= v <= i.max})

def pairs(values, name):
    a = [x for x in values for _ in values]; b = [y for _ in values for y in values]
    return np.array(a, dt(name)), np.array(b, dt(name))

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.75, 1e-3, 65504.0, 1e-7, np.inf, -np.inf, np.nan]

def integers(f):
    for t in INTS:
        a, b = pairs(ints(t), t)
        for op in "add subtract multiply divide remainder maximum minimum and or xor power".split():
            if op == "power": b2 = np.array([int(x) % 5 for x in b], dt(t)); f.case(f"{op}_{t}", f"stablehlo.{op} %0, %1 : {{0}}", [a, b2], [ty(a)[7:-1]])
            else: f.case(f"{op}_{t}", f"stablehlo.{op} %0, %1 : {{0}}", [a, b], [ty(a)[7:-1]])
        for op in "shift_left shift_right_arithmetic shift_right_logical".split():
            f.case(f"{op}_{t}", f"stablehlo.{op} %0, %1 : {{0}}", [a, b], [ty(a)[7:-1]])
        one_ = np.array(ints(t), dt(t))
        for op in "abs negate not sign popcnt count_leading_zeros".split():
            if op in ("abs", "sign") and t.startswith("u"): continue
            f.case(f"{op}_{t}", f"stablehlo.{op} %0 : {{0}}", [one_], [ty(one_)[7:-1]])
        for d in "EQ NE LT LE GT GE".split():
            f.case(f"compare_{d}_{t}", f"stablehlo.compare {d}, %0, %1 : ({{0}}, {{1}}) -> {{r0}}", [a, b], [f"{a.size}xi1"])
    a, b = pairs([False, True], "i1")
    for op in "and or xor add multiply maximum minimum".split():
        f.case(f"{op}_i1", f"stablehlo.{op} %0, %1 : {{0}}", [a, b], ["4xi1"])
    f.case("not_i1", "stablehlo.not %0 : {0}", [a], ["4xi1"])
    f.case("add_scalar", "stablehlo.add %0, %1 : {0}", [arr(3, "i32"), arr(4, "i32")], ["i32"])
    f.case("add_empty", "stablehlo.add %0, %1 : {0}", [arr(np.zeros((0, 3)), "i32")] * 2, ["0x3xi32"])
    # Below 8 bits by definition: modulo 2^n.
    for t in ["i4", "ui4", "i2", "ui2"]:
        a, b = pairs(ints(t), t)
        wide = lambda g: np.array([g(int(x), int(y)) for x, y in zip(a, b)])
        n = {"i4": 4, "ui4": 4, "i2": 2, "ui2": 2}[t]
        def cut(v): 
            v = v % (1 << n)
            return np.array([int(x) - (1 << n) if t[0] == "i" and x >= 1 << (n - 1) else int(x) for x in v]).astype(dt(t))
        for op, g in [("add", lambda x, y: x + y), ("subtract", lambda x, y: x - y), ("multiply", lambda x, y: x * y),
                      ("maximum", max), ("minimum", min), ("and", lambda x, y: x & y), ("xor", lambda x, y: x ^ y)]:
            f.case(f"{op}_{t}", f"stablehlo.{op} %0, %1 : {{0}}", [a, b], want=[cut(wide(g))])

def floats(f):
    for t in FLOATS + ["f8E4M3FN", "f8E5M2"]:
        values = list(np.array(SPECIAL[:], dt(t)))
        a, b = pairs([0.0, -0.0, 1.0, -2.5, 1e-3, 448.0, np.inf, -np.inf, np.nan], t)
        wide = t in FLOATS
        for op in "add subtract multiply divide maximum minimum remainder".split():
            if not wide and op == "remainder": continue
            if op in ("maximum", "minimum"):
                # The order of zeros is the specification's; XLA leaves it open.
                x, y = a.astype(np.float64), b.astype(np.float64)
                g = max if op == "maximum" else min
                want = [np.nan if np.isnan(p) or np.isnan(q) else g(p, q, key=lambda z: (z, not np.signbit(z))) for p, q in zip(x, y)]
                f.case(f"{op}_{t}", f"stablehlo.{op} %0, %1 : {{0}}", [a, b], want=[arr(want, t)])
            elif t in ("f16", "bf16", "f8E4M3FN", "f8E5M2") or op == "remainder":
                with np.errstate(all="ignore"):
                    x, y = a.astype(np.float64), b.astype(np.float64)
                    want = {"add": x + y, "subtract": x - y, "multiply": x * y, "divide": x / y, "remainder": np.fmod(x, y)}[op]
                if t == "f64": want = np.fmod(a, b) if op == "remainder" else want
                f.case(f"{op}_{t}", f"stablehlo.{op} %0, %1 : {{0}}", [a, b], want=[arr(want, t)])
            else: f.case(f"{op}_{t}", f"stablehlo.{op} %0, %1 : {{0}}", [a, b], [ty(a)[7:-1]])
        for d in "EQ NE LT LE GT GE".split():
            f.case(f"compare_{d}_{t}", f"stablehlo.compare {d}, %0, %1, FLOAT : ({{0}}, {{1}}) -> {{r0}}", [a, b], [f"{a.size}xi1"])
            if t in ("f32", "bf16", "f64"):
                f.case(f"compare_total_{d}_{t}", f"stablehlo.compare {d}, %0, %1, TOTALORDER : ({{0}}, {{1}}) -> {{r0}}", [a, b], [f"{a.size}xi1"])
        v = np.array(values, dt(t))
        for op in "abs negate ceil floor round_nearest_even round_nearest_afz sign".split():
            f.case(f"{op}_{t}", f"stablehlo.{op} %0 : {{0}}", [v], [ty(v)[7:-1]])
        f.case(f"is_finite_{t}", "stablehlo.is_finite %0 : ({0}) -> {r0}", [v], [f"{v.size}xi1"])
        f.case(f"clamp_{t}", "stablehlo.clamp %0, %1, %2 : ({0}, {1}, {2}) -> {r0}", [arr(-1, t), v, arr(2, t)], [ty(v)[7:-1]])
        f.case(f"select_{t}", "stablehlo.select %0, %1, %2 : {0}, {1}", [arr(RNG.rand(v.size) < 0.5, "i1"), v, v[::-1].copy()], [ty(v)[7:-1]])
        f.case(f"select_scalar_{t}", "stablehlo.select %0, %1, %2 : ({0}, {1}, {2}) -> {r0}", [arr(True, "i1"), v, v[::-1].copy()], [ty(v)[7:-1]])
    for t, e, m in [("f32", 5, 10), ("f32", 8, 7), ("f32", 4, 3), ("f64", 8, 23), ("f16", 5, 2), ("bf16", 5, 3), ("f32", 2, 0)]:
        v = arr(np.concatenate([RNG.randn(20) * 10.0 ** RNG.randint(-12, 12, 20), SPECIAL]), t)
        f.case(f"reduce_precision_{t}_e{e}m{m}", f"stablehlo.reduce_precision %0, format = e{e}m{m} : {{0}}", [v], [ty(v)[7:-1]])

UNARY = {"exponential": np.exp, "exponential_minus_one": np.expm1, "log": np.log, "log_plus_one": np.log1p, "sine": np.sin,
         "cosine": np.cos, "tan": np.tan, "tanh": np.tanh, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "cbrt": np.cbrt,
         "logistic": sp.expit}
CHLO = {"tan": np.tan, "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan, "atanh": np.arctanh,
        "cosh": np.cosh, "sinh": np.sinh, "erf": sp.erf, "erfc": sp.erfc, "erf_inv": sp.erfinv, "lgamma": sp.gammaln,
        "digamma": sp.digamma, "bessel_i1e": sp.i1e}

def transcendental(f):
    points = np.concatenate([np.linspace(-4, 4, 33), [1e-5, -1e-5, 30.0, -30.0, 0.999, -0.999, 1.0, 100.5, np.inf, -np.inf, np.nan]])
    for t in FLOATS:
        v = arr(points, t); x = v.astype(np.float64)
        for names, dialect in ((UNARY, "stablehlo"), (CHLO, "chlo")):
            for op, g in names.items():
                with np.errstate(all="ignore"): want = g(x)
                if op == "digamma": want = np.where((x <= 0) & (x == np.floor(x)) | (x == -np.inf), np.nan, want)
                if op == "lgamma": want = np.where(x == -np.inf, np.inf, want)
                tail = "{0}" if dialect == "stablehlo" else "{0} -> {0}"
                zeros = op in ("digamma", "lgamma") and t == "f64"  # near which only the absolute error is small
                f.case(f"{op}_{t}", f"{dialect}.{op} %0 : {tail}", [v], want=[arr(want, t)], tol=1e-10 if zeros else None, ulps=(40 if op in ("digamma", "lgamma") else 8 if op in ("erf_inv", "bessel_i1e") else 2) if t == "f64" else 1)
        a, b = arr(np.abs(points) + 0.25, t), arr(points[::-1], t)
        x, y = a.astype(np.float64), b.astype(np.float64)
        with np.errstate(all="ignore"):
            f.case(f"power_{t}", "stablehlo.power %0, %1 : {0}", [a, b], want=[arr(np.power(x, y), t)], ulps=2 if t == "f64" else 1)
            f.case(f"atan2_{t}", "stablehlo.atan2 %0, %1 : {0}", [b, a], want=[arr(np.arctan2(y, x), t)], ulps=1)
            z, q = arr(np.linspace(1.1, 9, 20), t), arr(np.linspace(0.3, 6, 20), t)
            f.case(f"zeta_{t}", "chlo.zeta %0, %1 : {0}, {1} -> {0}", [z, q], want=[arr(sp.zeta(z.astype(float), q.astype(float)), t)], ulps=16 if t == "f64" else 1)
            n = arr(np.arange(20) % 5, t)
            f.case(f"polygamma_{t}", "chlo.polygamma %0, %1 : {0}, {1} -> {0}", [n, q], want=[arr(sp.polygamma(n.astype(float).astype(int), q.astype(float)), t)], ulps=40 if t == "f64" else 1)
            f.case(f"square_{t}", "chlo.square %0 : {0} -> {0}", [v], want=[arr(v.astype(float) ** 2, t)])
        f.case(f"is_inf_{t}", "chlo.is_inf %0 : {0} -> {r0}", [v], want=[np.isinf(v.astype(float))])
        f.case(f"is_pos_inf_{t}", "chlo.is_pos_inf %0 : {0} -> {r0}", [v], want=[v.astype(float) == np.inf])
        f.case(f"is_neg_inf_{t}", "chlo.is_neg_inf %0 : {0} -> {r0}", [v], want=[v.astype(float) == -np.inf])
    for t in ("f32", "f64"):
        a = arr([0.0, -0.0, 1.0, -1.0, 1.0, 0.0, np.inf, 3.0, np.nan], t); b = arr([1.0, -1.0, 2.0, 0.0, 1.0, -0.0, 0.0, np.inf, 1.0], t)
        f.case(f"next_after_{t}", "chlo.next_after %0, %1 : {0}, {1} -> {0}", [a, b], want=[np.nextafter(a, b)])
    for t in INTS:
        a, b = pairs(ints(t), t); n = dt(t).itemsize * 8
        want = [(int(x) * int(y)) >> n for x, y in zip(a, b)]
        f.case(f"mulhi_{t}", "chlo.mulhi %0, %1 : {0}, {1} -> {0}", [a, b], want=[np.array(want, dt(t))])

def complexes(f):
    mpmath.mp.prec = 160
    M = {"exponential": mpmath.exp, "log": mpmath.log, "sqrt": mpmath.sqrt, "sine": mpmath.sin, "cosine": mpmath.cos, "tanh": mpmath.tanh,
         "tan": mpmath.tan, "exponential_minus_one": mpmath.expm1, "log_plus_one": lambda z: mpmath.log(1 + z), "rsqrt": lambda z: 1 / mpmath.sqrt(z),
         "logistic": lambda z: 1 / (1 + mpmath.exp(-z))}
    H = {"asin": mpmath.asin, "acos": mpmath.acos, "atan": mpmath.atan, "asinh": mpmath.asinh, "acosh": mpmath.acosh, "atanh": mpmath.atanh,
         "sinh": mpmath.sinh, "cosh": mpmath.cosh}
    line = [-30.0, -1.0, -0.75, 1e-4, 0.5, 1.5, 20.0]
    for t in ("complex<f32>", "complex<f64>"):
        part = np.float32 if "32" in t else np.float64
        grid = arr([complex(part(x), part(y)) for x in line for y in line if y != 0 and x != 0], t)
        for table, dialect in ((M, "stablehlo"), (H, "chlo")):
            for op, g in table.items():
                keep = [z for z in grid]
                want = [complex(g(mpmath.mpc(float(z.real), float(z.imag)))) for z in keep]
                want = [w if part == np.float64 else complex(part(w.real), part(w.imag)) for w in want]
                tail = "{0}" if dialect == "stablehlo" else "{0} -> {0}"
                f.case(f"{op}_{t[8:11]}", f"{dialect}.{op} %0 : {tail}", [grid], want=[arr(want, t)], ulps=4 if part == np.float64 else 1)
        # Near the circles where logarithms of moduli vanish.
        near = arr([complex(np.cos(v), np.sin(v)) * (1 + e) for v in (0.3, 1.2, 2.5, -2.0) for e in (0.0, 1e-7, -1e-9)], t)
        for op, z, g in (("log", near, mpmath.log), ("log_plus_one", arr(near - 1, t), lambda z: mpmath.log(1 + z))):
            want = [complex(g(mpmath.mpc(float(v.real), float(v.imag)))) for v in z]
            f.case(f"{op}_circle_{t[8:11]}", f"stablehlo.{op} %0 : {{0}}", [z], want=[arr(want, t)], ulps=2)
        # The cuts, and infinities, as C's Annex G has them.
        special = [complex(x, y) for x in (-np.inf, -2.0, -0.0, 0.0, 2.0, np.inf) for y in (-np.inf, -0.0, 0.0, np.inf)] + \
                  [complex(x, y) for x in (-0.0, 0.0) for y in (-2.0, 2.0, -0.5, 0.5)]
        s = arr(special, t)
        for op, g in (("asin", cmath.asin), ("acos", cmath.acos), ("atan", cmath.atan), ("asinh", cmath.asinh), ("acosh", cmath.acosh), ("atanh", cmath.atanh)):
            def safe(z):
                try: return g(z)
                except ValueError: return None
            rows = [(z, safe(complex(z))) for z in s]
            rows = [r for r in rows if r[1] is not None]
            f.case(f"{op}_special_{t[8:11]}", f"chlo.{op} %0 : {{0}} -> {{0}}", [np.array([r[0] for r in rows], dt(t))], want=[arr([r[1] for r in rows], t)], ulps=2)
        a, b = grid, grid[::-1].copy()
        for op, g in (("add", lambda x, y: x + y), ("subtract", lambda x, y: x - y), ("multiply", lambda x, y: x * y), ("divide", lambda x, y: x / y)):
            want = [complex(g(mpmath.mpc(complex(x)), mpmath.mpc(complex(y)))) for x, y in zip(a, b)]
            f.case(f"{op}_{t[8:11]}", f"stablehlo.{op} %0, %1 : {{0}}", [a, b], want=[arr(want, t)], ulps=2)
        r = f"{grid.size}x{'f32' if part == np.float32 else 'f64'}"
        f.case(f"real_{t[8:11]}", "stablehlo.real %0 : ({0}) -> {r0}", [grid], [r]); f.case(f"imag_{t[8:11]}", "stablehlo.imag %0 : ({0}) -> {r0}", [grid], [r])
        f.case(f"abs_{t[8:11]}", "stablehlo.abs %0 : ({0}) -> {r0}", [grid], want=[np.array([complex(z) for z in grid]).__abs__().astype(part)], ulps=1)
        f.case(f"complex_{t[8:11]}", "stablehlo.complex %0, %1 : {r0}", [grid.real.copy(), grid.imag.copy()], want=[grid])
        f.case(f"conj_{t[8:11]}", "chlo.conj %0 : {0} -> {0}", [grid], want=[grid.conj()])
        for d in ("EQ", "NE"):
            f.case(f"compare_{d}_{t[8:11]}", f"stablehlo.compare {d}, %0, %1 : ({{0}}, {{1}}) -> {{r0}}", [grid, np.where(np.arange(grid.size) % 2, grid, b)], [f"{grid.size}xi1"])
        f.case(f"sign_{t[8:11]}", "stablehlo.sign %0 : {0}", [grid], want=[arr([complex(z) / abs(complex(z)) for z in grid], t)], ulps=2)
        f.case(f"power_{t[8:11]}", "stablehlo.power %0, %1 : {0}", [grid[20:30], arr([0.5 + 0.25j] * 10, t)], want=[arr([complex(mpmath.power(mpmath.mpc(complex(z)), 0.5 + 0.25j)) for z in grid[20:30]], t)], tol=1e-11 if part == np.float64 else 1e-6)

def conversions(f):
    kinds = ["i1", "i8", "i32", "i64", "ui8", "ui32", "ui64", "f16", "bf16", "f32", "f64"]
    for s in kinds:
        if s[0] in "iu" and s != "i1": v = np.array(ints(s) + ([16777217] if s in ("i32", "i64", "ui32", "ui64") else []), dt(s))
        elif s == "i1": v = arr([False, True], "i1")
        else: v = arr([0.0, -0.0, 1.5, -1.5, 2.5, 127.9, 128.5, 255.5, -129.0, 1e10, -1e10, 3e19, np.inf, -np.inf, np.nan, 1e-8], s)
        for t in kinds + ["complex<f32>"] + (SMALL + ["f8E8M0FNU", "f4E2M1FN"] if s in ("f32", "f64", "bf16") else []):
            if t in SMALL + ["f8E8M0FNU", "f4E2M1FN"]: 
                f.case(f"convert_{s}_{t}", "stablehlo.convert %0 : ({0}) -> {r0}", [v], want=[v.astype(np.float32).astype(dt(t))])
                continue
            if t[0] in "iu" and t != "i1" and s[0] in "fb":
                # Saturating, NaN to zero: XLA's own conversions are these only for some pairs.
                i = np.iinfo(dt(t)); want = [0 if np.isnan(float(x)) else int(i.max) if float(x) >= float(i.max) else int(i.min) if float(x) <= float(i.min) else int(float(x)) for x in v]
                f.case(f"convert_{s}_{t}", "stablehlo.convert %0 : ({0}) -> {r0}", [v], want=[np.array(want, dt(t))])
                continue
            f.case(f"convert_{s}_{t.replace('<', '_').replace('>', '')}", "stablehlo.convert %0 : ({0}) -> {r0}", [v], [f"{v.size}x{t}"])
    for t in SMALL + ["f8E8M0FNU", "f4E2M1FN"]:
        every = np.arange(16 if t == "f4E2M1FN" else 256).astype(np.uint8).view(dt(t))
        f.case(f"convert_{t}_f32", "stablehlo.convert %0 : ({0}) -> {r0}", [every], want=[every.astype(np.float32)])
    u = RNG.randint(0, 2**32, 6, dtype=np.uint64).astype(np.uint32)
    for a, b, t, shape in [("ui32", "f32", "f32", "6x"), ("ui32", "i16", "i16", "6x2x"), ("ui32", "ui8", "ui8", "6x4x")]:
        f.case(f"bitcast_{a}_{b}", "stablehlo.bitcast_convert %0 : ({0}) -> {r0}", [u], [f"{shape}{t}"])
    f.case("bitcast_ui16_f32", "stablehlo.bitcast_convert %0 : ({0}) -> {r0}", [u.view(np.uint16).reshape(6, 2)], [f"6xf32"])
    f.case("bitcast_f64_ui32", "stablehlo.bitcast_convert %0 : ({0}) -> {r0}", [RNG.randn(3)], ["3x2xui32"])
    f.case("bitcast_i8_i4", "stablehlo.bitcast_convert %0 : ({0}) -> {r0}", [arr([18, -1], "i8")], want=[np.array([[2, 1], [-1, -1]], dt("i4"))])
    f.case("bitcast_scalar", "stablehlo.bitcast_convert %0 : ({0}) -> {r0}", [arr(1.0, "f32")], ["i32"])

def broadcasts(f):
    table = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum}
    both = [((3,), (2, 3)), ((2, 1), (1, 3)), ((), (2,)), ((2, 3), (2, 3)), ((0, 1), (1, 2))]
    def num(shape, t): return arr(RNG.randint(1, 7, shape), t)
    def chlo(op, ins, want, extra="", **kw): f.case("broadcast_" + op, f"chlo.broadcast_{op} {', '.join('%%%d' % i for i in range(len(ins)))}{extra} : ({', '.join('{%d}' % i for i in range(len(ins)))}) -> {{r0}}", ins, want=[want], **kw)
    for sa, sb in both:
        for t in ("i32", "f32"):
            a, b = num(sa, t), num(sb, t)
            for op, g in table.items(): chlo(op, [a, b], g(a, b))
        a, b = num(sa, "i32"), num(sb, "i32")
        for op, g in {"divide": np.floor_divide, "remainder": np.remainder, "power": np.power, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
                      "shift_left": np.left_shift, "shift_right_arithmetic": np.right_shift, "shift_right_logical": np.right_shift}.items(): chlo(op, [a, b], g(a, b).astype(np.int32))
        a, b = num(sa, "f32"), num(sb, "f32")
        x, y = a.astype(float), b.astype(float)
        chlo("atan2", [a, b], np.arctan2(x, y).astype(np.float32), ulps=1)
        chlo("zeta", [a + np.float32(1), b], sp.zeta(x + 1, y).astype(np.float32), ulps=1)
        chlo("polygamma", [a, b], sp.polygamma(x.astype(int), y).astype(np.float32).reshape(np.broadcast(a, b).shape), ulps=1)
        chlo("next_after", [a, b], np.nextafter(a, b))
        chlo("complex", [a, b], (a + 1j * b).astype(np.complex64))
        f.case("broadcast_compare", "chlo.broadcast_compare %0, %1 {comparison_direction = #chlo<comparison_direction LT>} : ({0}, {1}) -> {r0}", [a, b], want=[a < b])
        p = RNG.rand(*sa) < 0.5
        chlo("select", [np.asarray(p), a, b], np.where(p, a, b))
    chlo("add", [num((2,), "f32"), num((2, 3), "f32")], None, extra=" {broadcast_dimensions = array<i64: 0>}") if False else None

def build(names):
    for name in names:
        f = File(name); TABLE[name](f); f.write()

TABLE = {"integers": integers, "floats": floats, "transcendental": transcendental, "complex": complexes, "conversions": conversions, "broadcasts": broadcasts}
if __name__ == "__main__":
    sys.path.insert(0, HERE)
    import effects, rare, tensors
    TABLE.update(tensors.TABLE | rare.TABLE | effects.TABLE)
    build(sys.argv[1:] or list(TABLE))
