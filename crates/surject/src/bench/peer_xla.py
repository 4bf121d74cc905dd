"""XLA through `jaxlib` on a processor, or on what JAX_PLATFORMS names, for `peer.py`: one call of the loaded executable a sample, without the dispatch of `jit`."""
import os
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jaxlib
import numpy as np
from jax._src import xla_bridge
from jaxlib import lapack, xla_client

jax.config.update("jax_enable_x64", True)
# The calling thread runs the program itself: no thread is woken for a call, and results come from the main heap.
jax.config.update("jax_cpu_enable_async_dispatch", False)
# Factorisations and solvers are calls of LAPACK, whose addresses `jax` looks up when it first traces one.
if os.environ["JAX_PLATFORMS"] == "cpu":
    lapack._lapack.initialize()
client = xla_bridge.get_backend(os.environ["JAX_PLATFORMS"])
device = client.local_devices()[0]
compiled, arguments, spent = None, [], 0.0


class Refused(Exception):
    """XLA does not compile the program."""


def version():
    return f"jaxlib {jaxlib.__version__}"


def compile_text(text):
    """Versions of jaxlib differ in whether they take text."""
    devices, options = xla_client.DeviceList((device,)), xla_client.CompileOptions()
    try:
        return client.compile_and_load(text, devices, options)
    except TypeError:
        from jax._src.interpreters import mlir
        from jaxlib.mlir import ir

        with mlir.make_ir_context():
            module = ir.Module.parse(text)
            return client.compile_and_load(module, executable_devices=devices, compile_options=options)


def load(text, arrays, name):
    global compiled, arguments, spent
    compiled, arguments = None, []
    start = time.perf_counter()
    try:
        compiled = compile_text(text)
    except Exception as error:
        raise Refused(str(error)) from error
    spent = time.perf_counter() - start
    arguments = [jax.device_put(array, device) for array in arrays]


def choose(samples):
    """How it was compiled, the seconds of that and of a run, and the results."""
    start = time.perf_counter()
    outputs = call()
    seconds = time.perf_counter() - start
    return "default", spent, seconds, [np.asarray(output[0]) for output in outputs]


def call():
    outputs = compiled.execute_sharded(arguments).disassemble_into_single_device_arrays()
    # All results of a program become ready together.
    if outputs:
        outputs[-1][0].block_until_ready()
    return outputs


def memory():
    """Arguments, results and temporaries, as the executable states them."""
    stats = compiled.get_compiled_memory_stats()
    sizes = (stats.argument_size_in_bytes, stats.output_size_in_bytes, stats.temp_size_in_bytes, -stats.alias_size_in_bytes)
    return sum(sizes)
