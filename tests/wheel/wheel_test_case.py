# SPDX-License-Identifier: Apache-2.0
"""What the tests of the wheel share."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import auditwheel
from absl.testing import absltest

REPOSITORY = Path(__file__).absolute().parents[2]
# Packages for tests alone. pip is among them; the interpreter that has TensorFlow may lack it.
TEST_PACKAGES = Path(auditwheel.__file__).parents[1]
PACKAGE = "tensorflow_custom_ops"
LIBRARY = "_ops.so"
GPU_LIBRARY = "_ops_gpu.so"


class WheelTestCase(absltest.TestCase):
    """Has the wheel that the build made, and virtual environments to install it into.

    Attributes:
      wheel: the wheel.
    """

    def setUp(self) -> None:
        super().setUp()
        (self.wheel,) = REPOSITORY.glob("tools/pip_package/*.whl")

    def new_folder(self) -> Path:
        """Makes an empty folder."""
        return Path(self.create_tempdir().full_path).resolve()

    def run_command(
        self, *command: str | Path, cwd: Path | None = None, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command in an empty folder, with nothing of this process's import path."""
        variables = {
            "HOME": str(self.new_folder()),
            "PATH": os.environ["PATH"],
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_INPUT": "1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
        }
        result = subprocess.run(
            command,
            cwd=cwd or self.new_folder(),
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
        if check:
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result

    def tensorflow_path(self) -> list[Path]:
        """Returns the folders that the interpreter which has TensorFlow imports from."""
        result = self.run_command(sys.executable, "-c", "import sys; print(*sys.path[1:], sep='\\n')")
        return [Path(line) for line in result.stdout.splitlines()]

    def make_venv(self, packages: list[Path]) -> Path:
        """Makes a virtual environment without pip; returns its interpreter.

        Args:
          packages: folders of further packages, which are neither copied nor installed again.
        """
        venv = self.new_folder()
        self.run_command(sys.executable, "-m", "venv", "--without-pip", venv)
        (site,) = venv.glob("lib/python3.*/site-packages")
        (site / "packages.pth").write_text("".join(f"{folder}\n" for folder in packages))
        return venv / "bin" / "python"

    def pip(self, python: Path, *arguments: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs pip for an interpreter, without any package index."""
        # From its own folder, so that the interpreter in question does not import from there too.
        command = (sys.executable, "-m", "pip", "--python", python, *arguments)
        return self.run_command(*command, cwd=TEST_PACKAGES, check=check)

    def install(self, python: Path, extra: str = "", *, check: bool = True) -> str:
        """Installs the wheel, with the dependencies of an extra; returns what pip prints."""
        wheel = f"{self.wheel}[{extra}]" if extra else self.wheel
        result = self.pip(python, "install", "--no-index", wheel, check=check)
        return result.stdout + result.stderr

    def unpack(self) -> Path:
        """Unpacks the wheel; returns the folder."""
        folder = self.new_folder()
        with zipfile.ZipFile(self.wheel) as archive:
            archive.extractall(folder)
        return folder
