#!/usr/bin/env python3
"""Random JAX programs, run by XLA and by Surject: the interpreter, and native code of the optimised program.

    fuzz.py FROM..TO [--keep FOLDER] [--backends interp,cpu]

Run it as `cargo xtask fuzz FROM..TO`. A seed gives the same program everywhere. SURJECT_BIN names the command. What
differs from XLA is kept in FOLDER (default: target/fuzz), a folder a seed with `program.mlir`, inputs and XLA's
outputs, ready for `surject run`. Exit status 1 when a program differs or fails; programs that Surject says it does not
support (exit status 3) are kept, counted and named. Every fourth program is large and left out on the interpreter;
every third is a network or its training step (networks.py).

Operations that jump (comparisons, rounding, sorting, indices) take values that every implementation has exactly:
inputs, and what only moves, selects and integer arithmetic made of them. All others take and give values of moderate
size, so that another order of additions changes little. Two things are left out because XLA itself (jaxlib 0.10.2) has
them wrong: leading zeros of a negative constant, and a dynamic slice of a dynamic slice whose start was clamped.
"""
import argparse
import collections
import os
import shutil
import subprocess
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
import jax.scipy.special as special
import ml_dtypes
import numpy as np
from jax import lax

import networks

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_default_matmul_precision", "highest")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SURJECT = os.environ.get("SURJECT_BIN", f"{ROOT}/target/debug/surject")

Value = collections.namedtuple("Value", "array exact")
SMALL = (1, 2, 3, 4, 5, 7, 8, 16, 17, 33)
LARGE = (1, 3, 10, 32, 63, 64, 100, 128, 131, 200)


