#!/usr/bin/env python3
"""What reductions start from: programs in which literals join reductions, at sizes that XLA splits, in every type.

    starts.py            run as part of `cargo xtask xla`; SURJECT_BIN names the command

Each program goes through `surject opt`; XLA runs what comes out beside the program as JAX wrote it. The numbers are
small integers, so that an initial value that is joined twice shows in any type. Exit status 1 when a program fails.
"""
import os
import subprocess
import sys
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax
from jax._src import xla_bridge
from jaxlib import xla_client

jax.config.update("jax_enable_x64", True)
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SURJECT = os.environ.get("SURJECT_BIN", f"{ROOT}/target/debug/surject")
SIZES = [33, 48, 100, 4096]
TYPES = [np.float32, np.float64, ml_dtypes.bfloat16, np.float16, np.int32, np.int8, np.uint16]
backend = xla_bridge.get_backend("cpu")
device = backend.local_devices()[0]


def is_float(x):
    return jnp.issubdtype(x.dtype, jnp.floating)


def one(x, n=1):
    return jnp.asarray(n, x.dtype)


def reductions(x):
    """Literals beside sums, products, extrema, along rows, columns and all."""
    results = [
        one(x) + x.sum(dtype=x.dtype),
        one(x, 3) + x.sum(1, dtype=x.dtype),
        x.sum(0, dtype=x.dtype) + one(x, 2),
        one(x, 3) * jnp.where(x == 0, one(x), x)[:, :5].prod(1, dtype=x.dtype),
        jnp.maximum(one(x), x.max(1)),
        jnp.minimum(x.min(0), one(x, 0)),
    ]
    if is_float(x):
        y = x / 64
        results += [
            jnp.exp(y) / (1 + jnp.exp(y).sum(-1, keepdims=True)),
            jnp.sqrt(1 + (x * x).sum(1)),
            1 / (1 + jnp.exp(-(y.sum(1)))),
            jnp.log1p((y * y).sum(0)) + 2 * (1 + y.sum()),
        ]
    else:
        results += [(x & 1).sum(1, dtype=x.dtype) + one(x, 7)]
        results += [lax.reduce_or(x, (1,)) | one(x, 4), lax.reduce_and(x, (0,)) & one(x, 3)]
    return results


def windows(x):
    """Literals beside windows, and as what windows and their padding start from."""
    zero, low = one(x, 0), lax.reduce_max(x, (0, 1)) - lax.reduce_max(x, (0, 1))
    width = min(40, x.shape[1])
    sums = lax.reduce_window(x, zero, lax.add, (1, width), (1, 7), "SAME")
    results = [one(x, 5) + sums, jnp.cumsum(x, 1, dtype=x.dtype) + one(x)]
    # Without padding, which XLA leaves out and the specification fills with the initial value.
    results += [lax.reduce_window(x, np.asarray(2, x.dtype)[()], lax.add, (1, width), (1, 9), "VALID")]
    if is_float(x):
        top = lambda v: lax.reduce_window(v, -jnp.inf, lax.max, (1, 2), (1, 2), "VALID").astype(x.dtype)
        _, back = jax.vjp(top, x)
        results += [one(x) + back(top(x))[0], jnp.maximum(low, top(x))]
    return results


def products(x):
    """Literals beside products of matrices."""
    if not is_float(x):
        return [one(x) + lax.dot(x, x.T, preferred_element_type=x.dtype)]
    y = x / 16
    return [one(x) + y @ y.T, jnp.sqrt(1 + ((y @ y.T) ** 2).sum(1)), jnp.tanh(y @ y.T[:, :3]) + one(x)]


def bernoulli(x):
    return [jax.scipy.special.bernoulli(40).astype(x.dtype)]


def run(text, arguments):
    compiled = backend.compile_and_load(text, xla_client.DeviceList((device,)), xla_client.CompileOptions())
    outputs = compiled.execute_sharded([jax.device_put(a, device) for a in arguments])
    return [np.asarray(o[0]) for o in outputs.disassemble_into_single_device_arrays()]


def check(function, x, folder):
    """None when both agree, else what went wrong."""
    source, out = f"{folder}/program.mlir", f"{folder}/out.mlir"
    with open(source, "w") as file:
        text = jax.jit(function, keep_unused=True).lower(x).as_text()
        file.write(text)
    done = subprocess.run([SURJECT, "opt", source, "-o", out], capture_output=True, text=True)
    if done.returncode != 0:
        return f"surject opt ended with {done.returncode}: {done.stderr.strip()[:300]}"
    # Operation by operation, JAX would round sums of 16-bit floats at every step.
    want = run(text, [x])
    try:
        got = run(open(out).read(), [x])
    except Exception as error:  # XLA's own message is what helps
        return f"XLA fails on it: {str(error)[:300]}"
    bits = {2: 2e-2, 4: 2e-5, 8: 1e-10}
    tolerance = bits[x.dtype.itemsize] if is_float(x) else 0
    for i, (a, b) in enumerate(zip(got, want, strict=True)):
        a, b = a.astype(np.float64), b.astype(np.float64)
        scale = np.abs(b[np.isfinite(b)]).max(initial=1)
        if a.shape != b.shape or not np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True):
            worst = np.nanmax(np.abs(a - b)) if a.shape == b.shape else "shape"
            return f"result {i} differs by {worst}"
    return None


passed = failed = 0
rng = np.random.default_rng(0)
with tempfile.TemporaryDirectory() as folder:
    for size in SIZES:
        for dtype in TYPES:
            x = rng.integers(0 if np.dtype(dtype).kind == "u" else -2, 3, (3, size)).astype(dtype)
            for function in (reductions, windows, products) + ((bernoulli,) if size == 33 and is_float(x) else ()):
                problem = check(function, x, folder)
                passed, failed = passed + (problem is None), failed + (problem is not None)
                if problem:
                    print(f"FAILED {function.__name__} of {np.dtype(dtype).name} at {size}: {problem}")
print(f"literals beside reductions on XLA: {passed} passed, {failed} failed")
sys.exit(failed > 0)
