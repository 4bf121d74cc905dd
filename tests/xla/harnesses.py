#!/usr/bin/env python3
"""Runs JAX's own harnesses of its primitives on the back ends of Surject and compares with XLA.

    harnesses.py [--count N] [--skip N] [--seed S] [--backends spec,interp,cpu] [--only REGEX] [--keep FOLDER]

JAX ships some 7,500 programs that test its primitives (`jax._src.internal_test_util.test_harnesses`, with x64). A sample is
lowered to StableHLO, run by XLA, and by `surject run` on every back end (SURJECT_BIN names the command; `cuda` runs on a
simulated device). What differs is
listed with its program, what is refused (exit status 3) by its reason. Exit status 1 when something differs or fails.
"""
import argparse
import collections
import concurrent.futures
import os
import random
import re
import subprocess
import sys
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import ml_dtypes
import numpy as np

jax.config.update("jax_enable_x64", True)
from jax._src.internal_test_util import test_harnesses

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SURJECT = os.environ.get("SURJECT_BIN", f"{ROOT}/target/debug/surject")
# Results with a free sign, phase or order (of equal keys of a sort that is not stable): they are compared without. Where that is not enough (vectors of equal eigenvalues, other
# random numbers) these programs only have to run.
FREE = re.compile(r"^(eigh?|svd|schur|qr|lu|householder_product|approx_top_k|random_)|tridiagonal|isstable_False")
# Relative and absolute tolerance by the least exact type of a program.
TOLERANCES = {"float16": (2e-2, 2e-2), "bfloat16": (5e-2, 5e-2), "float32": (1e-3, 1e-4), "complex64": (1e-3, 1e-4)}


def save(path, array):
    """Whether a file can hold the array."""
    array = np.asarray(array)
    if array.dtype == ml_dtypes.bfloat16:
        np.save(f"{path}.bf16.npy", array.view(np.uint16))
        return True
    if array.dtype.kind not in "biufc" or array.dtype.itemsize > 16 or array.dtype.name not in np.sctypeDict:
        return False
    np.save(f"{path}.npy", array)
    return True


def lowered(harness, folder):
    """The tolerances of a program whose text, inputs and XLA's outputs are in the folder; None where files cannot hold them."""
    arguments = harness.dyn_args_maker(np.random.RandomState(0))
    lowering = jax.jit(harness.dyn_fun).lower(*arguments)
    text = lowering.as_text()
    outputs = jax.tree_util.tree_leaves(lowering.compile()(*arguments))
    inputs = jax.tree_util.tree_leaves(arguments)
    kept = lowering._lowering.compile_args.get("kept_var_idx")
    if kept is not None:
        inputs = [x for i, x in enumerate(inputs) if i in kept]
    if any(jax.dtypes.issubdtype(getattr(x, "dtype", np.float32), jax.dtypes.extended) for x in [*inputs, *outputs]):
        return None
    os.makedirs(folder)
    saved = [save(f"{folder}/in{i}", x) for i, x in enumerate(inputs)]
    saved += [save(f"{folder}/out{i}", x) for i, x in enumerate(outputs)]
    if not all(saved):
        return None
    with open(f"{folder}/program.mlir", "w") as file:
        file.write(text)
    names = {"f16": "float16", "bf16": "bfloat16", "f32": "float32"}
    found = {names[n] for n in names if re.search(rf"[x<]{n}>", text)}
    return max((TOLERANCES[n] for n in found), default=(1e-6, 1e-8))


def files(folder, stem):
    names = [n for n in os.listdir(folder) if re.fullmatch(rf"{stem}\d+(\.bf16)?\.npy", n)]
    return [f"{folder}/{n}" for n in sorted(names, key=lambda n: int(re.search(r"\d+", n)[0]))]


