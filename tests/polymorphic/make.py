#!/usr/bin/env python3
"""Writes the cases of this folder: functions that `jax.export` exports with symbolic shapes, and what JAX gives for
arguments of several sizes.

    .venv/bin/python tests/polymorphic/make.py [NAME ...]

A case is `NAME.mlir`, the exported module as text, and `NAME.json`: a list of calls, each with its arguments and
results as `{"dtype", "shape", "bytes"}` (little endian, hexadecimal). `vjp/NAME.json` has JAX's products of derivatives with
cotangents of the floating results, for the floating arguments of the first calls that are not refused. JAX is asked without symbolic shapes, so that
sizes of 0, which its exported modules refuse, are among them where the function is defined there; a call that the
module must refuse has `"refused": true`.
"""
import json
import os
import re
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax
from jax._src.interpreters import mlir
from jax._src.lib.mlir import ir

HERE = os.path.dirname(os.path.abspath(__file__))
F = np.float32


def layernorm(x, g, b):
    mean = x.mean(-1, keepdims=True)
    var = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(var + 1e-5) * g + b


def attention(q, k, v):
    s = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1]).astype(F)
    mask = jnp.tril(jnp.ones((q.shape[1], k.shape[1]), bool))
    w = jax.nn.softmax(jnp.where(mask, s, -1e9), axis=-1)
    return jnp.einsum("bhqk,bkhd->bqhd", w, v)


def block(x, w1, w2):
    b, s, d = x.shape
    h = x.reshape(b * s, d) @ w1
    h = jax.nn.gelu(h)
    return x + (h @ w2).reshape(b, s, d)


