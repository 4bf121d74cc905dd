"""The peer process of `surject bench --against xla`: compiles StableHLO with XLA and times it on request.

Requests are lines of words separated by tabs, answers likewise, `ok` or `error` first:
    load PROGRAM FOLDER    compiles the text, runs it on FOLDER/inN.npy, writes FOLDER/outN.npy; ok COMPILE_MS OUTPUTS
    time SECONDS           runs for so long; ok and the samples in milliseconds
"""
import glob
import os
import sys
import time

count = int(os.environ.get("SURJECT_BENCH_THREADS", "0"))
if count:
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:count]))
os.environ.setdefault("JAX_PLATFORMS", "cpu")
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)
import jax
import ml_dtypes
import numpy as np
from jax._src import xla_bridge
from jaxlib import xla_client

jax.config.update("jax_enable_x64", True)
backend = xla_bridge.get_backend("cpu")
device = backend.local_devices()[0]
compiled, arguments = None, []


def find(folder, stem, i):
    return (glob.glob(f"{folder}/{stem}{i}.npy") + glob.glob(f"{folder}/{stem}{i}.bf16.npy") + [None])[0]


def run():
    outputs = compiled.execute_sharded(arguments).disassemble_into_single_device_arrays()
    for output in outputs:
        output[0].block_until_ready()
    return [output[0] for output in outputs]


def load(program, folder):
    global compiled, arguments
    compiled, arguments = None, []
    text = open(program).read()
    start = time.perf_counter()
    compiled = backend.compile_and_load(text, xla_client.DeviceList((device,)), xla_client.CompileOptions())
    spent = (time.perf_counter() - start) * 1e3
    while path := find(folder, "in", len(arguments)):
        array = np.load(path)
        arguments.append(jax.device_put(array.view(ml_dtypes.bfloat16) if path.endswith(".bf16.npy") else array, device))
    results = run()
    for i, result in enumerate(results):
        result = np.asarray(result)
        if result.dtype == ml_dtypes.bfloat16:
            np.save(f"{folder}/out{i}.bf16.npy", result.view(np.uint16))
        else:
            np.save(f"{folder}/out{i}.npy", result)
    return f"{spent}\t{len(results)}"


def measure(seconds):
    samples, end = [], time.perf_counter() + float(seconds)
    while len(samples) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        samples.append((time.perf_counter() - start) * 1e3)
    return "\t".join(f"{s:.6f}" for s in samples)


for line in sys.stdin:
    word, *words = line.rstrip("\n").split("\t")
    try:
        answers.write("ok\t" + {"load": load, "time": measure}[word](*words) + "\n")
    except Exception as error:
        answers.write("error\t" + " ".join(str(error).split())[:400] + "\n")
