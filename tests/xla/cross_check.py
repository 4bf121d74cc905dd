#!/usr/bin/env python3
"""Takes every program through `surject opt`, lets XLA run what comes out, and compares with the expected outputs.

    cross_check.py [FOLDER …]        folders with program.mlir, in*.npy, out*.npy below them

Run it as `cargo xtask xla`. SURJECT_BIN names the command, SURJECT_CASES the folder of shared cases. A program that
Surject says it does not support (exit status 3) is listed as such. Exit status 1 when a program fails.
"""
import glob
import os
import subprocess
import sys
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import ml_dtypes
import numpy as np
from jax._src import xla_bridge
from jaxlib import xla_client

jax.config.update("jax_enable_x64", True)
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SURJECT = os.environ.get("SURJECT_BIN", f"{ROOT}/target/debug/surject")
SHARED = os.environ.get("SURJECT_CASES", f"{os.path.dirname(ROOT)}/shared/cases/jax")
backend = xla_bridge.get_backend("cpu")
device = backend.local_devices()[0]


def load(path):
    array = np.load(path)
    return array.view(ml_dtypes.bfloat16) if path.endswith(".bf16.npy") else array


def numbered(case, stem):
    paths = []
    while True:
        found = glob.glob(f"{case}/{stem}{len(paths)}.npy") + glob.glob(f"{case}/{stem}{len(paths)}.bf16.npy")
        if not found:
            return paths
        paths.append(found[0])


def check(case, options):
    """None when XLA agrees, else what went wrong; unsupported programs raise NotImplementedError."""
    with tempfile.TemporaryDirectory() as folder:
        out = f"{folder}/out.mlir"
        done = subprocess.run([SURJECT, "opt", f"{case}/program.mlir", "-o", out, *options], capture_output=True, text=True)
        if done.returncode == 3:
            raise NotImplementedError(done.stderr.strip().splitlines()[0])
        if done.returncode != 0:
            return f"surject opt ended with {done.returncode}: {done.stderr.strip()[:300]}"
        text = open(out).read()
    try:
        compiled = backend.compile_and_load(text, xla_client.DeviceList((device,)), xla_client.CompileOptions())
    except Exception as error:  # XLA's own message is what helps
        return f"XLA rejects it: {str(error)[:300]}"
    arguments = [jax.device_put(load(p), device) for p in numbered(case, "in")]
    outputs = compiled.execute_sharded(arguments).disassemble_into_single_device_arrays()
    for i, (got, path) in enumerate(zip(outputs, numbered(case, "out"))):
        got, want = np.asarray(got[0]), load(path)
        narrow = "bf16" in text.split("return")[0] or "xf16" in text
        tolerance = 2e-2 if narrow else 1e-5
        wide = np.complex128 if want.dtype.kind == "c" else np.float64
        if got.shape != want.shape or not np.allclose(got.astype(wide), want.astype(wide), rtol=tolerance, atol=tolerance, equal_nan=True):
            return f"output {i} differs"
    return None


folders = sys.argv[1:] or [f"{ROOT}/tests/programs", SHARED]
cases = sorted(os.path.dirname(p) for folder in folders for p in glob.glob(f"{folder}/*/program.mlir"))
passed = failed = unsupported = 0
for case in cases:
    try:
        problem = check(case, [])
    except NotImplementedError as error:
        unsupported += 1
        print(f"unsupported {os.path.basename(case)}: {error}")
        continue
    if problem:
        failed += 1
        print(f"FAILED {os.path.basename(case)}: {problem}")
    else:
        passed += 1
print(f"XLA: {passed} passed, {failed} failed, {unsupported} unsupported")
sys.exit(failed > 0 or passed == 0)
