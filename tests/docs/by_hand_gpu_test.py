# SPDX-License-Identifier: Apache-2.0
"""The commands in docs/by_hand.md that build GPU kernels without Bazel make libraries that TensorFlow loads."""

from __future__ import annotations

import os
import sys

from absl.testing import absltest

from tests.docs import by_hand

NVCC = by_hand.REPOSITORY.parent / "local_config_cuda/cuda/bin"
# The repository that has TensorFlow's CUDA build. Without one, this Python has it.
CUDA_TENSORFLOW = os.environ["CUDA_TENSORFLOW"]


def cuda_python() -> str:
    """The interpreter that has TensorFlow's CUDA build."""
    if not CUDA_TENSORFLOW:
        return sys.executable
    packages = (by_hand.REPOSITORY.parent / CUDA_TENSORFLOW / "packages").resolve()
    return str(packages.parents[2] / "bin/python3")


class ByHandGpuTest(by_hand.ByHandTestCase):
    def test_builds_libraries_that_load(self) -> None:
        self.run_parts(2, cuda_python(), (str(NVCC),))


if __name__ == "__main__":
    absltest.main()
