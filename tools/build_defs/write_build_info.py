# SPDX-License-Identifier: Apache-2.0
"""Writes the Python module that tells what op libraries were built for and which ops they have."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pathlib
import re

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

# _GLIBCXX_USE_CXX11_ABI of that TensorFlow, and so of the library: which std::string it has.
CXX11_ABI: int = {cxx11_abi!r}

# The libraries' sizes in bytes and SHA-256, by their names.
LIBRARIES: dict[str, tuple[int, str]] = {libraries!r}

# Whether the library has the ops' XLA kernels.
XLA: bool = {xla!r}

# The compiler of the library, as it names itself.
COMPILER: str = {compiler!r}

# The version of the CUDA toolkit that compiled the GPU kernels; None if there are none.
CUDA_VERSION: str | None = {cuda_version!r}

# What the GPU kernels are compiled for: sm_XY has machine code, and compute_XY also code for what is newer.
CUDA_ARCHITECTURES: tuple[str, ...] = {cuda_architectures!r}

# The ops that the library registers.
OPS: tuple[str, ...] = {ops!r}
'''


def compiler(library: pathlib.Path) -> str:
    """The compiler that a library names, as compilers do in the section .comment."""
    name = re.search(rb"(?:GCC: |clang version )[ -~]+", library.read_bytes())
    return name[0].decode().replace(":", "") if name else "unknown"


def size_and_hash(library: pathlib.Path) -> tuple[int, str]:
    """What tells a library from every other."""
    content = library.read_bytes()
    return len(content), hashlib.sha256(content).hexdigest()


def main() -> None:
    """Writes one module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", required=True, help="the version of the package")
    parser.add_argument("--xla", choices=("true", "false"), required=True, help="whether it has XLA kernels")
    parser.add_argument("--cuda", type=pathlib.Path, help="the toolkit of the GPU kernels, if there are some: JSON")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the module to write")
    parser.add_argument(
        "libraries", type=pathlib.Path, nargs="+", help="the op library, and that of GPU kernels if there are some"
    )
    args = parser.parse_args()
    handle = pywrap_tf_session.TF_LoadLibrary(str(args.libraries[0].absolute()))
    op_list = op_def_pb2.OpList.FromString(pywrap_tf_session.TF_GetOpList(handle))
    cuda = json.loads(args.cuda.read_text()) if args.cuda else {"version": None, "architectures": []}
    module = TEMPLATE.format(
        version=args.version,
        tensorflow_version=tf.__version__,
        xla=args.xla == "true",
        cxx11_abi=tf.sysconfig.CXX11_ABI_FLAG,
        libraries={path.name: size_and_hash(path) for path in args.libraries},
        compiler=compiler(args.libraries[0]),
        cuda_version=cuda["version"],
        cuda_architectures=tuple(cuda["architectures"]),
        ops=tuple(sorted(op.name for op in op_list.op)),
    )
    args.out.write_text(module)


if __name__ == "__main__":
    main()
