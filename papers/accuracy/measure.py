#!/usr/bin/env python3
"""Measures the accuracy of programs and of their gradients, and writes `README.md` beside this file.

    .venv/bin/python papers/accuracy/measure.py [--surject BINARY] [--gradients] [FOLDER …]
    .venv/bin/python papers/accuracy/measure.py --keep          write the page again from `measured.json`
    .venv/bin/python papers/accuracy/measure.py --only NAME …   these programs alone, and no page

Everything takes more than an hour on a slow machine. `--limit SECONDS` stops before, and so does an interrupt; what was
measured is in `measured.json` at all times, and `--go-on` measures only what is not there yet. Inputs depend on the name
of a program alone, so what is measured in pieces, or again, has the same inputs.

A folder holds `program.mlir` and `in0.npy`, `in1.npy`, …, or folders of that kind. What has no inputs is given noise.
Every program runs as it stands on Surject, optimised and not, and on XLA; and with all of its floats as `f64` on XLA,
whose results count as exact. Needs `pip install "jax[cpu]"`.
"""
import argparse
import json
import math
import os
import re
import subprocess
import signal
import sys
import tempfile
import time
import zlib

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import jax
import jaxlib
import ml_dtypes
import numpy as np

jax.config.update("jax_enable_x64", True)
from jax._src import xla_bridge
from jaxlib import xla_client as xc

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f64": np.float64}
# Results of operations on bits have no counterpart in another type.
BITS = ("bitcast_convert", "reduce_precision", "stablehlo.rng", "custom_call", "case", "f8E")


def widened(text):
    """The program with `f64` for every float, and the same constants."""
    def literal(match):
        value, shape, element = match.groups()
        narrow = TYPES[element.removeprefix("complex<").rstrip(">")]
        if value.startswith('"0x'):
            raw = np.frombuffer(bytes.fromhex(value[3:-1]), narrow)
            value = '"0x' + raw.astype(np.float64).tobytes().hex().upper() + '"'
        else:
            bits = {2: np.uint16, 4: np.uint32, 8: np.uint64}[np.dtype(narrow).itemsize]
            def number(m):
                word = m.group(0)
                if word.startswith("0x"):
                    wide = np.array(int(word, 16), bits).view(narrow).astype(np.float64)
                else:
                    wide = np.array(float(word), np.float64).astype(narrow).astype(np.float64)
                return repr(float(wide)) if np.isfinite(wide) else f"0x{int(wide.view(np.uint64)):016X}"
            value = re.sub(r"0x[0-9A-Fa-f]+|-?\d+(\.\d*)?([eE][-+]?\d+)?", number, value)
            # A literal of MLIR has a point.
            value = re.sub(r"(?<![\w.])(-?\d+)(e[-+]?\d+)", r"\1.0\2", value)
        return f"dense<{value}> : tensor<{shape}{element}>"
    text = re.sub(r'dense<((?:"[^"]*"|[^">])*)> : tensor<((?:\d+x)*)(complex<f32>|f32|f16|bf16)>', literal, text)
    return re.sub(r"(?<=[x<\s])(?:bf16|f16|f32)(?=[>\s,)])", "f64", text)


def load(path):
    a = np.load(path)
    return a.view(ml_dtypes.bfloat16) if path.endswith(".bf16.npy") else a


def save(path, a):
    if a.dtype == ml_dtypes.bfloat16:
        np.save(path + ".bf16.npy", a.view(np.uint16))
        return path + ".bf16.npy"
    np.save(path + ".npy", a)
    return path + ".npy"


def parameters(text):
    """The types of the parameters of `main`, as shapes and element types."""
    head = re.search(r"func\.func (?:public )?@main\((.*?)\)\s*(?:->|\{)", text, re.S).group(1)
    for shape, element in re.findall(r"%\w+: tensor<((?:\d+x)*)((?:complex<)?\w+>?)>", head):
        yield tuple(int(n) for n in shape.split("x")[:-1]), element


