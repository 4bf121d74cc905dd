"""IREE's compiler and run time, for `peer.py`: one invocation of the module's function a sample.

Every program is compiled at O3 for this processor; one with a contraction also with data tiling from the dispatches,
which makes some contractions several times faster and other programs slower. A short trial decides, and the compilation
that is reported is that of the setting chosen.
"""
import hashlib
import os
import pickle
import re
import tempfile
import time

import numpy as np
import iree.runtime as rt
from iree.compiler.api import Output, Session, Source
from iree.compiler.version import VERSION
from iree.runtime._binding import VmVariantList


BASE = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
    "--iree-input-type=stablehlo",
    "--iree-input-demote-f64-to-f32=false",
    "--iree-opt-level=O3",
    # Some programs need more than is allowed by default; the workers' stacks below are as large.
    "--iree-llvmcpu-stack-allocation-limit=1048576",
)
SETTINGS = {"O3": (), "O3, data tiling": ("--iree-dispatch-creation-data-tiling",)}
CONTRACTION = re.compile(r"stablehlo\.(dot_general|dot|convolution)\b")
TRIAL = 0.1
# A run that takes longer is not repeated, in seconds.
SLOW = 1.0
# One worker for each processor that this process may use, and pinned to it: faster than workers that may move.
rt.flags.parse_flags(
    "--task_topology_cpu_ids=" + ",".join(map(str, sorted(os.sched_getaffinity(0)))), "--task_worker_stack_size=4194304")
cache = os.environ.get("SURJECT_BENCH_CACHE")
instance = rt.VmInstance()
device = rt.get_device("local-task")
candidates, prepared, marker = None, None, None


class Refused(Exception):
    """IREE does not compile the program."""


def version():
    return f"IREE {VERSION}"


def compiled(text, setting):
    """The module and the seconds it took, or the message of the refusal; kept where `SURJECT_BENCH_CACHE` says."""
    key = hashlib.sha256("\n".join((VERSION, *BASE, *SETTINGS[setting], text)).encode()).hexdigest()
    path = cache and f"{cache}/{key}.iree"
    if path and os.path.exists(path):
        with open(path, "rb") as file:
            return pickle.load(file)
    answer = compile_text(text, setting)
    if path:
        with open(path, "wb") as file:
            pickle.dump(answer, file)
    return answer


def compile_text(text, setting):
    start = time.perf_counter()
    # Diagnostics go to the standard error, and only there.
    with tempfile.TemporaryFile() as notes:
        kept = os.dup(2)
        os.dup2(notes.fileno(), 2)
        try:
            with Session() as session:
                session.set_flags(*BASE, *SETTINGS[setting])
                with session.invocation() as invocation:
                    invocation.enable_console_diagnostics()
                    source = Source.wrap_buffer(session, text.encode() + b"\0")
                    done = invocation.parse_source(source) and invocation.execute()
                    if done:
                        with Output.open_membuffer() as output:
                            invocation.output_vm_bytecode(output)
                            module = bytes(output.map_memory())
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        if done:
            return module, time.perf_counter() - start
        notes.seek(0)
        lines = notes.read().decode(errors="replace").splitlines()
    return None, next((line for line in lines if "error:" in line), "no diagnostic").split("error:")[-1].strip()


def prepare(module, arrays):
    """The context, function and arguments of a module on the device."""
    found = rt.VmModule.copy_buffer(instance, module)
    context = rt.VmContext(instance, [rt.create_hal_module(instance, device), found])
    names = [name for name in found.function_names if not name.startswith("__")]
    function = found.lookup_function("main" if "main" in names else names[0])
    arguments = VmVariantList(len(arrays))
    for array in arrays:
        arguments.push_ref(rt.asdevicearray(device, np.ascontiguousarray(array).reshape(array.shape))._buffer_view.__iree_vm_ref__)
    return context, function, arguments


def load(text, arrays, name):
    """Compiles in every setting that is worth a trial."""
    global candidates, marker
    candidates, refusals = [], []
    marker = cache and f"{cache}/{hashlib.sha256(text.encode()).hexdigest()}.running"
    if marker and os.path.exists(marker):
        raise RuntimeError("an earlier run of the program did not end")
    for setting in SETTINGS:
        if SETTINGS[setting] and not CONTRACTION.search(text):
            continue
        module, spent = compiled(text, setting)
        if module is None:
            refusals.append(spent)
            continue
        start = time.perf_counter()
        prepared = prepare(module, arrays)
        candidates.append((setting, spent + time.perf_counter() - start, prepared))
    if not candidates:
        raise Refused(refusals[0])


def choose(samples):
    """The setting of the fastest trial, the seconds of its compilation and of a run, and the results."""
    global prepared, candidates
    best = None
    if marker:
        open(marker, "w").close()
    for setting, spent, prepared in candidates:
        start = time.perf_counter()
        outputs = call()
        first = time.perf_counter() - start
        seconds = first if first > SLOW else min(samples(TRIAL))
        found = (seconds, setting, spent, prepared, outputs)
        best = found if best is None or seconds < best[0] else best
    if marker:
        os.remove(marker)
    candidates = None
    seconds, setting, spent, prepared, outputs = best
    return setting, spent, seconds, [fetch(outputs, i) for i in range(len(outputs))]


def call():
    context, function, arguments = prepared
    outputs = VmVariantList(4)
    context.invoke(function, arguments, outputs)
    return outputs


def fetch(outputs, i):
    view = outputs.get_as_object(i, rt.HalBufferView)
    return rt.DeviceArray(device, view, implicit_host_transfer=True).to_host().copy()


def memory():
    """Unknown: the run time counts what is put on the device, not what its queues allocate for a call."""
    return None
