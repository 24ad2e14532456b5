# SPDX-License-Identifier: Apache-2.0
"""The commands in docs/gpu.md that build a GPU kernel without Bazel make libraries that TensorFlow loads."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

from absl.testing import absltest

from tests.docs import snippets

REPOSITORY = pathlib.Path.cwd()
NVCC = REPOSITORY.parent / "local_config_cuda/cuda/bin"
# The repository that has TensorFlow's CUDA build. Without one, this Python has it.
CUDA_TENSORFLOW = os.environ["CUDA_TENSORFLOW"]


def cuda_python() -> str:
    """The interpreter that has TensorFlow's CUDA build."""
    if not CUDA_TENSORFLOW:
        return sys.executable
    packages = (REPOSITORY.parent / CUDA_TENSORFLOW / "packages").resolve()
    return str(packages.parents[2] / "bin/python3")


class ByHandTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        folder = pathlib.Path(self.create_tempdir().full_path)
        programs = folder / "bin"
        programs.mkdir()
        # Not a link: by its own path it finds its packages.
        (programs / "python3").write_text(f'#!/bin/sh\nexec {cuda_python()} "$@"\n')
        (programs / "python3").chmod(0o755)
        self.variables = {
            "PATH": os.pathsep.join([str(programs), str(NVCC), os.environ["PATH"]]),
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "TMPDIR": str(folder),
        }
        self.out = folder / "my_op"

    def run_command(self, *command: str, cwd: pathlib.Path) -> str:
        """Runs a command that must succeed; returns what it prints."""
        result = subprocess.run(command, cwd=cwd, env=self.variables, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def test_builds_libraries_that_load(self) -> None:
        (commands,) = snippets.code_blocks("docs/gpu.md", "sh")
        output = self.run_command("bash", "-euo", "pipefail", "-c", commands, cwd=REPOSITORY)
        self.assertEmpty(output)
        (code,) = snippets.code_blocks("docs/gpu.md", "python")
        snippets.check_output(self, code, self.run_command("python3", "-c", code, cwd=self.out))


if __name__ == "__main__":
    absltest.main()