def of_type(element):
    names = {"i1": np.bool_, "complex<f32>": np.complex64, "complex<f64>": np.complex128}
    if element in names:
        return np.dtype(names[element])
    if element in TYPES:
        return np.dtype(TYPES[element])
    return np.dtype(("u" if element.startswith("ui") else "") + "int" + element.lstrip("ui"))


def noise(shape, element, rng):
    dtype = of_type(element)
    if dtype.kind in "iub":
        return rng.integers(0, 2, shape).astype(dtype)
    values = rng.standard_normal(shape)
    return (values + 1j * rng.standard_normal(shape) if dtype.kind == "c" else values).astype(dtype)


def is_float(dtype):
    return dtype.kind in "fc" or dtype == ml_dtypes.bfloat16


def wide(a):
    if not is_float(a.dtype):
        return a
    return a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)


def on_xla(text, args):
    client = xla_bridge.get_backend("cpu")
    device = client.local_devices()[0]
    exe = client.compile_and_load(text, xc.DeviceList((device,)), xc.CompileOptions())
    outs = exe.execute_sharded([jax.device_put(a, device) for a in args])
    return [np.asarray(o[0]) for o in outs.disassemble_into_single_device_arrays()]


def on_surject(binary, program, inputs, *options):
    with tempfile.TemporaryDirectory() as folder:
        given = ["-i", *inputs] if inputs else []
        done = subprocess.run([binary, "run", program, *given, "--out", folder, *options], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[0] if done.stderr.strip() else "no message")
        names = sorted(os.listdir(folder), key=lambda n: int(re.search(r"\d+", n).group()))
        return [load(os.path.join(folder, n)) for n in names]


