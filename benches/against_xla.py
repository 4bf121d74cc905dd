#!/usr/bin/env python3
"""Times programs on Surject and on XLA, both sides alternating in one run, and prints ratios (XLA over Surject).

    against_xla.py [WORKLOAD …]      all workloads when none is named; --rounds N (default 3)

Run it as `cargo xtask bench`. Each round times Surject for a second (`surject run --time`, inputs in place), then XLA
for a second (compiled once, inputs on the device). Before timing, Surject's results are compared with XLA's. Minima and
medians are taken over all rounds; a ratio above 1 means Surject is faster. XLA's thread count is that of the machine;
SURJECT_THREADS sets ours.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_default_matmul_precision", "highest")
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SURJECT = os.environ.get("SURJECT_BIN", f"{ROOT}/target/release/surject")
rng = np.random.default_rng(7)
WORKLOADS = {}


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def workload(name, *arguments):
    def register(function):
        WORKLOADS[name] = (function, arguments)
        return function
    return register


def norm(x, scale, shift):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * scale + shift


def attend(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.float32(np.sqrt(q.shape[-1]))
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1), v)


for n in (128, 512, 1000, 1024):
    workload(f"matmul_{n}", normal(n, n), normal(n, n))(lambda a, b: a @ b)
workload("softmax_1024", normal(1024, 1024))(lambda x: jax.nn.softmax(x, axis=-1))
workload("layernorm_1024", normal(1024, 1024), normal(1024), normal(1024))(norm)
workload("attention_b2s256h8d64", *[normal(2, 256, 8, 64) for _ in range(3)])(attend)
workload("conv3x3_8x56x56x64", normal(8, 56, 56, 64), normal(3, 3, 64, 64))(
    lambda x, k: jax.lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
workload("transpose_add_2048", normal(2048, 2048))(lambda x: x.T + 1)
workload("column_sum_4096x1024", normal(4096, 1024))(lambda x: x.sum(0))


@workload("mlp_train_step", normal(32, 784), normal(32, 10), normal(784, 512), normal(512), normal(512, 10), normal(10))
def mlp_train_step(x, y, w1, b1, w2, b2):
    loss = lambda w: jnp.mean((jnp.tanh(x @ w[0] * np.float32(0.05) + w[1]) @ w[2] + w[3] - y) ** 2)
    value, gradient = jax.value_and_grad(loss)((w1, b1, w2, b2))
    return (value, *[w - 0.1 * g for w, g in zip((w1, b1, w2, b2), gradient)])


@workload("transformer_block_b2s128d256", normal(2, 128, 256), *[normal(*s) * np.float32(0.05) for s in (
    (256,), (256,), (256, 768), (256, 256), (256,), (256,), (256, 1024), (1024,), (1024, 256), (256,))])
def transformer_block(x, s1, t1, wqkv, wo, s2, t2, w1, b1, w2, b2):
    heads = lambda a: a.reshape(*a.shape[:2], 4, 64)
    q, k, v = jnp.split(norm(x, s1, t1) @ wqkv, 3, axis=-1)
    x = x + attend(heads(q), heads(k), heads(v)).reshape(x.shape) @ wo
    return x + jax.nn.gelu(norm(x, s2, t2) @ w1 + b1) @ w2 + b2


def surject(folder, arguments, extra):
    words = [SURJECT, "run", f"{folder}/program.mlir", "--backend", "cpu", *extra]
    for i in range(len(arguments)):
        words += ["-i", f"{folder}/in{i}.npy"]
    return subprocess.run(words, capture_output=True, text=True)


def measure(name, rounds):
    function, arguments = WORKLOADS[name]
    with tempfile.TemporaryDirectory() as folder:
        lowered = jax.jit(function).lower(*arguments)
        open(f"{folder}/program.mlir", "w").write(lowered.as_text())
        for i, a in enumerate(arguments):
            np.save(f"{folder}/in{i}.npy", a)
        start = time.perf_counter()
        compiled = lowered.compile()
        xla_compile = (time.perf_counter() - start) * 1e3
        on_device = [jax.device_put(a) for a in arguments]
        results = [np.asarray(r) for r in jax.tree.leaves(compiled(*on_device))]
        for i, r in enumerate(results):
            np.save(f"{folder}/out{i}.npy", r)
        scale = max(float(np.abs(r).max()) for r in results)
        check = ["--rtol", "1e-4", "--atol", str(1e-5 * scale), "--expect", *[f"{folder}/out{i}.npy" for i in range(len(results))]]
        done = surject(folder, arguments, check)
        if done.returncode != 0:
            return {"name": name, "error": (done.stdout + done.stderr).strip()[:400]}
        ours, theirs, compiles = [], [], []
        for _ in range(rounds):
            timed = surject(folder, arguments, ["--time"]).stdout.strip().splitlines()[-1].split()
            compiles.append(float(timed[2]))
            ours.append((float(timed[4]), float(timed[6])))
            samples, end = [], time.perf_counter() + 1
            while len(samples) < 10 or time.perf_counter() < end:
                start = time.perf_counter()
                jax.block_until_ready(compiled(*on_device))
                samples.append((time.perf_counter() - start) * 1e3)
            theirs.append((float(np.median(samples)), min(samples)))
    best = lambda pairs, k: min(p[k] for p in pairs)
    return {
        "name": name, "surject_min_ms": best(ours, 1), "surject_median_ms": best(ours, 0), "surject_compile_ms": min(compiles),
        "xla_min_ms": best(theirs, 1), "xla_median_ms": best(theirs, 0), "xla_compile_ms": xla_compile,
        "ratio_min": best(theirs, 1) / best(ours, 1), "ratio_median": best(theirs, 0) / best(ours, 0),
        "ratio_compile": xla_compile / min(compiles),
    }


def main():
    words = sys.argv[1:]
    rounds = int(words.pop(words.index("--rounds") + 1)) if "--rounds" in words else 3
    names = [w for w in words if w != "--rounds"] or list(WORKLOADS)
    unknown = [n for n in names if n not in WORKLOADS]
    if unknown:
        sys.exit(f"unknown workloads {unknown}; known: {', '.join(WORKLOADS)}")
    rows = []
    print(f"{'workload':<30} {'ours ms':>10} {'XLA ms':>10} {'ratio min':>10} {'median':>8} {'compile':>8}   (ratios: XLA / Surject)")
    for name in names:
        row = measure(name, rounds)
        rows.append(row)
        if "error" in row:
            print(f"{name:<30} {row['error']}")
        else:
            print(f"{name:<30} {row['surject_min_ms']:10.4f} {row['xla_min_ms']:10.4f} {row['ratio_min']:10.2f} "
                  f"{row['ratio_median']:8.2f} {row['ratio_compile']:8.2f}", flush=True)
    good = [r["ratio_min"] for r in rows if "ratio_min" in r]
    if good:
        print(f"geometric mean of minima: {np.exp(np.mean(np.log(good))):.2f}")
    if os.environ.get("SURJECT_BENCH_JSON"):
        json.dump(rows, open(os.environ["SURJECT_BENCH_JSON"], "w"), indent=1)
    sys.exit(any("error" in r for r in rows))


main()
