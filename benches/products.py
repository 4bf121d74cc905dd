#!/usr/bin/env python3
"""Exports products from JAX, with schedules that ask for products by warps with rows and columns of their own (`mma.sync`),
by four warps (wgmma), and for boxes (TMA).

    products.py FOLDER

`NAME` has inputs of small integers, whose sums are exact in any order, the outputs that JAX computes, and schedules for
sm_90a: `warps.schedule`, or `group.schedule`, where tiles are whole, and `tma.schedule`. `NAME_timed` is timed with each of its schedules, and
without one.
"""
import os
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
import numpy as np
from exported import export

rng = np.random.default_rng(7)
# Which dimension of each operand is summed over.
ROWS_COLUMNS, ROWS_ROWS, COLUMNS_COLUMNS, COLUMNS_ROWS = (1, 0), (1, 1), (0, 0), (0, 1)
PROGRAMS = {
    # name: contracted dimensions, rows, columns, terms, type, tiles
    "plain": (ROWS_COLUMNS, 128, 128, 320, jnp.bfloat16, (64, 128)),
    "transposed": (ROWS_ROWS, 128, 64, 640, jnp.bfloat16, (64, 64)),
    "columns": (COLUMNS_COLUMNS, 64, 256, 64, jnp.float16, (64, 256)),
    "turned": (COLUMNS_ROWS, 256, 64, 192, jnp.float16, (128, 64)),
    "large": (ROWS_COLUMNS, 128, 256, 576, jnp.bfloat16, (128, 256)),
    "cut": (ROWS_ROWS, 100, 72, 200, jnp.bfloat16, (64, 64)),
    # Three groups of four warps, to which another one gives registers.
    "wide": (ROWS_COLUMNS, 200, 264, 320, jnp.bfloat16, (192, 256)),
}
# By the matrix units of each warp: contracted dimensions, rows, columns, terms, type, tile and the part of a warp.
BY_WARPS = {
    "warps": (ROWS_COLUMNS, 256, 256, 192, jnp.bfloat16, "128 128 64 warp 64 64"),
    "warps_turned": (COLUMNS_ROWS, 128, 512, 128, jnp.float16, "128 256 32 warp 64 64"),
    "bytes": (ROWS_COLUMNS, 128, 256, 256, jnp.int8, "128 128 64 warp 32 64"),
    "bytes_of_rows": (ROWS_ROWS, 128, 128, 192, jnp.int8, "64 64 32 warp 32 32"),
    "bytes_cut": (ROWS_COLUMNS, 100, 72, 200, jnp.uint8, "64 64 32 warp 16 32"),
}
# Rows and columns, and the tile of boxes that the model takes for them.
TIMED = {2048: (128, 256), 4096: (192, 256), 8192: (192, 256)}


def product(dimensions, dtype=jnp.bfloat16):
    left, right = dimensions
    numbers = (((left,), (right,)), ((), ()))
    sums = jnp.int32 if jnp.issubdtype(dtype, jnp.integer) else jnp.float32
    return lambda a, b: jax.lax.dot_general(a, b, numbers, preferred_element_type=sums)


def shapes(dimensions, m, n, k):
    left, right = dimensions
    return [(m, k) if left else (k, m), (n, k) if right else (k, n)]


def schedules(folder, tile, whole):
    os.makedirs(folder, exist_ok=True)
    for name, words in (("group", "group"), ("tma", "group tma")):
        if whole or name == "tma":
            with open(f"{folder}/{name}.schedule", "w") as file:
                file.write(f"kernel v0_0\ncontract i0 i1 k0 tile {tile[0]} {tile[1]} 64 {words}\n")


def checked(own, dimensions, shape, dtype):
    """A program with inputs and what JAX computes of them."""
    least, most = (0, 9) if dtype == jnp.uint8 else (-4, 5)
    arguments = [jnp.asarray(rng.integers(least, most, s), dtype) for s in shapes(dimensions, *shape)]
    export(own, product(dimensions, dtype), arguments)
    for i, argument in enumerate(arguments):
        save(f"{own}/in{i}.npy", argument)
    save(f"{own}/out0.npy", product(dimensions, dtype)(*arguments))


def save(path, array):
    """Types that NumPy does not have are stored as words of 16 bits."""
    if array.dtype == jnp.bfloat16:
        np.save(path.replace(".npy", ".bf16.npy"), np.asarray(array).view(np.uint16))
    else:
        np.save(path, np.asarray(array))


def main(folder):
    for name, (dimensions, m, n, k, dtype, tile) in PROGRAMS.items():
        own = f"{folder}/{name}"
        checked(own, dimensions, (m, n, k), dtype)
        schedules(own, tile, m % tile[0] == 0 and n % tile[1] == 0 and k % 64 == 0)
    for name, (dimensions, m, n, k, dtype, words) in BY_WARPS.items():
        checked(f"{folder}/{name}", dimensions, (m, n, k), dtype)
        with open(f"{folder}/{name}/warps.schedule", "w") as file:
            file.write(f"kernel v0_0\ncontract i0 i1 k0 tile {words}\n")
    for n, tile in TIMED.items():
        own = f"{folder}/product_{n}_timed"
        export(own, product(ROWS_COLUMNS), [jax.ShapeDtypeStruct((n, n), jnp.bfloat16)] * 2)
        schedules(own, (128, 256), True)
        schedules(own, tile, False)


if len(sys.argv) != 2:
    sys.exit(__doc__)
main(sys.argv[1])
