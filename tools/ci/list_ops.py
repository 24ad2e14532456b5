# SPDX-License-Identifier: Apache-2.0
"""Writes a folder for Bazel's --package_path with which a build has some of the ops only, and takes less time.

python3 tools/ci/list_ops.py FOLDER OP...
./bazelw build --package_path=FOLDER:%workspace% //tensorflow_custom_ops:_ops.so
"""

from __future__ import annotations

import pathlib
import re
import sys
from collections.abc import Sequence

PACKAGE = pathlib.Path("tensorflow_custom_ops/ops")
LIST = re.compile(r"^OPS = \[\n(.*?)^\]$", re.MULTILINE | re.DOTALL)


def listed(text: str) -> list[str]:
    """The ops that an ops.bzl with this text lists.

    Raises:
      ValueError: it has no list.
    """
    found = LIST.search(text)
    if not found:
        raise ValueError(f"{PACKAGE}/ops.bzl has no list OPS of lines")
    return re.findall(r'"(\w+)"', found[1])


def with_ops(text: str, ops: Sequence[str]) -> str:
    """The text of an ops.bzl with another list."""
    lines = "".join(f'    "{op}",\n' for op in ops)
    return LIST.sub(f"OPS = [\n{lines}]", text)


def list_ops(repository: pathlib.Path, folder: pathlib.Path, ops: Sequence[str]) -> None:
    """Copies the package that lists the ops, with another list.

    Args:
      repository: where the package is.
      folder: what to put before it in --package_path.
      ops: the names of the ops.

    Raises:
      ValueError: the package's list has no such op, or there is no list.
    """
    (folder / PACKAGE).mkdir(parents=True)
    for name in ("BUILD", "__init__.py", "ops.bzl"):
        text = (repository / PACKAGE / name).read_text()
        if name == "ops.bzl":
            unknown = set(ops) - set(listed(text))
            if unknown:
                raise ValueError(f"{repository / PACKAGE / name} does not list {', '.join(sorted(unknown))}")
            text = with_ops(text, ops)
        (folder / PACKAGE / name).write_text(text)


if __name__ == "__main__":
    list_ops(pathlib.Path(__file__).resolve().parents[2], pathlib.Path(sys.argv[1]), sys.argv[2:])