class Generator:
    """Builds one program: a pool of values, and steps that each take some of them and add one."""

    def __init__(self, seed, inputs):
        self.rng = np.random.default_rng(seed)
        self.extents, self.most = sizes_of(seed)
        self.pool = [Value(array, True) for array in inputs]

    # Choices.
    def below(self, n):
        return int(self.rng.integers(n))

    def pick(self, things):
        return things[self.below(len(things))]

    def chance(self, p):
        return self.rng.random() < p

    def value(self, kinds="f", exact=False, rank=None):
        """A value of the pool of one of these kinds (letters of numpy's dtype kinds; V is bf16), else a fresh one."""
        fits = [v for v in self.pool[-8:] + self.pool[:3] if kind(v.array) in kinds and (v.exact or not exact)
                and (rank is None or v.array.ndim >= rank)]
        if fits:
            return self.pick(fits)
        return Value(self.fresh(kinds[0], [self.pick(self.extents[:7]) for _ in range(max(rank or 0, self.below(4)))]), True)

    def fresh(self, letter, shape):
        """An array made of iota."""
        shape = tuple(shape)
        n = int(np.prod(shape))
        i = jnp.arange(n, dtype=jnp.int32).reshape(shape)
        if letter == "i":
            return i * (3 + self.below(5)) % (7 + self.below(4)) - 3
        if letter == "u":
            return (i * 7 % 11).astype(jnp.uint8)
        if letter == "b":
            return i * 5 % 3 == 1
        x = ((i * (5 + 2 * self.below(6)) % 17) - 8).astype(jnp.float32) / 8
        return x if letter == "f" else x.astype(jnp.bfloat16) if letter == "V" else x + 1j * x[..., ::-1] if x.ndim else x + 1j

    def axis(self, x):
        return self.below(x.ndim)

    def axes(self, x):
        chosen = [a for a in range(x.ndim) if self.chance(0.5)]
        return tuple(chosen)

    # Steps. Each gives an array and whether it is exact.
    def unary(self):
        v = self.value("fV")
        x = v.array
        f = self.pick([
            jnp.tanh, jnp.sin, jnp.cos, jax.nn.sigmoid, lax.erf, lax.erfc, jnp.abs, jnp.negative, jax.nn.softplus, jax.nn.silu,
            lambda x: jnp.exp(jnp.tanh(x)), lambda x: jnp.log1p(jnp.abs(x)), lambda x: jnp.sqrt(jnp.abs(x) + 0.5),
            lambda x: lax.rsqrt(1 + x * x), lambda x: jax.nn.gelu(x), lambda x: jax.nn.gelu(x, approximate=False),
            lambda x: jnp.square(x) * 0.25, lambda x: jnp.expm1(-jnp.abs(x)), lambda x: jnp.log(jnp.abs(x) + 0.5),
            lambda x: jnp.cbrt(jnp.abs(x) + 0.5), lambda x: jnp.arctan(x), lambda x: jnp.arcsinh(x), lambda x: jnp.sinh(jnp.tanh(x)),
            lambda x: jnp.power(jnp.abs(x) + 0.5, 1.5), lambda x: x ** 3 * 0.1, lambda x: jnp.tan(jnp.tanh(x)),
            lambda x: special.erfinv(0.9 * jnp.tanh(x)), lambda x: special.gammaln(jnp.abs(x) + 0.5),
            lambda x: special.digamma(jnp.abs(x) + 0.5), lambda x: jnp.arctanh(0.5 * jnp.tanh(x)), jax.nn.log_sigmoid,
            lambda x: jnp.exp2(jnp.tanh(x)), lambda x: 1 / (1 + jnp.abs(x)), lambda x: jnp.cosh(jnp.tanh(x)),
            lambda x: jnp.arccos(0.9 * jnp.tanh(x)), lambda x: jax.nn.elu(x), lambda x: jax.nn.hard_tanh(x),
        ])
        exact = f in (jnp.abs, jnp.negative) and v.exact
        return f(x), exact

    def jump(self):
        x = self.value("f", exact=True).array
        f = self.pick([jnp.floor, jnp.ceil, jnp.round, jnp.sign, lambda x: jnp.trunc(x * 2), jax.nn.relu, jnp.isnan, jnp.isfinite,
                       lambda x: x.astype(jnp.int32), lambda x: (x > 0).astype(x.dtype), jnp.signbit, lambda x: jnp.nan_to_num(x / x),
                       lambda x: lax.round(x * 2), lambda x: jnp.clip(x, -0.5, 0.75), lambda x: jnp.heaviside(x, 0.5)])
        return f(x), True

    def operands(self, kinds="f", exact=False):
        """Two values that broadcast against each other."""
        a, b = self.value(kinds, exact), self.value(kinds, exact)
        x, y = a.array, b.array
        if not broadcasts(x.shape, y.shape):
            y = x[tuple(slice(0, 1) if self.chance(0.4) else slice(None) for _ in x.shape)]
            if y.ndim and self.chance(0.4):
                y = y[0]
            if self.chance(0.5):
                y = y[..., ::-1] if y.ndim else y
            b = Value(y, a.exact)
        if kind(x) == kind(y) and x.dtype != y.dtype:
            y = y.astype(x.dtype)
        return (x, y, a.exact and b.exact) if self.chance(0.5) else (y, x, a.exact and b.exact)

    def binary(self):
        x, y, exact = self.operands("fV")
        f, keeps = self.pick([(jnp.add, False), (jnp.subtract, False), (jnp.maximum, True), (jnp.minimum, True),
                              (lambda x, y: x * jnp.tanh(y), False), (lambda x, y: x / (1 + jnp.abs(y)), False),
                              (lambda x, y: jnp.arctan2(x, 1 + jnp.abs(y)), False), (lambda x, y: jnp.hypot(x, y), False),
                              (lambda x, y: jnp.power(jnp.abs(x) + 0.5, jnp.tanh(y)), False), (lambda x, y: jnp.logaddexp(x, y), False),
                              (lambda x, y: 0.5 * x * y, False), (lambda x, y: jnp.square(x - y), False)])
        return f(x, y), exact and keeps

    def integers(self):
        x, y, _ = self.operands("iu", exact=True)
        d = jnp.abs(y) % 5 + 1
        f = self.pick([jnp.add, jnp.subtract, jnp.maximum, jnp.minimum, jnp.bitwise_and, jnp.bitwise_or, jnp.bitwise_xor, jnp.equal, jnp.less,
                       lambda x, y: x * y % 1000, lambda x, y: x // d.astype(x.dtype), lambda x, y: x % d.astype(x.dtype),
                       lambda x, y: jnp.left_shift(x, d.astype(x.dtype)),
                       lambda x, y: lax.shift_right_logical(x, x * 0 + 1), lambda x, y: lax.shift_right_arithmetic(x, x * 0 + 2),
                       lambda x, y: lax.population_count(x), lambda x, y: lax.clz(jnp.abs(x)), lambda x, y: ~x,
                       lambda x, y: lax.rem(x, x * 0 + 3), lambda x, y: lax.div(x, x * 0 + 2), lambda x, y: jnp.abs(x), lambda x, y: jnp.sign(x)])
        return f(x, y), True

    def logic(self):
        x, y, _ = self.operands("b", exact=True)
        f = self.pick([jnp.logical_and, jnp.logical_or, jnp.logical_xor, lambda x, y: ~x, jnp.not_equal])
        return f(x, y), True

    def compare(self):
        x, y, _ = self.operands("f", exact=True)
        return self.pick([jnp.less, jnp.less_equal, jnp.equal, jnp.not_equal, jnp.greater])(x, y), True

    def where(self):
        a, b, exact = self.operands("fiV")
        c = self.value("b").array
        if kind(a) != kind(b):
            b = b.astype(a.dtype)
        if not (broadcasts(c.shape, a.shape) and broadcasts(jnp.broadcast_shapes(c.shape, a.shape), b.shape)):
            c = self.fresh("b", a.shape)
        return jnp.where(c, a, b), exact

    def convert(self):
        v = self.value("fiubV", exact=True)
        to = self.pick([jnp.float32, jnp.float64, jnp.bfloat16, jnp.float16, jnp.int32, jnp.int8, jnp.int64, jnp.bool_, jnp.uint32])
        x = v.array
        if kind(x) in "fV" and to == jnp.uint32:
            x = jnp.abs(x)
        return x.astype(to), True

    def reduction(self):
        v = self.value("fV", rank=1)
        x, axes = v.array, self.axes(v.array)
        keep = self.chance(0.4)
        f, keeps = self.pick([(jnp.sum, False), (jnp.mean, False), (jnp.max, True), (jnp.min, True), (jnp.var, False),
                              (special.logsumexp, False), (lambda x, axis, keepdims: jnp.prod(jnp.tanh(x) + 1.1, axis=axis, keepdims=keepdims) * 1e-3, False),
                              (lambda x, axis, keepdims: jnp.sqrt(jnp.sum(x * x, axis=axis, keepdims=keepdims) + 0.1), False)])
        total = f(x, axis=axes, keepdims=keep)
        if f is jnp.sum:
            total = total / max(1, x.size // max(1, total.size)) ** 0.5
        return total, keeps and v.exact

    def reduce_integers(self):
        x = self.value("iub", exact=True, rank=1).array
        axes = self.axes(x)
        fs = [jnp.any, jnp.all] if kind(x) == "b" else [jnp.sum, jnp.max, jnp.min]
        return self.pick(fs)(x, axis=axes, keepdims=self.chance(0.3)), True

    def argument(self):
        x = self.value("fi", exact=True, rank=1).array
        if x.size == 0:
            return x, True
        return self.pick([jnp.argmax, jnp.argmin])(x, axis=self.axis(x)).astype(jnp.int32), True

    def normalise(self):
        x = self.value("f", rank=1).array
        a = self.axis(x)
        f = self.pick([
            lambda: jax.nn.softmax(x, axis=a), lambda: jax.nn.log_softmax(x, axis=a),
            lambda: (x - x.mean(a, keepdims=True)) * lax.rsqrt(x.var(a, keepdims=True) + 0.1),
            lambda: x * lax.rsqrt((x * x).mean(a, keepdims=True) + 0.1), lambda: jax.nn.logsumexp(x, axis=a, keepdims=True) - x,
        ])
        return f(), False

    def scan(self):
        v = self.value("f", rank=1)
        x, a, back = v.array, self.axis(v.array), self.chance(0.5)
        f, keeps = self.pick([(lambda: lax.cumsum(x, a, reverse=back) * 0.2, False), (lambda: jnp.cumprod(jnp.tanh(x) + 0.9, a), False),
                              (lambda: lax.cummax(x, a), True), (lambda: lax.cummin(x, a, reverse=True), True),
                              (lambda: lax.cumlogsumexp(x, a, reverse=back), False), (lambda: jnp.cumsum(x, a)[..., ::-1] * 0.2, False)])
        return f(), keeps and v.exact

    def move(self):
        v = self.value("fiubVc")
        x = v.array
        moves = [lambda: x.reshape(-1), lambda: jnp.expand_dims(x, self.below(x.ndim + 1)), lambda: x.T, lambda: jnp.squeeze(x)]
        if x.ndim and x.size:
            a = self.axis(x)
            n = x.shape[a]
            moves += [
                lambda: jnp.transpose(x, self.rng.permutation(x.ndim)), lambda: jnp.flip(x, a), lambda: jnp.roll(x, self.below(5) - 2, a),
                lambda: lax.slice_in_dim(x, self.below(n), n, 1 + self.below(3), a), lambda: jnp.repeat(x, 2, a),
                lambda: jnp.concatenate([x, jnp.flip(x, a)], a), lambda: jnp.stack([x, x], a), lambda: jnp.tile(x, 2),
                lambda: lax.pad(x, jnp.zeros((), x.dtype), [(self.below(4) - 1, self.below(4) - 1, self.below(3)) if n > 2 else (1, 0, 0) for n in x.shape]),
                lambda: x.reshape(factors(self, x.size)), lambda: x.reshape(factors(self, x.size)), lambda: jnp.diff(x, axis=a) if kind(x) == "i" else x,
                lambda: jnp.broadcast_to(x, (2,) + x.shape), lambda: jnp.take(x, np.array([0, n - 1, n // 2]), a), lambda: jnp.swapaxes(x, 0, a),
                lambda: jnp.array_split(x, 2, a)[self.below(2)], lambda: jnp.rot90(x) if x.ndim > 1 else x, lambda: jnp.moveaxis(x, a, 0),
                lambda: jnp.pad(x, [(1, 1)] * x.ndim, mode=self.pick(["edge", "wrap", "constant"])),
                lambda: jnp.pad(x, [(1, 0)] * x.ndim, mode="reflect") if min(x.shape) > 1 else x,
            ]
            if x.ndim > 1:
                moves += [lambda: jnp.tril(x, self.below(3) - 1), lambda: jnp.triu(x), lambda: jnp.diagonal(x), lambda: jnp.trace(x) if kind(x) == "i" else x]
        return self.pick(moves)(), v.exact

    def indices(self, bound, *shape):
        """Indices, some of them outside."""
        i = self.value("i", exact=True).array
        i = jnp.resize(i, shape).astype(jnp.int32)
        return i % (bound + self.below(2)) if self.chance(0.8) else i

    def gather(self):
        v = self.value("fiV", rank=1)
        x, a = v.array, self.axis(v.array)
        n = x.shape[a]
        if not x.size:
            return x, v.exact
        mode = self.pick(["clip", "fill"])
        i = self.indices(n, *[self.pick(self.extents[:6]) for _ in range(1 + self.below(2))])
        forms = [lambda: jnp.nan_to_num(jnp.take(x, i, a, mode=mode).astype(jnp.float32)) if mode == "fill" and kind(x) in "fV" else jnp.take(x, i, a, mode=mode),
                 lambda: lax.dynamic_slice_in_dim(x, i.reshape(-1)[0] % (n - n // 2), max(1, n // 2), a),
                 lambda: lax.dynamic_index_in_dim(x, i.reshape(-1)[0] % n, a, False),
                 lambda: jnp.take_along_axis(x, jnp.resize(i, x.shape) % n, a)]
        if x.ndim > 1:
            j = self.indices(x.shape[1], *i.shape)
            forms.append(lambda: x[i % x.shape[0], j % x.shape[1]])
            forms.append(lambda: x[:, j % x.shape[1]])
        return self.pick(forms)(), v.exact

    def scatter(self):
        v = self.value("fi", rank=1)
        x = v.array
        if not x.size:
            return x, v.exact
        n = x.shape[0]
        i = self.indices(n, self.pick(self.extents[:7]))
        u = jnp.resize(x * 0.5 if kind(x) == "f" else x, i.shape + x.shape[1:])
        forms = [(lambda: x.at[i].add(u), False), (lambda: x.at[i].max(u), True), (lambda: x.at[i].min(u), True), (lambda: x.at[i[:1]].set(u[:1]), True),
                 (lambda: lax.dynamic_update_slice_in_dim(x, u[:1], i[0], 0), True),
                 (lambda: jax.ops.segment_sum(u, i, 5), False), (lambda: x.at[i[0]].multiply(0.5 if kind(x) == "f" else 2), False),
                 (lambda: x.at[..., ::2].add(1), False)]
        # Windows at positions that are known.
        inside = tuple(slice(int(d > 2), d - int(d > 2)) for d in x.shape)
        starts = [self.below(d + 2) - 1 for d in x.shape]
        forms += [(lambda: x.at[inside].add(1), False), (lambda: x.at[inside].set(x[inside] * 0), True), (lambda: x.at[0].max(x[-1]), True),
                  (lambda: lax.dynamic_update_slice(x, x[:1], starts), True),
                  (lambda: lax.dynamic_slice(x, starts, [max(d - 1, 1) for d in x.shape]), True)]
        if x.ndim > 1:
            j = self.indices(x.shape[1], *i.shape)
            forms.append((lambda: x.at[i, j].add(jnp.resize(u, i.shape + x.shape[2:])), False))
        f, keeps = self.pick(forms)
        return f(), (keeps or kind(x) == "i") and v.exact

    def sort(self):
        x = self.value("fi", exact=True, rank=1).array
        a = self.axis(x)
        n = x.shape[a]
        forms = [lambda: jnp.sort(x, a), lambda: jnp.argsort(x, a, stable=True).astype(jnp.int32), lambda: -jnp.sort(-x, a),
                 lambda: lax.top_k(x, min(3, x.shape[-1]))[self.below(2)], lambda: jnp.median(x, a) if n and kind(x) == "f" else x,
                 lambda: jnp.searchsorted(jnp.sort(x.reshape(-1)), x).astype(jnp.int32),
                 lambda: lax.sort((x, jnp.flip(x, a)), dimension=a, num_keys=1 + self.below(2))[1]]
        return self.pick(forms)(), True

    def product(self):
        """An einsum of two or three operands with random letters."""
        a = self.value("fV", rank=1)
        x = a.array
        letters = "abcdefgh"
        of = list(letters[:x.ndim])
        sizes = dict(zip(of, x.shape))
        other = [l for l in of if self.chance(0.6)]
        for l in letters[x.ndim:x.ndim + self.below(3)]:
            sizes[l] = self.pick(self.extents)
            other.append(l)
        self.rng.shuffle(other)
        out = [l for l in sizes if (l in of) != (l in other) or self.chance(0.4)]
        out = [l for l in out if self.chance(0.9)]
        self.rng.shuffle(out)
        if int(np.prod([sizes[l] for l in out], dtype=np.int64)) > self.most:
            out = out[:1]
        shape = tuple(sizes[l] for l in other)
        y = jnp.resize(jnp.tanh(self.value("f").array.astype(x.dtype)), shape) if self.chance(0.5) else self.fresh("f", shape).astype(x.dtype)
        summed = int(np.prod([n for l, n in sizes.items() if l not in out], dtype=np.int64))
        spec = f"{''.join(of)},{''.join(other)}->{''.join(out)}"
        more = jnp.float32 if kind(x) == "V" and self.chance(0.5) else None
        return jnp.einsum(spec, x, y, preferred_element_type=more) / max(1, summed) ** 0.5, False

    def integer_product(self):
        m, k, n = (self.pick(self.extents) for _ in range(3))
        t = self.pick([jnp.int8, jnp.int32, jnp.int16])
        x = jnp.resize(self.value("i", exact=True).array, (m, k)).astype(t)
        y = jnp.resize(self.value("i", exact=True).array, (k, n)).astype(t)
        return jnp.matmul(x, y, preferred_element_type=jnp.int32), True

    def convolution(self):
        t = self.pick([jnp.float32, jnp.float32, jnp.bfloat16, jnp.float64])
        groups = self.pick([1, 1, 1, 2, 3])
        spatial = 1 + self.below(2)
        c, f = groups * (1 + self.below(5)), groups * (1 + self.below(9))
        window = [1 + self.below(4) for _ in range(spatial)]
        size = [w * 2 + self.below(9) for w in window]
        x = jnp.resize(jnp.tanh(self.value("f").array), (1 + self.below(3), c, *size)).astype(t)
        w = (self.fresh("f", (f, c // groups, *window)) * 0.3).astype(t)
        dims = self.pick([None, "last"])
        numbers = None
        if dims:
            s = "HW"[:spatial]
            x, w = jnp.moveaxis(x, 1, -1), jnp.moveaxis(w, (0, 1), (-1, -2))
            numbers = (f"N{s}C", f"{s}IO", f"N{s}C")
        padding = self.pick(["SAME", "VALID", [(self.below(3), self.below(3)) for _ in window]])
        many = lambda: [1 + self.below(2) * self.below(3) for _ in window]
        lhs = many() if isinstance(padding, list) else None
        y = lax.conv_general_dilated(x, w, many(), padding, lhs_dilation=lhs, rhs_dilation=many(), dimension_numbers=numbers, feature_group_count=groups)
        return y, False

    def pool_windows(self):
        v = self.value("f", rank=2)
        x = v.array
        window = tuple(1 + self.below(3) if n > 2 else 1 for n in x.shape)
        strides = tuple(1 + self.below(2) for _ in x.shape)
        padding = self.pick(["SAME", "VALID"])
        dilation = tuple(1 + self.below(2) if n > 5 else 1 for n in x.shape)
        init, f, keeps = self.pick([(-jnp.inf, lax.max, True), (0.0, lax.add, False), (jnp.inf, lax.min, True), (-jnp.inf, jnp.logaddexp, False)])
        y = lax.reduce_window(x, jnp.asarray(init, x.dtype), f, window, strides, padding, window_dilation=dilation)
        y = jnp.where(jnp.isfinite(y), y, 0)
        return y / (int(np.prod(window)) ** 0.5) if f is lax.add else y, keeps and v.exact

    def control(self):
        v = self.value("f", rank=1)
        x, n = v.array, 1 + self.below(6)
        w = self.fresh("f", x.shape)
        carry = jnp.tanh(x)
        forms = [
            lambda: lax.fori_loop(0, n, lambda i, c: jnp.tanh(c * w + i * 0.1), carry),
            lambda: lax.scan(lambda c, y: (0.5 * c + y, c.sum()), x[0] * 0, x)[self.below(2)] / x.size ** 0.5,
            lambda: lax.cond(self.value("i", True).array.sum() > 3, lambda c: c * 0.5, lambda c: jnp.tanh(c + 1), x),
            lambda: lax.switch(self.value("i", True).array.sum() % 3, [jnp.sin, jnp.cos, lambda c: c], x),
            lambda: lax.while_loop(lambda s: (s[0] < n * 3), lambda s: (s[0] + 2, jnp.sin(s[1]) + w), (0, x))[1],
            lambda: lax.map(lambda r: jnp.tanh(r).sum() + r, x) / x.size ** 0.5,
            lambda: jax.vmap(lambda r: r / (1 + jnp.abs(r).sum()))(x),
            lambda: lax.associative_scan(lambda a, b: jnp.tanh(a + b), x),
        ]
        return self.pick(forms)(), False

    def gradient(self):
        x = self.value("f", rank=1).array
        a = self.axis(x)
        w = self.fresh("f", x.shape[-1:] + (3,)).astype(x.dtype)
        f = self.pick([
            lambda x: jax.nn.softmax(x, axis=a) * jnp.tanh(x), lambda x: jnp.tanh(x @ w), lambda x: jnp.cumsum(x, a) * x,
            lambda x: (x - x.mean(a, keepdims=True)) * lax.rsqrt(x.var(a, keepdims=True) + 0.1) * jnp.sin(x),
            lambda x: jax.nn.gelu(x) * x[..., ::-1], lambda x: lax.reduce_window(jnp.tanh(x), 0.0, lax.add, (2,) * x.ndim, (1,) * x.ndim, "SAME"),
            lambda x: jax.nn.log_softmax(x, axis=a)[..., 0], lambda x: jnp.take(x, np.array([0, 0, x.shape[a] - 1]), a) ** 2,
            lambda x: jnp.concatenate([jnp.sin(x), x[..., :1]], -1) ** 2, lambda x: jnp.logaddexp(x, x.T.reshape(x.shape)),
        ])
        return jax.grad(lambda x: (f(x) * 0.3).sum())(x) if x.size else x, False

    def complexes(self):
        v = self.value("c")
        z = v.array
        f = self.pick([lambda: z * z * 0.3, lambda: jnp.abs(z), lambda: jnp.real(z) + jnp.imag(z), lambda: z / (2 + jnp.abs(z)), lambda: jnp.conj(z) + 1j,
                       lambda: z.sum(), lambda: jnp.prod(z / (1 + jnp.abs(z)), -1) if z.ndim else z, lambda: jnp.cumprod(z / (1 + jnp.abs(z)), 0) if z.ndim else z, lambda: jnp.exp(z * 0.2), lambda: jnp.fft.fft(z).real / z.size ** 0.5 if z.ndim else z, lambda: (z @ z.T) * 0.1 if z.ndim == 2 else z,
                       lambda: jnp.angle(z + 3), lambda: jnp.where(jnp.real(z) > 9, z, -z)])
        return f(), False

    def fourier(self):
        x = self.value("f", rank=1).array.astype(jnp.float32)
        f = self.pick([lambda: jnp.abs(jnp.fft.rfft(x)), lambda: jnp.fft.ifft(jnp.fft.fft(x)).real, lambda: jnp.fft.irfft(jnp.fft.rfft(x), x.shape[-1])])
        return (f() / x.shape[-1] ** 0.5 if x.size else x), False

    def random(self):
        key = jax.random.key(self.below(1000))
        shape = tuple(self.pick(self.extents[:7]) for _ in range(1 + self.below(2)))
        f = self.pick([lambda: jax.random.normal(key, shape), lambda: jax.random.uniform(key, shape), lambda: jax.random.bernoulli(key, 0.3, shape),
                       lambda: jax.random.randint(key, shape, -9, 9), lambda: jax.random.permutation(key, shape[0]).astype(jnp.int32)])
        return f(), False

    def linear(self):
        n = 1 + self.below(6)
        x = jnp.resize(jnp.tanh(self.value("f").array), (n, n)).astype(jnp.float32)
        s = x @ x.T + n * jnp.eye(n, dtype=x.dtype)
        f = self.pick([lambda: jnp.linalg.cholesky(s), lambda: jax.scipy.linalg.solve_triangular(s + jnp.eye(n), x, lower=self.chance(0.5)),
                       lambda: jnp.kron(x, x[:2]), lambda: jnp.outer(x, x[0]), lambda: jnp.tensordot(x, x, 1), lambda: jnp.linalg.norm(x, axis=0),
                       lambda: jnp.convolve(x[0], x[-1]), lambda: jnp.polyval(x[0], x * 0.5)])
        return f(), False

    STEPS = [(unary, 6), (binary, 7), (integers, 3), (logic, 1), (compare, 2), (where, 3), (convert, 2), (reduction, 5), (reduce_integers, 2), (argument, 1),
             (normalise, 2), (scan, 1), (move, 9), (gather, 3), (scatter, 3), (sort, 1), (product, 4), (integer_product, 1), (convolution, 2), (pool_windows, 1),
             (control, 2), (gradient, 2), (complexes, 1), (fourier, 0.3), (random, 0.5), (linear, 1), (jump, 2)]

    def step(self):
        weights = np.array([w for _, w in self.STEPS])
        number = int(self.rng.choice(len(self.STEPS), p=weights / weights.sum()))
        array, exact = self.STEPS[number][0](self)
        if array.size <= self.most and array.ndim <= 5:
            # Floats stay of moderate size.
            if kind(array) in "fV" and not exact and self.chance(0.3):
                array = jnp.tanh(array)
            self.pool.append(Value(array, exact))


def kind(array):
    return "V" if array.dtype == jnp.bfloat16 or array.dtype == jnp.float16 else "i" if array.dtype.kind == "u" and array.dtype != jnp.uint8 else array.dtype.kind


def broadcasts(a, b):
    return all(m == n or m == 1 or n == 1 for m, n in zip(a[::-1], b[::-1]))


def factors(g, n):
    """A shape of n elements."""
    divisors = [d for d in range(1, n + 1) if n % d == 0 and d <= 64] or [1]
    first = g.pick(divisors)
    rest = n // first
    second = g.pick([d for d in divisors if rest % d == 0])
    return g.pick([(first, rest), (rest, first), (first, second, rest // second)])


def sizes_of(seed):
    """The extents of a program, and the most elements of a tensor: every fourth program is large."""
    return (LARGE, 400_000) if seed % 4 == 3 else (SMALL, 20_000)


def program(seed):
    """The function of a seed, and its inputs."""
    if seed % 3 == 2:
        return networks.program(seed)
    rng = np.random.default_rng(seed ^ 0x5EED)
    extents, most = sizes_of(seed)
    inputs = []
    for _ in range(1 + int(rng.integers(3))):
        shape = tuple(int(rng.choice(extents)) for _ in range(int(rng.integers(4))))
        while np.prod(shape) > most / 8:
            shape = shape[1:]
        letter = rng.choice(list("fffffdiub"))
        x = rng.integers(-16, 17, shape) / 8
        inputs.append(np.asarray({"f": x.astype(np.float32), "d": x, "i": rng.integers(-9, 10, shape).astype(np.int32),
                                  "u": rng.integers(0, 200, shape).astype(np.uint8), "b": x > 0}[letter]))
    steps, results = int(rng.integers(2, 20)), int(rng.integers(1, 4))

    def function(*arguments):
        g = Generator(seed, arguments)
        for _ in range(steps):
            g.step()
        return tuple(v.array for v in g.pool[-results:])

    return function, inputs


def save(path, array):
    array = np.asarray(array)
    narrow = array.dtype == ml_dtypes.bfloat16
    np.save(f"{path}.bf16.npy" if narrow else f"{path}.npy", array.view(np.uint16) if narrow else array)
    return f"{path}.bf16.npy" if narrow else f"{path}.npy"


def difference(got, want, tolerance):
    """None when they agree, else a line."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{list(got.shape)}, XLA has {want.dtype}{list(want.shape)}"
    if want.dtype.kind in "iub":
        return None if (got == want).all() else f"{(got != want).sum()} of {want.size} differ, e.g. {got[got != want][0]} for {want[got != want][0]}"
    wide = np.complex128 if want.dtype.kind == "c" else np.float64
    g, w = got.astype(wide), want.astype(wide)
    finite = np.abs(w[np.isfinite(w)])
    scale = max(1.0, float(finite.max())) if finite.size else 1.0
    good = np.isclose(g, w, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
    return None if good.all() else f"{(~good).sum()} of {w.size} differ, e.g. {g[~good].flat[0]} for {w[~good].flat[0]}"


def run(seed, folder, backends):
    """Runs one program everywhere: (outcome, message)."""
    function, inputs = program(seed)
    try:
        jitted = jax.jit(function, keep_unused=True)
        lowered = jitted.lower(*inputs)
        want = [np.asarray(o) for o in jitted(*inputs)]
    except Exception as error:
        return "skipped", f"JAX: {type(error).__name__}: {str(error).splitlines()[0][:150]}"
    os.makedirs(folder, exist_ok=True)
    text = lowered.as_text()
    with open(f"{folder}/program.mlir", "w") as f:
        f.write(text)
    # Where narrow floats take part, little more than their digits agree.
    tolerance = 0.06 if "f16" in text else 1e-3
    given = [save(f"{folder}/in{i}", x) for i, x in enumerate(inputs)]
    for i, w in enumerate(want):
        save(f"{folder}/out{i}", w)
    for backend in backends:
        out = f"{folder}/{backend}"
        words = [SURJECT, "run", f"{folder}/program.mlir", "--backend", backend, "--out", out]
        try:
            done = subprocess.run(words + (["-i", *given] if given else []), capture_output=True, text=True, timeout=120)
        except subprocess.TimeoutExpired:
            return "failed", f"{backend}: no answer in 120 s"
        if done.returncode == 3:
            return "unsupported", f"{backend}: " + " ".join(done.stderr.split())[:400]
        if done.returncode:
            return "failed", f"{backend}: status {done.returncode}: {done.stderr.strip()[:600]}"
        for i, w in enumerate(want):
            path = f"{out}/out{i}.npy"
            got = np.load(path) if os.path.exists(path) else np.load(f"{out}/out{i}.bf16.npy").view(ml_dtypes.bfloat16)
            message = difference(got, w, tolerance)
            if message:
                return "differs", f"{backend}, output {i}: {message}"
    return "agree", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("seeds", help="FROM..TO")
    parser.add_argument("--keep", default=f"{ROOT}/target/fuzz")
    parser.add_argument("--backends", default="interp,cpu")
    arguments = parser.parse_args()
    first, last = map(int, arguments.seeds.split(".."))
    counts = collections.Counter()
    for seed in range(first, last):
        folder = f"{arguments.keep}/{seed}"
        # The interpreter takes minutes for large ones.
        backends = [b for b in arguments.backends.split(",") if b != "interp" or sizes_of(seed)[0] == SMALL]
        outcome, message = run(seed, folder, backends)
        counts[outcome] += 1
        if message:
            print(f"seed {seed}: {outcome}: {message}", flush=True)
        if outcome in ("agree", "skipped"):
            shutil.rmtree(folder, ignore_errors=True)
        if seed % 50 == 49:
            jax.clear_caches()
    print(", ".join(f"{n} {outcome}" for outcome, n in sorted(counts.items())))
    return 1 if counts["differs"] or counts["failed"] or not counts["agree"] else 0


sys.exit(main())
