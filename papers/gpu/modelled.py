"""What the model of a GPU says of every program of the suite, beside what its launches took: writes `modelled.md`.

    cargo xtask bench          # once: writes the suite into target/suite
    python papers/gpu/modelled.py [MACHINE]

A kernel's time is what `surject opt --emit schedule` prints beside its schedule, and the kernels of a program are those that
its plan launches. What a program needs at least is the larger of its traffic and its operations at the peaks of the model,
every kernel by itself, and the launches of reductions that follow each other. Measured is the sum of the launches in
`run.json`, each by itself, where there are as many.
"""
import json
import math
import os
import pathlib
import re
import subprocess
import sys

# Microseconds of the smallest kernel that was measured, and of a launch of a recording behind another (`run.json`).
LAUNCH, FURTHER = 0.9, 0.51
# What a launch behind another takes less in a recording than by itself: the median of 33 programs of `run.json`, of what
# their launches take one by one and they take whole, less what programs of one launch take beside it.
OVERLAP = 0.39
ROOT = pathlib.Path(__file__).resolve().parents[2]
SURJECT = os.environ.get("SURJECT", ROOT / "target/debug/surject")
KERNEL = re.compile(r"^kernel (\S+)\n// ([\d.]+) us, of which traffic needs ([\d.]+) and operations ([\d.]+)", re.M)
DEPTH = re.compile(r"^// reductions that follow each other: (\d+)", re.M)
STEP = re.compile(r"^// launch (\S+?)(?:_again\d+)?$", re.M)
CHAIN = re.compile(r"^// chain (.*): needs ([\d.]+) us, takes ([\d.]+) us (apart|as one kernel)", re.M)


class Program:
    """What the model says of a program; times in microseconds."""

    def __init__(self, name, text):
        kernels = {name: tuple(map(float, rest)) for name, *rest in KERNEL.findall(text)}
        chains = CHAIN.findall(text)
        whole = {names.split()[-1].removesuffix("_0"): rest for names, *rest in chains if rest[2] != "apart"}
        self.name, launches = name, STEP.findall(text)
        self.kernels, self.alone, self.needs, self.unknown = len(launches), 0.0, 0.0, 0
        for launch in launches:
            chain = whole.get(launch.removesuffix("_chain")) if launch.endswith("_chain") else None
            if chain:
                self.needs += float(chain[0])
                self.alone += float(chain[1])
            elif launch in kernels:
                self.alone += kernels[launch][0]
                self.needs += max(kernels[launch][1:])
            elif not launch.endswith("_finite"):
                # Kernels of library operations have no model. What a chain looks at first is a part of its time.
                self.unknown += 1
        for names, _, takes, how in chains:
            if how == "apart":
                self.alone += float(takes) - sum(kernels[name][0] for name in names.split() if name in kernels)
        self.time = self.alone - OVERLAP * max(self.kernels - self.unknown - 1, 0)
        self.launches = LAUNCH + (int(DEPTH.search(text).group(1)) - 1) * FURTHER
        self.share = (self.needs + self.launches) / self.time if self.time > 0 else 0.0


def modelled(folder, machine):
    """A program; or why there is none."""
    command = [SURJECT, "opt", folder / "program.mlir", "--emit", "schedule", "--machine", machine]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        return run.stderr.strip().splitlines()[0]
    program = Program(folder.name, run.stdout)
    if 2 * program.unknown >= program.kernels:
        return f"{program.unknown} of {program.kernels} kernels are those of library operations, which have no model"
    return program


def measured():
    """How many launches a program has, and the microseconds of all of them."""
    run = json.loads((ROOT / "papers/gpu/run.json").read_text())
    programs = run.get("alone", {}).get("programs", [])
    return {p["name"]: (len(p["launches"]), sum(us for _, us in p["launches"])) for p in programs if "launches" in p}


def mean(numbers):
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def main():
    machine = sys.argv[1] if len(sys.argv) > 1 else "sm_90a"
    programs, refused = [], []
    for folder in sorted((ROOT / "target/suite").iterdir()):
        if folder.name.endswith("_odd") or not (folder / "program.mlir").exists():
            continue
        found = modelled(folder, machine)
        if isinstance(found, str):
            refused.append((folder.name, found))
        else:
            programs.append(found)
    programs.sort(key=lambda p: p.share)
    took = measured()
    same = [p for p in programs if p.name in took and took[p.name][0] == p.kernels]
    ratios = [took[p.name][1] / p.alone for p in same]
    lines = [f"# What the model of `{machine}` says of the suite", "", (ROOT / "papers/gpu/modelled.txt").read_text().strip(), ""]
    lines += [f"Geometric mean of {len(programs)} programs: {mean([p.share for p in programs]):.2f} of what is needed;"]
    without = [max(p.needs, 0.01) / p.alone for p in programs]
    lines += [f"without any launch in what is needed, and launches by themselves, {mean(without):.2f} (so the table before)."]
    if ratios:
        near = sum(1 / 1.5 < ratio < 1.5 for ratio in ratios)
        lines += [f"Measured over modelled alone, {len(ratios)} programs of as many launches: geometric mean {mean(ratios):.2f}; {near} within a"]
        lines += ["factor of 1.5."]
    lines += ["", "| program | kernels | alone | measured | recorded | needs | launches | share | without |"]
    lines += ["|---|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for p in programs:
        own = f"{took[p.name][1]:.1f}" if p in same else ""
        lines.append(
            f"| `{p.name}` | {p.kernels} | {p.alone:.1f} | {own} | {p.time:.1f} | {p.needs:.2f} | {p.launches:.2f} "
            f"| {p.share:.2f} | {p.needs / p.alone:.2f} |"
        )
    lines += [""] + [f"* `{name}`: {why}" for name, why in refused]
    (ROOT / "papers/gpu/modelled.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
