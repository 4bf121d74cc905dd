#!/usr/bin/env python3
"""Draws programs of the suite's kinds, and mixes of them, with other shapes, types and layouts: what a speed that is not
keyed to the suite has to hold for.

    drawn.py FOLDER SEED COUNT [KIND …]     COUNT programs, as `suite.py` writes them; kinds are prefixes

`surject bench FOLDER --against xla` times them. The same seed draws the same programs.
"""
import os
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
import numpy as np
from exported import export
from jax import lax

jax.config.update("jax_default_matmul_precision", "highest")
jax.config.update("jax_enable_x64", True)
KINDS = []


def kind(function):
    """A kind of programs: from a draw to a function and its arguments."""
    KINDS.append(function)
    return function


class Draw:
    """What a program is drawn from."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def pick(self, *things):
        return things[int(self.rng.integers(len(things)))]

    def size(self, low, high):
        """Between the two, small ones as likely as large ones; half are multiples of 8 where that is possible."""
        n = int(np.exp(self.rng.uniform(np.log(low), np.log(high + 1))))
        return n if self.rng.random() < 0.5 else max(low, n // 8 * 8)

    def float(self):
        return self.pick(*["float32"] * 8, "bfloat16", "float64", "float16")

    def shape(self, rank, elements):
        """Extents of about so many elements together."""
        shares = self.rng.dirichlet([1.5] * rank)
        extents = [max(1, int(elements**s)) for s in shares]
        return tuple(n if self.rng.random() < 0.5 or n < 16 else n // 8 * 8 for n in extents)

    def axes(self, rank):
        """Some axes, at least one and not all where there are several."""
        n = int(self.rng.integers(1, max(2, rank)))
        return tuple(sorted(int(a) for a in self.rng.permutation(rank)[:n]))

    def order(self, rank):
        return tuple(int(a) for a in self.rng.permutation(rank))

    def below(self, n, *shape):
        return self.rng.integers(0, n, shape).astype(np.int32)


def array(dtype, *shape):
    return jax.ShapeDtypeStruct(shape, jnp.dtype(dtype))


f32 = lambda *shape: array("float32", *shape)


def pulled(function, n=None):
    """The gradient of a function by its first `n` arguments; the cotangent is the last one."""
    def result(*arguments):
        *rest, cotangent = arguments
        wanted, fixed = rest[:n or len(rest)], rest[n or len(rest):]
        return jax.vjp(lambda *a: function(*a, *fixed), *wanted)[1](cotangent)
    return result


def with_gradient(d, function, *arguments, n=None):
    """The function, or its gradient."""
    if d.pick(True, True, False):
        return function, arguments
    result = jax.eval_shape(function, *arguments)
    return pulled(function, n), (*arguments, array(result.dtype, *result.shape))


ACTIVATIONS = (jnp.tanh, jax.nn.gelu, jax.nn.silu, jax.nn.relu, jax.nn.sigmoid, jax.nn.softplus, lambda x: x * x, jnp.abs,
               jax.nn.elu, lambda x: jnp.exp(-x * x), lambda x: jnp.sqrt(jnp.abs(x) + 1), lambda x: jnp.log1p(jnp.abs(x)), jnp.sin)


# Contractions.
@kind
def product(d):
    t = d.float()
    m, k, n = d.size(1, 1500), d.size(1, 1500), d.size(1, 1500)
    a, b = d.pick(0, 1), d.pick(0, 1)
    after = d.pick(lambda y: y, lambda y: y, *ACTIVATIONS)
    f = lambda x, w: after((x.T if a else x) @ (w.T if b else w))
    return f, (array(t, *((k, m) if a else (m, k))), array(t, *((n, k) if b else (k, n))))


@kind
def skinny(d):
    few, k, n = d.size(1, 16), d.size(500, 5000), d.size(500, 5000)
    turned = d.pick(0, 1)
    f, a, w = lambda x, w: x @ (w.T if turned else w), f32(few, k), f32(*((n, k) if turned else (k, n)))
    return d.pick((f, (a, w)), (lambda w, x: f(x.T, w).T, (w, f32(k, few))))


@kind
def thin(d):
    """Products with a short sum, or few columns, of many rows."""
    m, k, n = d.size(2000, 60000), d.size(1, 40), d.size(1, 40)
    return d.pick((lambda x, w: x @ w, (f32(m, k), f32(k, n))), (lambda x, y: x.T @ y, (f32(m, k), f32(m, n))),
                  (lambda x, w, b: jax.nn.relu(x @ w + b), (f32(m, k), f32(k, n), f32(n))))


@kind
def einsum(d):
    letters = dict(zip("bijkl", (d.size(1, 40), *(d.size(2, 200) for _ in range(4)))))
    text = d.pick("bij,bjk->bik", "bij,bkj->bik", "bji,bjk->bik", "bij,kj->ikb", "bij,jk->bki", "ijb,jkb->ikb", "bijk,kl->bijl",
                  "ij,jk,kl->il", "bij,bjk->ik", "bi,bj->bij", "bi,bj->ij", "ijk,jk->i", "bij,bij->bi", "ibj,kbj->bik", "bik,bjk->ijb",
                  "bjik,kl->bilj", "bij,bj->bi", "bij,bi->bj", "ijk,kj->ji", "bi,ij,bj->b")
    left, out = text.split("->")
    shapes = []
    for operand in left.split(","):
        s = [letters[c] for c in operand]
        while np.prod(s) > 4e6:
            s[int(np.argmax(s))] //= 2
        shapes.append(s)
        letters.update(zip(operand, s))
    t = d.pick("float32", "float32", "float32", "bfloat16", "float64")
    return lambda *a: jnp.einsum(text, *a), [array(t, *(letters[c] for c in operand)) for operand in left.split(",")]


@kind
def narrow(d):
    """Products of bytes and other integers."""
    t, m, k, n = d.pick("int8", "int8", "uint8", "int16", "int32"), d.size(8, 900), d.size(8, 900), d.size(8, 900)
    low, high = np.iinfo(t).min, np.iinfo(t).max
    sample = lambda *s: d.rng.integers(max(low, -1000), min(high, 1000), s).astype(t)
    return lambda a, b: lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32), (sample(m, k), sample(k, n))


@kind
def chained(d):
    """Several products, with something between them."""
    n = d.size(1, 600)
    widths = [d.size(1, 500) for _ in range(int(d.rng.integers(3, 5)))]
    act = d.pick(*ACTIVATIONS)

    def f(x, *w):
        for m in w:
            x = act(x @ m / np.float32(m.shape[0] ** 0.5))
        return x
    return with_gradient(d, f, f32(n, widths[0]), *(f32(a, b) for a, b in zip(widths, widths[1:])))


# Convolutions.
def convolution(d, layout=None, dims=2):
    c, o = d.pick(1, 3, d.size(1, 128)), d.size(1, 128)
    side = d.size(4, 80) if dims == 2 else d.size(16, 800) if dims == 1 else d.size(4, 20)
    batch = max(1, min(16, int(4e6 / (side**dims * max(c, o)))))
    batch = int(d.rng.integers(1, batch + 1))
    k = min(side, d.pick(1, 2, 3, 3, 3, 4, 5, 7))
    stride, dilation, lhs = d.pick(1, 1, 1, 2, 3), d.pick(1, 1, 1, 1, 2), d.pick(1, 1, 1, 1, 1, 2)
    if (k - 1) * dilation + 1 > side * lhs or stride > 1:
        dilation = 1
    groups = d.pick(1, 1, 1, 1, c, 2, 4)
    groups = groups if c % groups == 0 else 1
    o = c * d.pick(1, 1, 2) if groups == c > 1 else max(groups, o // groups * groups)
    padding = d.pick("SAME", "SAME", "VALID") if lhs == 1 else [(k // 2, k // 2)] * dims
    layout = layout or d.pick("last", "last", "first")
    axes = "HWD"[:dims]
    image = f"N{axes}C" if layout == "last" else f"NC{axes}"
    numbers = (image, d.pick(f"{axes}IO", f"OI{axes}"), image)
    x = (batch, *[side + int(d.rng.integers(-2, 3)) if d.pick(0, 1) else side for _ in range(dims)], c)
    x = x if layout == "last" else (batch, c, *x[1:-1])
    w = (*[k] * dims, c // groups, o) if numbers[1][0] != "O" else (o, c // groups, *[k] * dims)
    f = lambda x, w: lax.conv_general_dilated(x, w, (stride,) * dims, padding, (lhs,) * dims, (dilation,) * dims, numbers, groups)
    return f, x, w


@kind
def conv(d):
    f, x, w = convolution(d)
    t = d.pick(*["float32"] * 9, "bfloat16", "float64")
    return f, (array(t, *x), array(t, *w))


@kind
def conv_gradient(d):
    f, x, w = convolution(d)
    y = jax.eval_shape(f, f32(*x), f32(*w))
    if d.pick(True, False):
        return lambda x, w, g: jax.vjp(lambda w: f(x, w), w)[1](g)[0], (f32(*x), f32(*w), y)
    return lambda x, w, g: jax.vjp(lambda x: f(x, w), x)[1](g)[0], (f32(*x), f32(*w), y)


@kind
def conv_1d_3d(d):
    f, x, w = convolution(d, dims=d.pick(1, 3))
    return with_gradient(d, f, f32(*x), f32(*w))


@kind
def conv_act(d):
    f, x, w = convolution(d, "last")
    act = d.pick(*ACTIVATIONS)
    return lambda x, w, b: act(f(x, w) + b), (f32(*x), f32(*w), f32(jax.eval_shape(f, f32(*x), f32(*w)).shape[-1]))


@kind
def conv_norm(d):
    f, x, w = convolution(d, "last")

    def g(x, w, s, b):
        y = f(x, w)
        mean, var = y.mean((0, 1, 2)), y.var((0, 1, 2))
        return jax.nn.relu((y - mean) * lax.rsqrt(var + 1e-5) * s + b)
    o = jax.eval_shape(f, f32(*x), f32(*w)).shape[-1]
    return with_gradient(d, g, f32(*x), f32(*w), f32(o), f32(o))


@kind
def pool(d):
    n, side, c = d.size(1, 8), d.size(6, 100), d.size(1, 96)
    k, s = d.pick(2, 2, 3, 4), d.pick(1, 2, 2, 3)
    last = d.pick(True, False)
    window, strides = ((1, k, k, 1), (1, s, s, 1)) if last else ((1, 1, k, k), (1, 1, s, s))
    padding = d.pick("SAME", "VALID")
    f = d.pick(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, window, strides, padding),
               lambda x: lax.reduce_window(x, np.float32(0), lax.add, window, strides, padding) / np.float32(k * k))
    return with_gradient(d, f, f32(*((n, side, side, c) if last else (n, c, side, side))))


# Normalisations, losses.
@kind
def softmax(d):
    rank = d.pick(2, 2, 3, 4)
    s, t = d.shape(rank, d.size(20_000, 4_000_000)), d.float()
    axis = d.pick(-1, -1, -1, *range(rank))
    f = d.pick(lambda x: jax.nn.softmax(x, axis), lambda x: jax.nn.log_softmax(x, axis), lambda x: jax.nn.logsumexp(x, axis))
    return with_gradient(d, f, array(t, *s))


@kind
def norm(d):
    rank = d.pick(2, 3, 3, 4)
    s = d.shape(rank, d.size(20_000, 4_000_000))
    axes = d.pick((rank - 1,), (rank - 1,), tuple(range(1, rank)), tuple(range(rank - 1)), d.axes(rank))
    centred = d.pick(True, True, False)

    def f(x, w, b):
        y = x - x.mean(axes, keepdims=True) if centred else x
        y = y * lax.rsqrt((y * y).mean(axes, keepdims=True) + 1e-5)
        return y * w + b
    return with_gradient(d, f, f32(*s), f32(s[-1]), f32(s[-1]))


@kind
def group_norm(d):
    n, side, g, c = d.size(1, 8), d.size(4, 48), d.pick(1, 2, 4, 8), d.size(1, 24)

    def f(x, w, b):
        y = x.reshape(n, side, side, g, c)
        y = (y - y.mean((1, 2, 4), keepdims=True)) * lax.rsqrt(y.var((1, 2, 4), keepdims=True) + 1e-5)
        return y.reshape(x.shape) * w + b
    return with_gradient(d, f, f32(n, side, side, g * c), f32(g * c), f32(g * c))


@kind
def cross_entropy(d):
    n, c = d.size(16, 4000), d.size(2, 5000)
    n = max(1, min(n, 4_000_000 // c))
    f = lambda x, y: -jnp.take_along_axis(jax.nn.log_softmax(x, -1), y[:, None], -1).mean()
    smooth = lambda x, y: -(jax.nn.log_softmax(x, -1) * (0.9 * jax.nn.one_hot(y, c) + 0.1 / c)).sum(-1).mean()
    f = d.pick(f, f, smooth)
    return d.pick((f, (f32(n, c), d.below(c, n))), (jax.value_and_grad(f), (f32(n, c), d.below(c, n))))


@kind
def distances(d):
    m, n, k = d.size(10, 1000), d.size(10, 1000), d.size(1, 64)
    n = max(1, min(n, 30_000_000 // (m * k)))
    f = d.pick(lambda a, b: ((a[:, None] - b[None]) ** 2).sum(-1), lambda a, b: jnp.abs(a[:, None] - b[None]).sum(-1),
               lambda a, b: jnp.exp(-0.1 * ((a[:, None] - b[None]) ** 2).sum(-1)), lambda a, b: jnp.sqrt(((a[:, None] - b[None]) ** 2).sum(-1)).min(1),
               lambda a, b: jnp.argmin(((a[:, None] - b[None]) ** 2).sum(-1), 1), lambda a, b: jnp.abs(a[:, None] - b[None]).max(-1))
    return f, (f32(m, k), f32(n, k))


# Pointwise.
@kind
def pointwise(d):
    rank = d.pick(1, 2, 2, 3, 4)
    s, t = d.shape(rank, d.size(5_000, 4_000_000)), d.float()
    acts = [d.pick(*ACTIVATIONS) for _ in range(d.pick(1, 2, 3))]

    def f(x, y, b):
        for i, act in enumerate(acts):
            x = act(x + b) * y if i % 2 == 0 else act(x) - y
        return x
    return with_gradient(d, f, array(t, *s), array(t, *s), array(t, s[-1]))


@kind
def broadcast(d):
    s = d.shape(3, d.size(50_000, 4_000_000))
    parts = [tuple(n if d.pick(0, 1) else 1 for n in s) for _ in range(3)]
    act = d.pick(*ACTIVATIONS)
    return lambda x, a, b, c: act(x * a + b) * c, (f32(*s), *(f32(*p) for p in parts))


@kind
def function(d):
    n, t = d.size(1000, 2_000_000), d.pick("float32", "float32", "float32", "float64")
    f = d.pick(jnp.exp, jnp.log, jnp.log1p, jnp.expm1, jnp.tanh, jax.nn.sigmoid, lax.erf, jnp.sin, jnp.cos, lax.rsqrt, jnp.cbrt, jnp.tan,
               jnp.arctan, jnp.sinh, jnp.arcsinh, lambda x: x**1.7, lambda x: jnp.arctan2(x, x + 1), lax.lgamma, lax.erf_inv, jnp.exp2, jnp.floor, jnp.round)
    positive = f in (jnp.log, lax.rsqrt, lax.lgamma)
    x = d.rng.standard_normal(n).astype(t)
    x = np.clip(x, -0.99, 0.99) if f is lax.erf_inv else np.abs(x) + 0.01 if positive or "1.7" in str(f) else x
    return f, (np.abs(x) if f not in (jnp.exp, jnp.tanh, jnp.sin, jnp.cos, lax.erf, lax.erf_inv) else x,)


@kind
def integers(d):
    s, t = d.shape(2, d.size(20_000, 2_000_000)), d.pick("int32", "int8", "uint8", "int64", "uint32", "int16")
    sample = lambda: d.rng.integers(1, 100, s).astype(t)
    f = d.pick(lambda a, b: a * b + a, lambda a, b: a // b, lambda a, b: a % b, lambda a, b: jnp.where(a > b, a, b - a), lambda a, b: (a ^ b) & 15,
               lambda a, b: (a << 1) | (b >> 2), lambda a, b: (a < b).sum(1), lambda a, b: a.sum(0) + b.max(0), lambda a, b: (a == b).any(1),
               lambda a, b: a.astype(jnp.float32) / b, lambda a, b: lax.population_count(a) + lax.clz(b))
    return f, (sample(), sample())


@kind
def convert(d):
    types = ("float32", "bfloat16", "float16", "float64", "int32", "int8", "uint8", "bool", "int64")
    a, b = d.pick(*types), d.pick(*types)
    s = d.shape(2, d.size(20_000, 4_000_000))
    x = d.rng.standard_normal(s) * 20
    order = d.pick((0, 1), (0, 1), (1, 0))
    x = (x > 0 if a == "bool" else np.abs(x)).astype(jnp.dtype(a))
    return lambda x: (x.astype(b) if b != a else x + x).transpose(order), (x,)


# Reductions.
@kind
def reduction(d):
    rank = d.pick(1, 2, 2, 3, 3, 4)
    s, t = d.shape(rank, d.size(20_000, 8_000_000)), d.float()
    axes = d.axes(rank)
    before = d.pick(lambda x: x, lambda x: x, *ACTIVATIONS)
    join = d.pick(jnp.sum, jnp.sum, jnp.mean, jnp.max, jnp.min, jnp.var, jnp.std, lambda x, a: jnp.sqrt((x * x).sum(a)), lambda x, a: jax.nn.logsumexp(x, a))
    return lambda x: join(before(x), axes), (array(t, *s),)


@kind
def positions(d):
    rank = d.pick(2, 3)
    s = d.shape(rank, d.size(20_000, 2_000_000))
    axis = int(d.rng.integers(rank))
    f = d.pick(lambda x: jnp.argmax(x, axis), lambda x: jnp.argmin(x, axis), lambda x: (x.max(axis), jnp.argmax(x, axis)), lambda x: (x > 0).all(axis),
               lambda x: lax.top_k(x, min(5, s[-1]))[0], lambda x: jnp.median(x, axis), lambda x: jnp.argsort(x, axis))
    return f, (f32(*s),)


@kind
def scan(d):
    rank = d.pick(1, 2, 2, 3)
    s = d.shape(rank, d.size(20_000, 2_000_000))
    axis = int(d.rng.integers(rank))
    f = d.pick(lambda x: jnp.cumsum(x, axis), lambda x: lax.cummax(x, axis), lambda x: jnp.cumprod(1 + 1e-3 * x, axis), lambda x: lax.cumlogsumexp(x, axis),
               lambda x: lax.cumsum(x, axis, reverse=True), lambda x: jnp.cumsum(x, axis) / (1 + jnp.arange(s[axis])).reshape([-1 if i == axis else 1 for i in range(rank)]).astype(jnp.float32))
    return f, (f32(*s),)


@kind
def small_inner(d):
    n, c = d.size(1000, 400_000), d.size(2, 17)
    f = d.pick(lambda x: x.sum(1), lambda x: x.max(1), lambda x: jax.nn.softmax(x, -1), lambda x: x / jnp.sqrt((x * x).sum(1, keepdims=True)), lambda x: jnp.argmax(x, 1),
               lambda x: x - x.mean(1, keepdims=True), lambda x: x.T, lambda x: x @ x[:c], lambda x: (x * jnp.roll(x, 1, 1)).sum(1), lambda x: jnp.cumsum(x, 1), lambda x: x.sum(0))
    return f, (f32(n, c),)


# Moves.
@kind
def transpose(d):
    rank = d.pick(2, 2, 3, 4, 5)
    s, t = d.shape(rank, d.size(20_000, 6_000_000)), d.pick(*["float32"] * 6, "bfloat16", "int8", "float64")
    order = d.order(rank)
    after = d.pick(lambda x: x, lambda x: x, lambda x: x + 1, lambda x: x * x)
    return lambda x: after(x.transpose(order)), (array(t, *s) if t != "int8" else d.rng.integers(-9, 9, s).astype(t),)


@kind
def reshape(d):
    a, b, c, e = (d.size(2, 60) for _ in range(4))
    f = d.pick(lambda x: x.reshape(a, b, c, e).transpose(0, 2, 1, 3).reshape(a * c, b * e), lambda x: x.reshape(a * c, b * e) + 1, lambda x: x.reshape(a, b, c, e).sum(1),
               lambda x: x.reshape(a * b * c, e).T, lambda x: jnp.repeat(x, 2, 0), lambda x: jnp.tile(x, (2, 2)), lambda x: x.reshape(-1)[::-1].reshape(x.shape),
               lambda x: x.reshape(a, b, c * e).swapaxes(0, 1), lambda x: x.reshape(e, a * b, c).mean(2))
    return f, (f32(a * b, c * e),)


@kind
def pieces(d):
    m, n = d.size(50, 1500), d.size(50, 1500)
    p, q = d.size(1, 20), d.size(1, 20)
    f = d.pick(lambda a, b: jnp.concatenate([a, b], 0), lambda a, b: jnp.concatenate([a[:, p:], b], 1), lambda a, b: jnp.pad(a, ((p, q), (q, p))) + 1, lambda a, b: a[p:, ::2],
               lambda a, b: a[::-1] + b[:, ::-1], lambda a, b: jnp.stack([a, b], -1), lambda a, b: jnp.stack([a, b], 1), lambda a, b: jnp.roll(a, p, 1) * b, lambda a, b: a.at[p:, :-q].add(b[:-p, q:]),
               lambda a, b: a.at[p:-q].set(0), lambda a, b: jnp.concatenate([a.T, b.T], 1), lambda a, b: jnp.pad(a, ((0, 0), (p, 0)))[:, :-p] - b, lambda a, b: jnp.where(a > 0, a, b[::-1]),
               lambda a, b: jnp.diff(a, axis=1), lambda a, b: jnp.tril(a) + jnp.triu(b, 1), lambda a, b: a[1:-1, 1:-1] * 4 - a[:-2, 1:-1] - a[2:, 1:-1] - a[1:-1, :-2] - a[1:-1, 2:])
    return f, (f32(m, n), f32(m, n))


@kind
def gather(d):
    m, n, k = d.size(10, 30_000), d.size(1, 300), d.size(10, 20_000)
    i, j = d.below(m, k), d.below(n, k)
    f = d.pick((lambda x, i: x[i], (f32(m, n), i)), (lambda x, i: x[i].sum(1), (f32(m, n), i)), (lambda x, i, j: x[i, j], (f32(m, n), i, j)), (lambda x, i: jnp.take(x, i, 1), (f32(max(1, n // 4), m), i)),
               (lambda x, i: x[i.reshape(-1, 5)].mean(1), (f32(m, n), i[: k // 5 * 5])), (lambda x, y, i, j: x[i] * y[j], (f32(m, n), f32(n, n), i, j)),
               (lambda x, i: jnp.take_along_axis(x, i, 1), (f32(k, n), d.below(n, k, 3))), (lambda x, i: jax.nn.relu(x[i]) * 2, (f32(m, n), i)))
    return f


@kind
def scatter(d):
    m, n, k = d.size(10, 30_000), d.size(1, 200), d.size(10, 20_000)
    i = d.below(m, k)
    return d.pick((lambda x, i, u: x.at[i].add(u), (f32(m, n), i, f32(k, n))), (lambda i, u: jnp.zeros((m, n), u.dtype).at[i].add(u), (i, f32(k, n))), (lambda x, i, u: x.at[i].max(u), (f32(m, n), i, f32(k, n))),
                  (lambda u, i: jax.ops.segment_sum(u, i, m), (f32(k, n), np.sort(i))), (lambda x, i: jnp.zeros((m,), x.dtype).at[i].add(x), (f32(k), i)), (lambda i: jnp.bincount(i, length=m), (i,)),
                  (lambda w, i, g: jax.vjp(lambda w: jnp.tanh(w[i]), w)[1](g)[0], (f32(m, n), i, f32(k, n))), (lambda x, i, u: x.at[i].set(u), (f32(m, n), np.unique(i), f32(len(np.unique(i)), n))))


@kind
def sorting(d):
    m, n = d.size(1, 500), d.size(10, 4000)
    f = d.pick(lambda x: jnp.sort(x, -1), lambda x: jnp.sort(x, 0), lambda x: jnp.argsort(x, -1), lambda x: lax.top_k(x, min(8, n)), lambda x: jnp.sort(-jnp.abs(x), -1),
               lambda x: lax.sort((x, x * 2), dimension=1, num_keys=1), lambda x: jnp.quantile(x, 0.3, 1), lambda x: jnp.sort(x.reshape(-1)))
    return f, (f32(m, n),)


# Sequences and models.
def attend(q, k, v, masked, bias=None):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.float32(np.sqrt(q.shape[-1]))
    scores = scores if bias is None else scores + bias
    if masked:
        scores = jnp.where(jnp.tril(jnp.ones((q.shape[1], k.shape[1]), bool)), scores, -1e30)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1), v)


@kind
def attention(d):
    b, h, e = d.size(1, 6), d.size(1, 12), d.pick(16, 32, 40, 64, 64, 80, 128)
    q = d.pick(1, d.size(16, 700), d.size(16, 700), d.size(16, 700))
    k = d.pick(q, q, d.size(16, 700))
    while b * h * q * k > 6_000_000:
        h = max(1, h // 2)
        b = max(1, b // 2) if h == 1 else b
        q, k = (q, k) if b * h > 1 else (q // 2 + 1, k // 2 + 1)
    masked = d.pick(True, False)
    form = d.pick("plain", "plain", "plain", "bias", "first", "grouped")
    if form == "bias":
        return lambda q, k, v, a: attend(q, k, v, masked, a), (f32(b, q, h, e), f32(b, k, h, e), f32(b, k, h, e), f32(h, q, k))
    if form == "first":
        turn = lambda x: x.swapaxes(1, 2)
        return with_gradient(d, lambda q, k, v: turn(attend(turn(q), turn(k), turn(v), masked)), f32(b, h, q, e), f32(b, h, k, e), f32(b, h, k, e))
    if form == "grouped":
        return with_gradient(d, lambda q, k, v: attend(q, jnp.repeat(k, h, 2), jnp.repeat(v, h, 2), masked), f32(b, q, h, e), f32(b, k, 1, e), f32(b, k, 1, e))
    return with_gradient(d, lambda q, k, v: attend(q, k, v, masked), f32(b, q, h, e), f32(b, k, h, e), f32(b, k, h, e))


@kind
def recurrent(d):
    steps, b, i, width = d.size(5, 150), d.size(1, 64), d.size(2, 160), d.size(2, 160)
    form = d.pick("rnn", "gru", "lstm", "linear")
    wide = {"rnn": 1, "gru": 3, "lstm": 4, "linear": 1}[form]

    def f(x, wx, wh, bias):
        def cell(carry, x):
            h, c = carry
            if form == "linear":
                h = jax.nn.sigmoid(x @ wx * np.float32(0.1) + bias) * h + x[:, :1]
            elif form == "gru":
                a, g = x @ wx * np.float32(0.1) + bias, h @ wh * np.float32(0.1)
                (ar, az, an), (gr, gz, gn) = jnp.split(a, 3, -1), jnp.split(g, 3, -1)
                z = jax.nn.sigmoid(az + gz)
                h = (1 - z) * jnp.tanh(an + jax.nn.sigmoid(ar + gr) * gn) + z * h
            else:
                a = (x @ wx + h @ wh) * np.float32(0.1) + bias
                if form == "rnn":
                    h = jnp.tanh(a)
                else:
                    i, f, g, o = jnp.split(a, 4, -1)
                    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
                    h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h
        start = jnp.zeros((b, width), x.dtype)
        return lax.scan(cell, (start, start), x)[1]
    return with_gradient(d, f, f32(steps, b, i), f32(i, wide * width), f32(width, wide * width), f32(wide * width))


@kind
def loop(d):
    n, steps = d.size(4, 300), d.size(3, 100)
    f = d.pick(lambda a, x: lax.fori_loop(0, steps, lambda _, x: (lambda y: y / jnp.sqrt((y * y).sum()))(a @ x), x), lambda a, x: lax.fori_loop(0, steps, lambda _, x: x + 0.01 * jnp.tanh(a @ x), x),
               lambda a, x: lax.fori_loop(0, steps, lambda _, x: jnp.sin(x) + 0.1 * jnp.roll(x, 1), x), lambda a, x: lax.while_loop(lambda s: s[0] < steps, lambda s: (s[0] + 1, s[1] * 0.9 + 0.1 * a[s[0] % n]), (0, x))[1],
               lambda a, x: lax.scan(lambda c, r: (jnp.maximum(c, r) * 0.99, c.sum()), x, a))
    return f, (f32(n, n), f32(n))


@kind
def random(d):
    n = d.size(1000, 1_000_000)
    make = d.pick(lambda k: jax.random.normal(k, (n,)), lambda k: jax.random.uniform(k, (n,)), lambda k: jax.random.bernoulli(k, 0.3, (n,)), lambda k: jax.random.randint(k, (n,), 0, 100),
                  lambda k: jax.random.normal(k, (n,), jnp.bfloat16), lambda k: jax.random.exponential(k, (n,)), lambda k: jax.random.gumbel(k, (n,)))
    return lambda key: make(jax.random.wrap_key_data(key)), (np.array([1, 2], np.uint32),)


def stepped(loss, parameters, *data):
    """A training step; parameters come after the data."""
    n = len(data)

    def step(*a):
        value, gradient = jax.value_and_grad(lambda w: loss(w, *a[:n]))(a[n:])
        return (value, *[w - np.float32(0.1) * g for w, g in zip(a[n:], gradient)])
    return step, (*data, *parameters)


@kind
def mlp_step(d):
    b, widths = d.size(1, 600), [d.size(4, 800)] + [d.size(2, 512) for _ in range(d.pick(1, 2, 3))]
    act = d.pick(*ACTIVATIONS)

    def loss(w, x, y):
        for i in range(0, len(w), 2):
            x = x @ w[i] * np.float32(w[i].shape[0] ** -0.5) + w[i + 1]
            x = act(x) if i + 2 < len(w) else x
        return ((x - y) ** 2).mean() if d_loss else -(jax.nn.log_softmax(x, -1) * y).sum(-1).mean()
    d_loss = d.pick(True, False)
    return stepped(loss, [a for m, n in zip(widths, widths[1:]) for a in (f32(m, n), f32(n))], f32(b, widths[0]), f32(b, widths[-1]))


@kind
def cnn_step(d):
    b, side, c = d.size(1, 64), d.pick(8, 14, 16, 20, 28, 32), d.pick(1, 3, 4)
    c1, c2, hidden, classes = d.size(4, 32), d.size(4, 48), d.size(8, 128), d.size(2, 20)
    k, mean = d.pick(3, 3, 5), d.pick(True, False)

    def pool(x):
        if mean:
            return lax.reduce_window(x, np.float32(0), lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def loss(w, x, y):
        k1, k2, w1, b1, w2, b2 = w
        for kernel in (k1, k2):
            x = lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")) * np.float32(0.3)
            x = pool(jax.nn.relu(x))
        x = jax.nn.relu(x.reshape(x.shape[0], -1) @ w1 * np.float32(0.05) + b1)
        return -(jax.nn.log_softmax(x @ w2 + b2, -1) * y).sum(-1).mean()
    flat = (side // 4) ** 2 * c2
    return stepped(loss, [f32(k, k, c, c1), f32(k, k, c1, c2), f32(flat, hidden), f32(hidden), f32(hidden, classes), f32(classes)], f32(b, side, side, c), f32(b, classes))


@kind
def block(d):
    heads, e = d.pick(1, 2, 4, 8), d.pick(8, 16, 20, 32, 64)
    b, s, m = d.size(1, 6), d.size(8, 260), heads * e
    hidden, layers = d.pick(2, 4) * m, d.pick(1, 1, 2, 3)
    form, masked = d.pick("rms", "layer"), d.pick(True, False)
    scale = np.float32(0.05)

    def normed(x, w):
        x = x if form == "rms" else x - x.mean(-1, keepdims=True)
        return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * w
    act = d.pick(jax.nn.gelu, jax.nn.silu, jax.nn.relu)

    def forward(w, x):
        for l in range(0, len(w), 6):
            s1, wqkv, wo, s2, w1, w2 = w[l:l + 6]
            q, k, v = (a.reshape(b, s, heads, e) for a in jnp.split(normed(x, s1) @ wqkv * scale, 3, -1))
            x = x + attend(q, k, v, masked).reshape(x.shape) @ wo * scale
            x = x + act(normed(x, s2) @ w1 * scale) @ w2 * scale
        return x
    weights = [f32(m), f32(m, 3 * m), f32(m, m), f32(m), f32(m, hidden), f32(hidden, m)] * layers
    if d.pick(True, False):
        return lambda x, *w: forward(w, x), (f32(b, s, m), *weights)
    return stepped(lambda w, x, y: ((forward(w, x) - y) ** 2).mean(), weights, f32(b, s, m), f32(b, s, m))


@kind
def optimiser(d):
    s = d.shape(2, d.size(10_000, 2_000_000))
    form = d.pick("adam", "momentum", "clipped", "rms")

    def f(w, m, v, g):
        if form == "momentum":
            m = 0.9 * m + g
            return w - 0.01 * m, m
        if form == "clipped":
            g = g * jnp.minimum(1, 1 / jnp.sqrt((g * g).sum()))
        if form == "rms":
            v = 0.9 * v + 0.1 * g * g
            return w - 0.01 * g / jnp.sqrt(v + 1e-8), v
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        return w - 1e-3 * (m / 0.1) / (jnp.sqrt(v / 0.001) + 1e-8), m, v
    return f, (f32(*s), f32(*s), np.abs(d.rng.standard_normal(s)).astype(np.float32), f32(*s))


def main():
    folder, seed, count, *kinds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:]
    chosen = [k for k in KINDS if not kinds or any(k.__name__.startswith(p) for p in kinds)]
    for i in range(count):
        make, draw = chosen[i % len(chosen)], Draw([seed, i])
        function, arguments = make(draw)
        export(f"{folder}/{make.__name__}_{seed}_{i}", function, arguments)
    print(f"{folder}: {count} programs of {len(chosen)} kinds")


main()
