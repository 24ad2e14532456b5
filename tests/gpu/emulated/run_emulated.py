# SPDX-License-Identifier: Apache-2.0
"""Runs a test module on a copy of the package whose library has the emulated GPU kernels.

run_emulated.py MODULE [ABSLTEST FLAG]...
"""

import importlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

from absl.testing import absltest

REPOSITORY = Path(__file__).absolute().parents[3]
PACKAGE = "tensorflow_custom_ops"


def make_package(folder: Path) -> None:
    """Makes the package in a folder: links to its files, but to the emulated library in place of its own."""
    shutil.copytree(REPOSITORY / PACKAGE, folder / PACKAGE, symlinks=True)
    for name in ("_ops.so", "_build_info.py"):
        file = folder / PACKAGE / name
        file.unlink()
        file.symlink_to(Path(__file__).absolute().parent / name)


def main() -> None:
    """Runs the tests of one module."""
    module = sys.argv.pop(1)
    with tempfile.TemporaryDirectory(dir=os.environ["TEST_TMPDIR"]) as folder:
        make_package(Path(folder))
        sys.path.insert(0, folder)
        # Read by tests/op_test_case.py, here and in the processes that tests start.
        os.environ["TEST_DEVICE"] = "emulator"
        importlib.import_module(module)
        absltest.main(module=module)


if __name__ == "__main__":
    main()
