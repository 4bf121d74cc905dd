#!/usr/bin/env python3
"""Checks exports of symbolic programs against JAX: each module in a folder stands in for the module of the case of its name
in an `Exported` of JAX, as a portable artifact, is refined by JAX for the sizes of each call, and run on XLA.

    SURJECT_EXPORT_TO=FOLDER cargo test -p surject-lift --test polymorphic symbolic_programs_are_exported
    .venv/bin/python tests/polymorphic/check_export.py FOLDER [NAME ...]
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


def exported(name):
    function, shapes, constraints, _ = make.CASES[name]
    scope = export.SymbolicScope(constraints)
    specs = []
    for shape in shapes:
        text, dtype = shape if isinstance(shape, tuple) else (shape, make.F)
        specs.append(jax.ShapeDtypeStruct(export.symbolic_shape(text, scope=scope) if text else (), dtype))
    return export.export(jax.jit(function))(*specs)


def check(name):
    original = exported(name)
    with mlir.make_ir_context():
        module = ir.Module.parse(open(os.path.join(folder, name + ".mlir")).read())
        own = _export._module_to_bytecode(module)
    again = dataclasses.replace(original, mlir_module_serialized=own)
    count = 0
    for row in json.load(open(os.path.join(HERE, name + ".json"))):
        args = [make.decode(a) for a in row["arguments"]]
        try:
            found = jax.tree_util.tree_leaves(again.call(*args))
        except Exception as error:
            if row["refused"]:
                continue
            raise ValueError(f"{row['sizes']}: {error}") from error
        if row["refused"]:
            raise ValueError(f"{row['sizes']}: a size of 0 is not refused")
        for a, b in zip(found, row["results"]):
            np.testing.assert_allclose(a, make.decode(b), rtol=1e-4, atol=5e-5, err_msg=str(row["sizes"]))
        count += 1
    return count


failures = 0
for name in chosen or sorted(f[:-5] for f in os.listdir(folder) if f.endswith(".mlir")):
    try:
        print(f"{name}: {check(name)} calls agree")
    except Exception as error:
        failures += 1
        print(f"{name}: {type(error).__name__}: {str(error)[:400]}")
sys.exit(failures > 0)
