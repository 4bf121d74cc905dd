"""Writes the gradients of formulas at special arguments: NAME.mlir as JAX exports it, and NAME.txt with one line a point.

A line holds the arguments, `|`, and the derivatives by each of them; `?` where there is none that a finite number
says. They are limits from mpmath, or in the cases of ties what `jax.grad` gives.

    python make.py [NAME ...]        needs jax and mpmath
"""
import os, sys
os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax, jax.numpy as jnp, mpmath as mp, numpy as np
from jax import lax
from pathlib import Path

HERE = Path(__file__).parent
mp.mp.prec = 400
E = mp.exp
BASE = [0.0, 1e-20, 0.5, 1.0, 5.0, 11.5, 17.0, 20.0, 50.0, 87.0, 88.0, 88.8, 90.0, 104.0, 200.0, 1e4, 3e8, 1e30]
ALL = [s * v for v in BASE for s in (1, -1)]
s_ = lambda x: 1 / (1 + E(-x))
sech2 = lambda x: 4 / (E(x) + E(-x)) ** 2
phi = lambda x: E(-x * x / 2) / mp.sqrt(2 * mp.pi)
soft = lambda x: mp.log(1 + E(x)) if x < 1e6 else x


def mish(x):
    t = mp.tanh(soft(x)) if soft(x) < 1e6 else mp.mpf(1)
    return t + x * (1 - t * t) * s_(x)


def gelu(x):
    k = mp.sqrt(2 / mp.pi)
    u, du = k * (x + mp.mpf("0.044715") * x**3), k * (1 + 3 * mp.mpf("0.044715") * x * x)
    t = mp.tanh(u) if abs(u) < 1e6 else mp.sign(u)
    return (1 + t) / 2 + x * (1 - t * t) * du / 2


