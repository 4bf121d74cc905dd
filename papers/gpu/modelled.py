"""What the model of a GPU says of every program of the suite, beside what its launches took: writes `modelled.md`.

    cargo xtask bench          # once: writes the suite into target/suite
    python papers/gpu/modelled.py [MACHINE]

A kernel's time is what `surject opt --emit schedule` prints beside its schedule; what a program needs at least is the larger
of its traffic and its operations at the peaks of the model, every kernel by itself. Measured is the sum of the launches in
`run.json`, each by itself, where the model has all of them.
"""
import json
import math
import pathlib
import re
import subprocess
import sys

# Microseconds of the smallest kernel that was measured, and of a launch of a recording behind another (`run.json`).
LAUNCH, FURTHER = 0.9, 0.51
ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNEL = re.compile(r"^kernel (\S+)\n// ([\d.]+) us, of which traffic needs ([\d.]+) and operations ([\d.]+)", re.M)
DEPTH = re.compile(r"^// reductions that follow each other: (\d+)", re.M)
CHAIN = re.compile(r"^// chain (.*): needs ([\d.]+) us, takes ([\d.]+) us (apart|as one kernel)", re.M)


def modelled(program, machine):
    """The kernels of a program, their time and the least they need in microseconds; or why there is none."""
    command = [ROOT / "target/debug/surject", "opt", program, "--emit", "schedule", "--machine", machine]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        return run.stderr.strip().splitlines()[0]
    kernels = {name: tuple(map(float, rest)) for name, *rest in KERNEL.findall(run.stdout)}
    count, time = len(kernels), sum(kernel[0] for kernel in kernels.values())
    least = sum(max(kernel[1:]) for kernel in kernels.values())
    for names, needs, takes, how in CHAIN.findall(run.stdout):
        replaced = [kernels[name] for name in names.split() if name in kernels]
        time += float(takes) - sum(kernel[0] for kernel in replaced)
        if how != "apart":
            least += float(needs) - sum(max(kernel[1:]) for kernel in replaced)
            count += 1 - len(replaced)
    depth = int(DEPTH.search(run.stdout).group(1))
    return count, time, least, LAUNCH + (depth - 1) * FURTHER


def measured():
    """How many launches a program has, and the microseconds of all of them."""
    run = json.loads((ROOT / "papers/gpu/run.json").read_text())
    programs = run.get("alone", {}).get("programs", [])
    return {p["name"]: (len(p["launches"]), sum(us for _, us in p["launches"])) for p in programs if "launches" in p}


def main():
    machine = sys.argv[1] if len(sys.argv) > 1 else "sm_90a"
    rows, refused = [], []
    for folder in sorted((ROOT / "target/suite").iterdir()):
        if folder.name.endswith("_odd") or not (folder / "program.mlir").exists():
            continue
        found = modelled(folder / "program.mlir", machine)
        if isinstance(found, str):
            refused.append((folder.name, found))
        elif found[0] and found[2]:
            rows.append((folder.name, *found))
    rows.sort(key=lambda row: row[3] / row[2])
    took = measured()
    share = lambda row: row[3] / row[2]
    mean = lambda shares: math.exp(sum(map(math.log, shares)) / len(shares))
    both = [(took[row[0]][1], row[2]) for row in rows if row[0] in took and took[row[0]][0] == row[1]]
    ratios = [took_us / us for took_us, us in both]
    lines = [
        f"# What the model of `{machine}` says of the suite",
        "",
        "Written by `papers/gpu/modelled.py`. Times in microseconds: *modelled* by the model that chooses schedules, *measured*",
        "the launches of `run.json`, each by itself (on memory that the caches still hold, where it fits); *needs* is the larger",
        "of the traffic at the peak of the memory and the operations at the peak of the units that are used. Kernels of library",
        "operations (sorts, scatters, …) have no model: programs with one have no measured time here.",
        "",
        "Nobody has measured what came after `run.json`: attention as one kernel, by tiles of scores or not",
        "(`surject-gpu/src/program/chains.rs`), tiles of products that a mask leaves out, matrix units for i8 and f64, sorts and",
        "scans of functions in shared memory, pixels of several loops as the rows of a tile, and tiles of f32 with 256 columns.",
        "",
        "Chains (attention) are counted as plans have them: one kernel where the model says that it is faster, which needs no",
        "traffic of scores then, else three that leave out what a mask of literals throws away. The model takes 0.6 of the",
        "products of a mask to be left, and the needs of one kernel are of these; kernels apart are said to need all products,",
        "so that their share is too high. Before, the table had the kernels of assignments by themselves.",
        "",
        "Since the table before: attention by tiles of scores (`attention` 16.0 to 15.2 us, `attention_causal_1024` 90.8 to 55.5;",
        "their shares fell, as scores are no traffic that is needed any more, and what a mask leaves out is no product), pixels of",
        "several loops as rows (`conv3x3` 70.1 to 60.8, `conv3x3_weight_gradient` 135.5 to 87.5), tiles with 256 columns",
        "(`matmul_2048` 409.9 to 376.8), matrix units for i8 (`matmul_i8` 57.0 to 7.1). The model is furthest from what was measured",
        "where a thread reads neighbours on its own (`max_inner_9`: it counts a sector for each, which caches hold), and for the",
        "smallest kernels, whose few loads it takes to follow each other (`mlp_step_1`).",
        "",
        f"Geometric mean of {len(rows)} programs: {mean([share(r) for r in rows]):.2f} of what is needed.",
    ]
    if ratios:
        near = sum(1 / 1.5 < ratio < 1.5 for ratio in ratios)
        lines += [f"Measured over modelled, {len(ratios)} programs: geometric mean {mean(ratios):.2f}; {near} within a factor of 1.5."]
    lines += ["", "| program | kernels | modelled | measured | needs | share |", "|---|---:|---:|---:|---:|---:|"]
    for row in rows:
        name, kernels, time, least = row
        own = f"{took[name][1]:.1f}" if name in took and took[name][0] == kernels else ""
        lines.append(f"| `{name}` | {kernels} | {time:.1f} | {own} | {least:.2f} | {share(row):.2f} |")
    for name, why in refused:
        lines.append(f"| `{name}` | | | | | {why} |")
    (ROOT / "papers/gpu/modelled.md").write_text("\n".join(lines) + "\n")


main()
