"""Writes the programs of this folder: StableHLO of functions with a scalar result, arguments, and what `jax.grad` gives, or
differences where JAX is wrong.

    python make.py            all
    python make.py NAME...    these

Each folder has program.mlir, in<i>.npy, out0.npy (the value) and grad<i>.npy (one for each floating argument).
"""

import shutil
import sys
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

jax.config.update("jax_enable_x64", True)
HERE = Path(__file__).parent
PROGRAMS = {}


def program(*shapes, seed=0, scale=1.0, dtype=np.float64, positive=False):
    """Registers a function of random arrays of these shapes (an array stands for itself)."""

    def register(f):
        rng = np.random.default_rng([seed, len(PROGRAMS)])
        arguments = []
        for s in shapes:
            if isinstance(s, np.ndarray):
                arguments.append(s)
            else:
                x = rng.normal(size=s) * scale
                arguments.append((np.abs(x) + 0.1 if positive else x).astype(dtype))
        PROGRAMS[f.__name__] = (f, arguments)
        return f

    return register


@program((4, 6), (6, 8), (8,), (8, 3), (3,), (4, 3))
def mlp(x, w1, b1, w2, b2, y):
    h = jnp.tanh(x @ w1 + b1)
    return jnp.mean((h @ w2 + b2 - y) ** 2)


@program((4, 6), (6, 8), (8, 5), dtype=np.float32)
def relu_mlp_f32(x, w1, w2):
    return jnp.sum(jax.nn.relu(x @ w1) @ w2)


def conv(x, w, stride, padding, lhs=(1, 1), rhs=(1, 1), groups=1):
    return lax.conv_general_dilated(
        x, w, stride, padding, lhs_dilation=lhs, rhs_dilation=rhs, feature_group_count=groups,
        dimension_numbers=("NCHW", "OIHW", "NCHW"))


@program((2, 3, 6, 6), (4, 3, 3, 3), (2, 4, 6, 6))
def conv_same(x, w, c):
    return jnp.sum(conv(x, w, (1, 1), "SAME") * c)


@program((2, 3, 7, 7), (4, 3, 3, 3))
def conv_strided(x, w):
    return jnp.sum(jnp.sin(conv(x, w, (2, 2), ((1, 2), (0, 1)))))


@program((1, 4, 6, 5), (6, 2, 2, 2))
def conv_dilated_grouped(x, w):
    return jnp.sum(jnp.sin(conv(x, w, (1, 2), ((2, 1), (1, 1)), lhs=(2, 1), rhs=(2, 1), groups=2)))


@program((2, 3, 6, 6))
def max_pool(x):
    y = lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 3, 3), (1, 1, 2, 2), ((0, 0), (0, 0), (1, 1), (0, 1)))
    return jnp.sum(y * y)


@program((2, 2, 6, 6))
def average_pool(x):
    y = lax.reduce_window(x, 0.0, lax.add, (1, 1, 2, 2), (1, 1, 2, 2), "VALID") / 4
    return jnp.sum(jnp.exp(y))


@program((5, 7), np.array([0, 3, 6, 2, 2], np.int32))
def softmax_cross_entropy(logits, labels):
    logp = jax.nn.log_softmax(logits)
    return -jnp.mean(jnp.take_along_axis(logp, labels[:, None], axis=1))


@program((4, 9), (9,), (9,))
def layer_norm(x, gain, bias):
    mean = x.mean(-1, keepdims=True)
    var = x.var(-1, keepdims=True)
    return jnp.sum(jnp.sin((x - mean) / jnp.sqrt(var + 1e-5) * gain + bias))


@program((2, 5, 4), (4, 12), (4, 4))
def causal_attention(x, wqkv, wo):
    q, k, v = jnp.split(x @ wqkv, 3, axis=-1)
    heads = lambda t: t.reshape(2, 5, 2, 2).transpose(0, 2, 1, 3)
    q, k, v = map(heads, (q, k, v))
    scores = q @ k.transpose(0, 1, 3, 2) / jnp.sqrt(2.0)
    scores = jnp.where(jnp.tril(jnp.ones((5, 5), bool)), scores, -1e30)
    y = jax.nn.softmax(scores) @ v
    y = y.transpose(0, 2, 1, 3).reshape(2, 5, 4) @ wo
    return jnp.sum(y * y)