def units(found, exact, dtype, epsilon):
    """The largest error in units of the last place of the largest value."""
    if found.shape != exact.shape:
        return math.inf
    found, finite = wide(found), np.isfinite(exact)
    narrow = np.dtype(np.float32 if dtype == np.complex64 else np.float64 if dtype == np.complex128 else dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        overflows = np.abs(exact) > float(ml_dtypes.finfo(narrow).max)
        same = (np.isnan(found) == np.isnan(exact)) & (np.isfinite(found) == (finite & ~overflows))
    if not same.all():
        return math.inf
    counted = finite & ~overflows
    if not counted.any():
        return 0.0
    scale = float(np.abs(exact[counted]).max())
    least = float(ml_dtypes.finfo(narrow).smallest_normal)
    place = epsilon * 2.0 ** math.floor(math.log2(max(scale, least)))
    return float(np.abs(found[counted] - exact[counted]).max()) / place


def measured(name, program, inputs, binary, rng, folder):
    text = open(program).read()
    if any(word in text for word in BITS):
        raise RuntimeError("works on bits, or calls a library")
    types = list(parameters(text))
    args = [load(p) for p in inputs] + [None] * (len(types) - len(inputs))
    args = [noise(*t, rng) if a is None else a for a, t in zip(args, types)]
    paths = [save(os.path.join(folder, f"in{i}"), a) for i, a in enumerate(args)]
    exact = on_xla(widened(text), [wide(a) for a in args])
    xla = on_xla(text, args)
    sides = {"xla": xla, "plain": on_surject(binary, program, paths, "--no-opt")}
    sides["surject"] = on_surject(binary, program, paths)
    # A product of `bf16` may be rounded to that before it is an `f32`.
    words = set(re.findall(r"(?<=[x<])(?:bf16|f16|f32)(?=>)", text))
    epsilon = max([float(ml_dtypes.finfo(TYPES[w]).eps) for w in words], default=0.0)
    rows = []
    for i, (e, x) in enumerate(zip(exact, xla)):
        if is_float(x.dtype) and x.dtype != np.float64 and x.dtype != np.complex128:
            rows.append({"program": name, "result": i, "type": str(x.dtype), **{k: units(v[i], e, x.dtype, epsilon) for k, v in sides.items()}})
    return rows


def gradient(binary, program, folder):
    path = os.path.join(folder, "gradient.mlir")
    done = subprocess.run([binary, "grad", program, "--vjp", "--no-results", "-o", path], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[0])
    return path


def programs(folders):
    for folder in folders:
        if os.path.exists(os.path.join(folder, "program.mlir")):
            yield folder
        elif os.path.isdir(folder):
            yield from programs(sorted(os.path.join(folder, n) for n in os.listdir(folder)))


def inputs_of(folder, count):
    for i in range(count):
        for end in (".npy", ".bf16.npy"):
            path = os.path.join(folder, f"in{i}{end}")
            if os.path.exists(path):
                yield path
                break
        else:
            return


# Why results are above the limit: how their names begin, and one line for each.
WHY = {
    "suite/cumulative_logsumexp": "256 steps of a function with `exp` and `log`, one after the other; XLA makes a tree of them, and "
    "a scan in blocks would evaluate the function twice for every element.",
    "suite/conv3x3_weight_gradient": "sums of 576 products in registers for the gradient of the image, in blocks of 192 before "
    "these kernels came from the kernel IR; the convolution itself, summed so, is as far off on XLA (result 2).",
    "suite/pairwise_distances_odd": "sums of 503 and 509 terms, one after the other.",
    "suite/sum_all": "one number, the sum of many that nearly cancel: a single draw of the error in units of what is left.",
    "suite/mlp_step_1_odd": "two rows, so that each result is a single draw: with AVX2 XLA is at 3.8 and 7.2, Surject at 1.7 and 2.1.",
    "suite/lenet_step_odd": "the same with AVX2, where XLA is at 474 and 38.",
    "suite/mlp_step_512": "3.9 with AVX2, where XLA is at 1.8.",
    "suite/conv3x3_transposed": "sums of 244 products in registers; blocks of half as many would take 5 % more time.",
}


def vectors():
    """The vectors of this processor, on which the order of sums depends."""
    with open("/proc/cpuinfo") as file:
        flags = set(file.read().split())
    return next((name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in flags), "no AVX2")


def is_above(row):
    """More than three times as far off as XLA, and above four units of the result's scale."""
    return row["surject"] > 3 * row["xla"] and row["surject"] > 4


def page(xla, revision, rows, skipped, left=0, vectors=None):
    show = lambda v: "∞" if math.isinf(v) else f"{v:.2f}"
    def table(chosen):
        yield "| program | result | type | XLA | not optimised | Surject | to XLA |"
        yield "|---|---:|---|---:|---:|---:|---:|"
        for r in chosen:
            ratio = r["surject"] / r["xla"] if r["xla"] else (1.0 if r["surject"] == 0 else math.inf)
            yield f"| `{r['program']}` | {r['result']} | {r['type']} | {show(r['xla'])} | {show(r['plain'])} | {show(r['surject'])} | {show(ratio)} |"
    order = sorted(rows, key=lambda r: -(r["surject"] / max(r["xla"], 0.5)))
    above = [r for r in order if is_above(r)]
    mean = lambda key: math.exp(sum(math.log(max(r[key], 0.25)) for r in rows if math.isfinite(r[key])) / max(len(rows), 1))
    text = [
        "# Accuracy",
        "",
        "How far results in `f32`, `f16` and `bf16` are from those of the same program in `f64`, on Surject and on XLA.",
        "An error is the largest of a result, in units in the last place of its largest value, those of the narrowest float",
        "type of the program. This page is written by",
        "",
        "```sh",
        "cargo build --release -p surject && .venv/bin/python papers/accuracy/measure.py --gradients",
        "```",
        "",
        f"XLA of jaxlib {xla}, Surject {revision}{f', {vectors}' if vectors else ''}: {len(rows)} results of {len({r['program'] for r in rows})} programs. Geometric means of the errors (none counted below a quarter):",
        f"XLA {mean('xla'):.2f}, Surject without rewriting {mean('plain'):.2f}, Surject {mean('surject'):.2f}.",
        "",
        "## Above three times XLA's error, and above 4 units",
        "",
        *(table(above) if above else ["None."]),
        "",
        *[f"* `{name}`: {why}" for name, why in WHY.items() if any(r["program"].startswith(name) for r in above)],
        *([""] if above else []),
        "Sums of floats are made in blocks, whose order is fixed when the code is written (`crates/surject-codegen/src/expression/partial_sums.rs`);",
        "nothing is compensated.",
        "",
        "## All results, the highest ratio first",
        "",
        *table(order),
        "",
        "## Not measured",
        "",
        *[f"* `{name}`: {why}" for name, why in skipped],
        *([f"* {left} more programs and gradients: the time was up (`--go-on` measures them)."] if left else []),
        "",
    ]
    return "\n".join(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--surject", default=os.path.join(ROOT, "target/release/surject"))
    parser.add_argument("--gradients", action="store_true", help="also the gradients of the programs")
    parser.add_argument("--out", default=HERE, help="the folder of the page and of what was measured")
    parser.add_argument("--keep", action="store_true", help="measure nothing")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="programs whose names have one of these in them, as the page names them")
    parser.add_argument("--limit", type=float, default=math.inf, metavar="SECONDS", help="begin no program after this time")
    parser.add_argument("--go-on", action="store_true", help="keep what is measured, and measure the rest")
    parser.add_argument("folders", nargs="*")
    a = parser.parse_args()
    stored = os.path.join(a.out, "measured.json")
    if a.keep:
        with open(stored) as file:
            return write(a.out, json.load(file))
    folders = a.folders or [
        os.path.join(ROOT, "..", "shared", "cases", "jax"),
        os.path.join(ROOT, "tests", "programs"),
        os.path.join(ROOT, "target", "suite"),
    ]
    revision = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True).stdout
    found = {"xla": jaxlib.__version__, "revision": revision.strip(), "rows": [], "skipped": [], "vectors": vectors()}
    if a.go_on and os.path.exists(stored):
        with open(stored) as file:
            found |= json.load(file)
    known = {row["program"] for row in found["rows"]} | {name for name, _ in found["skipped"]}
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    start, left = time.monotonic(), 0
    try:
        for name, program, differentiate in jobs(folders, a.gradients):
            if name in known or (a.only and not any(word in name for word in a.only)):
                continue
            if time.monotonic() - start > a.limit:
                left += 1
                continue
            measure(name, program, differentiate, a.surject, found)
            if not a.only:
                keep(stored, found)
    except KeyboardInterrupt:
        print("interrupted: `--go-on` measures the rest", file=sys.stderr)
    found["left"] = left
    if left:
        print(f"{left} programs are left: `--go-on` measures them", file=sys.stderr)
    if a.only:
        return 1 if any(map(is_above, found["rows"])) else 0
    keep(stored, found)
    return write(a.out, found)


