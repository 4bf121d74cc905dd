#!/usr/bin/env python3
"""Checks derivatives of symbolic programs against JAX: each module in a folder, the exported derivative of the case of its
name, is refined by JAX for the sizes of each call of `vjp/NAME.json`, run on XLA, and compared with `jax.vjp`.

    SURJECT_EXPORT_TO=FOLDER cargo test -p surject-adjoint --test sizes gradients_of_symbolic_programs
    .venv/bin/python tests/polymorphic/check_vjp.py FOLDER [NAME ...]
"""
import dataclasses
import importlib.util
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
folder, chosen = sys.argv[1], sys.argv[2:]
sys.argv = [sys.argv[0], "--none"]
spec = importlib.util.spec_from_file_location("make", os.path.join(HERE, "make.py"))
make = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make)
jax, np, export = make.jax, make.np, make.export
from jax._src.export import _export
from jax._src.interpreters import mlir
from jax._src.lib.mlir import ir


def stand_in(name):
    """An `Exported` of the types of the derivative: arguments and cotangents to results and gradients."""
    function, shapes, constraints, _ = make.CASES[name]
    scope = export.SymbolicScope(constraints)
    specs = []
    for shape in shapes:
        text, dtype = shape if isinstance(shape, tuple) else (shape, make.F)
        specs.append(jax.ShapeDtypeStruct(export.symbolic_shape(text, scope=scope) if text else (), dtype))
    results = jax.tree_util.tree_leaves(jax.eval_shape(function, *specs))
    floats = [s for s in specs if s.dtype == make.F]
    zeros = lambda types: tuple(jax.numpy.zeros(t.shape, t.dtype) for t in types)
    cotangents = [jax.ShapeDtypeStruct(r.shape, r.dtype) for r in results if r.dtype == make.F]
    like = jax.jit(lambda *_: zeros(results) + zeros(floats), keep_unused=True)
    return export.export(like)(*specs, *cotangents), len(results)


def check(name):
    exported, results = stand_in(name)
    with mlir.make_ir_context():
        module = ir.Module.parse(open(os.path.join(folder, f"vjp_{name}.mlir")).read())
        own = _export._module_to_bytecode(module)
    exported = dataclasses.replace(exported, mlir_module_serialized=own)
    rows = json.load(open(os.path.join(HERE, "vjp", name + ".json")))
    for row in rows:
        args = [make.decode(a) for a in row["arguments"] + row["cotangents"]]
        found = exported.call(*args)[results:]
        for a, b in zip(found, row["gradients"]):
            np.testing.assert_allclose(a, make.decode(b), rtol=1e-3, atol=1e-4, err_msg=str(row["sizes"]))
    return len(rows)


failures = 0
names = sorted(f[4:-5] for f in os.listdir(folder) if f.startswith("vjp_") and f.endswith(".mlir"))
for name in chosen or names:
    try:
        print(f"{name}: {check(name)} calls agree")
    except Exception as error:
        failures += 1
        print(f"{name}: {type(error).__name__}: {str(error)[:400]}")
sys.exit(failures > 0)
