# SPDX-License-Identifier: Apache-2.0
"""Writes compile_commands.json, and checks that its commands compile and that clangd understands sources by it.

    bazel run //tests/compile_commands:check
    bazel run //tests/compile_commands:check -- --config=cuda

The options are Bazel's, as for //tools/compile_commands.
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from tools.compile_commands import compile_commands

CLANGD = pathlib.Path(__file__).absolute().parents[3] / "lint_packages/venv/bin/clangd"

PACKAGE = "tensorflow_custom_ops"
BY_HAND = "examples/by_hand/my_op"
DEFINITION = f"{BY_HAND}/my_op.cc"
KERNEL = f"{BY_HAND}/my_op_kernel.cc"
GPU_KERNEL = f"{BY_HAND}/my_op_gpu.cu.cc"
# Of an elementwise op, once for each instruction set.
ELEMENTWISE = f"{PACKAGE}/core/elementwise/cpu_functions.cc"
ISAS = ("baseline", "avx2", "avx512")
# For headers clangd takes the command of the source that has the most similar name.
HEADERS = (f"{PACKAGE}/ops/my_op/my_op.h", f"{BY_HAND}/my_op_gpu.h")


def chosen(written: Sequence[dict[str, Any]], file: str, argument: str | None = None) -> dict[str, Any]:
    """The first command for a file, or the first that has an argument."""
    for each in written:
        if each["file"] == file and (argument is None or argument in each["arguments"]):
            return each
    sys.exit(f"there is no command for {file}" + (f" with {argument}" if argument else ""))


def check_syntax(entry: dict[str, Any]) -> None:
    """Runs a command, but for writing an object."""
    command: list[str] = [*entry["arguments"], "-fsyntax-only"]
    result = subprocess.run(command, cwd=entry["directory"], check=False)
    if result.returncode:
        sys.exit(f"this does not compile: {entry}")


def check_clangd(workspace: pathlib.Path, file: str) -> None:
    """Lets clangd read a file as it does for an editor."""
    # Of the features that it tries at each place in a file, the first line's are enough.
    command = [str(CLANGD), f"--compile-commands-dir={workspace}", "--check-lines=1-1", f"--check={file}"]
    result = subprocess.run(command, cwd=workspace, stderr=subprocess.PIPE, text=True, check=False)
    if result.returncode or not re.search(r"All checks completed, 0 errors", result.stderr):
        sys.exit(f"{result.stderr}clangd does not understand {file}")


def main() -> None:
    """Checks; ends with what is wrong."""
    workspace = pathlib.Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    written = compile_commands.write(workspace, sys.argv[1:])
    in_cuda = any("cuda" in each["arguments"] for each in written)
    plain = [chosen(written, DEFINITION), chosen(written, KERNEL)]
    plain += [chosen(written, ELEMENTWISE, f"-DELEMENTWISE_ISA={isa}") for isa in ISAS]
    if not in_cuda:
        plain.append(chosen(written, GPU_KERNEL))
    elif "cuda" not in chosen(written, GPU_KERNEL)["arguments"]:
        sys.exit(f"the first command for {GPU_KERNEL} is not that for CUDA")
    for entry in plain:
        check_syntax(entry)
    files = [DEFINITION, KERNEL, GPU_KERNEL, ELEMENTWISE, *HEADERS]
    for file in files:
        check_clangd(workspace, file)
    print(f"{len(written)} commands; {len(plain)} compile, and clangd understands {len(files)} files")


if __name__ == "__main__":
    main()
