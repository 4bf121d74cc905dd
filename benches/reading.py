#!/usr/bin/env python3
"""How fast a GPT-2 training step is read and printed, beside MLIR itself.

    reading.py [--rounds R] [--seconds T] [--keep FOLDER] [--json FILE]

A training step of GPT-2 (124 M parameters, 12 layers, AdamW) is exported by JAX, as text and as a portable artifact. Then both
sides take turns, T seconds each, R rounds: MLIR through jaxlib (`Module.parse`, which verifies; `str(module)`; the artifact read
and written), and `cargo run --release -p surject-stablehlo --example speed` (SURJECT_SPEED names the command; text is read and
verified). The minimum of all rounds counts. A ratio is MLIR's time over ours: above 1 ours is faster. Memory is the peak of reading
the text, over the length of the text.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SPEED = os.environ.get("SURJECT_SPEED", f"{ROOT}/target/release/examples/speed")
LAYERS, HEADS, WIDTH, WORDS, LENGTH, BATCH = 12, 12, 768, 50257, 1024, 8


def parameters():
    """The shapes of GPT-2's parameters."""
    f32 = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.float32)
    norm = lambda: {"scale": f32(WIDTH), "shift": f32(WIDTH)}
    dense = lambda n, m: {"w": f32(n, m), "b": f32(m)}
    block = lambda: {
        "norm1": norm(), "qkv": dense(WIDTH, 3 * WIDTH), "out": dense(WIDTH, WIDTH),
        "norm2": norm(), "up": dense(WIDTH, 4 * WIDTH), "down": dense(4 * WIDTH, WIDTH)}
    return {"words": f32(WORDS, WIDTH), "places": f32(LENGTH, WIDTH), "blocks": [block() for _ in range(LAYERS)], "norm": norm()}


def normed(p, x):
    mean, square = x.mean(-1, keepdims=True), jnp.square(x).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(square - mean**2 + 1e-5) * p["scale"] + p["shift"]


def affine(p, x):
    return x @ p["w"] + p["b"]


def attention(p, x):
    heads = lambda y: y.reshape(BATCH, LENGTH, HEADS, WIDTH // HEADS).transpose(0, 2, 1, 3)
    q, k, v = map(heads, jnp.split(affine(p["qkv"], x), 3, axis=-1))
    scores = jnp.einsum("bhid,bhjd->bhij", q, k) / jnp.sqrt(WIDTH / HEADS)
    scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e9)
    mixed = jnp.einsum("bhij,bhjd->bhid", jax.nn.softmax(scores), v)
    return affine(p["out"], mixed.transpose(0, 2, 1, 3).reshape(BATCH, LENGTH, WIDTH))


def loss(p, words):
    x = p["words"][words] + p["places"]
    for block in p["blocks"]:
        x = x + attention(block, normed(block["norm1"], x))
        x = x + affine(block["down"], jax.nn.gelu(affine(block["up"], normed(block["norm2"], x))))
    scores = normed(p["norm"], x)[:, :-1] @ p["words"].T
    chances = jax.nn.log_softmax(scores)
    return -jnp.take_along_axis(chances, words[:, 1:, None], -1).mean()


def step(p, first, second, count, words):
    """One step of AdamW."""
    value, gradient = jax.value_and_grad(loss)(p, words)
    count = count + 1
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
    second = jax.tree.map(lambda v, g: 0.95 * v + 0.05 * g * g, second, gradient)
    rate = lambda m, v, p: (m / (1 - 0.9**count)) / (jnp.sqrt(v / (1 - 0.95**count)) + 1e-8) + 0.1 * p
    p = jax.tree.map(lambda p, m, v: p - 3e-4 * rate(m, v, p), p, first, second)
    return p, first, second, count, value


def exported(folder):
    """The paths of the text and of the artifact."""
    shapes = parameters()
    arguments = (shapes, shapes, shapes, jax.ShapeDtypeStruct((), jnp.float32), jax.ShapeDtypeStruct((BATCH, LENGTH), jnp.int32))
    made = jax.export.export(jax.jit(step))(*arguments)
    os.makedirs(folder, exist_ok=True)
    paths = f"{folder}/gpt2_step.mlir", f"{folder}/gpt2_step.mlirbc"
    with open(paths[0], "w") as file:
        file.write(made.mlir_module())
    with mlir.make_ir_context() as context, open(paths[1], "wb") as file:
        module = ir.Module.parse(made.mlir_module(), context=context)
        file.write(stablehlo.serialize_portable_artifact_str(str(module), stablehlo.get_current_version()))
    return paths


def timed(work, seconds):
    """The least time of a run of `work`, which gives what is thrown away outside of the time."""
    least, end = float("inf"), time.perf_counter() + seconds
    while True:
        start = time.perf_counter()
        made = work()
        least = min(least, time.perf_counter() - start)
        del made
        if time.perf_counter() > end:
            return least


def beside(paths, rounds, seconds):
    """Seconds of each task, MLIR's and ours, and the memory that reading takes as a multiple of the text."""
    with open(paths[0]) as text, open(paths[1], "rb") as artifact:
        text, artifact = text.read(), artifact.read()
    context = mlir.make_ir_context()
    module = ir.Module.parse(text, context=context)
    version = stablehlo.get_current_version()
    theirs = {
        "read text": lambda: ir.Module.parse(text, context=context),
        "print text": lambda: str(module),
        "read artifact": lambda: stablehlo.deserialize_portable_artifact(context, artifact),
        "write artifact": lambda: stablehlo.serialize_portable_artifact(module, version),
    }
    least = {name: [float("inf")] * 2 for name in theirs}
    memory = 0.0
    for _ in range(rounds):
        for name, work in theirs.items():
            with context:
                least[name][0] = min(least[name][0], timed(work, seconds))
            command = [SPEED, name, *paths, str(seconds)]
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
            least[name][1] = min(least[name][1], float(said[0]))
            memory = max(memory, float(said[1])) if name == "read text" else memory
    return least, memory, len(text), len(artifact)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--keep", help="keep text and artifact in this folder")
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        least, memory, text, artifact = beside(exported(options.keep or temporary), options.rounds, options.seconds)
    print(f"text {text / 1e6:.2f} MB, artifact {artifact / 1e6:.2f} MB")
    for name, (theirs, ours) in least.items():
        print(f"{name:15} MLIR {theirs * 1e3:8.2f} ms   ours {ours * 1e3:8.2f} ms   ratio {theirs / ours:6.2f}")
    print(f"memory of reading the text: {memory:.2f} times the text")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"milliseconds": {n: [t * 1e3, o * 1e3] for n, (t, o) in least.items()}, "memory": memory, "text": text, "artifact": artifact}, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
