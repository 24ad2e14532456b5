# SPDX-License-Identifier: Apache-2.0
"""How CUDA sources are compiled: by the toolkit that the package's own build would find, with its options."""

from __future__ import annotations

import os
import re
import warnings

import tensorflow as tf

from tensorflow_custom_ops.jit import _compiler, _find_cuda, _options

# CUDA's runtime is in TensorFlow's CUDA build. This undoes -z,defs.
LINK_FLAG = "-Wl,--unresolved-symbols=ignore-all"


def command(compiler: _compiler.Compiler) -> list[str]:
    """Nvcc with the options of every CUDA source.

    Args:
      compiler: the host's, for what is not for a GPU.

    Raises:
      CompileError: there is no toolkit.
    """
    try:
        toolkit, _ = _find_cuda.find_toolkit(os.environ)
        architectures = _find_cuda.architectures(toolkit, os.environ)
    except _find_cuda.CudaError as error:
        raise _compiler.CompileError(f"CUDA sources need nvcc, of CUDA {_find_cuda.WANTED}: {error}") from error
    if toolkit.major != _find_cuda.WANTED:
        message = _find_cuda.WARNING.format(version=toolkit.version, root=toolkit.root)
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    options = _options.build()
    gencode = []
    for architecture in architectures:
        kind, _, number = architecture.partition("_")
        gencode += [option.replace("{}", number) for option in options["gencode"][kind]]
    host = ["-ccbin", compiler.command[0], "-Xcompiler=-fPIC,-fvisibility=hidden"]
    return [toolkit.nvcc, *host, *options["nvcc"], *gencode, "-DGOOGLE_CUDA=1", "--expt-relaxed-constexpr"]


def check_tensorflow() -> None:
    """Refuses a TensorFlow that cannot load GPU kernels.

    Raises:
      RuntimeError: it is built without CUDA.
    """
    if not tf.sysconfig.get_build_info()["is_cuda_build"]:
        raise RuntimeError(
            f"GPU kernels need a TensorFlow that is built with CUDA, and this TensorFlow {tf.__version__} is not: pip "
            f"install 'tensorflow[and-cuda]=={re.sub('[^0-9.].*', '', tf.__version__)}', or leave the CUDA sources out"
        )
