#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the Bazel workspace that builds this repository's packages with a TensorFlow checkout.

TensorFlow's WORKSPACE file changes with every version. So this workspace has the statements of the
checkout's own, in its order, with labels that point to @org_tensorflow.
"""

from __future__ import annotations

import argparse
import ast
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[2]

# From this version on, the tree has the names that our BUILD files use, @xla above all.
OLDEST = (2, 21)

VERSION_FILE = "tensorflow/tf_version.bzl"


class CheckoutError(Exception):
    """The checkout cannot be built with; the message is one line."""


def check_version(checkout: pathlib.Path) -> None:
    """Finds out whether a folder is a checkout that can be built with.

    Raises:
      CheckoutError: it is no checkout of TensorFlow, or an old one.
    """
    oldest = ".".join(map(str, OLDEST))
    if not checkout.is_dir():
        raise CheckoutError(f"{checkout} is not a folder; it should be a checkout of TensorFlow")
    for name in (VERSION_FILE, "WORKSPACE"):
        if not (checkout / name).is_file():
            raise CheckoutError(
                f"{checkout} has no file {name}; it should be a checkout of TensorFlow {oldest} or newer"
            )
    text = (checkout / VERSION_FILE).read_text()
    match = re.search(r'^TF_VERSION = "((\d+)\.(\d+)[^"]*)"$', text, re.MULTILINE)
    if not match:
        raise CheckoutError(f"{checkout / VERSION_FILE} does not set TF_VERSION to a version")
    if (int(match[2]), int(match[3])) < OLDEST:
        raise CheckoutError(
            f"{checkout} is TensorFlow {match[1]}; the BUILD files here need {oldest} or newer,"
            " whose tree calls the repository of XLA @xla"
        )


def as_external(workspace: str) -> str:
    """Rewrites TensorFlow's WORKSPACE file for a workspace in which TensorFlow is @org_tensorflow.

    Args:
      workspace: the text of the file.

    Returns:
      The same statements without workspace(), each label of the main repository as one of
      @org_tensorflow.

    Raises:
      CheckoutError: it is not as TensorFlow's files are.
    """
    try:
        tree = ast.parse(workspace)
    except SyntaxError as error:
        raise CheckoutError(f"WORKSPACE:{error.lineno} cannot be parsed: {error.msg}") from error
    lines = [line.encode() for line in workspace.splitlines(keepends=True)]
    labels = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(("//", "@//", ":"))
    ]
    # From the end, so that the positions before stay right.
    for node in sorted(labels, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        line, start = lines[node.lineno - 1], node.col_offset + len('"')
        label = str(node.value)
        if not line[start:].startswith(label.encode()):
            raise CheckoutError(f"WORKSPACE:{node.lineno}: the label {label} is not one plain string")
        path = label.removeprefix("@") if label.startswith(("@", "/")) else f"//{label}"
        lines[node.lineno - 1] = line[:start] + f"@org_tensorflow{path}".encode() + line[start + len(label.encode()) :]
    for statement in tree.body:
        if ast.unparse(statement).startswith("workspace("):
            for number in range(statement.lineno, (statement.end_lineno or 0) + 1):
                lines[number - 1] = b"\n"
    return b"".join(lines).decode()


def make_workspace(checkout: pathlib.Path, destination: pathlib.Path) -> None:
    """Writes the workspace.

    Args:
      checkout: TensorFlow's source tree.
      destination: the folder to write to.

    Raises:
      CheckoutError: the checkout cannot be built with.
    """
    check_version(checkout)
    bazelrc = _text(checkout / ".bazelrc").replace("%workspace%", str(checkout))
    parts = {
        "%{checkout}": str(checkout),
        "%{repository}": str(REPOSITORY),
        "%{tensorflow_workspace}": as_external(_text(checkout / "WORKSPACE")),
        # Toolchains that some of TensorFlow's configurations name.
        "%{tensorflow_bazelrc}": bazelrc.replace("=//tensorflow/", "=@org_tensorflow//tensorflow/"),
    }
    destination.mkdir(parents=True, exist_ok=True)
    for template, name in (("WORKSPACE.tpl", "WORKSPACE"), ("bazelrc.tpl", ".bazelrc")):
        text = _text(HERE / template)
        for key, value in parts.items():
            text = text.replace(key, value)
        (destination / name).write_text(text)
    # Bazelisk takes the version that TensorFlow is built with.
    (destination / ".bazelversion").write_text(_text(checkout / ".bazelversion"))


def _text(path: pathlib.Path) -> str:
    return path.read_text() if path.is_file() else ""


def main() -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=pathlib.Path, help="TensorFlow's source tree")
    parser.add_argument("destination", type=pathlib.Path, help="the folder to write")
    args = parser.parse_args()
    try:
        make_workspace(args.checkout.absolute(), args.destination)
    except (CheckoutError, OSError, UnicodeDecodeError) as error:
        print(f"make_workspace: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