def conv(x, w):
    return lax.conv_general_dilated(x, w, (2, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def valid_conv(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def scan(x, w):
    def step(h, row):
        h = jnp.tanh(h @ w + row)
        return h, h.sum()

    return lax.scan(step, jnp.zeros(w.shape[0], F), x)


def maxpool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2), (1, 2), "VALID")


def loss(x, w, y):
    z = jax.nn.log_softmax(x @ w)
    return -jnp.take_along_axis(z, y[:, None], axis=1).mean()


def same_conv(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", rhs_dilation=(2, 1), dimension_numbers=("NCHW", "OIHW", "NCHW"))


def spread_conv(x, w):
    return lax.conv_general_dilated(x, w, (1,), [(1, 2)], lhs_dilation=(2,), dimension_numbers=("NWC", "WIO", "NWC"))


def cross_attention(q, k, v):
    s = jnp.einsum("bqd,bkd->bqk", q, k) * 0.5
    return jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(s, axis=-1), v)


def while_rows(x):
    def body(carry):
        i, total = carry
        return i + 1, total * 0.5 + lax.dynamic_index_in_dim(x, i, 0, keepdims=False)

    return lax.while_loop(lambda carry: carry[0] < x.shape[0], body, (0, jnp.zeros(x.shape[1:], F)))[1]


def halves(x):
    n = x.shape[0]
    return lax.dynamic_slice(x, (n // 4, 0), (n // 2, x.shape[1]))


def power(x):
    return lax.while_loop(lambda c: (c[1] ** 2).sum() > 1, lambda c: (c[0] + 1, c[1] * 0.5), (0, x))


def rounds(x):
    return lax.fori_loop(0, x.shape[0], lambda i, s: s + lax.dynamic_index_in_dim(x, i, 0, False) * s, jnp.ones(x.shape[1], F))


def hessian_product(f):
    return lambda x, v: jax.grad(lambda y: (jax.grad(f)(y) * v).sum())(x)


def instance_norm(x):
    mean, var = x.mean((1, 2), keepdims=True), x.var((1, 2), keepdims=True)
    return (x - mean) / jnp.sqrt(var + 1e-5)


def average(x):
    total = lax.reduce_window(x, 0.0, lax.add, (1, 3), (1, 2), "SAME")
    return total / lax.reduce_window(jnp.ones_like(x), 0.0, lax.add, (1, 3), (1, 2), "SAME")


def segments(x, i):
    return jnp.zeros((4, x.shape[1]), F).at[i].add(x)


# name: function, symbolic shapes (with dtype where not f32), constraints, sizes of the symbols call by call.
CASES = {
    "elementwise": (lambda x, y: jnp.tanh(x) * y + 1, ["a, b", "a, b"], (), [(3, 4), (1, 1), (0, 2), (2, 0), (7, 5)]),
    "broadcast": (lambda x, y: x[:, None] * y[None, :], ["a", "b"], (), [(3, 4), (1, 1), (0, 2), (2, 0), (7, 5)]),
    "concat": (lambda x, y: jnp.concatenate([x, y, x], 0), ["a, 3", "b, 3"], (), [(3, 4), (1, 1), (0, 2), (2, 0), (7, 5)]),
    "unmerge": (lambda x, w: (x.reshape(x.shape[0] * x.shape[1], w.shape[0]) @ w).reshape(*x.shape[:2], w.shape[1]), ["a, b, k", "k, c"], (), [(2, 3, 4, 2), (1, 1, 1, 1), (0, 2, 2, 3), (3, 0, 1, 2), (2, 5, 3, 1)]),
    "top_half": (lambda x: lax.top_k(x, x.shape[1] // 2 + 1), ["a, b"], (), [(3, 4), (1, 1), (0, 2), (2, 9), (7, 5)]),
    "cumlogsumexp_reverse": (lambda x: lax.cumlogsumexp(x, axis=1, reverse=True), ["a, b"], (), [(3, 4), (1, 1), (0, 2), (2, 9), (7, 5)]),
    "kronecker": (lambda x, y: jnp.kron(x, y), ["a, b", "c, 3"], (), [(3, 4, 2), (1, 1, 1), (0, 2, 2), (2, 0, 3), (2, 3, 1)]),
    "set_front": (lambda x, y: x.at[: y.shape[0]].set(y), ["a", "b"], ("a >= b",), [(3, 2), (1, 1), (4, 0), (7, 7), (5, 1)]),
    "while_rows": (while_rows, ["a, b"], (), [(3, 4), (1, 1), (0, 2), (2, 0), (5, 3)]),
    "segment_sums": (lambda x, i: jax.ops.segment_sum(x, i, num_segments=x.shape[1]), ["n, b", ("n", np.int32)], (), [(3, 4), (1, 1), (0, 2), (2, 3), (7, 5)]),
    "flatten": (lambda x: x.reshape(-1), ["a, b"], (), [(3, 4), (1, 1), (0, 2), (2, 0), (7, 5)]),
    "split": (lambda x: x.reshape(2, x.shape[0] // 2), ["a"], ("mod(a, 2) == 0",), [(4,), (2,), (0,), (8,), (10,)]),
    "einsum": (lambda x, y: jnp.einsum("bij,bjk->bik", x, y), ["b, m, 4", "b, 4, n"], (), [(2, 3, 4), (1, 1, 1), (0, 2, 2), (3, 0, 2), (2, 5, 1)]),
    "contract": (lambda x, y: x @ y, ["m, k", "k, n"], (), [(2, 3, 4), (1, 1, 1), (2, 0, 3), (0, 2, 2), (5, 7, 1)]),
    "softmax": (lambda x: jax.nn.softmax(x, axis=-1), ["a, b"], (), [(3, 4), (1, 1), (0, 2), (2, 9), (7, 5)]),
    "layernorm": (layernorm, ["a, b", "b", "b"], (), [(3, 4), (1, 1), (0, 2), (2, 9), (7, 5)]),
    "attention": (attention, ["b, s, 2, 4", "b, s, 2, 4", "b, s, 2, 4"], (), [(2, 3), (1, 1), (0, 2), (3, 5), (1, 8)]),
    "block": (block, ["b, s, 4", "4, 6", "6, 4"], (), [(2, 3), (1, 1), (0, 2), (3, 0), (2, 5)]),
    "conv": (conv, ["b, h, w, 3", "3, 2, 3, 4"], ("h >= 3", "w >= 2"), [(2, 5, 4), (1, 3, 2), (0, 4, 4), (1, 8, 6), (3, 6, 3)]),
    "cumsum": (lambda x: jnp.cumsum(x, axis=0), ["a, 2"], (), [(3,), (1,), (2,), (9,), (5,)]),
    "gather": (lambda x, i: x[i], ["a, b", ("n", np.int32)], (), [(3, 4, 2), (1, 1, 1), (5, 0, 2), (4, 3, 0), (6, 2, 7)]),
    "pad": (lambda x: jnp.pad(x, ((1, 2), (0, x.shape[0]))), ["a, b"], (), [(3, 4), (1, 1), (0, 2), (2, 0), (7, 5)]),
    "pad_before": (lambda x: jnp.pad(x, (x.shape[0], 1), constant_values=3), ["a"], (), [(3,), (1,), (0,), (8,), (5,)]),
    "tile": (lambda x: jnp.tile(x, (2, 3)), ["a, b"], (), [(3, 4), (1, 1), (0, 2), (2, 0), (7, 5)]),
    "dynamic_slice": (lambda x, i: lax.dynamic_slice(x, (i, 0), (2, x.shape[1])), ["a, b", ("", np.int32)], ("a >= 2",), [(3, 4), (2, 1), (5, 0), (4, 2), (7, 5)]),
    "half": (lambda x: x[x.shape[0] // 2 :], ["a"], (), [(4,), (1,), (0,), (7,), (10,)]),
    "strided": (lambda x: x[1::2], ["a"], (), [(4,), (1,), (2,), (7,), (10,)]),
    "scan": (scan, ["n, d", "d, d"], (), [(3, 4), (1, 1), (0, 2), (5, 2), (7, 3)]),
    "top_k": (lambda x: lax.top_k(x, 2), ["a, b"], ("b >= 2",), [(3, 4), (1, 2), (0, 2), (2, 9), (7, 5)]),
    "sort": (lambda x: jnp.sort(x, axis=0), ["a, 2"], (), [(3,), (1,), (0,), (8,), (5,)]),
    "iota": (lambda x: jnp.arange(x.shape[0], dtype=F) + x, ["a"], (), [(3,), (1,), (0,), (8,), (5,)]),
    "size_as_value": (lambda x: x.sum() / (x.shape[0] * 2 + 1), ["a"], (), [(3,), (1,), (0,), (8,), (5,)]),
    "maxpool": (maxpool, ["a, b"], ("b >= 2",), [(3, 4), (1, 2), (0, 2), (2, 9), (7, 5)]),
    "reverse": (lambda x: x[::-1], ["a, 2"], (), [(3,), (1,), (0,), (8,), (5,)]),
    "outer_sum": (lambda x: (x[:, :, None] + x[:, None, :]).max(-1), ["a, b"], (), [(3, 4), (1, 1), (0, 2), (2, 9), (7, 5)]),
    "grad_softmax": (jax.grad(lambda x: (jax.nn.softmax(x) ** 2).sum()), ["a, b"], (), [(3, 4), (1, 1), (0, 2), (2, 9), (7, 5)]),
    "grad_layernorm": (jax.grad(lambda x, g, b: (layernorm(x, g, b) ** 2).sum(), (0, 1, 2)), ["a, b", "b", "b"], (), [(3, 4), (1, 1), (0, 2), (2, 9), (7, 5)]),
    "grad_attention": (jax.grad(lambda q, k, v: (attention(q, k, v) ** 2).sum(), (0, 1, 2)), ["b, s, 2, 4", "b, s, 2, 4", "b, s, 2, 4"], (), [(2, 3), (1, 1), (0, 2), (3, 5), (1, 8)]),
    "grad_loss": (jax.grad(loss, 1), ["a, 4", "4, 3", ("a", np.int32)], (), [(3,), (1,), (2,), (8,), (5,)]),
    "grad_conv": (jax.grad(lambda x, w: (valid_conv(x, w) ** 2).sum(), (0, 1)), ["b, h, w, 3", "3, 2, 3, 4"], ("h >= 3", "w >= 2"), [(2, 5, 4), (1, 3, 2), (0, 4, 4), (1, 8, 6), (3, 6, 3)]),
    "grad_scan": (jax.grad(lambda x, w: scan(x, w)[1].sum(), (0, 1)), ["n, d", "d, d"], (), [(3, 4), (1, 1), (0, 2), (5, 2), (7, 3)]),
    "grad_gather": (jax.grad(lambda x, i: (x[i] ** 2).sum()), ["a, b", ("n", np.int32)], (), [(3, 4, 2), (1, 1, 1), (5, 0, 2), (4, 3, 0), (6, 2, 7)]),
    "grad_concat": (jax.grad(lambda x, y: (jnp.concatenate([x, y], 0) ** 3).sum(), (0, 1)), ["a, 3", "b, 3"], (), [(3, 4), (1, 1), (0, 2), (2, 0), (7, 5)]),
    "same_conv": (same_conv, ["b, 2, h, w", "3, 2, 3, 3"], (), [(2, 5, 4), (1, 1, 1), (0, 4, 4), (1, 8, 6), (3, 2, 3)]),
    "spread_conv": (spread_conv, ["b, w, 2", "3, 2, 3"], (), [(2, 5), (1, 1), (0, 4), (3, 8), (2, 2)]),
    "kernel_conv": (lambda x, w: lax.conv_general_dilated(x, w, (1,), "VALID", dimension_numbers=("NWC", "WIO", "NWC")), ["b, w, 2", "k, 2, 3"], ("w >= k",), [(2, 5, 3), (1, 1, 1), (0, 4, 2), (2, 4, 4), (1, 7, 2)]),
    "cross_attention": (cross_attention, ["b, q, 4", "b, k, 4", "b, k, 4"], (), [(2, 3, 4), (1, 1, 1), (0, 2, 3), (2, 0, 3), (1, 4, 7)]),
    "cummax": (lambda x: lax.cummax(x, axis=1, reverse=True), ["a, b"], (), [(3, 4), (1, 1), (0, 2), (2, 9), (7, 5)]),
    "cumlogsumexp": (lambda x: lax.cumlogsumexp(x, axis=0), ["a, 2"], (), [(3,), (1,), (2,), (9,), (5,)]),
    "one_hot": (lambda i, x: jax.nn.one_hot(i, x.shape[0]) @ x, [("n", np.int32), "a, 3"], (), [(3, 4), (1, 1), (0, 2), (2, 5), (7, 5)]),
    "segments": (segments, ["n, b", ("n", np.int32)], (), [(3, 4), (1, 1), (0, 2), (6, 2), (7, 5)]),
    "scatter_rows": (lambda x, i, u: x.at[i].add(u), ["a, b", ("n", np.int32), "n, b"], (), [(3, 4, 2), (1, 1, 1), (5, 2, 0), (4, 3, 6), (6, 0, 7)]),
    "scatter_set": (lambda x, u: x.at[1:].set(u), ["a, 2", "2"], (), [(3,), (1,), (2,), (9,), (5,)]),
    "update": (lambda x, u, i: lax.dynamic_update_slice(x, u, (i, 0)), ["a, b", "2, b", ("", np.int32)], ("a >= 2",), [(3, 4), (2, 1), (5, 0), (4, 2), (7, 5)]),
    "halves": (halves, ["a, b"], (), [(4, 2), (1, 1), (0, 2), (7, 3), (9, 2)]),
    "roll": (lambda x: jnp.roll(x, 1, axis=0), ["a, 2"], (), [(3,), (1,), (2,), (9,), (5,)]),
    "stack": (lambda x, y: jnp.stack([x, y, x * y], 1), ["a", "a"], (), [(3,), (1,), (0,), (9,), (5,)]),
    "triangle": (lambda x: jnp.tril(x) + jnp.eye(x.shape[0], x.shape[1], dtype=F), ["a, b"], (), [(3, 4), (1, 1), (0, 2), (2, 9), (7, 5)]),
    "regroup": (lambda x: x.reshape(x.shape[1], x.shape[0] * 2).T, ["a, b, 2"], (), [(3, 4), (1, 1), (0, 2), (2, 0), (5, 3)]),
    "capped": (lambda x: jnp.tanh(x) * x.shape[0], ["a, b"], ("a <= 16", "b >= 2", "mod(b, 2) == 0"), [(3, 4), (1, 2), (0, 2), (16, 8), (7, 6)]),
    "fours": (lambda x: x.reshape(-1, 4).sum(0), ["4*a"], (), [(3,), (1,), (0,), (2,), (5,)]),
    "unflatten": (lambda x, y: x.reshape(y.shape[0], -1) * y, ["a*b", "a, b"], (), [(3, 3), (1, 1), (0, 2), (2, 2), (4, 4)]),
    "derived": (lambda x, y: x[1:] + y, ["a + 1", "a"], (), [(3,), (1,), (0,), (8,), (5,)]),
    "pooled": (average, ["a, b"], (), [(3, 4), (1, 1), (0, 2), (2, 9), (7, 5)]),
    "argmax": (lambda x: (jnp.argmax(x, axis=1), x.max(1)), ["a, b"], (), [(3, 4), (1, 1), (0, 2), (2, 9), (7, 5)]),
    "argsort": (lambda x: jnp.take_along_axis(x, jnp.argsort(x, axis=1), axis=1), ["a, b"], (), [(3, 4), (1, 1), (0, 2), (2, 9), (7, 5)]),
    "median": (lambda x: lax.dynamic_slice_in_dim(jnp.sort(x, axis=1), x.shape[1] // 2, 1, 1), ["a, b"], (), [(3, 4), (1, 1), (0, 2), (2, 9), (7, 5)]),
    "power": (power, ["a, b"], (), [(3, 4), (1, 1), (0, 2), (2, 0), (7, 5)]),
    "rounds": (rounds, ["n, b"], (), [(3, 4), (1, 1), (2, 2), (2, 0), (4, 5)]),
    "branches": (lambda x, i: lax.switch(i, [lambda y: y + 1, lambda y: y * y.shape[0], lambda y: y[::-1]], x), ["a, 2", ("", np.int32)], (), [(3,), (1,), (0,), (8,), (5,)]),
    "instance_norm": (instance_norm, ["b, h, w, 2"], (), [(2, 3, 4), (1, 1, 1), (0, 2, 2), (1, 5, 2), (3, 2, 2)]),
    "bilinear": (lambda x, w, y: jnp.einsum("bi,ijk,bj->bk", x, w, y), ["b, m", "m, n, 3", "b, n"], (), [(2, 3, 4), (1, 1, 1), (0, 2, 2), (3, 0, 2), (2, 5, 1)]),
    "trace": (lambda x: jnp.einsum("bii->b", x), ["b, n, n"], (), [(2, 3), (1, 1), (0, 2), (3, 0), (2, 5)]),
    "batched_slice": (lambda x, i: jax.vmap(lambda r, k: lax.dynamic_slice(r, (k,), (2,)))(x, i), ["a, b", ("a", np.int32)], ("b >= 2",), [(3, 4), (1, 2), (0, 2), (2, 9), (7, 5)]),
    "repeat": (lambda x: jnp.repeat(x, 3, axis=0), ["a, b"], (), [(3, 4), (1, 1), (0, 2), (2, 0), (7, 5)]),
    "interleave": (lambda x, y: jnp.stack([x, y], 1).reshape(-1), ["a", "a"], (), [(3,), (1,), (0,), (9,), (5,)]),
    "padded_sum": (lambda x, y: jnp.pad(x, (0, y.shape[0])) + jnp.pad(y, (x.shape[0], 0)), ["a", "b"], (), [(3, 4), (1, 1), (0, 2), (2, 0), (7, 5)]),
    "grad_tile": (jax.grad(lambda x: (jnp.tile(x, (2, 3)) ** 3).sum()), ["a, b"], (), [(3, 4), (1, 1), (0, 2), (2, 0), (5, 3)]),
    "grad_top_k": (jax.grad(lambda x: (lax.top_k(x, 2)[0] ** 2).sum()), ["a, b"], ("b >= 2",), [(3, 4), (1, 2), (0, 2), (2, 9), (7, 5)]),
    "grad_cumsum": (jax.grad(lambda x: (jnp.cumsum(x, axis=0) ** 3).sum()), ["a, 2"], (), [(3,), (1,), (2,), (9,), (5,)]),
    "grad_pad": (jax.grad(lambda x: (jnp.pad(x, ((1, 2), (0, x.shape[0])), constant_values=2) ** 3).sum()), ["a, b"], (), [(3, 4), (1, 1), (0, 2), (2, 0), (5, 3)]),
    "grad_halves": (jax.grad(lambda x: (halves(x) ** 3).sum()), ["a, b"], (), [(4, 2), (1, 1), (3, 2), (7, 3), (9, 2)]),
    "grad_update": (jax.grad(lambda x, u, i: (lax.dynamic_update_slice(x, u, (i, 0)) ** 3).sum(), (0, 1)), ["a, b", "2, b", ("", np.int32)], ("a >= 2",), [(3, 4), (2, 1), (5, 0), (4, 2), (7, 5)]),
    "grad_maxpool": (jax.grad(lambda x: (maxpool(x) ** 2).sum()), ["a, b"], ("b >= 2",), [(3, 4), (1, 2), (0, 2), (2, 9), (7, 5)]),
    "grad_same_conv": (jax.grad(lambda x, w: (same_conv(x, w) ** 2).sum(), (0, 1)), ["b, 2, h, w", "3, 2, 3, 3"], (), [(2, 5, 4), (1, 1, 1), (0, 4, 4), (1, 6, 6), (2, 2, 3)]),
    "grad_scatter": (jax.grad(lambda x, i, u: (x.at[i].add(u) ** 2).sum(), (0, 2)), ["a, b", ("n", np.int32), "n, b"], (), [(3, 4, 2), (1, 1, 1), (5, 2, 0), (4, 3, 6), (6, 0, 7)]),
    "grad_contract": (jax.grad(lambda x, y: (jnp.tanh(x @ y) ** 2).sum(), (0, 1)), ["m, k", "k, n"], (), [(2, 3, 4), (1, 1, 1), (2, 0, 3), (0, 2, 2), (5, 7, 1)]),
    "grad_cross_attention": (jax.grad(lambda q, k, v: (cross_attention(q, k, v) ** 2).sum(), (0, 1, 2)), ["b, q, 4", "b, k, 4", "b, k, 4"], (), [(2, 3, 4), (1, 1, 1), (0, 2, 3), (2, 0, 3), (1, 4, 7)]),
    "hessian_softmax": (hessian_product(lambda x: (jax.nn.softmax(x) ** 2).sum()), ["a, b", "a, b"], (), [(3, 4), (1, 1), (0, 2), (2, 9), (4, 5)]),
    "hessian_concat": (hessian_product(lambda x: (jnp.concatenate([x, x[:1] * 2, x], 0) ** 3).sum()), ["a, 3", "a, 3"], (), [(3,), (1,), (2,), (7,), (5,)]),
    "hessian_scan": (hessian_product(lambda x: lax.scan(lambda h, r: (jnp.tanh(h + r), h.sum()), jnp.zeros(2, F), x)[1].sum()), ["n, 2", "n, 2"], (), [(3,), (1,), (2,), (7,), (5,)]),
}


def values(rng, shape, dtype, sizes):
    if dtype == np.int32:
        high = max(1, sizes[0] if shape or True else 1)
        return rng.integers(0, min(high, 3), shape).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def encode(array):
    array = np.asarray(array)
    little = array.astype(array.dtype.newbyteorder("<"))
    return {"dtype": str(array.dtype), "shape": list(array.shape), "bytes": little.tobytes().hex()}


def write(name):
    function, shapes, constraints, calls = CASES[name]
    scope = export.SymbolicScope(constraints)
    specs, dims = [], []
    for shape in shapes:
        text, dtype = shape if isinstance(shape, tuple) else (shape, F)
        symbolic = export.symbolic_shape(text, scope=scope) if text else ()
        specs.append(jax.ShapeDtypeStruct(symbolic, dtype))
        dims.append((text, dtype))
    names = []
    for text, _ in dims:
        for part in text.split(","):
            names += [name for name in re.findall("[a-z]+", part) if name not in names]
    exported = export.export(jax.jit(function))(*specs)
    with mlir.make_ir_context():
        module = ir.Module.parse(exported.mlir_module())
        text = module.operation.get_asm(enable_debug_info=False)
    with open(os.path.join(HERE, name + ".mlir"), "w") as file:
        file.write(text)
    rng = np.random.default_rng(sum(map(ord, name)))
    rows = []
    for sizes in calls:
        env = dict(zip(names, sizes))
        size = lambda part: eval(part, {}, env)
        args = []
        for text, dtype in dims:
            shape = tuple(size(part) for part in text.split(",")) if text else ()
            args.append(values(rng, shape, dtype, sizes))
        row = {"sizes": env, "arguments": [encode(a) for a in args]}
        refused = any(n < 1 for n in sizes)
        try:
            results = jax.tree_util.tree_leaves(function(*map(jnp.asarray, args)))
            row["results"] = [encode(r) for r in results]
        except Exception as error:  # not defined at these sizes
            print(f"{name} at {env}: {type(error).__name__}", file=sys.stderr)
            row["results"] = []
        # JAX asserts that its dimension variables are at least 1.
        row["refused"] = refused
        rows.append(row)
    with open(os.path.join(HERE, name + ".json"), "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


def decode(row):
    return np.frombuffer(bytes.fromhex(row["bytes"]), dtype=row["dtype"]).reshape(row["shape"])


def write_vjp(name):
    function = CASES[name][0]
    with open(os.path.join(HERE, name + ".json")) as file:
        calls = [row for row in json.load(file) if not row["refused"]]
    rows = []
    rng = np.random.default_rng(sum(map(ord, name)) + 1)
    for row in calls[:4]:
        args = [decode(a) for a in row["arguments"]]
        floats = [i for i, a in enumerate(args) if a.dtype == F]

        def of_floats(*some):
            full = list(map(jnp.asarray, args))
            for i, value in zip(floats, some):
                full[i] = value
            return [r for r in jax.tree_util.tree_leaves(function(*full)) if r.dtype == F]

        results, vjp = jax.vjp(of_floats, *(jnp.asarray(args[i]) for i in floats))
        cotangents = [rng.standard_normal(r.shape).astype(F) for r in results]
        gradients = vjp(list(map(jnp.asarray, cotangents)))
        row["cotangents"], row["gradients"] = list(map(encode, cotangents)), list(map(encode, gradients))
        del row["results"], row["refused"]
        rows.append(row)
    os.makedirs(os.path.join(HERE, "vjp"), exist_ok=True)
    with open(os.path.join(HERE, "vjp", name + ".json"), "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


only_vjp = "--vjp" in sys.argv
names = [name for name in sys.argv[1:] if not name.startswith("--")]
for chosen in [] if "--none" in sys.argv else names or CASES:
    try:
        if not only_vjp:
            write(chosen)
        write_vjp(chosen)
    except Exception as error:
        print(f"{chosen}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr)
