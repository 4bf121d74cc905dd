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


TEXT = """
Written by `papers/gpu/modelled.py`. Times in microseconds. *Alone*: the kernels that the plan launches (those of a loop once), by
the model that chooses schedules, each launched by itself. *Measured*: the launches of `run.json`, each by itself, on memory
that the caches still hold, where it fits; only where there are as many. *Recorded*: the same as *alone*, but that a launch of a
recording begins while the one before it ends: 0.39 us less for each behind the first, the median of 33 measured programs.

*Needs* is the larger of the traffic at the peak of the memory and the operations at the peak of the units that have their
types, every kernel by itself; a product and its sum are one operation, and functions are one too, whatever their formulas take.
*Launches* is what no cut into kernels saves: 0.9 us for the first launch (the smallest kernel that was measured) and 0.51 us (a
replayed launch, measured) for each further reduction that needs results of reductions before it, of other blocks. What is no
reduction, and what becomes one kernel (attention), adds nothing there. *Share* is needs and launches over recorded; *without*
is needs over alone, as the table before had it: programs of one small kernel cannot reach much by that.

Chains that a mask makes shorter (`attention_causal_1024`) need what one kernel would need, however they are cut: the model
takes 0.6 of the products of a mask to be left. By the model kernels of grids are faster than one for them now (50.4 us for 54.2), at the
price of tensors of scores.

Programs of which half of the kernels or more are those of library operations (sorts, scatters, gathers, reductions of pairs)
have no share: those kernels have no model. Of the others such kernels count as nothing.

What the model counts since the table before: the requests of warps, the sectors and lines of each, and the sectors that a
block touches in all, from the index maps; a kernel takes the longest of memory, caches, requests, instructions (those of
functions too) and what a thread waits for. Over the 299 kernels of `run.json` whose names are still the same, before any
schedule changed, measured over modelled was 1.07 in geometric mean and within a factor of 1.5 for 252; by the model before 0.85
and 160. `max_inner_9` was 36.3 us for 1.7 measured, and is 1.7; `mlp_step_1` 104.5 for 15.9, and is 15.4.

Nobody has measured what came after `run.json`: attention as one kernel, tiles that a mask leaves out, matrix units for i8 and
f64, pixels of several loops as rows, warps with rows and columns of a tile (`contract … warp M N`), bytes by `ldmatrix`, calls of
libraries in recordings; and, since the first table, grids of threads with copies in the background (`contract … grid`:
their time is that of the 150 tiles that were measured, with fewer reads of shared memory, and between turns that of copies in
the background, which was measured for matrix units), rows of one thread (`lines`), points with neighbours of their own, sums of
what is no product (`pairwise_distances`), and parts of terms as the model cuts them.

What is below its aim, and why:

* Programs of many small kernels (`lstm`, `lenet_step`, `block_step_64`, `mlp_step_*`, `block_forward_64`, `decoder12_step`):
  kernels take 1.2 to 2.8 us of which 1 is the launch and 0.2 the first load; there are two to four times as many as
  reductions that follow each other, and those that do not depend on each other run one after the other. One launch for all
  that do not depend on each other could save what is beside the longest way through a plan, where each kernel leaves room for the
  others: `block_step_64` 58.0 to 38.5 us recorded (35 kernels on 24 levels), `lenet_step` 39.5 to 25.0 (25 on 18),
  `mlp_step_1` 11.9 to 8.4, `mlp_step_32` 13.7 to 9.2, `block_forward_64` nothing: shares of 0.35 to 0.48, and 0.015 of the mean of all.
  Streams of a recording can save the same without other kernels, but for the time of an event, which is guessed (2 us) and which
  the bundle measures; so that comes first. One block for a whole chain saves launches only where one of 132
  multiprocessors is enough: a step of `lstm` has 2.1 million products, 8.3 us for one, and takes 2.5 now; the weights of
  `mlp_step_1` alone (1.6 MB) take 40 us at 20 bytes a cycle. What is left are single sums behind rows, one launch a program.
* Products of 16 bits and 8 by `mma.sync` (`matmul_bf16`, `matmul_i8`; aim 0.60 of the peak): by size 1024, 2048, 4096 and 8192,
  on `sm_90a` bf16 0.28, 0.57, 0.59, 0.59 and i8 0.27, 0.55, 0.58, 0.59; on `sm_80` 0.32, 0.47, 0.62, 0.65 and 0.35, 0.45, 0.61, 0.65.
  Blocks of 256 by 128 by eight warps of 64 by 64: a term takes 26.6 cycles of the units of an H200 and 16 of shared memory, which
  the model adds, as it does for the 150 tiles that were measured: 0.61 of the peak, less what the last round of blocks leaves
  idle. Larger parts of a warp have more sums than registers (64 by 128 are 256 of a thread). In the instructions that `ptxas`
  makes 21 of 32 `ldmatrix` of a turn stand among its products, as in kernels with double-buffered registers; if only the others were
  waited for, the caches would be the limit, 0.69: 384 elements of 2 bytes at 20 bytes a cycle are 38.4 cycles. At 1024 the caches
  are: blocks of 128 by 64, as many as keep all multiprocessors busy, need 384 bytes for 6.7 cycles of products, which is 0.35 at
  most, and the launch and the ends of a block (1.8 us) are more than half of what the products need; larger blocks keep half of the
  multiprocessors busy, and parts of the terms are summed by way of memory (12.5 us). Two blocks that share what they bring
  (clusters, which need boxes) would need 256 bytes, and reach 0.38.
* Products of `f32` at 512 and below, and `einsum_*`: the ends of a block (0.76 us) and the launch; at 1024 128 blocks are one for
  each of 132 multiprocessors, whose four warps read shared memory while nothing multiplies.
* Convolutions with borders (`conv3x3_weight_gradient`, `conv7x7_stride2`, `conv3x3_grouped`): borders come by way of registers, not in the
  background, with 350 cycles from a turn to the next.
* `attention_causal_1024`: scores go through memory, and one kernel has tiles without grids.
* `lgamma`, `digamma`, `threefry_normal`: the formulas are 100 to 200 instructions, of which needs knows one.
* `logsumexp_columns`, `cumsum_columns`: 32 blocks have all columns.
"""


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
        for names, needs, takes, how in chains:
            if how == "apart":
                replaced = [kernels[name] for name in names.split() if name in kernels]
                self.alone += float(takes) - sum(kernel[0] for kernel in replaced)
                self.needs += float(needs) - sum(max(kernel[1:]) for kernel in replaced)
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
    lines = [f"# What the model of `{machine}` says of the suite", "", TEXT.strip(), ""]
    lines += [f"Geometric mean of {len(programs)} programs: {mean([p.share for p in programs]):.2f} of what is needed;"]
    without = [max(p.needs, 0.01) / p.alone for p in programs]
    lines += [f"without any launch in what is needed, and launches by themselves, {mean(without):.2f} (so the table before)."]
    if ratios:
        near = sum(1 / 1.5 < ratio < 1.5 for ratio in ratios)
        lines += [f"Measured over modelled alone, {len(ratios)} programs of as many launches, many of which have other schedules now:"]
        lines += [f"geometric mean {mean(ratios):.2f}; {near} within a factor of 1.5."]
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
