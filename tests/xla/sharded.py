#!/usr/bin/env python3
"""Runs sharded JAX programs, imported and exported again, by XLA's partitioner on eight simulated devices of the host.

    sharded.py [--keep FOLDER] [--only REGEX] [--alone]

Each program is lowered by JAX with its shardings, by Shardy and, where it is divided by hand, as JAX did before; it goes through
`surject opt` (SURJECT_BIN names the command), optimised and as it was imported, and is compiled for eight devices. Its results
must be those of JAX's own, and of `surject run` on one device; the text must be divided among as many devices as the program says.
Then two processes of `jax.distributed`, with four devices each, run the optimised texts over loopback; without that: `--alone`.
Exit status 1 where something differs.
"""
import argparse
import json
import os
import re
import socket
import subprocess
import sys
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")
PROCESS = os.environ.get("SHARDED_PROCESS")
COUNT = 8 if PROCESS is None else 4
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + f" --xla_force_host_platform_device_count={COUNT}"
import jax

if PROCESS is not None:
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(os.environ["SHARDED_COORDINATOR"], num_processes=2, process_id=int(PROCESS))
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


def by_hand(mesh, in_specs, out_specs, *shapes, **more):
    """Registers a function of the parts that each device has."""

    def register(f):
        mapped = jax.shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, **more)
        mapped.__name__ = f.__name__
        return program(mesh, in_specs, out_specs, *shapes)(mapped)

    return register


@by_hand(GRID, (P("x", "y"), P("y", None)), P("x", None), (8, 16), (16, 4))
def product_by_parts(a, b):
    return jax.lax.psum(a @ b, "y")


@by_hand(LINE, (P("data"),), (P("data"), P("data")), (16, 3))
def ring(x):
    turns = [(i, (i + 1) % 8) for i in range(8)]
    step = lambda i, c: jax.lax.ppermute(c, "data", turns) * 0.5 + x
    return jax.lax.fori_loop(0, 3, step, x), x + jax.lax.axis_index("data")


@by_hand(GRID, (P("x", "y"),), (P(("x", "y"), None), P("x", "y")), (8, 16))
def gathered_and_exchanged(x):
    rows = jax.lax.all_gather(x, "x", axis=0, tiled=True)
    turned = jax.lax.all_to_all(x, "y", 0, 1, tiled=True)
    return turned * 2, jax.lax.psum_scatter(jnp.sin(rows), "x", scatter_dimension=0, tiled=True)


@by_hand(GRID, (P("x", None),), P("x", None), (8, 16), axis_names={"x"})
def one_axis_by_hand(a):
    step = lambda i, c: jax.lax.ppermute(c, "x", [(0, 1), (1, 0)]) + jax.nn.relu(a) * jax.lax.axis_index("x")
    return jax.lax.fori_loop(0, 3, step, a)


@by_hand(LINE, (P("data"), P(), P()), (P(), P(), P()), (16, 6), (6, 8), (8, 3))
def step_by_hand(x, w, v):
    loss = lambda w, v: jnp.mean(jnp.sum((jax.nn.relu(x @ w) @ v) ** 2, axis=1))
    value, gradients = jax.value_and_grad(loss, (0, 1))(w, v)
    mean = lambda g: jax.lax.pmean(g, "data")
    return mean(value), *(p - 0.1 * mean(g) for p, g in zip((w, v), gradients))


@program(GRID, (P("x"), P("y")), P("x"), (8, 4), (4, 4))
def around_and_by_hand(x, w):
    h = constrained(jnp.tanh(x @ w), GRID, "x", None)
    inner = jax.shard_map(lambda h: h - jax.lax.pmax(h, "x"), mesh=GRID, in_specs=P("x", "y"), out_specs=P("x", "y"))
    return constrained(inner(h) * 2, GRID, "x", "y") @ w


def on_all(text, arguments):
    """The results of a module that the partitioner divides among eight devices, and the compiled text."""
    options = compiler.get_compile_options(
        num_replicas=1, num_partitions=8, device_assignment=np.array([d.id for d in DEVICES]).reshape(1, 8))
    build = options.executable_build_options
    build.use_shardy_partitioner = "sdy." in text
    build.allow_spmd_sharding_propagation_to_parameters = [True] * len(arguments)
    build.allow_spmd_sharding_propagation_to_output = [True]
    backend = xla_bridge.get_backend("cpu")
    local = xla_client.DeviceList(tuple(DEVICES))
    compiled = backend.compile_and_load(text, local, options)
    sharding = lambda proto: GSPMDSharding(tuple(DEVICES), proto)
    place = lambda a, s: jax.make_array_from_callback(a.shape, sharding(s), lambda index: a[index])
    placed = [place(a, s) for a, s in zip(arguments, compiled.get_parameter_shardings())]
    outputs = compiled.execute_sharded(placed).disassemble_into_single_device_arrays()
    results = []
    for parts, s in zip(outputs, compiled.get_output_shardings()):
        shape, own = parts[0].shape, sharding(s)
        whole = tuple(n * k for n, k in zip(shape, factors(own, shape)))
        results.append(jax.make_array_from_single_device_arrays(whole, own, parts))
    return results, compiled.hlo_modules()[0].to_string()