def same_but_for_freedom(found, expected, tolerances):
    """Whether arrays hold numbers of the same sizes, in any order."""

    def sizes(path):
        array = np.load(path)
        if ".bf16." in path:
            array = array.view(ml_dtypes.bfloat16).astype(np.float32)
        return array.shape, np.sort(np.abs(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)).ravel())

    if len(found) != len(expected):
        return False
    for (shape, got), (wanted_shape, want) in zip(map(sizes, found), map(sizes, expected)):
        if shape != wanted_shape or not np.allclose(got, want, rtol=tolerances[0], atol=10 * tolerances[1], equal_nan=True):
            return False
    return True


def run(name, folder, tolerances, backend):
    """`agrees`, `refused` or `differs`, and what the command said."""
    command = [SURJECT, "run", f"{folder}/program.mlir", "--backend", backend]
    if backend == "cuda":
        command += ["--device", "simulated"]
    inputs, outputs = files(folder, "in"), files(folder, "out")
    command += ["--input", *inputs] if inputs else []
    free = outputs and FREE.search(name)
    if free:
        command += ["--out", f"{folder}/{backend}"]
    elif outputs:
        command += ["--rtol", str(tolerances[0]), "--atol", str(tolerances[1]), "--expect", *outputs]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return "differs", "no result within two minutes"
    said = (done.stderr.strip() or done.stdout.strip()).splitlines()
    kind = {0: "agrees", 3: "refused"}.get(done.returncode, "differs")
    if free and kind == "agrees" and not same_but_for_freedom(files(f"{folder}/{backend}", "out"), outputs, tolerances):
        kind = "runs"
    return kind, said[0] if said else f"exit status {done.returncode}"


def reason(message):
    """A message without its place and what varies."""
    message = re.sub(r"^.*?error\[\w+\]: ", "", message)
    return re.sub(r"\d+", "n", re.sub(r"tensor<[^>]*>", "tensor", message))[:110]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--skip", type=int, default=0, help="so many harnesses are left out first: a long run in pieces")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backends", default="spec,interp,cpu")
    parser.add_argument("--only", default="", help="the harnesses whose names this expression finds")
    parser.add_argument("--keep", help="keep programs and values in this folder")
    options = parser.parse_args()
    backends = options.backends.split(",")
    harnesses = [h for h in test_harnesses.all_harnesses if re.search(options.only, h.fullname)]
    random.Random(options.seed).shuffle(harnesses)
    harnesses = harnesses[options.skip :]
    counts = {b: collections.Counter() for b in backends}
    refused = collections.defaultdict(list)
    differing, unlowered, tasks = [], 0, []
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        root = options.keep or temporary
        for harness in harnesses:
            if len(tasks) >= options.count * len(backends):
                break
            folder = f"{root}/{len(tasks) // len(backends):05d}"
            try:
                tolerances = lowered(harness, folder)
            except Exception:  # JAX does not have every harness on this platform
                tolerances = None
            if tolerances is None:
                subprocess.run(["rm", "-rf", folder], check=True)
                unlowered += 1
                continue
            name = harness.fullname
            tasks += [(b, name, folder, pool.submit(run, name, folder, tolerances, b)) for b in backends]
        for backend, name, folder, task in tasks:
            kind, message = task.result()
            counts[backend][kind] += 1
            if kind == "refused":
                refused[f"{backend}: {reason(message)}"].append(name)
            elif kind == "differs":
                differing.append(f"{backend}: {name}: {message}" + (f" ({folder})" if options.keep else ""))
    for line in differing:
        print(line)
    for line, names in sorted(refused.items(), key=lambda row: -len(row[1])):
        print(f"{len(names):5} refused, {line} ({names[0]})")
    for backend in backends:
        total = sum(counts[backend].values())
        print(f"{backend}: {counts[backend]['agrees']} of {total} agree, {counts[backend]['runs']} run with a freedom that is not compared, {counts[backend]['refused']} refused, {counts[backend]['differs']} differ")
    print(f"{unlowered} of the sample not lowered here")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