# name: function, its derivatives, and the arguments of points.
F = {
    "sigmoid": (lambda x: 1 / (1 + jnp.exp(-x)), [lambda x: s_(x) * s_(-x)]),
    "sigmoid_scaled": (lambda x: 3 / (2 + jnp.exp(2 * x + 1)), [lambda x: -6 / (2 * E(-x - 0.5) + E(x + 0.5)) ** 2]),
    "sigmoid_weighted": (lambda x: 1 / (2 + 5 * jnp.exp(-x)), [lambda x: 5 / (2 * E(x / 2) + 5 * E(-x / 2)) ** 2]),
    "sigmoid_up": (lambda x: jnp.exp(x) / (1 + jnp.exp(x)), [lambda x: s_(x) * s_(-x)]),
    "one_minus_sigmoid": (lambda x: 1 - 1 / (1 + jnp.exp(-x)), [lambda x: -s_(x) * s_(-x)]),
    "silu": (jax.nn.silu, [lambda x: s_(x) + x * s_(x) * s_(-x)]),
    "softplus": (jax.nn.softplus, [s_]),
    "softplus_naive": (lambda x: jnp.log(1 + jnp.exp(x)), [s_]),
    "softplus_log1p": (lambda x: jnp.log1p(jnp.exp(x)), [s_]),
    "softplus_abs": (lambda x: jnp.maximum(x, 0) + jnp.log1p(jnp.exp(-jnp.abs(x))), [s_]),
    "log_sigmoid": (jax.nn.log_sigmoid, [lambda x: s_(-x)]),
    "log_of_sigmoid": (lambda x: jnp.log(1 / (1 + jnp.exp(-x))), [lambda x: s_(-x)]),
    "log_of_logistic": (lambda x: jnp.log(lax.logistic(x)), [lambda x: s_(-x)]),
    "tanh_exponentials": (
        lambda x: (jnp.exp(x) - jnp.exp(-x)) / (jnp.exp(x) + jnp.exp(-x)), [sech2]),
    "tanh_square": (lambda x: (jnp.exp(2 * x) - 1) / (jnp.exp(2 * x) + 1), [sech2]),
    "tanh_rest": (lambda x: 1 - 2 / (jnp.exp(2 * x) + 1), [sech2]),
    "gauss": (lambda x: jnp.exp(-x * x), [lambda x: -2 * x * E(-x * x)]),
    "gauss_times": (lambda x: x * jnp.exp(-(x**2) / 2), [lambda x: (1 - x * x) * E(-x * x / 2)]),
    "gumbel": (lambda x: jnp.exp(-jnp.exp(-x)), [lambda x: E(-x - E(-x)) if x > -1e3 else mp.mpf(0)]),
    "complementary_log_log": (
        lambda x: 1 - jnp.exp(-jnp.exp(x)), [lambda x: E(x - E(x)) if x < 1e3 else mp.mpf(0)]),
    "tanh_of_exp": (lambda x: jnp.tanh(jnp.exp(x)), [lambda x: sech2(E(x)) * E(x) if x < 1e2 else mp.mpf(0)]),
    "sech": (lambda x: 1 / jnp.cosh(x), [lambda x: -2 * mp.sign(x) * (1 - E(-2 * abs(x))) / (E(abs(x)) * (1 + E(-2 * abs(x))) ** 2)]),
    "mish": (jax.nn.mish, [mish]),
    "mish_naive": (lambda x: x * jnp.tanh(jnp.log1p(jnp.exp(x))), [mish]),
    "gelu": (jax.nn.gelu, [gelu]),
    "gelu_erf": (
        lambda x: jax.nn.gelu(x, approximate=False), [lambda x: mp.ncdf(x) + x * phi(x) if abs(x) < 1e3 else mp.mpf(x > 0)]),
    "power_of_sum": (
        lambda x: (1 + jnp.exp(-x)) ** -2.5, [lambda x: 2.5 * E(-x) * (1 + E(-x)) ** mp.mpf(-3.5)]),
    "root_of_sum": (
        lambda x: 1 / jnp.sqrt(1 + jnp.exp(-x)), [lambda x: E(-x) / 2 * (1 + E(-x)) ** mp.mpf(-1.5)]),
    "quotient_of_exponentials": (
        lambda x, y: jnp.exp(x) / (jnp.exp(x) + jnp.exp(y)),
        [lambda x, y: s_(x - y) * s_(y - x), lambda x, y: -s_(x - y) * s_(y - x)],
        [(a, b) for a in ALL for b in (0.0, 1.0, -3.0)] + [(b, a) for a in ALL for b in (0.0, 2.0)]),
    "logaddexp": (
        jnp.logaddexp, [lambda x, y: s_(x - y), lambda x, y: s_(y - x)],
        [(a, b) for a in ALL for b in (0.0, 1.0, -3.0, a)]),
    "logaddexp_naive": (
        lambda x, y: jnp.log(jnp.exp(x) + jnp.exp(y)), [lambda x, y: s_(x - y), lambda x, y: s_(y - x)],
        [(a, b) for a in ALL for b in (0.0, 1.0, -3.0)]),
    "where_root": (lambda x: jnp.where(x > 0, jnp.sqrt(x), 0), [lambda x: 1 / (2 * mp.sqrt(x)) if x > 0 else mp.mpf(0)]),
    "where_log": (lambda x: jnp.where(x > 0, jnp.log(x) * x, 0), [lambda x: mp.log(x) + 1 if x > 0 else mp.mpf(0)]),
    "where_quotient": (lambda x: jnp.where(x == 0, 0, 1 / x), [lambda x: -1 / x**2 if x != 0 else mp.mpf(0)]),
    "where_exp": (lambda x: jnp.where(x < 10, jnp.exp(x) * x, 2 * x), [lambda x: (1 + x) * E(x) if x < 10 else mp.mpf(2)]),
    "clipped_exp": (lambda x: jnp.minimum(jnp.exp(x), 5.0), [lambda x: E(x) if E(min(x, 10)) < 5 else mp.mpf(0)]),
    "root_of_square": (lambda x: jnp.sqrt(x * x + 1e-4), [lambda x: x / mp.sqrt(x * x + mp.mpf("1e-4"))],
        [v for v in ALL if abs(v) < 1e18]),
    "inverse_power": (lambda x: 1 / (1 + x**4), [lambda x: -4 * x**3 / (1 + x**4) ** 2]),
    "arctan": (jnp.arctan, [lambda x: 1 / (1 + x * x)]),
    "power": (lambda x: jnp.abs(x) ** 1.5, [lambda x: 1.5 * mp.sign(x) * mp.sqrt(abs(x))], [v for v in ALL if abs(v) < 1e20]),
}
for name in ("sigmoid", "silu", "softplus", "tanh_square", "gumbel"):
    F[name + "_f16"] = F[name]