def jobs(folders, gradients):
    """The programs and their gradients: a name, the folder, and whether it is a gradient."""
    for folder in programs(folders):
        short = os.path.join(os.path.basename(os.path.dirname(folder)), os.path.basename(folder))
        yield short, folder, False
        if gradients:
            yield f"{short}, gradient", folder, True


def measure(name, folder, differentiate, binary, found):
    program = os.path.join(folder, "program.mlir")
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    try:
        with tempfile.TemporaryDirectory() as scratch:
            path = gradient(binary, program, scratch) if differentiate else program
            count = len(list(parameters(open(path).read())))
            rows = measured(name, path, list(inputs_of(folder, count)), binary, rng, scratch)
        found["rows"] += rows
        if not rows:
            found["skipped"].append((name, "no result in a float of 32 bits or fewer"))
        for row in rows:
            mark = "  <-- above" if is_above(row) else ""
            print(json.dumps(row) + mark, flush=True)
    except Exception as e:
        found["skipped"].append((name, str(e).splitlines()[0][:160] if str(e) else type(e).__name__))
        print(f"{name}: {found['skipped'][-1][1]}", file=sys.stderr, flush=True)


def keep(stored, found):
    """Writes what is measured, whole or not at all."""
    os.makedirs(os.path.dirname(os.path.abspath(stored)), exist_ok=True)
    with open(stored + ".new", "w") as file:
        json.dump(found, file, indent=0)
    os.replace(stored + ".new", stored)


def write(folder, found):
    with open(os.path.join(folder, "README.md"), "w") as file:
        file.write(page(**found))
    return 1 if any(map(is_above, found["rows"])) else 0


if __name__ == "__main__":
    sys.exit(main())
