#!/usr/bin/env python3
"""Runs sharded JAX programs, imported and exported again, by XLA's partitioner on eight simulated devices of the host.

    sharded.py [--keep FOLDER]

Each program is lowered by JAX with its shardings, goes through `surject opt` (SURJECT_BIN names the command), optimised and as
it was imported, and is compiled for eight devices. Its results must be those of JAX's own, and of `surject run` on one device;
the text must be divided among as many devices as the program says. Exit status 1 where something differs.
"""
import argparse
import os
import subprocess
import sys
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
import jax
import jax.numpy as jnp
import numpy as np
from jax._src import compiler, xla_bridge
from jax._src.sharding_impls import GSPMDSharding
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from jaxlib import xla_client

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SURJECT = os.environ.get("SURJECT_BIN", f"{ROOT}/target/debug/surject")
DEVICES = jax.devices()
GRID = Mesh(np.array(DEVICES).reshape(2, 4), ("x", "y"))
LINE = Mesh(np.array(DEVICES), ("data",))
PROGRAMS = {}


def program(mesh, in_specs, out_specs, *shapes):
    """Registers a function of random arrays of these shapes with shardings of arguments and results."""

    def register(f):
        PROGRAMS[f.__name__] = (f, mesh, in_specs, out_specs, shapes)
        return f

    return register


def constrained(x, mesh, *spec):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(*spec)))


@program(GRID, (P("x", None), P(None, "y")), (P("y"), P("x", "y")), (8, 16), (16, 12))
def layer(a, w):
    h = constrained(jnp.tanh(constrained(a, GRID, "x", None) @ w), GRID, "x", "y")
    return h.sum(0), h


@program(LINE, (P("data"), P(), P()), P(), (16, 6), (6, 8), (8, 3))
def data_parallel_loss(x, w, v):
    h = constrained(jax.nn.relu(x @ w), LINE, "data", None)
    return jnp.mean(jnp.sum((h @ v) ** 2, axis=1))


@program(LINE, (P("data"), P(), P()), (P(), P()), (16, 6), (6, 8), (8, 3))
def data_parallel_step(x, w, v):
    loss = lambda w, v: jnp.mean(jnp.sum((constrained(jax.nn.relu(x @ w), LINE, "data", None) @ v) ** 2, axis=1))
    dw, dv = jax.grad(loss, (0, 1))(w, v)
    return w - 0.1 * dw, v - 0.1 * dv


@program(GRID, (P("x", "y", None), P("x", "y", None), P("x", "y", None)), P("x", "y", None), (2, 8, 4), (2, 8, 4), (2, 8, 4))
def attention(q, k, v):
    scores = constrained(jnp.einsum("bid,bjd->bij", q, k) / 2.0, GRID, "x", "y", None)
    return constrained(jax.nn.softmax(scores) @ v, GRID, "x", "y", P.UNCONSTRAINED)


@program(GRID, (P(("x", "y")),), (P(("y", "x")), P()), (16, 5))
def both_axes(x):
    y = constrained(jnp.sin(x), GRID, ("x", "y"), None)
    return constrained(y * 2, GRID, ("y", "x"), None), jnp.cumsum(y, 0)[-1]


@program(GRID, (P("y"),), P("y"), (8, 8))
def loop(x):
    body = lambda i, c: constrained(jnp.roll(c, 1, 0) * 0.5 + x, GRID, "y", "x")
    return jax.lax.fori_loop(0, 5, body, x)


