# SPDX-License-Identifier: Apache-2.0
"""Custom TensorFlow ops, Keras layers made of them, and the way to write your own.

Importing the package loads its op library into TensorFlow and registers the ops' gradients; a
SavedModel that uses the ops needs no more than this import to be loaded.
"""

# The library is loaded first, for the modules of functions register gradients for its ops. And _functions is
# generated, so that the list of ops is in one place.
# ruff: noqa: E402, F403, PLE0604

import importlib
from typing import Any

from tensorflow_custom_ops import _loader as _loader

_GPU_KERNELS = _loader.load()

from tensorflow_custom_ops import _build_info
from tensorflow_custom_ops import _functions as _functions
from tensorflow_custom_ops._functions import *

__version__ = _build_info.VERSION
__all__ = ["__version__", "build_info", *_functions.__all__]


def build_info() -> dict[str, object]:
    """What this build of the package is.

    Returns:
      - `version`: the version of the package.
      - `tensorflow_version`: the TensorFlow that it was compiled against; it serves every patch release of its minor
        version.
      - `xla`: whether the ops have XLA kernels, that is whether they work under `jit_compile=True`.
      - `compiler`: the C++ compiler of the library.
      - `cuda_version`: the CUDA toolkit that compiled the GPU kernels; None if the package has none.
      - `cuda_architectures`: what the GPU kernels are compiled for. `sm_90` is machine code for that compute
        capability, `compute_90` that and PTX for newer ones.
      - `gpu_kernels`: `"loaded"`, or why this process has no GPU kernels.
      - `ops`: the names of the ops that it registers.
    """
    return {
        "version": _build_info.VERSION,
        "tensorflow_version": _build_info.TENSORFLOW_VERSION,
        "xla": _build_info.XLA,
        "compiler": _build_info.COMPILER,
        "cuda_version": _build_info.CUDA_VERSION,
        "cuda_architectures": _build_info.CUDA_ARCHITECTURES,
        "gpu_kernels": _GPU_KERNELS,
        "ops": _build_info.OPS,
    }


def __getattr__(name: str) -> Any:  # noqa: ANN401 - to a type checker, of every attribute
    """Imports `jit`, and `layers`, which needs Keras to run on TensorFlow, when they are first used."""
    if name in ("jit", "layers"):
        return importlib.import_module(f"tensorflow_custom_ops.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