def differs(got, want):
    """Whether a part that this process has is not as expected."""
    near = lambda part: np.allclose(np.asarray(part.data), want[part.index], rtol=1e-4, atol=1e-5)
    return got.shape != want.shape or not all(near(part) for part in got.addressable_shards)


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


BORDERS = ("sdy.sharding_constraint", "sdy.manual_computation", "@Sharding", "@SPMDFullToShardShape", "@SPMDShardToFullShape")


def check(name, folder, shardy=True):
    """What differs."""
    f, mesh, in_specs, out_specs, shapes = PROGRAMS[name]
    rng = np.random.default_rng(len(name))
    arguments = [rng.normal(size=s).astype(np.float32) for s in shapes]
    place = lambda specs: jax.tree.map(lambda p: NamedSharding(mesh, p), specs, is_leaf=lambda p: isinstance(p, P))
    jax.config.update("jax_use_shardy_partitioner", shardy)
    lowered = jax.jit(f, in_shardings=place(in_specs), out_shardings=place(out_specs)).lower(*arguments)
    os.makedirs(folder, exist_ok=True)
    name += "" if shardy else ".before"
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
        borders = {word for word in BORDERS if word in lowered.as_text()}
        lost = [word for word in borders if word not in text]
        if lost or not borders or "mhlo.num_partitions = 8" not in text:
            differing.append(f"{options}: {lost} of {borders} are lost")
        if not options:
            with open(f"{folder}/{name}.opt.mlir", "w") as file:
                file.write(text)
        results, compiled = on_all(text, arguments)
        if len(results) != len(expected):
            differing.append(f"{options}: {len(results)} results where {len(expected)} are expected")
        differing += [f"{options}: result {i} differs" for i, pair in enumerate(zip(results, expected)) if differs(*pair)]
        if "num_partitions=8" not in compiled:
            differing.append(f"{options}: it is not divided")
    for backend in ("spec", "interp", "cpu"):
        try:
            surject("run", path, "--backend", backend, "--input", *files[0], "--expect", *files[1], "--rtol", "1e-4", "--atol", "1e-5")
        except RuntimeError as error:
            differing.append(f"{backend} on one device: {error}")
    return differing


def in_this_process(folder):
    """Of one of two processes: what differs of the optimised texts in the folder, by program."""
    found = {}
    for file in sorted(f for f in os.listdir(folder) if f.endswith(".opt.mlir")):
        name = file.removesuffix(".opt.mlir")
        arrays = lambda kind: [np.load(f"{folder}/{name}.{kind}{i}.npy") for i in range(20) if os.path.exists(f"{folder}/{name}.{kind}{i}.npy")]
        try:
            with open(f"{folder}/{file}") as text:
                results, _ = on_all(text.read(), arrays("in"))
            found[name] = [i for i, pair in enumerate(zip(results, arrays("out"), strict=True)) if differs(*pair)]
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"[:300]
    print("FOUND " + json.dumps(found), flush=True)


def by_two_processes(folder):
    """What differs, by program, in either of two processes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    started = []
    for number in "01":
        environment = dict(os.environ, SHARDED_PROCESS=number, SHARDED_COORDINATOR=address)
        command = [sys.executable, os.path.abspath(__file__), "--keep", folder]
        started.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    found = {}
    for number, process in enumerate(started):
        try:
            out, said = process.communicate(timeout=600)
        except subprocess.TimeoutExpired:
            process.kill()
            out, said = process.communicate()
        line = next((line for line in out.splitlines() if line.startswith("FOUND ")), None)
        if line is None:
            return {f"process {number}": said.strip()[-600:] or f"exit status {process.returncode}"}
        for name, differing in json.loads(line.removeprefix("FOUND ")).items():
            found[name] = found.get(name) or differing
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", help="keep programs and values in this folder")
    parser.add_argument("--only", default="", help="the programs whose names this expression finds")
    parser.add_argument("--alone", action="store_true", help="without two processes")
    options = parser.parse_args()
    if PROCESS is not None:
        in_this_process(options.keep)
        return 0
    failed = total = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        for name in [name for name in PROGRAMS if re.search(options.only, name)]:
            for shardy in [True, False]:
                try:
                    differing = check(name, folder, shardy)
                except Exception as error:
                    differing = [f"{type(error).__name__}: {error}"[:600]]
                failed, total = failed + bool(differing), total + 1
                how = "" if shardy else " (without Shardy)"
                print(f"{name}{how}: {'; '.join(differing) if differing else 'agrees'}", flush=True)
        print(f"{total - failed} of {total} agree")
        if not options.alone:
            found = by_two_processes(folder)
            differing = {name: what for name, what in found.items() if what}
            for name, what in differing.items():
                print(f"two processes: {name}: {what}")
            print(f"{len(found) - len(differing)} of {len(found)} agree on two processes")
            failed += len(differing)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
