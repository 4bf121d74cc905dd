"""Runs the steps of `gpu.sh` beside the files of the bundle, and writes one JSON.

Each step has a share of the time; what does not finish in it is cut off and says so. What was not measured is
`{"unmeasured": WHY}`: no figure is ever filled in.

    schema        1
    dry_run       true: no GPU was there, and nothing was timed
    date, seconds of the start (UTC), and what all took
    machine       { processors, system, gpu (what nvidia-smi says), doctor }
    steps         [ { name, seconds, limit, note } ]
    calibration   what the GPU does at most beside what the machine model says (`surject doctor --gpu`), or unmeasured
    correctness   [ { name, ok, seconds, detail } ]        every case against the outputs that XLA computed
    archives      the same, by the runner without a compiler
    libraries     Fourier transforms and factorisations: { checks [ { name, ok, seconds, detail } ] by NVIDIA's libraries where
                  they are and by the host, by_libraries and by_host (JSON of `surject bench`) }
    products      products by four warps (wgmma) and of boxes (TMA), which schedules ask for: { checks [ { name, ok, seconds, detail } ],
                  confirmed { group_products, boxes } (true, false, or null: not checked), times { PROGRAM: { none, group, tma: JSON of
                  `surject bench` } } }, or unmeasured
    alone         JSON of `surject bench` without a peer: the time of every program, and of its launches; or unmeasured
    one_stream    programs whose plans have several streams: { one, several } (JSON of `surject bench`); or unmeasured
    suite         the same beside XLA's GPU back end, which chooses among kernels for seconds a program
    suite_rest    the same of programs that were cut off, where somebody timed them afterwards: not written here
    frameworks    the same beside PyTorch and Triton
    processor     { THREADS: JSON of `surject bench` on the processor beside XLA, or unmeasured }; `peer` says why XLA is
                  missing, where it is
"""
import argparse
import concurrent.futures
import datetime
import glob
import json
import os
import platform
import site
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SURJECT, RUNNER = f"{HERE}/bin/surject", f"{HERE}/bin/surject-run"
# Beside PyTorch, whose compiler takes long, and Triton.
FRAMEWORKS = ["matmul_1024", "matmul_bf16", "matmul_batched", "softmax", "layernorm", "attention", "conv3x3", "gelu_bias",
              "cumsum", "argmax", "lstm", "block_forward_512"]
# On the processor, at every number of threads.
PROCESSOR = ["matmul_1024", "matmul_128", "softmax", "layernorm", "attention", "conv3x3", "gelu_bias", "transpose",
             "lenet_step", "lstm", "block_step_512"]
# Of many kernels, some of which do not depend on each other: gradients, and the gates of recurrent cells.
SEVERAL = ["block_step_512", "block_step_64", "lenet_step", "batchnorm_gradient", "lstm", "mlp_step_32", "mlp_step_512",
           "attention_gradient", "layernorm_gradient", "embedding_gradient"]
# By NVIDIA's libraries, which an interpreter has as well.
LIBRARIES = ["cublas,cufft,cusolver", "none"]
# What a schedule of a name asks for, as the machine model has it.
ASKED = {"group": "group_products", "tma": "boxes"}
# In a dry run.
TINY = ["softmax", "layernorm", "bf16_matmul", "recurrent_scan", "sorting", "slices"]

parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("--out", default=f"{HERE}/gpu.json")
parser.add_argument("--device", default="0")
parser.add_argument("--minutes", type=float, default=8.7)
parser.add_argument("--dry-run", action="store_true")
options = parser.parse_args()
begin = time.monotonic()
end = begin + 60 * options.minutes
device = "simulated" if options.dry_run else options.device
with open(f"{HERE}/revision") as file:
    revision = file.read() or None
found = {"schema": 1, "dry_run": options.dry_run, "revision": revision, "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")}
found["steps"] = []
DRY = {"unmeasured": "a dry run: there was no GPU, and an interpreter has no time"}
# Why nothing runs on a GPU, where there is none.
NONE = None


