"""Writes `complex_values.txt`: functions of complex numbers at special points, for `complex_values.rs`.

    pip install mpmath numpy && python complex_values.py > complex_values.txt

Finite values come from mpmath; those of infinities and NaN, and the signs of zeros, from the C library (Annex G of C99)
through numpy where it has the function, else from the rules below. A line is an operation, the parts of its arguments,
the parts of the value. A part after `~` is checked but for its sign, which the standard leaves open.
"""
import math
import warnings

import mpmath as mp
import numpy as np

warnings.simplefilter("ignore")
mp.mp.prec = 2400
INF, NAN = math.inf, math.nan
SINGLE = [0.0, 1.0, 0.5, 2.0, 100.0, float(np.float32(1e20)), float(np.float32(1e-20)), 2.0**-149, INF]
PARTS = [s * x for x in SINGLE for s in (1.0, -1.0)] + [NAN, 1e300, -711.0, 5e-324]


def pair(re, im):
    z = np.zeros((), np.complex128)
    z.real, z.imag = re, im
    return z


def rounded(x):
    """A number of mpmath as the nearest double, with its sign if it is too small for one."""
    value = float(x)
    return math.copysign(0.0, mp.sign(x)) if value == 0.0 and x != 0 else value


def exact(f, *args):
    w = mp.mpc(f(*[mp.mpc(float(z.real), float(z.imag)) for z in args]))
    return rounded(w.real), rounded(w.imag)


def half_angle(z):
    """e^z - 1 and its like need no care: there are digits enough."""
    return mp.exp(z) - 1


FUNCTIONS = {
    "exp": (mp.exp, np.exp),
    "log": (mp.log, np.log),
    "sqrt": (mp.sqrt, np.sqrt),
    "sin": (mp.sin, np.sin),
    "cos": (mp.cos, np.cos),
    "tan": (mp.tan, np.tan),
    "tanh": (mp.tanh, np.tanh),
    "expm1": (half_angle, None),
    "log1p": (lambda z: mp.log(1 + z), None),
    "logistic": (lambda z: 1 / (1 + mp.exp(-z)), None),
    "rsqrt": (lambda z: 1 / mp.sqrt(z), None),
    "sign": (lambda z: z / abs(z) if z != 0 else z, None),
}


def ends(name, z):
    """Functions that C does not have, at infinities and NaN."""
    re, im = float(z.real), float(z.imag)
    if name == "expm1":
        w = np.exp(z)
        return (re, im) if im == 0 and math.isnan(re) else (float(w.real) - 1.0, float(w.imag))
    if name == "log1p":
        w = np.log(pair(1.0 + re, im))
        return float(w.real), float(w.imag)
    if name == "logistic":
        if math.isinf(re):
            return (1.0 if re > 0 else 0.0), 0.0
        return NAN, im if im == 0 else NAN
    if name == "rsqrt":
        return (0.0, 0.0) if math.isinf(re) or math.isinf(im) else (NAN, NAN)
    if math.isnan(re) or math.isnan(im):
        return NAN, NAN
    return (NAN if math.isinf(re) else 0.0), (NAN if math.isinf(im) else 0.0)


def show(value, free=False):
    return ("~" if free and not math.isnan(value) else "") + repr(float(value)).replace("nan", "NaN")


def line(name, args, value, free):
    parts = [repr(float(p)).replace("nan", "NaN") for z in args for p in (z.real, z.imag)]
    parts += [show(v, f) for v, f in zip(value, free)]
    print(name, *parts)


def unary(name, z):
    of_mp, of_c = FUNCTIONS[name]
    re, im = float(z.real), float(z.imag)
    finite = math.isfinite(re) and math.isfinite(im)
    pole = (name in ("log", "rsqrt") and re == im == 0) or (name == "log1p" and re == -1 and im == 0)
    if not finite or pole:
        if name == "rsqrt" and pole:
            return line(name, [z], (INF, NAN), (False, False))
        w = of_c(z) if of_c else None
        value = (float(w.real), float(w.imag)) if of_c else ends(name, z)
        # Open: beside NaN, and zeros in no direction.
        open_ = any(map(math.isnan, value)) or not math.isfinite(im) or (of_c is None and name != "log1p")
        zero = [v == 0.0 or any(map(math.isnan, value)) for v in value]
        return line(name, [z], value, [open_ and s for s in zero])
    value = list(exact(of_mp, z))
    free = [False, False]
    if of_c:
        w = of_c(z)
        # On the cut and on the axes the sign of a zero of the argument counts, which mpmath does not have.
        for k, (v, c) in enumerate(zip(value, (float(w.real), float(w.imag)))):
            if v == 0.0 or (name in ("log", "sqrt") and im == 0):
                value[k] = math.copysign(v, c)
    else:
        if im == 0:
            negative = name == "rsqrt"
            for k in range(2):
                if value[k] == 0.0 and k == 1:
                    value[1] = math.copysign(0.0, -im if negative else im)
            if name in ("log1p", "rsqrt") and (re < -1 or (name == "rsqrt" and re < 0)):
                value[1] = math.copysign(value[1], -im if negative else im)
        free = [v == 0.0 and (k == 0 or im != 0) for k, v in enumerate(value)]
    line(name, [z], value, free)


def power(x, y):
    """As XLA: powers by zero and of 1 are 1; of zero and infinity limits on the real axis; else unknown."""
    finite = all(math.isfinite(float(p)) for z in (x, y) for p in (z.real, z.imag))
    real = x.imag == 0 and y.imag == 0
    if y == 0 or x == 1:
        value = (1.0, 0.0)
    elif real and x.real in (0.0, INF) and y.real > 0:
        value = (abs(float(x.real)), 0.0)
    elif real and x.real == INF and y.real < 0:
        value = (0.0, 0.0)
    elif not finite or x == 0:
        value = (NAN, NAN)
    else:
        # Below the cut the sign of a zero counts.
        below = x.imag == 0 and math.copysign(1.0, float(x.imag)) < 0
        value = list(exact((lambda x, y: mp.conj(mp.power(x, mp.conj(y)))) if below else mp.power, x, y))
    line("pow", [x, y], value, [v == 0.0 for v in value])


for name in FUNCTIONS:
    for re in PARTS:
        for im in PARTS:
            # What only `f64` has, on axes and with one other part, is enough.
            wide = sum(p in (1e300, -711.0, 5e-324) for p in (re, im))
            if wide and not any(p in (0.0, 1.0) for p in (re, im)):
                continue
            unary(name, pair(re, im))
BASES = [0, 1, -1, 2, 0.5, -2, 1e-30, INF, -INF, NAN]
BASES = [pair(float(np.float32(b)), s) for b in BASES for s in (0.0, -0.0)]
BASES += [pair(0, 1), pair(1, 1), pair(-1, 2), pair(1e10, 1), pair(INF, 1), pair(1, INF), pair(1, NAN), pair(2.0**-149, 0)]
EXPONENTS = [pair(e, 0.0) for e in (0, 1, -1, 2, -2, 0.5, 3, INF, -INF, NAN)]
EXPONENTS += [pair(0, 1), pair(1, 1), pair(-1, 0.5), pair(0, INF), pair(1, INF), pair(1, NAN), pair(2.0**-149, 0)]
for x in BASES:
    for y in EXPONENTS:
        power(x, y)
