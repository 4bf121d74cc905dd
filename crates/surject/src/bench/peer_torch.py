"""PyTorch, for `peer.py`: the workload of the suite that has the name of the program's folder, written in PyTorch
(`torch_workloads.py`), eager and through `torch.compile`.

A short trial decides which of the two counts; the compilation that is reported is that of the setting chosen (eager: the
first call). Programs that are no workload of the suite, and those that PyTorch has no form for, are refused.
"""
import os
import time

import torch

count = int(os.environ.get("SURJECT_BENCH_THREADS", "0"))
torch.set_num_threads(count or len(os.sched_getaffinity(0)))
torch.set_flush_denormal(True)
DEVICE = torch.device(os.environ.get("SURJECT_TORCH_DEVICE", "cpu"))
if DEVICE.type == "cuda":
    # Products of `f32` are products of `f32`, as in the programs.
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
# Compiling takes long; `eager` alone is one of the settings that count.
SETTINGS = os.environ.get("SURJECT_TORCH_SETTINGS", "eager,torch.compile").split(",")
import ml_dtypes
import numpy as np
from torch_workloads import WORKLOADS

TRIAL = 0.1
# A run that takes longer is not repeated, in seconds.
SLOW = 1.0
function, candidates, arguments = None, [], []


class Refused(Exception):
    """PyTorch has no form of the program, or does not compile it."""


def version():
    return f"PyTorch {torch.__version__}"


def tensor(array):
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16).to(DEVICE)
    return torch.from_numpy(np.ascontiguousarray(array).reshape(array.shape)).to(DEVICE)


def load(text, arrays, name):
    global candidates, arguments, function
    workload = WORKLOADS.get(name.removesuffix("_odd"))
    if workload is None:
        raise Refused(f"`{name}` is not written in PyTorch")
    torch.compiler.reset()
    arguments = [tensor(array) for array in arrays]
    candidates, refusals = [], []
    for setting, function in (("eager", workload), ("torch.compile", torch.compile(workload, dynamic=False))):
        if setting not in SETTINGS:
            continue
        start = time.perf_counter()
        try:
            # The first call compiles.
            call()
        except Exception as error:
            refusals.append(f"{setting}: {error}")
            continue
        candidates.append((setting, time.perf_counter() - start, function))
    if not candidates:
        raise Refused("; ".join(refusals))


def choose(samples):
    """The setting of the fastest trial, the seconds of its compilation and of a run, and the results."""
    global function
    best = None
    for setting, spent, function in candidates:
        start = time.perf_counter()
        outputs = call()
        first = time.perf_counter() - start
        seconds = first if first > SLOW else min(samples(TRIAL))
        found = (seconds, setting, spent, function, outputs)
        best = found if best is None or seconds < best[0] else best
    seconds, setting, spent, function, outputs = best
    outputs = outputs if isinstance(outputs, (tuple, list)) else [outputs]
    return setting, spent, seconds, [fetch(output) for output in outputs]


def call():
    with torch.no_grad():
        outputs = function(*arguments)
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()
    return outputs


def fetch(output):
    output = output.detach().cpu().contiguous()
    if output.dtype == torch.bfloat16:
        return output.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return output.numpy()


def memory():
    """Unknown: PyTorch does not say what its CPU allocator holds."""
    return None
