# SPDX-License-Identifier: Apache-2.0
"""Describes the TensorFlow of the interpreter that runs this, as JSON on standard output."""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import re
import sys
import types

OLDEST_VERSION = (2, 19)
LIBRARY = "libtensorflow_framework.so.2"


def python_name() -> str:
    """The interpreter, as error messages name it."""
    return f"{sys.executable} (Python {sys.version.split()[0]})"


def import_tensorflow() -> types.ModuleType:
    """Imports TensorFlow and refuses what this repository does not build against."""
    wanted = f"TensorFlow {'.'.join(map(str, OLDEST_VERSION))} or newer is needed"
    if importlib.util.find_spec("tensorflow") is None:
        sys.exit(f"{python_name()} has no TensorFlow; {wanted}")
    # Before the import, for it prints; and no GPU is needed to be described.
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    try:
        tf = importlib.import_module("tensorflow")

        version = tf.__version__
    except Exception as error:
        sys.exit(f"{python_name()}: import tensorflow fails: {error!r}; {wanted}")
    if tuple(map(int, version.split(".")[:2])) < OLDEST_VERSION:
        sys.exit(f"{python_name()} has TensorFlow {version}; {wanted}")
    return tf


def find_record(library: pathlib.Path) -> pathlib.Path:
    """The RECORD of the distribution that TensorFlow's library was installed from."""
    for name in set(importlib.metadata.packages_distributions().get("tensorflow", [])):
        distribution = importlib.metadata.distribution(name)
        files = distribution.files or []
        located = {str(f): pathlib.Path(str(distribution.locate_file(f))) for f in files}
        if library.resolve() in (p.resolve() for f, p in located.items() if f.endswith(LIBRARY)):
            return next(p for f, p in located.items() if f.endswith(".dist-info/RECORD")).resolve()
    sys.exit(f"{python_name()}: {library} belongs to no installed package; install a TensorFlow wheel")


def content_hash(record: pathlib.Path) -> str:
    """A hash of what the wheel brought: other headers or libraries give another hash."""
    lines = sorted(
        line
        for line in record.read_text().splitlines()
        if line.startswith("tensorflow/") and ",sha256=" in line and "__pycache__" not in line
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def main() -> None:
    """Writes the description."""
    tf = import_tensorflow()
    lib_dir = pathlib.Path(tf.sysconfig.get_lib())
    include_dir = pathlib.Path(tf.sysconfig.get_include())
    library = lib_dir / LIBRARY
    for needed in (library, include_dir / "tensorflow/core/framework/op_kernel.h"):
        if not needed.exists():
            sys.exit(f"{python_name()}: TensorFlow {tf.__version__} has no {needed}")
    record = find_record(library)
    # The include directory comes as a label, not as a flag.
    compile_flags = [f for f in tf.sysconfig.get_compile_flags() if not f.startswith("-I")]
    version = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)(.*)", tf.__version__)
    if version is None:
        sys.exit(f"{python_name()}: TensorFlow's version is {tf.__version__!r}, not a version")
    description = {
        "python": sys.executable,
        "version": tf.__version__,
        "version_parts": version.groups(),
        "lib_dir": str(lib_dir.resolve()),
        "include_dir": str(include_dir.resolve()),
        "record": str(record),
        "content_hash": content_hash(record),
        "is_cuda_build": bool(tf.sysconfig.get_build_info()["is_cuda_build"]),
        "cxx_flags": [f for f in compile_flags if not f.startswith("-D")],
        "defines": [f.removeprefix("-D") for f in compile_flags if f.startswith("-D")],
    }
    json.dump(description, sys.stdout, indent=2)


if __name__ == "__main__":
    main()
