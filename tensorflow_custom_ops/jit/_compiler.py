# SPDX-License-Identifier: Apache-2.0
"""Compilers: where they are, and what they say."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
import os
import pathlib
import shlex
import shutil
import subprocess
from collections.abc import Sequence

# Of what a compiler says, as much as people read.
_MAX_LINES = 60

_CANDIDATES = ("g++", "clang++", "c++")
_LINKERS = ("lld", "gold")


class CompileError(RuntimeError):
    """An op library could not be compiled.

    Attributes:
      command: the command that failed; empty if there is no compiler to run.
      output: all that it printed.
    """

    def __init__(self, message: str, command: Sequence[str] = (), output: str = "") -> None:
        lines = output.splitlines()
        shown = [f"  {line}" for line in lines[:_MAX_LINES]]
        if len(lines) > _MAX_LINES:
            shown.append(f"  ... and {len(lines) - _MAX_LINES} lines more, in the exception's `output`")
        if command:
            shown.append(f"The command was: {shlex.join(command)}")
        super().__init__("\n".join([message, *shown]))
        self.command = list(command)
        self.output = output


# What users call it by.
CompileError.__module__ = "tensorflow_custom_ops.jit"


@dataclasses.dataclass(frozen=True)
class Compiler:
    """A C++ compiler.

    Attributes:
      command: how it is called.
      version: what it says of itself.
    """

    command: tuple[str, ...]
    version: str


def find_compiler() -> Compiler:
    """The C++ compiler that the variable CXX names, or one on PATH.

    Raises:
      CompileError: there is none, or it does not run.
    """
    wanted = os.environ.get("CXX")
    commands = [tuple(shlex.split(wanted))] if wanted else [(name,) for name in _CANDIDATES]
    for command in commands:
        program = shutil.which(command[0])
        if program:
            changed = pathlib.Path(program).stat().st_mtime_ns
            return _describe((program, *command[1:]), changed)
    if wanted:
        raise CompileError(f"the variable CXX is {wanted!r}, and there is no such compiler. Correct or unset it.")
    raise CompileError(
        f"there is no C++ compiler: none of {', '.join(_CANDIDATES)} is on PATH. Install one (on Debian and Ubuntu: "
        "apt-get install g++), or set the variable CXX to its path."
    )


@functools.lru_cache(maxsize=8)
def _describe(command: tuple[str, ...], changed: int) -> Compiler:  # noqa: ARG001 - part of the cache's key
    return Compiler(command, run((*command, "--version"), pathlib.Path.home().anchor).strip())


@functools.lru_cache(maxsize=8)
def linker_flags(compiler: Compiler) -> tuple[str, ...]:
    """What chooses a fast linker: GNU's plain one takes four times as long for TensorFlow's libraries."""
    for linker in _LINKERS:
        flag = f"-fuse-ld={linker}"
        asked = subprocess.run([*compiler.command, flag, "-Wl,--version"], capture_output=True, check=False)
        if asked.returncode == 0:
            return (flag,)
    return ()


def run(command: Sequence[str], folder: pathlib.Path | str) -> str:
    """Runs a compiler or linker in a folder; returns what it prints.

    Raises:
      CompileError: it fails.
    """
    try:
        result = subprocess.run(
            command,
            cwd=folder,
            # Messages that tools and people know, without colours.
            env={**os.environ, "LC_ALL": "C", "TERM": "dumb"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise CompileError(f"{command[0]} cannot be run: {error.strerror}", command) from error
    if result.returncode:
        raise CompileError(f"{pathlib.Path(command[0]).name} failed:", command, result.stdout)
    return result.stdout


def run_all(commands: Sequence[Sequence[str]], folder: pathlib.Path) -> str:
    """Runs commands, as many at a time as there are processors; returns what they print.

    Raises:
      CompileError: the first of them that fails.
    """
    processors = len(os.sched_getaffinity(0))
    with concurrent.futures.ThreadPoolExecutor(processors) as pool:
        futures = [pool.submit(run, command, folder) for command in commands]
        return "".join(future.result() for future in futures)
