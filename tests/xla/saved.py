#!/usr/bin/env python3
"""Runs programs that `jax.export` saved, and gives JAX the artifacts that `surject convert` writes.

    saved.py [--keep FOLDER]

Twenty programs, half of them with symbolic sizes, are exported and serialised. `surject run` (SURJECT_BIN names the command) runs
each saved file on `spec`, `interp` and `cpu`; the results are JAX's. `surject convert` makes an artifact of it, for the current and
for an older version of StableHLO, and text of that; jaxlib reads both artifacts, and XLA's results for the newer one (of programs
with constant sizes) are the same. Exit status 1 where something differs.
"""
import argparse
import os
import subprocess
import sys
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jax._src import compiler, xla_bridge
from jaxlib.mlir.dialects import stablehlo

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SURJECT = os.environ.get("SURJECT_BIN", f"{ROOT}/target/debug/surject")
PROGRAMS = {}


def program(*shapes, dtype=np.float32, **sizes):
    """Registers a function of arrays of these shapes; a shape with names is exported with symbols, and called at `sizes`."""

    def register(f):
        PROGRAMS[f.__name__] = (f, shapes, dtype, sizes)
        return f

    return register


@program("4,8", "8,3")
def dense(x, w):
    return jnp.tanh(x @ w)


@program("4,6")
def softmax(x):
    return jax.nn.softmax(x), jax.nn.log_softmax(x, 0)


@program("2,3,8,8", "4,3,3,3")
def convolution(x, w):
    return lax.conv_general_dilated(x, w, (2, 2), "SAME")


@program("5,7")
def sorted_rows(x):
    return jnp.sort(x), jnp.argsort(x, axis=0), lax.top_k(x, 3)[0]


@program("6,6")
def factors(x):
    return jnp.linalg.cholesky(x @ x.T + 6 * jnp.eye(6)), jnp.linalg.inv(x), jnp.linalg.det(x)


@program("10", dtype=np.int32)
def integers(x):
    return x // 3, x % 5, x << 2, jnp.cumsum(x), lax.population_count(x)


@program("16")
def spectrum(x):
    return jnp.abs(jnp.fft.fft(x)), jnp.fft.irfft(jnp.fft.rfft(x))


@program("3,4")
def recurrence(x):
    return lax.scan(lambda c, r: (jnp.sin(c + r), c * r), x[0], x)


@program("9", "9")
def gathered(x, y):
    return x[jnp.array([1, 5, 5])], y.at[jnp.array([0, 3])].add(x[:2]), lax.dynamic_slice(x, (7,), (4,))


@program("4,4")
def gradient(x):
    return jax.value_and_grad(lambda x: jnp.sum(jnp.exp(-x * x) @ x))(x)


@program("b,3", "3,5", b=4)
def symbolic_dense(x, w):
    return jax.nn.relu(x @ w), x.mean(0)


@program("b,n", b=3, n=5)
def symbolic_softmax(x):
    return jax.nn.softmax(x), x.sum(), x.T


@program("b,n", "b,m", b=2, n=3, m=4)
def symbolic_concatenation(x, y):
    return jnp.concatenate([x, y], 1), x[:, :1] * y


@program("n", n=6)
def symbolic_reshape(x):
    return jnp.stack([x, 2 * x]).reshape(-1), jnp.pad(x, (1, 2)), jnp.arange(x.shape[0]) + x


@program("n,n", n=4)
def symbolic_square(x):
    return x @ x + jnp.eye(x.shape[0]), jnp.tril(x), jnp.trace(x)


