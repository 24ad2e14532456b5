# SPDX-License-Identifier: Apache-2.0
"""Writes the type stub of a Python module of op functions that TensorFlow generated."""

from __future__ import annotations

import argparse
import ast
import pathlib

# What the annotations of generated functions refer to.
HEADER = """\
from typing import Any, TypeVar

from tensorflow.python.framework import dtypes as _dtypes
from tensorflow.security.fuzzing.py import annotation_types as _atypes
from typing_extensions import Annotated
"""


def is_public_function(node: ast.stmt) -> bool:
    """Whether a statement defines a function that users may call."""
    return isinstance(node, ast.FunctionDef) and not node.name.endswith("_eager_fallback")


def is_named_tuple(node: ast.stmt) -> bool:
    """Whether a statement makes the named tuple of an op with several outputs."""
    return isinstance(node, ast.Assign) and "namedtuple" in ast.unparse(node.value)


def stub(source: str) -> str:
    """The stub of a module with this source."""
    lines = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and is_public_function(node):
            node.decorator_list = []
            doc = ast.get_docstring(node)
            node.body = [ast.Expr(ast.Constant(doc))] if doc else []
            node.body.append(ast.Expr(ast.Constant(...)))
            lines += ["", ast.unparse(node)]
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name.startswith("TV_"):
                lines.append(ast.unparse(node))
            elif is_named_tuple(node):
                lines.append(f"{name}: Any")
    return "\n".join([HEADER, *lines]) + "\n"


def main() -> None:
    """Writes one stub."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("module", type=pathlib.Path, help="the generated module")
    parser.add_argument("out", type=pathlib.Path, help="the stub to write")
    args = parser.parse_args()
    args.out.write_text(stub(args.module.read_text()))


if __name__ == "__main__":
    main()
