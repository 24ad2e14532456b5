# SPDX-License-Identifier: Apache-2.0
"""How op libraries are compiled and linked: as this package was, and as the TensorFlow at hand wants it."""

from __future__ import annotations

import functools
import json
import os
import pathlib
import sys
from typing import Any

import tensorflow as tf

# Not resolved: under Bazel this file is a link to the source, and what the build makes lies beside the link.
FOLDER = pathlib.Path(__file__).absolute().parent

# What the package's headers are below, and its library of what they declare.
INCLUDE = FOLDER / "include"
LIBRARY = FOLDER / "lib" / "libcore.a"


@functools.cache
def build() -> dict[str, Any]:
    """The options of the package's own build; see tools/build_defs/development_files.bzl."""
    options: dict[str, Any] = json.loads((FOLDER / "options.json").read_text())
    return options


def tensorflow_folder() -> pathlib.Path:
    """The folder of the TensorFlow at hand."""
    return pathlib.Path(tf.sysconfig.get_lib())


def tensorflow_identity() -> list[str]:
    """What tells this TensorFlow from others whose headers differ."""
    return [tf.__version__, tf.version.GIT_VERSION, str(tensorflow_folder())]


def include_roots() -> list[pathlib.Path]:
    """TensorFlow's folders of headers."""
    roots = [tensorflow_folder() / root for root in build()["include_roots"]]
    return [root for root in roots if root.is_dir()]


def preprocessor_flags() -> list[str]:
    """Where headers are, and TensorFlow's macros."""
    macros = [flag for flag in tf.sysconfig.get_compile_flags() if flag.startswith("-D")]
    roots = [f"-isystem{root}" for root in include_roots()]
    return [*macros, f"-I{INCLUDE}", *roots]


def compile_flags() -> list[str]:
    """The flags of a C++ source of an op library."""
    flags = [flag for flag in tf.sysconfig.get_compile_flags() if not flag.startswith(("-I", "-D"))]
    # In the options of the build there are some of TensorFlow's, too.
    return [*dict.fromkeys([*build()["compile"], *flags]), *preprocessor_flags()]


def link_flags() -> list[str]:
    """The flags of an op library, after its objects."""
    libraries = [f"-l:{library}" for library in build()["libraries"]]
    # A symbol that is nowhere fails here, and not when the library is loaded.
    return ["-shared", str(LIBRARY), f"-L{tensorflow_folder()}", *libraries, "-Wl,-z,defs"]


def instruction_set() -> tuple[str, list[str]]:
    """The best instruction set that this processor has, or that TF_CUSTOM_OPS_ISA names, and its flags."""
    sets: dict[str, list[str]] = dict(build()["instruction_sets"])
    features = _processor_features()
    possible = [name for name, flags in sets.items() if all(flag.removeprefix("-m") in features for flag in flags)]
    wanted = os.environ.get("TF_CUSTOM_OPS_ISA")
    # If it names another, the kernel says so.
    name = wanted if wanted in possible else possible[-1]
    return name, sets[name]


def _processor_features() -> set[str]:
    """What /proc/cpuinfo says that the processor has, where that calls it like the compiler does."""
    if not sys.platform.startswith("linux"):
        return set()
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "flags":
            return set(value.split())
    return set()
