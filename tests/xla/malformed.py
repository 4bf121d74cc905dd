#!/usr/bin/env python3
"""Gives `surject verify` broken texts and artifacts, each in a process of its own.

    malformed.py [--texts N] [--artifacts N] [--seed S] [--keep FOLDER]

Texts of the conformance programs and of JAX lose, repeat or exchange a word; artifacts (written by `surject convert`) lose, repeat or
change bytes. Of those that are refused the status must be 2, with a coded message that points at a place, within a second of
processor time and 1 GiB of memory. SURJECT_BIN names the command. Exit status 1 where something is otherwise.
"""
import argparse
import glob
import os
import random
import re
import resource
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SURJECT = os.environ.get("SURJECT_BIN", f"{ROOT}/target/debug/surject")
WORD = re.compile(r"%[\w#]+|@\w+|[\w.]+|[^\s\w]")


def pieces(limit):
    """Small programs, one a file."""
    found = []
    for path in sorted(glob.glob(f"{ROOT}/crates/surject-stablehlo/tests/**/*.mlir", recursive=True)):
        if "/fail/" in path or "/constraints/" in path:
            continue
        with open(path) as file:
            found += [part for part in re.split(r"// -----.*\n", file.read()) if 200 < len(part) < limit]
    return found


def broken_text(text, rng):
    words = [m.span() for m in WORD.finditer(text)]
    (a, b), (c, d) = (words[rng.randrange(len(words))] for _ in range(2))
    return rng.choice([text[:a] + text[b:], text[:b] + " " + text[a:], text[:a] + text[c:d] + text[b:], text[:a]])


def broken_bytes(data, rng):
    data = bytearray(data)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(4, len(data))
        match rng.randrange(4):
            case 0:
                data[at] = rng.randrange(256)
            case 1:
                del data[at : at + rng.randrange(1, 9)]
            case 2:
                data[at:at] = data[at : at + rng.randrange(1, 17)]
            case 3:
                data[at : at + 8] = b"\xff" * rng.randrange(1, 9)
        if len(data) < 16:
            break
    return bytes(data)


def verify(path):
    """Status, what was said, seconds of the processor and mebibytes."""
    process = subprocess.Popen([SURJECT, "verify", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = process.stdout.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, said, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=int, default=100)
    parser.add_argument("--artifacts", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", help="keep the broken files in this folder")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
    faults, most, longest = [], 0.0, 0.0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        os.makedirs(folder, exist_ok=True)
        programs = pieces(4000)
        artifacts = []
        for kind, count in [("text", options.texts), ("artifact", options.artifacts)]:
            refused = tried = 0
            while refused < count and tried < 20 * count:
                tried += 1
                path = f"{folder}/{kind}{tried}.mlir" + ("bc" if kind == "artifact" else "")
                text = rng.choice(programs)
                if kind == "text":
                    data = broken_text(text, rng).encode()
                else:
                    if len(artifacts) < 40:
                        source, made = f"{folder}/whole.mlir", f"{folder}/whole.mlirbc"
                        with open(source, "w") as file:
                            file.write(text)
                        if subprocess.run([SURJECT, "convert", source, made], capture_output=True).returncode != 0:
                            continue
                        with open(made, "rb") as file:
                            artifacts.append(file.read())
                    data = broken_bytes(rng.choice(artifacts), rng)
                with open(path, "wb") as file:
                    file.write(data)
                status, said, seconds, memory = verify(path)
                most, longest = max(most, memory), max(longest, seconds)
                if status == 0 and seconds < 1 and memory < 1024:
                    os.remove(path)
                    continue
                refused += 1
                pointed = re.search(r"error\[SJ\d+\]", said) and (kind == "artifact" or re.search(r":\d+:\d+: ", said))
                if status != 2 or not pointed or seconds > 1 or memory > 1024:
                    faults.append(f"{path}: status {status}, {seconds:.2f} s, {memory:.0f} MiB: {said.strip()[:300]}")
            print(f"{refused} {kind}s refused of {tried}")
            if refused < count:
                faults.append(f"{refused} {kind}s refused where {count} are wanted")
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults; at most {longest:.2f} s and {most:.0f} MiB")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