def on_eight(text, arguments):
    """The results of a module that the partitioner divides among eight devices, and the compiled text."""
    options = compiler.get_compile_options(
        num_replicas=1, num_partitions=8, device_assignment=np.arange(8).reshape(1, 8))
    build = options.executable_build_options
    build.allow_spmd_sharding_propagation_to_parameters = [True] * len(arguments)
    build.allow_spmd_sharding_propagation_to_output = [True]
    backend = xla_bridge.get_backend("cpu")
    compiled = backend.compile_and_load(text, xla_client.DeviceList(tuple(DEVICES)), options)
    sharding = lambda proto: GSPMDSharding(tuple(DEVICES), proto)
    placed = [jax.device_put(a, sharding(s)) for a, s in zip(arguments, compiled.get_parameter_shardings())]
    outputs = compiled.execute_sharded(placed).disassemble_into_single_device_arrays()
    results = []
    for parts, s in zip(outputs, compiled.get_output_shardings()):
        shape, own = parts[0].shape, sharding(s)
        whole = tuple(n * k for n, k in zip(shape, factors(own, shape)))
        results.append(np.asarray(jax.make_array_from_single_device_arrays(whole, own, parts)))
    return results, compiled.hlo_modules()[0].to_string()


def factors(sharding, shape):
    """Into how many parts each axis is divided."""
    proto = sharding._hlo_sharding
    if proto.is_replicated():
        return [1] * len(shape)
    return list(proto.tile_assignment_dimensions())[: len(shape)]


def surject(*arguments):
    done = subprocess.run([SURJECT, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"surject {' '.join(arguments)}: {done.stderr.strip()[:600]}")
    return done.stdout


def check(name, folder):
    """What differs."""
    f, mesh, in_specs, out_specs, shapes = PROGRAMS[name]
    rng = np.random.default_rng(len(name))
    arguments = [rng.normal(size=s).astype(np.float32) for s in shapes]
    place = lambda specs: jax.tree.map(lambda p: NamedSharding(mesh, p), specs, is_leaf=lambda p: isinstance(p, P))
    lowered = jax.jit(f, in_shardings=place(in_specs), out_shardings=place(out_specs)).lower(*arguments)
    os.makedirs(folder, exist_ok=True)
    path = f"{folder}/{name}.mlir"
    with open(path, "w") as file:
        file.write(lowered.as_text())
    expected = [np.asarray(x) for x in jax.tree.leaves(lowered.compile()(*[jax.device_put(a, s) for a, s in zip(arguments, place(in_specs))]))]
    files = []
    for kind, arrays in [("in", arguments), ("out", expected)]:
        for i, array in enumerate(arrays):
            np.save(f"{folder}/{name}.{kind}{i}.npy", array)
        files.append([f"{folder}/{name}.{kind}{i}.npy" for i in range(len(arrays))])
    differing = []
    for options in ([], ["--no-opt"]):
        text = surject("opt", path, *options)
        constraints = text.count("sdy.sharding_constraint")
        if constraints == 0 or "mhlo.num_partitions = 8" not in text:
            differing.append(f"{options}: {constraints} constraints are left")
        results, compiled = on_eight(text, arguments)
        if len(results) != len(expected):
            differing.append(f"{options}: {len(results)} results where {len(expected)} are expected")
        for i, (got, want) in enumerate(zip(results, expected)):
            if got.shape != want.shape or not np.allclose(got, want, rtol=1e-4, atol=1e-5):
                differing.append(f"{options}: result {i} differs")
        if "num_partitions=8" not in compiled:
            differing.append(f"{options}: it is not divided")
    for backend in ("spec", "interp", "cpu"):
        try:
            surject("run", path, "--backend", backend, "--input", *files[0], "--expect", *files[1], "--rtol", "1e-4", "--atol", "1e-5")
        except RuntimeError as error:
            differing.append(f"{backend} on one device: {error}")
    return differing


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", help="keep programs and values in this folder")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        for name in PROGRAMS:
            try:
                differing = check(name, options.keep or temporary)
            except Exception as error:
                differing = [f"{type(error).__name__}: {error}"[:600]]
            failed += bool(differing)
            print(f"{name}: {'; '.join(differing) if differing else 'agrees'}", flush=True)
    print(f"{len(PROGRAMS) - failed} of {len(PROGRAMS)} agree")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
