# SPDX-License-Identifier: Apache-2.0
"""Runs tests of kernels that nvcc has compiled, on TensorFlow's CUDA runtime.

    run_kernel_tests.py LIBRARY [TEST...]

LIBRARY has the main function of tools/cuda_emulator/gpu_test_main.cc.
"""

from __future__ import annotations

import ctypes
import os
import sys

# Before TensorFlow is imported, for it prints.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

# It has CUDA's runtime, which the library needs.
import tensorflow as tf  # noqa: F401


def main() -> int:
    """Runs the tests; returns the exit status."""
    library = ctypes.CDLL(sys.argv[1])
    arguments = [os.fsencode(argument) for argument in sys.argv[1:]]
    return int(library.main(len(arguments), (ctypes.c_char_p * len(arguments))(*arguments)))


if __name__ == "__main__":
    sys.exit(main())