ENDS = ALL + [np.inf, -np.inf]
T = {
    "relu": (jax.nn.relu, ENDS), "relu6": (jax.nn.relu6, ENDS + [6.0]), "abs": (jnp.abs, ENDS),
    "hard_sigmoid": (jax.nn.hard_sigmoid, ENDS + [3.0, -3.0]), "hard_swish": (jax.nn.hard_swish, ENDS + [3.0, -3.0]),
    "hard_tanh": (jax.nn.hard_tanh, ENDS), "elu": (jax.nn.elu, ENDS), "selu": (jax.nn.selu, ENDS), "celu": (jax.nn.celu, ENDS),
    "leaky_relu": (jax.nn.leaky_relu, ENDS), "softplus_ties": (jax.nn.softplus, ENDS), "sparse_plus": (jax.nn.sparse_plus, ENDS),
    "sparse_sigmoid": (jax.nn.sparse_sigmoid, ENDS), "maximum_zero": (lambda x: jnp.maximum(x, 0), ENDS),
    "clip": (lambda x: jnp.clip(x, -1, 1), ENDS), "clamp": (lambda x: lax.clamp(-1.0, x, 1.0), ENDS),
    "clamp_all": (lambda a, x, b: lax.clamp(a, x, b), [(0.0, 0.0, 1.0), (0.0, 1.0, 1.0), (1.0, 1.0, 1.0), (0.0, 2.0, 1.0), (0.0, -2.0, 1.0), (0.0, 0.5, 1.0)]),
    "maximum": (jnp.maximum, [(1.0, 1.0), (0.0, -0.0), (2.0, 1.0)]), "minimum": (jnp.minimum, [(1.0, 1.0), (2.0, 1.0)]),
    "logaddexp_ties": (jnp.logaddexp, [(1.0, 1.0), (0.0, -0.0), (2.0, 1.0)]),
}


def number(v):
    v = float(v)
    return repr(v) if np.isfinite(v) else "?"


def write(name):
    dtype = np.float16 if name.endswith("_f16") else np.float32
    largest = float(np.finfo(dtype).max)
    tuples = lambda points: [p if isinstance(p, tuple) else (p,) for p in points]
    if name in T:
        f, points = T[name]
        points = [tuple(dtype(v) for v in p) for p in tuples(points)]
        which = tuple(range(len(points[0])))
        expected = [jax.grad(f, argnums=which)(*p) for p in points]
        head = "ties jax"
    else:
        f, derivatives, *points = F[name]
        points = tuples(points[0] if points else ALL)
        points = [tuple(dtype(v) for v in p) for p in points if all(abs(v) <= largest for v in p)]
        at = lambda p: [d(*(mp.mpf(float(v)) for v in p)) for d in derivatives]
        expected = [[v if abs(v) <= largest else mp.nan for v in at(p)] for p in points]
        if len(points[0]) == 1:
            # At infinity what JAX gives, where that is finite.
            for v in (dtype("inf"), dtype("-inf")):
                points.append((v,))
                expected.append([jax.grad(f)(v)])
        head = "ties split"
    columns = [np.array(c, dtype) for c in zip(*points)]
    (HERE / f"{name}.mlir").write_text(jax.jit(f).lower(*columns).as_text())
    rows = [" ".join(repr(float(v)) for v in p) + " | " + " ".join(map(number, e)) for p, e in zip(points, expected)]
    (HERE / f"{name}.txt").write_text("\n".join([head, *rows]) + "\n")


if __name__ == "__main__":
    for name in sys.argv[1:] or [*F, *T]:
        write(name)
