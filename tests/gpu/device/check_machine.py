# SPDX-License-Identifier: Apache-2.0
"""Checks that this Python has what the tests need: TensorFlow that fits an unpacked wheel, has CUDA and sees a GPU.

    check_machine.py PACKAGE

PACKAGE is the folder tensorflow_custom_ops of the wheel. Prints the GPUs, or in one line what is wrong.
"""

from __future__ import annotations

import importlib.util
import os
import runpy
import sys
from pathlib import Path

# Before TensorFlow is imported, for it prints. Warnings are to be seen: they say why there is no GPU.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")


def check(wanted: str) -> None:
    """Prints what TensorFlow is and the GPUs that it sees.

    Args:
      wanted: the version of TensorFlow that the wheel was built for.

    Raises:
      SystemExit: something is wrong; has the message.
    """
    minor = ".".join(wanted.split(".")[:2])
    advice = f"{sys.executable} -m pip install 'tensorflow[and-cuda]=={minor}.*' hypothesis"
    if not importlib.util.find_spec("hypothesis"):
        sys.exit(f"{sys.executable} has no hypothesis; {advice}")
    try:
        import tensorflow as tf  # noqa: PLC0415 - it may be missing
    except ModuleNotFoundError:
        sys.exit(f"{sys.executable} has no TensorFlow; {advice}")
    if not tf.__version__.startswith(minor + "."):
        sys.exit(f"{sys.executable} has TensorFlow {tf.__version__}, and the wheel is for {minor}; {advice}")
    info = tf.sysconfig.get_build_info()
    if not info["is_cuda_build"]:
        sys.exit(f"TensorFlow {tf.__version__} of {sys.executable} is built without CUDA; {advice}")
    print(f"TensorFlow {tf.__version__}, built with CUDA {info['cuda_version']}, cuDNN {info['cudnn_version']}")
    gpus = tf.config.list_physical_devices("GPU")
    if not gpus:
        sys.exit(
            f"TensorFlow {tf.__version__} sees no GPU; its messages above say why, such as a library that is not found"
        )
    for gpu in gpus:
        details = tf.config.experimental.get_device_details(gpu)
        capability = ".".join(map(str, details.get("compute_capability", "?")))
        print(f"{gpu.name}: {details.get('device_name')}, compute capability {capability}")


def main() -> None:
    """Runs the command line."""
    (package,) = sys.argv[1:]
    check(runpy.run_path(str(Path(package, "_build_info.py")))["TENSORFLOW_VERSION"])


if __name__ == "__main__":
    main()
