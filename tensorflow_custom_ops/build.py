# SPDX-License-Identifier: Apache-2.0
"""Tells build systems how op libraries are compiled and linked.

    python -m tensorflow_custom_ops.build --format=make --out=flags.mk

The formats:
  shell  what a shell evaluates: CUSTOM_OP_CXXFLAGS=... and CUSTOM_OP_LDFLAGS=...
  make   the same as variables of make
  cmake  the same as lists of CMake
  json   an object with the lists compile_flags and link_flags

For setup.py there are tensorflow_custom_ops.jit.get_compile_flags and get_link_flags.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import shlex
import sys
from collections.abc import Callable, Sequence

from tensorflow_custom_ops import jit

_NAMES = ("CUSTOM_OP_CXXFLAGS", "CUSTOM_OP_LDFLAGS")


def _shell(*flags: list[str]) -> str:
    return "".join(f"{name}={shlex.quote(shlex.join(each))}\n" for name, each in zip(_NAMES, flags, strict=True))


def _make(*flags: list[str]) -> str:
    values = [shlex.join(each).replace("$", "$$").replace("#", "\\#") for each in flags]
    return "".join(f"{name} := {value}\n" for name, value in zip(_NAMES, values, strict=True))


def _cmake(*flags: list[str]) -> str:
    # Between brackets nothing has a meaning but the semicolon.
    lists = ["\n".join(f"  [==[{flag}]==]" for flag in each) for each in flags]
    return "".join(f"set({name}\n{each})\n" for name, each in zip(_NAMES, lists, strict=True))


def _json(compile_flags: list[str], link_flags: list[str]) -> str:
    return json.dumps({"compile_flags": compile_flags, "link_flags": link_flags}, indent=2) + "\n"


_FORMATS: dict[str, Callable[..., str]] = {"shell": _shell, "make": _make, "cmake": _cmake, "json": _json}


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the flags; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tensorflow_custom_ops.build",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--format", choices=sorted(_FORMATS), required=True, help="for what")
    parser.add_argument("--out", type=pathlib.Path, help="the file to write, instead of the output")
    options = parser.parse_args(arguments)
    try:
        text = _FORMATS[options.format](jit.get_compile_flags(), jit.get_link_flags())
    except jit.CompileError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1
    if options.out:
        options.out.write_text(text)
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
