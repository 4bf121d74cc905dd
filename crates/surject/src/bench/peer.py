"""The process beside `surject bench --against PEER`: compiles StableHLO with another compiler and times it on request.

    peer.py xla|iree|torch        the back end is `peer_xla.py`, `peer_iree.py` or `peer_torch.py` beside this file

Requests are lines of words separated by tabs, answers likewise, `ok` or `error` first:
    hello                    ok VERSION
    load PROGRAM INPUTS      compiles the text, and puts INPUTS/inN.npy on the device
    run RESULTS              runs it, chooses among settings, and writes RESULTS/outN.npy;
                             ok RESULTS COMPILE_MS SETTING MEMORY (bytes, or -) RUN_MS
    time SECONDS             runs for so long; ok and the samples in milliseconds
An error is followed by what failed (compile, run) and the message.
"""
import gc
import glob
import importlib
import os
import re
import sys
import time

count = int(os.environ.get("SURJECT_BENCH_THREADS", "0"))
if count:
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:count]))
# What libraries print must not come between the answers.
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)
import ml_dtypes
import numpy as np

backend = importlib.import_module(f"peer_{sys.argv[1]}")


def inputs(folder):
    arrays = []
    while path := (glob.glob(f"{folder}/in{len(arrays)}.npy") + glob.glob(f"{folder}/in{len(arrays)}.bf16.npy") + [None])[0]:
        array = np.load(path)
        arrays.append(array.view(ml_dtypes.bfloat16) if path.endswith(".bf16.npy") else array)
    return arrays


def write(folder, results):
    for i, result in enumerate(results):
        if result.dtype == ml_dtypes.bfloat16:
            np.save(f"{folder}/out{i}.bf16.npy", result.view(np.uint16))
        else:
            np.save(f"{folder}/out{i}.npy", result)


def samples(seconds):
    """Times of calls in seconds: for so long, and at least three unless that takes four times as long."""
    found, call, clock = [], backend.call, time.perf_counter
    begin = clock()
    while True:
        start = clock()
        call()
        end = clock()
        found.append(end - start)
        if end - begin >= seconds and (len(found) >= 3 or end - begin >= 4 * seconds):
            return found


def kept(text):
    """The text without what gives arguments away: a program is called again and again on the same ones, on all sides."""
    given = r",?\s*(tf\.aliasing_output = \d+ : i32|jax\.buffer_donor = true)"
    return re.sub(r"\{,\s*", "{", re.sub(given, "", text))


def load(program, folder):
    with open(program) as file:
        text = file.read()
    # PyTorch knows a workload by the name of its folder.
    backend.load(kept(text), inputs(folder), os.path.basename(os.path.dirname(os.path.abspath(program))))
    return ""


def run(folder):
    setting, compile_seconds, seconds, results = backend.choose(samples)
    write(folder, results)
    memory = backend.memory()
    gc.collect()
    return f"{len(results)}\t{compile_seconds * 1e3}\t{setting}\t{'-' if memory is None else memory}\t{seconds * 1e3}"


def measure(seconds):
    return "\t".join(f"{s * 1e3:.6f}" for s in samples(float(seconds)))


ANSWERS = {"hello": backend.version, "load": load, "run": run, "time": measure}
# Collecting garbage takes milliseconds, and would fall into somebody's samples.
gc.disable()
for line in sys.stdin:
    word, *words = line.rstrip("\n").split("\t")
    try:
        answers.write("ok\t" + ANSWERS[word](*words) + "\n")
    except Exception as error:
        stage = "compile" if isinstance(error, backend.Refused) else "run"
        answers.write(f"error\t{stage}\t" + " ".join(str(error).split())[:400] + "\n")
