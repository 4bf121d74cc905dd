#!/usr/bin/env python3
"""Makes the example programs of this folder with JAX: program.mlir, in*.npy and the outputs XLA computes.

Run it as `cargo xtask programs`. Each program is a function of arrays; its name is its folder.
"""
import os
import shutil

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_default_matmul_precision", "highest")
HERE = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(2026)
PROGRAMS = {}


def program(*shapes):
    """Registers a function with its example arguments: a shape (normal f32) or an array."""
    def register(function):
        PROGRAMS[function.__name__] = (function, [
            rng.standard_normal(s).astype(np.float32) if isinstance(s, tuple) else s for s in shapes])
        return function
    return register


def norm(x, scale, shift):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(variance + 1e-5) * scale + shift


def attend(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.float32(np.sqrt(q.shape[-1]))
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1), v)


@program((9, 14), (14, 20), (20,), (20, 6), (6,))
def mlp_forward(x, w1, b1, w2, b2):
    return jnp.tanh(x @ w1 + b1) @ w2 + b2


@program((9, 14), (9, 6), (14, 20), (20,), (20, 6), (6,))
def mlp_train_step(x, y, w1, b1, w2, b2):
    loss = lambda w: jnp.mean((mlp_forward(x, *w) - y) ** 2)
    value, gradient = jax.value_and_grad(loss)((w1, b1, w2, b2))
    return (value, *[w - 0.1 * g for w, g in zip((w1, b1, w2, b2), gradient)])


@program((7, 19))
def softmax(x):
    return jax.nn.softmax(x, axis=-1)


@program((5, 24), (24,), (24,))
def layernorm(x, scale, shift):
    return norm(x, scale, shift)


@program((2, 7, 3, 8), (2, 7, 3, 8), (2, 7, 3, 8))
def attention(q, k, v):
    return attend(q, k, v)


@program((2, 10, 24), (24,), (24,), (24, 72), (24, 24), (24,), (24,), (24, 96), (96,), (96, 24), (24,))
def transformer_block(x, s1, t1, wqkv, wo, s2, t2, w1, b1, w2, b2):
    heads = lambda a: a.reshape(*a.shape[:2], 3, 8)
    q, k, v = jnp.split(norm(x, s1, t1) @ (wqkv * np.float32(0.2)), 3, axis=-1)
    x = x + attend(heads(q), heads(k), heads(v)).reshape(x.shape) @ (wo * np.float32(0.2))
    return x + jax.nn.gelu(norm(x, s2, t2) @ (w1 * np.float32(0.2)) + b1) @ (w2 * np.float32(0.2)) + b2


@program((2, 9, 11, 4), (3, 3, 2, 6))
def convolution_grouped(x, kernel):
    conv = lambda x, k: jax.lax.conv_general_dilated(
        x, k, (2, 1), ((1, 2), (0, 1)), rhs_dilation=(1, 2), dimension_numbers=("NHWC", "HWIO", "NHWC"),
        feature_group_count=2)
    loss = lambda x, k: jnp.sum(jnp.sin(conv(x, k)))
    return (conv(x, kernel), *jax.grad(loss, (0, 1))(x, kernel))


@program((2, 8, 8, 3))
def pooling(x):
    window = lambda x, init, op: jax.lax.reduce_window(x, init, op, (1, 3, 2, 1), (1, 2, 2, 1), "SAME")
    largest = lambda x: window(x, -jnp.inf, jax.lax.max)
    return largest(x), window(x, 0.0, jax.lax.add), jax.grad(lambda x: jnp.sum(largest(x) ** 2))(x)


@program((6, 3, 5), (5, 8), (8, 8), (3, 8))
def recurrent_scan(xs, wx, wh, h):
    def step(h, x):
        h = jnp.tanh(x @ wx + h @ wh * np.float32(0.3))
        return h, h
    return jax.lax.scan(step, h, xs)


@program(rng.permutation(60).reshape(5, 12).astype(np.float32))
def sorting(x):
    return jnp.sort(x, axis=0), jnp.argsort(-x, axis=1), *jax.lax.top_k(x, 4), jnp.argmax(x, axis=1)


@program((11, 6), np.array([3, 0, 10, 3, -1, 7], np.int32), (6, 6))
def lookup(table, rows, updates):
    return table[rows], table.at[rows].add(updates), jax.grad(lambda t: jnp.sum(t[rows] ** 3))(table)


@program((6, 10), np.int32(4))
def slices(x, start):
    padded = jax.lax.pad(x, np.float32(2), ((1, -1, 1), (0, 2, 0)))
    return (jnp.concatenate([x[1:5:2, ::-1], x[:2] * 2], axis=0), padded, jnp.cumsum(x, axis=1),
            jax.lax.dynamic_slice(x, (start, start), (3, 4)), x.reshape(4, 15).T.reshape(5, 12))


@program(rng.standard_normal((16, 24)).astype(ml_dtypes.bfloat16), rng.standard_normal((24, 8)).astype(ml_dtypes.bfloat16))
def bf16_matmul(a, b):
    return jnp.tanh(a @ b), (a @ b).astype(np.float32).sum(0)


@program(rng.integers(-50, 50, (4, 6)).astype(np.int32), rng.integers(-3, 4, (4, 6)).astype(np.int32))
def integers(a, b):
    u = a.astype(np.uint8)
    return (a // jnp.where(b == 0, 1, b), a % jnp.where(b == 0, 1, b), a << jnp.abs(b), u * u, a ^ b,
            jnp.any(a > b, axis=0), jnp.all(a > b, axis=1), jnp.prod(b, axis=0), a.max(1))


@program((40, 5), rng.integers(-2, 9, 40).astype(np.int32), (6, 5))
def segments(x, ids, centres):
    nearest = jnp.argmin(((x[:, None] - centres) ** 2).sum(-1), axis=1)
    return (jax.ops.segment_sum(x, ids, num_segments=7), jnp.bincount(nearest, length=6),
            jax.ops.segment_max(x, nearest, num_segments=6))


def save(folder, stem, array):
    array = np.asarray(array)
    if array.dtype == ml_dtypes.bfloat16:
        np.save(f"{folder}/{stem}.bf16.npy", array.view(np.uint16))
    else:
        np.save(f"{folder}/{stem}.npy", array)


for name, (function, arguments) in PROGRAMS.items():
    folder = f"{HERE}/{name}"
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    lowered = jax.jit(function, keep_unused=True).lower(*arguments)
    with open(f"{folder}/program.mlir", "w") as file:
        file.write(lowered.as_text())
    for i, a in enumerate(arguments):
        save(folder, f"in{i}", a)
    for i, o in enumerate(jax.tree.leaves(lowered.compile()(*arguments))):
        # Results of 16-bit programs are kept in f32, as in the shared cases, so that numpy can read them.
        save(folder, f"out{i}", np.asarray(o, np.float32) if o.dtype == ml_dtypes.bfloat16 else o)
    print(f"{name}: {len(arguments)} inputs")