def environment():
    """The peers run on the Python that runs this, unless another one is named. Libraries of the bundle serve where the system
    lacks them."""
    own = os.environ.copy()
    own.setdefault("SURJECT_PYTHON", sys.executable)
    try:
        needed = subprocess.run(["ldd", SURJECT], capture_output=True, text=True, timeout=10).stdout
    except (OSError, subprocess.TimeoutExpired):
        needed = ""
    if "not found" in needed:
        own["LD_LIBRARY_PATH"] = ":".join(filter(None, [own.get("LD_LIBRARY_PATH"), f"{HERE}/lib"]))
    # Where the libraries of NVIDIA come as packages of Python, no loader finds them by itself.
    packages = [p for folder in site.getsitepackages() + [site.getusersitepackages()] for p in glob.glob(f"{folder}/nvidia/*/lib")]
    if packages:
        own["LD_LIBRARY_PATH"] = ":".join(filter(None, [own.get("LD_LIBRARY_PATH"), *sorted(packages)]))
    return own


ENVIRONMENT = environment()


def run(words, seconds, more=None):
    """The exit status (None: cut off), and what was printed."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=max(seconds, 1), env=ENVIRONMENT | (more or {}), cwd=HERE)
        return done.returncode, (done.stdout + done.stderr).strip()
    except subprocess.TimeoutExpired as late:
        said = late.stdout or b""
        return None, said.decode(errors="replace") if isinstance(said, bytes) else said
    except OSError as error:
        return -1, str(error)


def write():
    found["seconds"] = round(time.monotonic() - begin, 1)
    with open(options.out + ".part", "w") as file:
        json.dump(found, file, indent=1)
    os.replace(options.out + ".part", options.out)


# What every step may take, in seconds: together no more than there are. `suite` takes what the others leave, at least that much, and at
# most 240: it is cut off where it is, the dearest programs last.
LIMITS = {"machine": 10, "calibration": 15, "correctness": 60, "archives": 10, "libraries": 45, "products": 45, "alone": 70,
          "one_stream": 30, "suite": 90, "frameworks": 90, "processor": 55}
LONGEST = {"suite": 240}
assert sum(LIMITS.values()) <= 60 * parser.get_default("minutes"), "the steps may take longer than all"


def given(name, left):
    """The seconds of a step, of those that are left: what comes after it keeps its own."""
    if options.dry_run:
        # An interpreter needs the time in which a device is timed.
        return min(120, left)
    names = list(LIMITS)
    after = sum(LIMITS[later] for later in names[names.index(name) + 1:])
    # Where less is left than all need, as with few `--minutes`, the first steps have it.
    return min(left, max(LIMITS[name], min(LONGEST.get(name, 0), left - after)))


def step(name):
    """Does a step within its seconds, or what is left of all."""
    def enter(function):
        seconds = given(name, end - time.monotonic())
        start = time.monotonic()
        note = ""
        if seconds < 2:
            found[name], note = {"unmeasured": "no time was left"}, "left out"
        else:
            try:
                found[name] = function(seconds)
            except Exception as error:
                found[name], note = {"unmeasured": f"{type(error).__name__}: {error}"}, "failed"
        found["steps"].append({"name": name, "seconds": round(time.monotonic() - start, 1), "limit": round(seconds, 1), "note": note})
        print(f"{name}: {found['steps'][-1]['seconds']} s {note}", flush=True)
        write()
        return function
    return enter


def numbered(folder, stem):
    files = []
    while path := (glob.glob(f"{folder}/{stem}{len(files)}.npy") + glob.glob(f"{folder}/{stem}{len(files)}.bf16.npy") + [None])[0]:
        files.append(path)
    return files


def cases():
    folders = sorted(os.path.dirname(p) for p in glob.glob(f"{HERE}/cases/*/*/program.mlir"))
    return [f for f in folders if not options.dry_run or os.path.basename(f) in TINY]


def arrays(folder, tolerance=None):
    with open(f"{folder}/program.mlir") as file:
        text = file.read()
    tolerance = tolerance or ("2e-2" if "bf16" in text or "xf16" in text else "1e-4")
    words = ["--rtol", tolerance, "--atol", tolerance]
    for option, stem in (("-i", "in"), ("--expect", "out")):
        files = numbered(folder, stem)
        words += [option, *files] if files else []
    return words


def checked(commands, seconds):
    """Runs commands side by side, some at a time, and says which succeed."""
    stop = time.monotonic() + seconds

    def one(name, words, more=None):
        start = time.monotonic()
        if stop - start < 1:
            return {"name": name, "ok": None, "seconds": 0, "detail": "no time was left"}
        status, said = run(words, min(60, stop - start), more)
        detail = "" if status == 0 else "cut off" if status is None else said[-600:]
        # What is not supported is said to be so, and is no success.
        return {"name": name, "ok": status == 0, "seconds": round(time.monotonic() - start, 2), "detail": detail}

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda c: one(*c), commands))


def bench(programs, words, seconds, more=None):
    """The JSON of a bench, which is written again after every program."""
    if not programs:
        return {"unmeasured": "the bundle has no such programs"}
    file = f"{options.out}.bench"
    if os.path.exists(file):
        os.remove(file)
    status, said = run([SURJECT, "bench", *programs, *words, "--out", file], seconds, more)
    if not os.path.exists(file):
        return {"unmeasured": "cut off before the first program" if status is None else said[-600:]}
    with open(file) as read:
        result = json.load(read)
    os.remove(file)
    result["asked"] = len(programs)
    result["cut_off"] = status is None
    return result


def suite(names=None):
    own = sorted(os.path.dirname(p) for p in glob.glob(f"{HERE}/suite/*/program.mlir"))
    return [p for p in own if names is None or os.path.basename(p) in names]


def peer_seconds(folder):
    """Less for a program that XLA compiles sooner: it tries kernels for every product."""
    with open(f"{folder}/program.mlir") as file:
        text = file.read()
    return text.count("dot_general") + text.count("stablehlo.convolution"), len(text)


@step("machine")
def machine(seconds):
    smi = run(["nvidia-smi", "--query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit", "--format=csv,noheader"], seconds)
    return {"processors": os.cpu_count(), "system": platform.platform(), "gpu": smi[1] if smi[0] == 0 else None,
            "doctor": run([SURJECT, "doctor"], seconds)[1].splitlines()}


@step("calibration")
def calibration(seconds):
    if options.dry_run:
        return DRY
    file = f"{options.out}.doctor"
    status, said = run([SURJECT, "doctor", "--gpu", file, "--device", device], seconds)
    if status != 0:
        if said.startswith(("there is no CUDA driver", "the CUDA driver finds no GPU")):
            global NONE
            NONE = {"unmeasured": said.splitlines()[0]}
            return NONE
        return {"unmeasured": said[-600:] or "cut off"}
    with open(file) as read:
        result = json.load(read)
    os.remove(file)
    return result


GPU = ["--backend", "cuda", "--device", device]
# The first run does kernels one by one, the second one records them, and the third one only replays.
REPLAYED = ["--runs", "3"]


@step("correctness")
def correctness(seconds):
    if NONE:
        return NONE
    commands = []
    for folder in cases():
        words = [SURJECT, "run", f"{folder}/program.mlir", *GPU, *REPLAYED, *arrays(folder)]
        commands.append((f"{os.path.basename(os.path.dirname(folder))}/{os.path.basename(folder)}", words))
    return checked(commands, seconds)


@step("archives")
def archives(seconds):
    if NONE:
        return NONE
    commands = []
    for file in sorted(glob.glob(f"{HERE}/archives/*.sjx")):
        name = os.path.basename(file)[:-len(".sjx")]
        folder = f"{HERE}/cases/programs/{name.split('.')[0]}"
        commands.append((name, [RUNNER, file, "--device", device, *arrays(folder)]))
    return checked(commands, seconds)


@step("libraries")
def libraries(seconds):
    if NONE:
        return NONE
    stop = time.monotonic() + seconds
    folders = sorted(os.path.dirname(p) for p in glob.glob(f"{HERE}/libraries/*/program.mlir"))
    small = [f for f in folders if f.endswith("_small")]
    commands = [(f"{os.path.basename(f)} {'by the host' if by == 'none' else 'by libraries'}",
                 [SURJECT, "run", f"{f}/program.mlir", *GPU, *REPLAYED, *arrays(f)], {"SURJECT_CUDA_LIBRARIES": by})
                for f in small for by in LIBRARIES]
    result = {"checks": checked(commands, seconds / 3)}
    programs = [f for f in folders if f not in small]
    for key, by in zip(("by_libraries", "by_host"), LIBRARIES):
        share = (stop - time.monotonic()) / (2 if key == "by_libraries" else 1)
        words = [*GPU, "--rounds", "2", "--seconds", "0.02"]
        result[key] = DRY if options.dry_run else bench(programs, words, share, {"SURJECT_CUDA_LIBRARIES": by})
    return result


@step("products")
def products(seconds):
    if NONE:
        return NONE
    capability = found["calibration"].get("capability")
    if not options.dry_run and capability != [9, 0]:
        return {"unmeasured": f"schedules are for sm_90a; the device has the compute capability {capability}"}
    stop = time.monotonic() + seconds
    commands = []
    for file in sorted(glob.glob(f"{HERE}/products/*/*.schedule")):
        folder, name = os.path.split(file)
        if not folder.endswith("_timed"):
            # Their sums are exact: nothing may differ.
            words = [SURJECT, "run", f"{folder}/program.mlir", *GPU, "--schedule", file, *arrays(folder, "0")]
            commands.append((f"{os.path.basename(folder)} {name.split('.')[0]}", words))
    # An interpreter needs the time in which a device is timed.
    result = {"checks": checked(commands, seconds if options.dry_run else seconds / 3), "confirmed": {}, "times": DRY if options.dry_run else {}}
    for name, what in ASKED.items():
        own = [check["ok"] for check in result["checks"] if check["name"].endswith(f" {name}")]
        # An interpreter confirms nothing.
        result["confirmed"][what] = None if options.dry_run or not own or None in own else all(own)
    timed = [] if options.dry_run else sorted(glob.glob(f"{HERE}/products/*_timed"), key=lambda f: int(f.split("_")[-2]))
    for folder in timed:
        times = result["times"][os.path.basename(folder)[:-len("_timed")]] = {}
        for name in ("none", *ASKED):
            words = [*GPU, "--rounds", "2", "--seconds", "0.02", *(["--schedule", f"{folder}/{name}.schedule"] if name != "none" else [])]
            times[name] = bench([folder], words, min(15, stop - time.monotonic()))
    return result


@step("alone")
def alone(seconds):
    if options.dry_run or NONE:
        return NONE or DRY
    return bench(suite(), [*GPU, "--rounds", "2", "--seconds", "0.02"], seconds)


@step("one_stream")
def one_stream(seconds):
    if options.dry_run or NONE:
        return NONE or DRY
    programs = suite(SEVERAL)
    words = [*GPU, "--rounds", "2", "--seconds", "0.02"]
    # Beside each other, as the machine may be slower at another time.
    return {key: bench(programs, words, seconds / 2, {"SURJECT_CUDA_STREAMS": streams})
            for key, streams in (("one", "1"), ("several", ""))}


@step("suite")
def beside_xla(seconds):
    if options.dry_run or NONE:
        return NONE or DRY
    return bench(sorted(suite(), key=peer_seconds), [*GPU, "--against", "xla-gpu", "--rounds", "2", "--seconds", "0.03"], seconds)


@step("frameworks")
def beside_frameworks(seconds):
    if options.dry_run or NONE:
        return NONE or DRY
    return bench(suite(FRAMEWORKS), [*GPU, "--against", "torch-gpu,triton", "--rounds", "2", "--seconds", "0.03"], seconds)


@step("processor")
def processor(seconds):
    if options.dry_run:
        return DRY
    counts = [n for n in (1, 2, 4, 8, 16) if n <= (os.cpu_count() or 1)]
    stop, results = time.monotonic() + seconds, {}
    for i, threads in enumerate(counts):
        share = (stop - time.monotonic()) / (len(counts) - i)
        words = ["--threads", str(threads), "--rounds", "2", "--seconds", "0.03"]
        result = bench(suite(PROCESSOR), [*words, "--against", "xla"], share)
        if "unmeasured" in result and share > 10:
            # Without XLA there are our own times still.
            why = result["unmeasured"]
            result = bench(suite(PROCESSOR), words, share / 2)
            result.setdefault("peer", why)
        results[str(threads)] = result
    return results


checks = [c for key in ("correctness", "archives") if isinstance(found[key], list) for c in found[key]] + [c for key in ("libraries", "products") for c in found[key].get("checks", [])]
wrong = [c["name"] for c in checks if not c["ok"]]
if NONE:
    print(f"nothing ran on a GPU: {NONE['unmeasured']}\n`./gpu.sh --dry-run` tries everything that needs none; {options.out} after {found['seconds']} s")
    sys.exit(3)
print(f"{len(checks) - len(wrong)} of {len(checks)} checks passed; {options.out} after {found['seconds']} s")
for name in wrong:
    print(f"  not passed: {name}")
for what, holds in found["products"].get("confirmed", {}).items():
    if holds:
        print(f"this GPU gives right results by {what}: `{what}_confirmed` of sm_90a may be `true` in crates/surject-gpu/src/lib.rs")
sys.exit(1 if wrong or not checks else 0)
