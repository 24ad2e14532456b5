# SPDX-License-Identifier: Apache-2.0
"""Loads the op libraries into TensorFlow, once, or says why one cannot be loaded."""

from __future__ import annotations

import hashlib
import os
import pathlib
import platform
import struct
import sys
import warnings

from tensorflow_custom_ops import _build_info

# Not resolved: under Bazel this file is a link to the source, and the library lies beside the link.
LIBRARY = pathlib.Path(__file__).absolute().parent / "_ops.so"
GPU_LIBRARY = LIBRARY.with_name("_ops_gpu.so")

# The processors that ELF files are for, by their numbers there.
_MACHINES = {3: "i386", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"}

# What NVIDIA's driver for Linux tells about itself.
_DRIVER = pathlib.Path("/proc/driver/nvidia/version")


def _abi(version: str) -> str:
    """The part of a TensorFlow version that libraries must share to fit.

    A library fits every patch release of the minor version that it was built for. Before a release
    there is no such promise: nightlies and release candidates fit themselves alone.
    """
    major, minor, patch = version.split(".", 2)
    return f"{major}.{minor}" if patch.isdigit() else version


def _check_tensorflow(found: str, cxx11_abi: int) -> None:
    """Refuses another TensorFlow before the library is opened: opening it could crash, or corrupt data."""
    built_for = _build_info.TENSORFLOW_VERSION
    if _abi(found) != _abi(built_for):
        raise ImportError(
            f"tensorflow_custom_ops {_build_info.VERSION} was built for TensorFlow {_abi(built_for)}, and "
            f"TensorFlow {found} is installed. Their C++ interfaces differ. Install TensorFlow {_abi(built_for)} "
            f"(pip install 'tensorflow-custom-ops[cpu]'), or build this package for TensorFlow {found} from source."
        )
    if cxx11_abi != _build_info.CXX11_ABI:
        raise ImportError(
            f"tensorflow_custom_ops {_build_info.VERSION} was compiled with _GLIBCXX_USE_CXX11_ABI="
            f"{_build_info.CXX11_ABI}, and this TensorFlow {found} with {cxx11_abi}: their std::string differ. Build "
            "this package from source for this TensorFlow."
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


def _machine(header: bytes) -> str | None:
    """The processor that an ELF file is for, which begins with `header`; None if it is no ELF file."""
    if not header.startswith(b"\x7fELF") or len(header) < 20:
        return None
    (number,) = struct.unpack_from("<18xH", header)
    return _MACHINES.get(number, f"machine {number}")


def _check_library(library: pathlib.Path) -> None:
    """Refuses what is not the library that this package was built with.

    Opening a part of it, as a full disk leaves it, would end the process by a signal.

    Raises:
      OSError: it is not.
    """
    content = library.read_bytes()
    with pathlib.Path(sys.executable).open("rb") as file:
        own = _machine(file.read(20))
    machine = _machine(content[:20])
    # An interpreter may be started by a script, which is no ELF file.
    if machine and own and machine != own:
        raise OSError(f"it is for {machine}, and this Python is for {own} (on {platform.machine()})")
    size, sha256 = _build_info.LIBRARIES[library.name]
    if len(content) != size:
        raise OSError(f"it has {len(content)} bytes instead of {size}. Install the package again")
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise OSError(f"it is not the library of this package: its SHA-256 is {found} instead of {sha256}")


def _load_library(library: pathlib.Path) -> None:
    """Loads a library into TensorFlow.

    Raises:
      OSError, tf.errors.OpError: it cannot be loaded.
    """
    import tensorflow as tf  # noqa: PLC0415 - loaded by now

    _check_library(library)
    tf.load_library(str(library))


def _driver() -> str:
    """NVIDIA's driver."""
    try:
        return _DRIVER.read_text().splitlines()[0].removeprefix("NVRM version: ")
    except (OSError, IndexError):
        return "not there"


def _load_gpu_library(tensorflow_cuda: str) -> str:
    """Loads the GPU kernels into a TensorFlow that was built with CUDA `tensorflow_cuda`.

    Returns:
      "loaded", or why they cannot be loaded, which is also a warning.
    """
    import tensorflow as tf  # noqa: PLC0415 - loaded by now

    cuda = str(_build_info.CUDA_VERSION)
    if tensorflow_cuda.split(".", maxsplit=1)[0] != cuda.split(".", maxsplit=1)[0]:
        error = "the major versions of CUDA differ"
    else:
        try:
            _load_library(GPU_LIBRARY)
            return "loaded"
        except (tf.errors.OpError, OSError) as exception:
            error = str(exception)
    reason = (
        f"cannot load {GPU_LIBRARY}, built with CUDA {cuda}, into TensorFlow {tf.__version__}, built with CUDA "
        f"{tensorflow_cuda}; the NVIDIA driver is {_driver()}: {error}"
    )
    warnings.warn(f"the ops of tensorflow_custom_ops run on the CPU only: {reason}", RuntimeWarning, stacklevel=5)
    return reason


def _load_gpu_kernels() -> str:
    """Loads the GPU kernels where there are some and TensorFlow can use them; tells what came of it."""
    import tensorflow as tf  # noqa: PLC0415 - loaded by now

    if _build_info.CUDA_VERSION is None:
        return "this build of the package has none (--config=cuda builds some)"
    info = tf.sysconfig.get_build_info()
    if not info["is_cuda_build"]:
        return f"this TensorFlow {tf.__version__} is built without CUDA"
    return _load_gpu_library(info["cuda_version"])


def load() -> str:
    """Loads the op library into TensorFlow, and the library of GPU kernels where it is of use.

    Returns:
      "loaded", or why the GPU kernels are not.

    Raises:
      ImportError: TensorFlow is missing, or not one that the library was built for; the ops are registered already
        by another library; or the library is missing, not the one that the package was built with, or cannot be
        opened. Not that the GPU kernels cannot be loaded: the ops work without them, and a warning tells.
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

    _check_tensorflow(tf.__version__, tf.sysconfig.CXX11_ABI_FLAG)
    _check_ops_are_new([op for op in _build_info.OPS if op_def_registry.get(op) is not None])
    try:
        _load_library(LIBRARY)
    except (tf.errors.OpError, OSError) as error:
        raise ImportError(
            f"cannot load {LIBRARY}, built for TensorFlow {_build_info.TENSORFLOW_VERSION}, into TensorFlow "
            f"{tf.__version__}: {error}"
        ) from error
    return _load_gpu_kernels()
