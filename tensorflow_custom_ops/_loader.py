# SPDX-License-Identifier: Apache-2.0
"""Loads the op library into TensorFlow, once, or says why it cannot be loaded."""

from __future__ import annotations

import os
import pathlib

from tensorflow_custom_ops import _build_info

# Not resolved: under Bazel this file is a link to the source, and the library lies beside the link.
LIBRARY = pathlib.Path(__file__).absolute().parent / "_ops.so"


def _abi(version: str) -> str:
    """The part of a TensorFlow version that libraries must share to fit.

    A library fits every patch release of the minor version that it was built for. Before a release
    there is no such promise: nightlies and release candidates fit themselves alone.
    """
    major, minor, patch = version.split(".", 2)
    return f"{major}.{minor}" if patch.isdigit() else version


def _check_tensorflow(found: str) -> None:
    """Refuses another TensorFlow before the library is opened: opening it could crash, or corrupt data."""
    built_for = _build_info.TENSORFLOW_VERSION
    if _abi(found) != _abi(built_for):
        raise ImportError(
            f"tensorflow_custom_ops {_build_info.VERSION} was built for TensorFlow {_abi(built_for)}, and "
            f"TensorFlow {found} is installed. Their C++ interfaces differ. Install TensorFlow {_abi(built_for)} "
            f"(pip install 'tensorflow-custom-ops[cpu]'), or build this package for TensorFlow {found} from source."
        )


def _library_is_open() -> bool:
    """Whether this process has the library open already."""
    path = os.fsencode(LIBRARY.resolve())
    lines = pathlib.Path("/proc/self/maps").read_bytes().splitlines()
    # A path is the sixth field, and may have spaces.
    return any(line.split(maxsplit=5)[5:] == [path] for line in lines)


def _check_ops_are_new(registered: list[str]) -> None:
    """Refuses to register ops twice, from two copies of the library: TensorFlow would break both."""
    if registered and not _library_is_open():
        raise ImportError(
            f"the ops {', '.join(registered)} are registered in this process already, by another library than "
            f"{LIBRARY}: another copy of tensorflow_custom_ops, or other ops of these names. Load one of the two."
        )


def load() -> None:
    """Loads the op library into TensorFlow.

    Raises:
      ImportError: TensorFlow is missing, or not one that the library was built for; the ops are registered already
        by another library; or the library cannot be opened.
    """
    try:
        import tensorflow as tf  # noqa: PLC0415 - it may be missing
    except ModuleNotFoundError as error:
        if error.name != "tensorflow":
            raise
        raise ImportError(
            f"tensorflow_custom_ops needs TensorFlow {_abi(_build_info.TENSORFLOW_VERSION)}, and no TensorFlow is "
            "installed: pip install 'tensorflow-custom-ops[cpu]'",
            name="tensorflow",
        ) from error

    from tensorflow.python.framework import op_def_registry  # noqa: PLC0415 - likewise

    _check_tensorflow(tf.__version__)
    _check_ops_are_new([op for op in _build_info.OPS if op_def_registry.get(op) is not None])
    try:
        tf.load_library(str(LIBRARY))
    except (tf.errors.OpError, OSError) as error:
        raise ImportError(
            f"cannot load {LIBRARY}, built for TensorFlow {_build_info.TENSORFLOW_VERSION}, into TensorFlow "
            f"{tf.__version__}: {error}"
        ) from error