@program((6, 3), np.array([[0, 5, 5], [2, 1, 5]], np.int32))
def embedding(table, tokens):
    return jnp.sum(table[tokens] ** 3)


@program((7, 3), (4,), (3, 4), (4, 4))
def scan_rnn(xs, h0, w, u):
    def step(h, x):
        h = jnp.tanh(x @ w + h @ u)
        return h, h.sum()

    h, ys = lax.scan(step, h0, xs)
    return jnp.sum(h) + jnp.sum(ys ** 2)


@program((4,), (4, 4), scale=0.4)
def fori_power(x, a):
    return jnp.sum(lax.fori_loop(0, 5, lambda i, v: jnp.sin(a @ v) + i * v, x))


@program((3, 4), (4,), scale=0.5)
def nested_scan(xs, h0):
    def inner(h, k):
        return h * 0.9 + jnp.sin(h) * k, h

    def outer(h, x):
        h, hs = lax.scan(inner, h + x, jnp.arange(3.0))
        return h, hs.sum(0)

    h, ys = lax.scan(outer, h0, xs)
    return jnp.sum(h * h) + jnp.sum(jnp.cos(ys))


@program((4, 4))
def cholesky_logdet(a):
    s = a @ a.T + 4 * jnp.eye(4)
    return 2 * jnp.sum(jnp.log(jnp.diagonal(jnp.linalg.cholesky(s))))


@program((3, 3), (3, 2))
def triangular_systems(a, b):
    a = a + 3 * jnp.eye(3)
    solve = partial(lax.linalg.triangular_solve, a)
    x = solve(b, left_side=True, lower=True)
    y = solve(b.T, left_side=False, lower=False, transpose_a=True)
    z = solve(b, left_side=True, lower=False, unit_diagonal=True)
    return jnp.sum(x * x) + jnp.sum(jnp.sin(y)) + jnp.sum(z ** 3)


@program((3, 8))
def fft_power(x):
    z = jnp.fft.fft(x.astype(jnp.complex128))
    r = jnp.fft.rfft(x)
    back = jnp.fft.irfft(r * r, 8)
    return jnp.sum(jnp.abs(z) ** 3) + jnp.sum(jnp.sin(back)) + jnp.sum(jnp.imag(r))


@program((5, 4))
def cumulative(x):
    return jnp.sum(jnp.cumsum(x, 0) ** 2) + jnp.sum(jnp.cumprod(x, 1)) + jnp.sum(lax.cummax(x, 1) ** 3)


@program((3, 6), (6,))
def sort_values(x, w):
    y = jnp.sort(x, axis=1)
    top, _ = lax.top_k(x[0], 2)
    return jnp.sum(y * w) + jnp.sum(top ** 2)


@program((4, 5))
def log_sum_exp(x):
    return jnp.sum(jax.scipy.special.logsumexp(x, axis=1) ** 2)


@program((6, 4, 3, 3), (4,), (4,))
def batch_norm(x, gain, bias):
    axes = (0, 2, 3)
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    y = (x - mean) * lax.rsqrt(var + 1e-3) * gain[None, :, None, None] + bias[None, :, None, None]
    return jnp.sum(jax.nn.relu(y) ** 2)


@program((3, 7))
def activations(x):
    return jnp.sum(jax.nn.gelu(x) + jax.nn.gelu(x, approximate=False) + jax.nn.silu(x) * jax.nn.softplus(x)
                   + jax.nn.elu(x) + jax.nn.sigmoid(x))


@program((4, 5), (4, 5))
def where_and_clip(x, y):
    z = jnp.where(x > y, x * y, jnp.sin(x))
    return jnp.sum(jnp.clip(z, -0.5, 0.7) ** 2 + jnp.maximum(x, y) * jnp.minimum(x, 0.1))


@program((4, 3))
def norms(x):
    return jnp.linalg.norm(x) + jnp.sum(jnp.linalg.norm(x, axis=1)) + jnp.sum(jnp.abs(x))


@program((3, 4, 2), (4, 2, 5), (3, 3))
def einsums(a, b, s):
    x = jnp.einsum("ijk,jkl->il", a, b)
    y = jnp.einsum("ijk,jkl->kli", a, b)
    d = jnp.einsum("ii->i", s)
    return jnp.sum(x * x) + jnp.sum(jnp.sin(y)) + jnp.sum(d ** 3) + jnp.trace(s @ s)


