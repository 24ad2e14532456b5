# SPDX-License-Identifier: Apache-2.0
"""Writes compile_commands.json, from which clangd and other tools know how each C++ and CUDA source is compiled.

    bazel run //tools/compile_commands
    bazel run //tools/compile_commands -- [OPTION OF BAZEL]...    of a build with these, for example --config=cuda

Nothing is compiled: Bazel says how it would. Of a source that is compiled several times, for several instruction sets
for example, the plainest is first, which clangd takes. A CUDA source is C++ for the emulator; with --config=cuda it is
CUDA.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

OUTPUT = "compile_commands.json"
QUERY = 'mnemonic("CppCompile", //...)'

# What an editor's clang does not know, or is of no use to it; a warning is no error in what is being written.
_DROPPED = re.compile(
    r"-MD|-Werror|-frandom-seed=.*|-fno-canonical-system-headers|-Wno-free-nonheap-object|-Wno-deprecated-gpu-targets"
    r"|-Xfatbin=.*|-nvcc_options=.*"
)
# With one argument. -x is nvcc's, whose language clang calls otherwise.
_DROPPED_PAIRS = ("-MF", "-o", "-ccbin", "-gencode", "-x")
_BAZEL_PATH = re.compile(r"\A(?P<option>-I|)(?P<folder>external|bazel-out)(?=/)")


@dataclasses.dataclass(frozen=True)
class Folders:
    """Where Bazel's relative paths lead.

    Attributes:
        workspace: The repository.
        external: Other repositories.
        output: What is built.
    """

    workspace: str
    external: str
    output: str

    def absolute(self, argument: str) -> str:
        """An argument whose path does not depend on the folder in which Bazel compiles."""
        folders = {"external": self.external, "bazel-out": self.output}
        return _BAZEL_PATH.sub(lambda match: match["option"] + folders[match["folder"]], argument, count=1)


def _kept(arguments: Sequence[str]) -> Iterator[str]:
    """The arguments that clang understands."""
    rest = iter(arguments)
    for argument in rest:
        if argument in _DROPPED_PAIRS:
            next(rest)
        elif argument.startswith("-Xcompiler="):
            yield from _kept([argument.removeprefix("-Xcompiler=")])
        elif argument != "--host" and not _DROPPED.fullmatch(argument):
            yield argument


def _cuda(nvcc: str, arguments: Sequence[str]) -> list[str]:
    """How clang compiles what nvcc does, for the newest of its architectures."""
    architectures = [int(found[1]) for each in arguments if (found := re.match(r"arch=compute_(\d+)", each))]
    toolkit = pathlib.PurePath(nvcc).parents[1] / "toolkit"
    return ["clang++", "-x", "cuda", f"--cuda-path={toolkit}", f"--cuda-gpu-arch=sm_{max(architectures)}"]


def entry(arguments: Sequence[str], folders: Folders) -> dict[str, Any]:
    """The entry for a command of Bazel's.

    Args:
        arguments: The command.
        folders: Where its paths lead.

    Returns:
        The entry, as clang's documentation of the format says.
    """
    compiler, *options = map(folders.absolute, arguments)
    file, output = (options[options.index(option) + 1] for option in ("-c", "-o"))
    command = _cuda(compiler, options) if compiler.endswith("/nvcc.sh") else [compiler]
    return {"directory": folders.workspace, "file": file, "output": output, "arguments": [*command, *_kept(options)]}


def entries(actions: Mapping[str, Any], folders: Folders) -> list[dict[str, Any]]:
    """The entries for all commands.

    Args:
        actions: What `bazel aquery --output=jsonproto` prints.
        folders: Where its paths lead.

    Returns:
        The entries, those of a file one after the other: with nvcc before the emulator's, then the plainest first.
    """

    def order(each: Mapping[str, Any]) -> tuple[Any, ...]:
        return each["file"], "cuda" not in each["arguments"], len(each["arguments"]), each["output"]

    return sorted((entry(action["arguments"], folders) for action in actions.get("actions", [])), key=order)


def bazel(workspace: pathlib.Path, *arguments: str) -> str:
    """What Bazel prints.

    Raises:
        subprocess.CalledProcessError: It fails, and has said why.
    """
    return subprocess.run(
        [workspace / "bazelw", *arguments], cwd=workspace, stdout=subprocess.PIPE, text=True, check=True
    ).stdout


def write(workspace: pathlib.Path, options: Sequence[str]) -> list[dict[str, Any]]:
    """Writes the file.

    Args:
        workspace: The repository.
        options: Bazel's, for the build that is described.

    Returns:
        What the file has.

    Raises:
        subprocess.CalledProcessError: Bazel fails, and has said why.
    """
    printed = bazel(workspace, "aquery", *options, "--output=jsonproto", "--include_artifacts=false", QUERY)
    info = dict(line.split(": ", 1) for line in bazel(workspace, "info", "output_base", "output_path").splitlines())
    folders = Folders(str(workspace), info["output_base"] + "/external", info["output_path"])
    written = entries(json.loads(printed), folders)
    # An editor that reads it meanwhile has the old one or the new one.
    new = workspace / f"{OUTPUT}.new"
    new.write_text(json.dumps(written, indent=1) + "\n")
    new.replace(workspace / OUTPUT)
    return written


def main() -> int:
    """Writes the file for the build that the command line describes; returns the exit status."""
    if "BUILD_WORKSPACE_DIRECTORY" not in os.environ:
        print(
            "compile_commands: BUILD_WORKSPACE_DIRECTORY is not set: use `bazel run //tools/compile_commands`",
            file=sys.stderr,
        )
        return 2
    workspace = pathlib.Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    try:
        written = write(workspace, sys.argv[1:])
    except subprocess.CalledProcessError as error:
        return error.returncode
    print(f"{len(written)} commands, for {len({each['file'] for each in written})} files: {workspace / OUTPUT}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
