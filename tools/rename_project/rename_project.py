# SPDX-License-Identifier: Apache-2.0
"""Gives the project another name: that of the package, the wheel, the workspace, the C++ namespace, all.

    bazel run //tools/rename_project -- --name NAME            shows what would change
    bazel run //tools/rename_project -- --name NAME --apply    changes it

NAME is in lower case with underscores between words. The ops stay, and keep their names. README.md gets a line that
tells where the project comes from. Once renamed, the project can be renamed again. The exit status is 2 if it cannot
be renamed.
"""

from __future__ import annotations

import argparse
import builtins
import difflib
import keyword
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence

from tools.lint import lint

# The project's name, and what its environment variables start with. The tool replaces these, too.
PROJECT = "tensorflow_custom_ops"
VARIABLES = "TF_CUSTOM_OPS"

# With a longer name, lines that no formatter breaks would be too long.
MAX_LENGTH = 21

README = "README.md"
# How the line starts that tells where the project comes from, and in which nothing is replaced.
ORIGIN = "Made from "


def replacements(name: str) -> list[tuple[str, str]]:
    """What takes the place of what, for another name of the project."""
    return [
        (PROJECT, name),
        (PROJECT.replace("_", "-"), name.replace("_", "-")),
        (PROJECT.upper(), name.upper()),
        (VARIABLES, name.upper()),
    ]


def renamed(text: str, name: str) -> str:
    """A text in which the project has another name, except where it tells of its origin."""
    lines = text.splitlines(keepends=True)
    for i, line in enumerate(lines):
        if not line.startswith(ORIGIN):
            for old, new in replacements(name):
                line = line.replace(old, new)  # noqa: PLW2901
            lines[i] = line
    return "".join(lines)


def read(repository: pathlib.Path) -> dict[str, str]:
    """The texts of the files that git tracks or would track, by their paths."""
    contents = {str(path): (repository / path).read_bytes() for path in lint.list_files(repository, [])}
    # As git tells binary files.
    return {path: content.decode() for path, content in contents.items() if b"\0" not in content}


def check_name(name: str, texts: Mapping[str, str]) -> None:
    """Refuses a name that the project cannot have.

    Args:
      name: the name.
      texts: the project's files.

    Raises:
      lint.UsageError: why.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        raise lint.UsageError(f"{name!r} is no name in lower case with underscores between words")
    if len(name) > MAX_LENGTH:
        raise lint.UsageError(f"{name} has {len(name)} characters, and may have {MAX_LENGTH}")
    if keyword.iskeyword(name) or hasattr(builtins, name) or name in sys.stdlib_module_names:
        raise lint.UsageError(f"{name} means something in Python")
    # Otherwise it would be replaced there when the project is renamed once more.
    for path, text in texts.items():
        for _, new in replacements(name):
            if new in text or new in path:
                raise lint.UsageError(f"{path} uses {new} for something else")


def changes(texts: Mapping[str, str], name: str) -> dict[str, str]:
    """The texts that change, by their paths now."""
    changed = {path: new for path, text in texts.items() if (new := renamed(text, name)) != text}
    readme = texts[README]
    if not re.search(f"^{ORIGIN}", readme, re.MULTILINE):
        changed[README] = f"{renamed(readme, name).rstrip()}\n\n{ORIGIN}{PROJECT}, Apache License 2.0.\n"
    return changed


def diff(texts: Mapping[str, str], changed: Mapping[str, str], name: str) -> str:
    """The changes, as git shows such."""
    lines: list[str] = []
    for path, text in changed.items():
        old = texts[path].splitlines(keepends=True)
        lines += difflib.unified_diff(old, text.splitlines(keepends=True), f"a/{path}", f"b/{renamed(path, name)}", n=0)
    return "".join(lines)


def apply(repository: pathlib.Path, changed: Mapping[str, str], name: str) -> None:
    """Writes the changes, moves the package, and formats all.

    Raises:
      lint.UsageError: a formatter fails.
    """
    for path, text in changed.items():
        (repository / path).write_text(text)
    (repository / PROJECT).rename(repository / name)
    failures = lint.rewrite(repository, lint.list_files(repository, []))
    if failures:
        raise lint.UsageError(f"renamed, but a formatter fails: {'; '.join(failures)}")


def is_clean(repository: pathlib.Path) -> bool:
    """Whether all is committed, so that git can undo what is done."""
    command = ["git", "status", "--porcelain"]
    return not subprocess.run(command, cwd=repository, capture_output=True, check=True).stdout


def main(arguments: Sequence[str] | None = None) -> int:
    """Renames as the command line says; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="bazel run //tools/rename_project --",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--name", required=True, help="the new name")
    parser.add_argument("--apply", action="store_true", help="make the changes, instead of showing them")
    parser.add_argument("--force", action="store_true", help="also where something is not committed")
    options = parser.parse_args(arguments)
    name = options.name
    if "BUILD_WORKSPACE_DIRECTORY" not in os.environ:
        print(
            "rename_project: BUILD_WORKSPACE_DIRECTORY is not set: use `bazel run //tools/rename_project`",
            file=sys.stderr,
        )
        return 2
    repository = pathlib.Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]).resolve()
    if name == PROJECT:
        print(f"The project is called {name} already.")
        return 0
    try:
        texts = read(repository)
        check_name(name, texts)
        changed = changes(texts, name)
        if not options.apply:
            print(diff(texts, changed, name))
            print(f"{len(changed)} files would change, and {PROJECT}/ would become {name}/. Nothing has: add --apply.")
            return 0
        if not options.force and not is_clean(repository):
            raise lint.UsageError("commit or stash your changes first, so that git can undo this, or add --force")
        apply(repository, changed, name)
    except lint.UsageError as error:
        print(f"rename_project: {error}", file=sys.stderr)
        return 2
    print(
        f"{len(changed)} files changed, and {PROJECT}/ is {name}/ now. Next:\n"
        "  ./bazelw test //...\n  ./bazelw run //tools/lint\n  git add --all && git commit\n"
        "To undo it before that: git reset --hard && git clean -d --force " + name
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