@program((3, 4), (2, 4))
def movement(x, y):
    z = jnp.concatenate([x, y], 0)
    z = lax.pad(z, 0.5, ((1, -1, 1), (2, 0, 0)))
    z = z[::-1, 1::2].T.reshape(-1)
    w = jnp.roll(x, 1, axis=1)[1:, :3]
    return jnp.sum(z ** 2) + jnp.sum(w ** 3) + jnp.sum(jnp.tile(x, (2, 3)) ** 2) + jnp.sum(jnp.flip(y) * y)


@program((6, 5), (2, 2), np.array([3, 9], np.int32))
def dynamic_slices(x, u, at):
    a = lax.dynamic_slice(x, (at[0], at[1]), (2, 3))
    b = lax.dynamic_update_slice(x, u, (at[1], at[0]))
    return jnp.sum(a ** 2) + jnp.sum(jnp.sin(b)) + jnp.sum(lax.dynamic_slice(x, (at[0], at[0] - 3), (1, 5)) ** 3)


@program((3, 4), (3, 4), positive=True)
def powers(x, y):
    return jnp.sum(x ** y + x ** 3 + x ** -1.5 + jnp.sqrt(x) + jnp.cbrt(y) + lax.rsqrt(y) + jnp.arctan2(x, y)
                   + jnp.log1p(x) + jnp.expm1(y) + jnp.fmod(x, y) + jnp.hypot(x, y))


@program(np.array([[1.0, 3.0, 3.0, 2.0], [0.0, 0.0, 0.0, -1.0]]), np.array([1.0, 3.0, 0.0, 2.0]))
def ties(x, y):
    return jnp.sum(jnp.max(x, 1) ** 2 + jnp.min(x, 1)) + jnp.sum(jnp.maximum(x, y)) + jnp.sum(jnp.max(x, 0) * y)


@program(np.array([[1.5, -2.0, 3.0], [0.0, 2.0, 4.0], [0.0, 1.0, 0.0]]))
def products(x):
    return jnp.sum(jnp.prod(x, axis=1) * jnp.array([1.0, 2.0, 3.0])) + jnp.prod(x[0])


@program((4, 6))
def moments(x):
    return jnp.sum(jnp.var(x, 0) * jnp.std(x, 0)) + jnp.mean(x) ** 3 + jnp.median(x[0])


@program((5,), scale=0.5)
def special_functions(x):
    sp = jax.scipy.special
    p = jnp.abs(x) + 0.3
    return jnp.sum(sp.gammaln(p) + sp.digamma(p) + sp.erf(x) + sp.erfc(x) + sp.erfinv(x * 0.5) + jnp.arcsin(x * 0.3)
                   + jnp.arccos(x * 0.3) + jnp.arctan(x) + jnp.arcsinh(x) + jnp.arccosh(p + 1) + jnp.arctanh(x * 0.3)
                   + jnp.sinh(x) + jnp.cosh(x) + jnp.tan(x * 0.5) + sp.logit(jax.nn.sigmoid(x)))


@program((3,), np.array(1, np.int32), (3,))
def branches(x, which, y):
    z = lax.switch(which, [lambda a, b: a * b, lambda a, b: jnp.sin(a) + b ** 2, lambda a, b: a], x, y)
    return jnp.sum(lax.cond(which > 5, lambda v: v, lambda v: v * y, z))


@program((5, 3), (4, 3), np.array([4, 0, 4, 2], np.int32))
def scatters(x, u, at):
    a = x.at[at].add(u)
    b = x.at[at[1:3]].set(u[:2])
    c = x.at[jnp.array([0, 3])].multiply(u[:2], unique_indices=True)
    d = jax.ops.segment_max(u, jnp.array([2, 0, 2, 7]), 3)
    return jnp.sum(a ** 2) + jnp.sum(b ** 3) + jnp.sum(jnp.sin(c)) + jnp.sum(jnp.maximum(d, -5) ** 2)


@program((4,), (4,))
def complex_numbers(x, y):
    z = lax.complex(x, y)
    w = jnp.exp(z) * jnp.conj(z) / (z + 2.0) + jnp.sin(z) ** 2
    return jnp.sum(jnp.abs(w) + jnp.real(w) * jnp.imag(w)) + jnp.sum(jnp.real(jnp.log(z + 3.0) * jnp.sqrt(z + 3.0)))