@program("b,8", b=3)
def symbolic_layernorm(x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


@program("b,4,4,2", "3,3,2,5", b=2)
def symbolic_convolution(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@program("n", n=7)
def symbolic_loop(x):
    return lax.fori_loop(0, 5, lambda i, c: c + jnp.roll(c, 1) * i, x)


@program("b,n", b=3, n=6)
def symbolic_sort(x):
    return jnp.sort(x, 1), jnp.max(x, 0), jnp.argmin(x, 1)


@program("2*n", n=4)
def symbolic_halves(x):
    half = x.shape[0] // 2
    return x[:half] - x[half:], x.reshape(half, 2).sum(1)


def run(*arguments):
    done = subprocess.run([SURJECT, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"surject {arguments[0]} ended with {done.returncode}: {done.stderr.strip()[:400]}")


def by_xla(text, arguments, device):
    """The results of a module on one device."""
    options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
    compiled = xla_bridge.get_backend("cpu").compile_and_load(text, xla_client.DeviceList((device,)), options)
    outputs = compiled.execute_sharded([jax.device_put(a, device) for a in arguments])
    return [np.asarray(parts[0]) for parts in outputs.disassemble_into_single_device_arrays()]


def check(name, folder):
    """What differs."""
    f, shapes, dtype, sizes = PROGRAMS[name]
    scope = jax.export.SymbolicScope()
    symbolic = [jax.export.symbolic_shape(shape, scope=scope) for shape in shapes]
    exported = jax.export.export(jax.jit(f))(*(jax.ShapeDtypeStruct(s, dtype) for s in symbolic))
    with open(f"{folder}/{name}.jaxexport", "wb") as file:
        file.write(exported.serialize())
    rng = np.random.default_rng(len(name))
    whole = [tuple(int(eval(part, {}, sizes)) for part in shape.split(",")) for shape in shapes]
    arguments = [(rng.normal(size=s) * (1 if dtype == np.float32 else 20)).astype(dtype) for s in whole]
    expected = [np.asarray(x) for x in jax.tree.leaves(exported.call(*arguments))]
    files = []
    for kind, arrays in [("in", arguments), ("out", expected)]:
        for i, array in enumerate(arrays):
            np.save(f"{folder}/{name}.{kind}{i}.npy", array)
        files.append([f"{folder}/{name}.{kind}{i}.npy" for i in range(len(arrays))])
    differing = []
    values = ["--input", *files[0], "--expect", *files[1], "--rtol", "1e-4", "--atol", "1e-5"]
    for backend in ("spec", "interp", "cpu"):
        try:
            run("run", f"{folder}/{name}.jaxexport", "--backend", backend, *values)
        except RuntimeError as error:
            differing.append(f"{backend}: {error}")
    try:
        # What LAPACK's targets say to the partitioner is not in older versions.
        old = "1.13.0" if "sdy.sharding_rule" in exported.mlir_module() else "1.9.0"
        for version, path in [((), "new"), (("--target-version", old), "old")]:
            artifact = f"{folder}/{name}.{path}.mlirbc"
            run("convert", f"{folder}/{name}.jaxexport", artifact, *version)
            with mlir.make_ir_context() as context, open(artifact, "rb") as file:
                text = str(stablehlo.deserialize_portable_artifact(context, file.read()))
            if not sizes and not version:
                for i, (got, want) in enumerate(zip(by_xla(text, arguments, jax.devices()[0]), expected, strict=True)):
                    if not np.allclose(got, want, rtol=1e-4, atol=1e-5):
                        differing.append(f"result {i} of what JAX reads of the artifact")
            run("convert", artifact, f"{folder}/{name}.{path}.mlir")
            run("run", f"{folder}/{name}.{path}.mlir", "--backend", "spec", *values)
    except Exception as error:
        differing.append(f"converted: {type(error).__name__}: {error}"[:500])
    return differing


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", help="keep programs and values in this folder")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        os.makedirs(folder, exist_ok=True)
        for name in PROGRAMS:
            try:
                differing = check(name, folder)
            except Exception as error:
                differing = [f"{type(error).__name__}: {error}"[:500]]
            failed += bool(differing)
            print(f"{name}: {'; '.join(differing) if differing else 'agrees'}", flush=True)
    print(f"{len(PROGRAMS) - failed} of {len(PROGRAMS)} agree")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
