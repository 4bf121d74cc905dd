"""What the model of a GPU says of every program of the suite: writes `modelled.md`.

    cargo xtask bench          # once: writes the suite into target/suite
    python papers/gpu/modelled.py [MACHINE]

No figure of it was measured. A kernel's time is what `surject opt --emit schedule` prints beside its schedule; what a program
needs at least is the larger of its traffic and its operations at the peaks of the model, every kernel by itself.
"""
import math
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNEL = re.compile(r"^// ([\d.]+) us, of which traffic needs ([\d.]+) and operations ([\d.]+)", re.M)


def modelled(program, machine):
    """The kernels of a program, their time and the least they need in microseconds; or why there is none."""
    command = [ROOT / "target/debug/surject", "opt", program, "--emit", "schedule", "--machine", machine]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        return run.stderr.strip().splitlines()[0]
    kernels = [tuple(map(float, found)) for found in KERNEL.findall(run.stdout)]
    time = sum(kernel[0] for kernel in kernels)
    return len(kernels), time, sum(max(kernel[1:]) for kernel in kernels)


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
    launch = 2.0
    share = lambda row: row[3] / row[2]
    own = lambda row: row[3] / max(row[2] - launch * row[1], row[3])
    mean = lambda shares: math.exp(sum(map(math.log, shares)) / len(shares))
    lines = [
        f"# What the model of `{machine}` says of the suite",
        "",
        "Written by `papers/gpu/modelled.py`. **Nothing here was measured**: no GPU was at hand. Times in microseconds by the",
        "model that chooses schedules; *needs* is the larger of the traffic at the peak of the memory and the operations at the",
        f"peak of the units that are used. A launch counts {launch:.0f} us; the last column leaves launches out. Kernels of library",
        "operations (sorts, scatters, …) have no model and are not counted.",
        "",
        f"Geometric mean of {len(rows)} programs: {mean([share(r) for r in rows]):.2f} of what is needed,"
        f" {mean([own(r) for r in rows]):.2f} without launches.",
        "",
        "| program | kernels | modelled | needs | share | without launches |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        name, kernels, time, least = row
        lines.append(f"| `{name}` | {kernels} | {time:.1f} | {least:.2f} | {share(row):.2f} | {own(row):.2f} |")
    for name, why in refused:
        lines.append(f"| `{name}` | | | | | {why} |")
    (ROOT / "papers/gpu/modelled.md").write_text("\n".join(lines) + "\n")


main()