@program((4, 8), (8, 4), dtype=np.float32)
def mixed_precision(x, w):
    y = lax.dot(x.astype(jnp.bfloat16), w.astype(jnp.bfloat16), preferred_element_type=jnp.float32)
    return jnp.sum(y * y)


@program((6,))
def repeated_gradient(x):
    f = lambda v: jnp.sum(jnp.tanh(v) ** 3 * jnp.roll(v, 1))
    return jnp.sum(jax.grad(f)(x) ** 2)


@program((2, 1, 6, 6))
def gradient_of_pooling(x):
    pool = lambda v: lax.reduce_window(v, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    return jnp.sum(jax.grad(lambda v: jnp.sum(jnp.sin(pool(v))))(x) ** 2)


@program((6, 3), (3, 7))
def cumulative_log_sums(x, y):
    a = lax.cumlogsumexp(x) + lax.cumlogsumexp(x, axis=1)
    return jnp.sum(jnp.sin(a)) + jnp.sum(lax.cumlogsumexp(y, axis=1, reverse=True) ** 2)


@program((9,), (3, 4))
def log_sums_by_scan(x, y):
    a = lax.associative_scan(jnp.logaddexp, x)
    b = lax.scan(lambda c, v: (jnp.logaddexp(c, v), c), jnp.zeros(4), y)[1]
    return jnp.sum(jnp.sin(a)) + jnp.sum(b ** 2) + jnp.sum(lax.reduce(y, -jnp.inf, jnp.logaddexp, (1,)) ** 2)

@program((2, 4, 4), (3, 5), (5, 3), (4, 2))
def lu_factors(a, wide, tall, b):
    f = lambda x: jnp.sum(jnp.sin(lax.linalg.lu(x)[0]))
    inverse = jnp.linalg.inv(a[0] + 2 * jnp.eye(4))
    return f(a) + f(wide) + f(tall) + jnp.sum(jnp.linalg.solve(a[1], b) ** 2) + jnp.linalg.det(a[0]) + jnp.sum(inverse)


@program((2, 4, 4), (6, 3), (3, 5))
def qr_factors(a, tall, wide):
    f = lambda x: sum(jnp.sum(jnp.sin(y) * jnp.arange(y.size).reshape(y.shape)) for y in jnp.linalg.qr(x))
    return f(a) + f(tall) + f(wide) + jnp.sum(jnp.linalg.qr(tall, mode="r") ** 3)


@program((2, 4, 4), (5, 5))
def eigenvalues_hermitian(a, b):
    w, v = jnp.linalg.eigh(a)
    squares = jnp.einsum("bij,bj,bkj->bik", v, jnp.exp(w / 4), v)
    return jnp.sum(jnp.sin(squares)) + jnp.sum(jnp.linalg.eigvalsh(b, UPLO="U") ** 3) + jnp.sum(v[..., :2] ** 4)


@program((2, 4, 4), (6, 3), (3, 5), (4, 3))
def singular_values(a, tall, wide, b):
    def f(x):
        u, s, vt = jnp.linalg.svd(x, full_matrices=False)
        return jnp.sum(jnp.sin((u * jnp.sqrt(s)[..., None, :]) @ vt)) + jnp.sum(u[..., :1] ** 4) + jnp.sum(vt[..., :1, :] ** 4)

    return f(a) + f(tall) + f(wide) + jnp.linalg.norm(b, "nuc") + jnp.sum(jnp.linalg.pinv(tall) ** 2)


@program((4, 4), (3, 3), (3, 3))
def eigenvalues(a, re, im):
    w = jnp.linalg.eigvals(a)
    z = jnp.linalg.eigvals(lax.complex(re, im))
    return jnp.sum(jnp.real(w) ** 2) + jnp.sum(jnp.imag(w) ** 2) + jnp.sum(jnp.abs(z) ** 3)


@program((5,), (5,), (5,), (5, 2))
def tridiagonal_systems(dl, d, du, b):
    x = lax.linalg.tridiagonal_solve(dl.at[0].set(0), d + 5, du.at[-1].set(0), b)
    return jnp.sum(jnp.sin(x)) + jnp.sum(x ** 2)


@program((3, 3), (3, 3), (3, 2))
def complex_lu(re, im, b):
    z = lax.complex(re, im)
    x = jnp.linalg.solve(z, lax.complex(b, b * 0.5))
    return jnp.sum(jnp.abs(x) ** 2) + jnp.abs(jnp.linalg.det(z)) ** 2


@program((3, 3), (3, 3), (5, 3), (2, 4))
def complex_factors(re, im, tall, wide):
    z = lax.complex(re, im)
    t, w = lax.complex(tall, tall[::-1] * 0.7), lax.complex(wide, wide[::-1] - 0.3)
    norm = lambda *xs: sum(jnp.sum(jnp.abs(x * jnp.arange(1, x.size + 1).reshape(x.shape)) ** 3) for x in xs)
    real = lambda *xs: sum(jnp.sum(jnp.sin(jnp.real(x)) + jnp.cos(jnp.imag(x))) for x in xs)
    total = real(*jnp.linalg.qr(z)) + real(*jnp.linalg.qr(t)) + real(*jnp.linalg.qr(w))
    v, e = jnp.linalg.eigh(z)[::-1]
    total += real((v * jnp.exp(e / 4)) @ v.conj().T) + norm(v, e)
    for x in (z, t, w):
        u, s, vt = jnp.linalg.svd(x, full_matrices=False)
        total += real((u * jnp.sqrt(s)) @ vt) + norm(u, s, vt)
    return total


@program((2, 5, 3), (4, 4), (3, 5))
def qr_all_columns(tall, a, wide):
    f = lambda x: sum(jnp.sum(jnp.sin(y) * jnp.arange(y.size).reshape(y.shape)) for y in jnp.linalg.qr(x, mode="complete"))
    return f(tall) + f(a) + f(wide)


@program((4, 4), (6, 3))
def qr_pivoted(a, tall):
    def f(x, mode):
        q, r, _ = jax.scipy.linalg.qr(x, mode=mode, pivoting=True)
        return sum(jnp.sum(jnp.sin(y) * jnp.arange(y.size).reshape(y.shape)) for y in (q, r))

    return f(a, "economic") + f(tall, "economic") + f(tall, "full")


@program((5, 3), (5, 3))
def qr_complex(x, y):
    f = lambda parts: sum(jnp.sum(jnp.sin(p.real) * jnp.arange(p.size).reshape(p.shape) + p.imag**3) for p in parts)
    z = x + 1j * y
    return f(jnp.linalg.qr(z, mode="complete")) + f(jax.scipy.linalg.qr(z, mode="economic", pivoting=True)[:2])


# JAX 0.10.2 differentiates a matrix with more columns than rows as if its columns were not exchanged (largest error against
# differences 6.8 where ours has 3e-9), so its gradient is that of differences.
@program((3, 5), (2, 7))
def qr_pivoted_wide(a, b):
    def f(x, mode):
        q, r, _ = jax.scipy.linalg.qr(x, mode=mode, pivoting=True)
        return sum(jnp.sum(jnp.sin(y) * jnp.arange(y.size).reshape(y.shape)) for y in (q, r))

    return f(a, "economic") + f(b, "full")


DIFFERENCES = {"qr_pivoted_wide"}


def differences(f, arguments, step=1e-3):
    """The gradients by central differences of sixth order."""
    f = jax.jit(f)
    gradients = []
    for i, x in enumerate(arguments):
        gradient = np.zeros_like(x)
        for at in np.ndindex(x.shape):

            def moved(by):
                y = x.copy()
                y[at] += by * step
                return float(f(*arguments[:i], y, *arguments[i + 1 :]))

            slope = lambda k: moved(k) - moved(-k)
            gradient[at] = (45 * slope(1) - 9 * slope(2) + slope(3)) / (60 * step)
        gradients.append(gradient)
    return gradients


def write(name):
    f, arguments = PROGRAMS[name]
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    lowered = jax.jit(f).lower(*arguments)
    (folder / "program.mlir").write_text(lowered.as_text())
    wanted = tuple(i for i, a in enumerate(arguments) if np.issubdtype(a.dtype, np.inexact))
    if name in DIFFERENCES:
        value, gradients = f(*arguments), differences(f, arguments)
    else:
        value, gradients = jax.value_and_grad(f, argnums=wanted)(*arguments)
    for i, a in enumerate(arguments):
        np.save(folder / f"in{i}.npy", a)
    np.save(folder / "out0.npy", np.asarray(value))
    for i, g in enumerate(gradients):
        np.save(folder / f"grad{i}.npy", np.asarray(g))


if __name__ == "__main__":
    for name in sys.argv[1:] or PROGRAMS:
        write(name)
