# SPDX-License-Identifier: Apache-2.0
"""Runs a Python file, and what it imports, on TensorFlow's CUDA build.

run_on_cuda_tensorflow.py FILE [ARGUMENT]...
"""

import os
import sys
from pathlib import Path

REPOSITORIES = Path(__file__).absolute().parents[3]


def main() -> None:
    """Becomes the interpreter that has it: that of a repository, or this one."""
    python = sys.executable
    if repository := os.environ["CUDA_TENSORFLOW"]:
        packages = (REPOSITORIES / repository / "packages").resolve()
        python = str(packages.parents[2] / "bin/python3")
    os.execv(python, [python, *sys.argv[1:]])


if __name__ == "__main__":
    main()
