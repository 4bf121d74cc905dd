"""A program as a folder: its text, and the inputs that are not plain noise."""
import os

import jax
import numpy as np


def export(path, function, arguments):
    """Writes `program.mlir`, and `inN.npy` for every argument that is an array and not only a shape."""
    os.makedirs(path, exist_ok=True)
    with open(f"{path}/program.mlir", "w") as file:
        file.write(jax.jit(function, keep_unused=True).lower(*arguments).as_text())
    for i, a in enumerate(arguments):
        if isinstance(a, np.ndarray):
            np.save(f"{path}/in{i}.npy", a)
