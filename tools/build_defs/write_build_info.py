# SPDX-License-Identifier: Apache-2.0
"""Writes the Python module that tells what an op library was built for and which ops it has."""

from __future__ import annotations

import argparse
import os
import pathlib

# Before TensorFlow is imported, for it prints and looks for GPUs.
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import tensorflow as tf
from tensorflow.core.framework import op_def_pb2
from tensorflow.python.client import pywrap_tf_session

TEMPLATE = '''\
"""What this build of the package is. Generated."""

# The version of the package.
VERSION: str = {version!r}

# The TensorFlow that the library was compiled against.
TENSORFLOW_VERSION: str = {tensorflow_version!r}

# Whether the library has the ops' XLA kernels.
XLA: bool = {xla!r}

# The ops that the library registers.
OPS: tuple[str, ...] = {ops!r}
'''


def main() -> None:
    """Writes one module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", required=True, help="the version of the package")
    parser.add_argument("--xla", choices=("true", "false"), required=True, help="whether it has XLA kernels")
    parser.add_argument("library", help="the op library")
    parser.add_argument("out", type=pathlib.Path, help="the module to write")
    args = parser.parse_args()
    handle = pywrap_tf_session.TF_LoadLibrary(os.path.abspath(args.library))
    op_list = op_def_pb2.OpList.FromString(pywrap_tf_session.TF_GetOpList(handle))
    module = TEMPLATE.format(
        version=args.version,
        tensorflow_version=tf.__version__,
        xla=args.xla == "true",
        ops=tuple(sorted(op.name for op in op_list.op)),
    )
    args.out.write_text(module)


if __name__ == "__main__":
    main()
