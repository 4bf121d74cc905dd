#!/usr/bin/env python3
"""Exports programs of Fourier transforms and factorisations from JAX, for a GPU's libraries.

    libraries.py FOLDER

Each has a folder at the size that is timed (`NAME`), and one at a small size with inputs and the outputs that JAX
computes (`NAME_small`). Results are such that no sign or phase that LAPACK leaves open is in them.
"""
import os
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
import jax.scipy.linalg as linalg
import numpy as np
from exported import export

jax.config.update("jax_default_matmul_precision", "highest")
rng = np.random.default_rng(5)


def positive(a):
    return a @ a.T + a.shape[0] * jnp.eye(a.shape[0], dtype=a.dtype)


def eigen(a):
    values, vectors = jnp.linalg.eigh(a + a.T)
    return values, (vectors * values) @ vectors.T


def singular(a):
    left, values, right = jnp.linalg.svd(a, full_matrices=False)
    return values, (left * values) @ right


def product(a):
    q, r = jnp.linalg.qr(a)
    return q @ r, jnp.swapaxes(q, -1, -2) @ q


def solve(a, b):
    return linalg.solve_triangular(positive(a), b, lower=True)


c64, f32 = np.complex64, np.float32
PROGRAMS = {
    # name: function, sizes that are timed, small sizes, type
    "fft_rows": (jnp.fft.fft, [(2048, 2048)], [(6, 20)], c64),
    "ifft_planes": (jnp.fft.ifft2, [(16, 512, 512)], [(3, 6, 10)], c64),
    "rfft_rows": (jnp.fft.rfft, [(2048, 4096)], [(6, 20)], f32),
    "irfft_planes": (jnp.fft.irfft2, [(16, 512, 257)], [(3, 6, 7)], c64),
    "cholesky": (lambda a: jnp.linalg.cholesky(positive(a)), [(2048, 2048)], [(24, 24)], f32),
    "triangular": (solve, [(2048, 2048), (2048, 512)], [(24, 24), (24, 5)], f32),
    "lu": (linalg.lu_factor, [(2048, 2048)], [(24, 24)], f32),
    "qr": (product, [(2048, 512)], [(24, 10)], f32),
    "lu_batched": (linalg.lu_factor, [(1024, 64, 64)], [(3, 6, 6)], f32),
    "qr_batched": (product, [(1024, 64, 32)], [(3, 6, 4)], f32),
    "eigh": (eigen, [(512, 512)], [(24, 24)], f32),
    "svd_tall": (singular, [(1024, 256)], [(24, 10)], f32),
    "svd_wide": (singular, [(256, 1024)], [(10, 24)], f32),
}


def values(shape, dtype):
    found = rng.standard_normal(shape).astype(f32)
    return found if dtype == f32 else (found + 1j * rng.standard_normal(shape)).astype(c64)


def main(folder):
    for name, (function, own, small, dtype) in PROGRAMS.items():
        export(f"{folder}/{name}", function, [jax.ShapeDtypeStruct(shape, dtype) for shape in own])
        arguments = [values(shape, dtype) for shape in small]
        export(f"{folder}/{name}_small", function, arguments)
        for i, result in enumerate(jax.tree.leaves(function(*arguments))):
            np.save(f"{folder}/{name}_small/out{i}.npy", np.asarray(result))


if len(sys.argv) != 2:
    sys.exit(__doc__)
main(sys.argv[1])
