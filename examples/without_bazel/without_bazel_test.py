# SPDX-License-Identifier: Apache-2.0
"""make, CMake and setuptools compile an op by the flags that the package tells them."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from typing import Any

from absl.testing import absltest

from tests import op_test_case

EXAMPLE = pathlib.Path(__file__).absolute().parent

# In the folder that has the package cube.
PROGRAM = """
import sys
import tensorflow as tf
sys.path.insert(0, ".")
import cube
x = tf.constant([2.0, -1.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = cube.cube(x)
print(y.numpy(), tape.gradient(y, x).numpy())
"""


def needs(*programs: str) -> Callable[..., Any]:
    """For tests that run programs which a machine may lack; g++ is not among them."""
    missing = [program for program in programs if not shutil.which(program)]
    skip: Callable[..., Any] = absltest.skipIf(bool(missing), f"there is no {', '.join(missing)}")
    return skip


class WithoutBazelTest(op_test_case.OpTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path) / "example"
        (self.folder / "cube").mkdir(parents=True)
        for name in ("CMakeLists.txt", "Makefile", "cube.cc", "cube/__init__.py", "setup.py"):
            shutil.copyfile(EXAMPLE / name, self.folder / name)

    def run_command(self, *command: str) -> str:
        """Runs a command there; returns what it prints."""
        result = subprocess.run(
            command,
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TF_CPP_MIN_LOG_LEVEL": "3"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.assertEqual(result.returncode, 0, result.stdout)
        return result.stdout

    def assert_works(self, library: pathlib.Path) -> None:
        """Checks a library, as part of the package cube."""
        if library.parent != self.folder / "cube":
            library.rename(self.folder / "cube/libcube.so")
        printed = self.run_command(sys.executable, "-c", PROGRAM).splitlines()
        self.assertEqual(printed[-1], "[ 8. -1.] [12.  3.]")

    @needs("make")
    def test_make(self) -> None:
        self.run_command("make", f"PYTHON={sys.executable}")
        self.assertIn("is up to date", self.run_command("make", f"PYTHON={sys.executable}"))
        self.assert_works(self.folder / "libcube.so")

    @needs("cmake", "make")
    def test_cmake(self) -> None:
        self.run_command("cmake", "-B", "build", f"-DPYTHON={sys.executable}")
        self.run_command("cmake", "--build", "build")
        self.assert_works(self.folder / "build/libcube.so")

    def test_setuptools(self) -> None:
        pip = (sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index")
        self.run_command(*pip, ".")
        (wheel,) = self.folder.glob("cube-1.0-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extract("cube/libcube.so", self.folder / "unpacked")
        self.assert_works(self.folder / "unpacked/cube/libcube.so")


if __name__ == "__main__":
    absltest.main()
