# SPDX-License-Identifier: Apache-2.0
"""Loads op libraries into this process."""

from __future__ import annotations

import inspect
import pathlib
import re
import types
from collections.abc import Iterable

import tensorflow as tf
from tensorflow.core.framework import op_def_pb2
from tensorflow.python.client import pywrap_tf_session
from tensorflow.python.framework import op_def_registry

from tensorflow_custom_ops.core import elementwise, vectorization

# The modules of the libraries that this process has loaded.
_modules: dict[pathlib.Path, types.ModuleType] = {}

_REGISTER_OP = re.compile(r'\bREGISTER_OP\(\s*"(\w+)"|\bREGISTER_ELEMENTWISE_OP\(\s*(\w+)\s*\)')


def registered_by(code: str) -> list[str]:
    """The ops that C++ code registers, as far as it says so by the usual macros."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/", " ", code, flags=re.DOTALL)
    return [first or second for first, second in _REGISTER_OP.findall(code)]


def check_are_new(ops: Iterable[str]) -> None:
    """Refuses ops that are registered: TensorFlow would take no second definition, and break both.

    Raises:
      ValueError: one is.
    """
    known = [op for op in ops if op_def_registry.get(op) is not None]
    if known:
        raise ValueError(
            f"this process has an op {', '.join(known)} already, which TensorFlow cannot replace: give yours another "
            "name, or restart Python (in a notebook, the kernel)"
        )


def loaded(path: pathlib.Path) -> types.ModuleType | None:
    """The module of a library that has been loaded."""
    return _modules.get(path.resolve())


def load(path: pathlib.Path) -> types.ModuleType:
    """Loads a library, once; returns the module of its ops' functions.

    Raises:
      ImportError: it is not an op library that this TensorFlow can load, or has no op that is new.
    """
    path = path.resolve()
    if path in _modules:
        return _modules[path]
    try:
        handle = pywrap_tf_session.TF_LoadLibrary(str(path))
    except tf.errors.OpError as error:
        raise ImportError(f"TensorFlow {tf.__version__} cannot load {path}: {error.message}") from error
    ops = op_def_pb2.OpList.FromString(pywrap_tf_session.TF_GetOpList(handle))
    if not ops.op:
        raise ImportError(
            f"{path} registers no op that is new: it has no REGISTER_OP, or its ops are loaded from another file. "
            "In the second case restart Python, and load one of the two"
        )
    module: types.ModuleType = tf.load_op_library(str(path))
    _modules[path] = module
    return module


def register_functor(op: str, module: types.ModuleType) -> None:
    """Registers the gradients of an op that is made from a functor, and how tf.vectorized_map runs it."""
    if hasattr(module, op + "Grad"):
        elementwise.register(op, module)
        return
    # kOrder is 0.
    function = getattr(module, getattr(module, op).__name__)
    names = list(inspect.signature(function).parameters)
    definition = op_def_registry.get(op)
    attributes = tuple(name for name in names if name in {attr.name for attr in definition.attr})
    vectorization.register_broadcasting(op, function, attributes)
