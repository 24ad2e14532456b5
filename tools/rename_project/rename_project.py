# SPDX-License-Identifier: Apache-2.0
"""Makes a fork its owner's project: another name, the owner's ops, prefix and copyright.

    bazel run //tools/rename_project -- OPTIONS            shows what would change
    bazel run //tools/rename_project -- OPTIONS --apply    changes it

With a name, say which ops stay: --start-empty, --keep-ops or --remove-ops. README.md gets a line that tells where the
project comes from. All of it can be done again. The exit status is 2 if it cannot be done.
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

from tools.ci import list_ops
from tools.lint import lint
from tools.rename_project import remove_ops, rename_ops

# The project's name, and what its environment variables start with. The tool replaces these, too.
PROJECT = "tensorflow_custom_ops"
VARIABLES = "TF_CUSTOM_OPS"

# With a longer name, lines that no formatter breaks would be too long.
MAX_LENGTH = 21

README = "README.md"
CHANGELOG = "CHANGELOG.md"
# How the line starts that tells where the project comes from, and in which nothing is replaced.
ORIGIN = "Made from "
_ORIGIN_END = "Apache License 2.0. The documentation may name ops of that project."

_LICENSE = re.compile(
    r"^(?P<comment>#|//) SPDX-License-Identifier: Apache-2\.0\n(?:(?:#|//) SPDX-FileCopyrightText: .*\n)?", re.MULTILINE
)
# From the first version on, what is said of changes is about the project that this one is made from.
_CHANGES = re.compile(r"^## .*", re.MULTILINE | re.DOTALL)
_FIRST_CHANGE = "## Unreleased\n\n### Added\n\n- The op MyOp, an example.\n"


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


def with_holder(text: str, holder: str) -> str:
    """A text whose licence headers, and those that it shows, name who holds the copyright."""
    return _LICENSE.sub(
        lambda found: (
            f"{found['comment']} SPDX-License-Identifier: Apache-2.0\n"
            f"{found['comment']} SPDX-FileCopyrightText: {holder}\n"
        ),
        text,
    )


def ops_to_remove(options: argparse.Namespace, texts: Mapping[str, str]) -> list[str]:
    """The ops that are to go.

    Raises:
      lint.UsageError: there is no such op, or nothing would be left for the tests of the package.
    """
    ops = list_ops.listed(texts[str(list_ops.PACKAGE / "ops.bzl")])
    named = options.keep_ops or options.remove_ops or []
    for op in named:
        if op not in ops:
            raise lint.UsageError(f"there is no op {op}; there are {', '.join(ops)}")
    if options.start_empty:
        removed = [op for op in ops if op != remove_ops.EXAMPLE]
    elif options.keep_ops:
        removed = [op for op in ops if op not in named]
    else:
        removed = named
    if remove_ops.EXAMPLE in removed:
        raise lint.UsageError(f"{remove_ops.EXAMPLE} is what the tests of the package use, and has to stay")
    return removed


def change(texts: Mapping[str, str], options: argparse.Namespace) -> dict[str, str]:
    """The project's files as they are to be, by the paths of those that there are now.

    Raises:
      lint.UsageError: it cannot be done.
    """
    removed = ops_to_remove(options, texts)
    after = dict(texts)
    if removed:
        after = remove_ops.remove(after, removed)
    if options.start_empty and removed:
        after[CHANGELOG] = _CHANGES.sub(_FIRST_CHANGE, after[CHANGELOG])
    if options.op_prefix is not None:
        after = rename_ops.with_prefix(after, options.op_prefix)
    if options.holder:
        after = {path: with_holder(text, options.holder) for path, text in after.items()}
    if options.name and options.name != PROJECT:
        check_name(options.name, texts)
        after = {path: renamed(text, options.name) for path, text in after.items()}
        if not re.search(f"^{ORIGIN}", after[README], re.MULTILINE):
            after[README] = f"{after[README].rstrip()}\n\n{ORIGIN}{PROJECT}, {_ORIGIN_END}\n"
    return after


def diff(before: Mapping[str, str], after: Mapping[str, str], name: str) -> str:
    """The changes, as git shows such; of files that go, the names alone."""
    lines: list[str] = [f"deleted: {path}\n" for path in before if path not in after]
    for path, text in after.items():
        old = before.get(path, "").splitlines(keepends=True)
        new_path = renamed(path, name)
        lines += difflib.unified_diff(old, text.splitlines(keepends=True), f"a/{path}", f"b/{new_path}", n=0)
    return "".join(lines)


def apply(repository: pathlib.Path, before: Mapping[str, str], after: Mapping[str, str], name: str) -> None:
    """Writes the changes, moves what has the project's name, and formats all.

    Raises:
      lint.UsageError: a formatter fails.
    """
    for path in before:
        if path not in after:
            (repository / path).unlink()
            for folder in pathlib.PurePath(path).parents[:-1]:
                if not any((repository / folder).iterdir()):
                    (repository / folder).rmdir()
    for path, text in after.items():
        if before.get(path) != text:
            (repository / path).parent.mkdir(parents=True, exist_ok=True)
            (repository / path).write_text(text)
    if name != PROJECT:
        for folder in sorted(repository.rglob(PROJECT), reverse=True):
            if any(path.startswith(f"{folder.relative_to(repository)}/") for path in after):
                folder.rename(folder.with_name(name))
    failures = lint.rewrite(repository, lint.list_files(repository, []))
    if failures:
        raise lint.UsageError(f"changed, but a formatter fails: {'; '.join(failures)}")


def is_clean(repository: pathlib.Path) -> bool:
    """Whether all is committed, so that git can undo what is done."""
    command = ["git", "status", "--porcelain"]
    return not subprocess.run(command, cwd=repository, capture_output=True, check=True).stdout


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        prog="bazel run //tools/rename_project --",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--name", help="the new name, in lower case with underscores between words")
    ops = parser.add_mutually_exclusive_group()
    ops.add_argument("--start-empty", action="store_true", help=f"remove all ops but the example, {remove_ops.EXAMPLE}")
    ops.add_argument("--keep-ops", nargs="*", metavar="OP", help="keep all ops, or these")
    ops.add_argument("--remove-ops", nargs="+", metavar="OP", help="remove these ops")
    parser.add_argument("--op-prefix", metavar="Prefix", help="with which the names start that ops are registered by")
    parser.add_argument("--holder", help="who holds the copyright of the fork")
    parser.add_argument("--apply", action="store_true", help="make the changes, instead of showing them")
    parser.add_argument("--force", action="store_true", help="also where something is not committed")
    options = parser.parse_args(arguments)
    chosen = options.start_empty or options.keep_ops is not None or options.remove_ops
    if options.name and options.name != PROJECT and not chosen:
        parser.error("with --name, say which ops stay: --start-empty, --keep-ops or --remove-ops")
    if not (options.name or chosen or options.op_prefix is not None or options.holder):
        parser.error("nothing to do: give --name or another option")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Changes what the command line says; returns the exit status."""
    options = parse(arguments)
    if "BUILD_WORKSPACE_DIRECTORY" not in os.environ:
        print(
            "rename_project: BUILD_WORKSPACE_DIRECTORY is not set: use `bazel run //tools/rename_project`",
            file=sys.stderr,
        )
        return 2
    repository = pathlib.Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]).resolve()
    name = options.name or PROJECT
    try:
        before = read(repository)
        after = change(before, options)
        if after == before:
            print(f"Nothing is to be changed: the project is called {name}, and all else is as you say already.")
            return 0
        count = len([path for path in before.keys() | after.keys() if before.get(path) != after.get(path)])
        if not options.apply:
            print(diff(before, after, name))
            move = f", and {PROJECT}/ would become {name}/" if name != PROJECT else ""
            print(f"{count} files would change{move}. Nothing has: add --apply.")
            return 0
        if not options.force and not is_clean(repository):
            raise lint.UsageError("commit or stash your changes first, so that git can undo this, or add --force")
        apply(repository, before, after, name)
    except (lint.UsageError, remove_ops.MarkError, rename_ops.PrefixError) as error:
        print(f"rename_project: {error}", file=sys.stderr)
        return 2
    print(
        f"{count} files changed" + (f", and {PROJECT}/ is {name}/ now" if name != PROJECT else "") + ". Next:\n"
        "  ./bazelw test //...\n  ./bazelw run //tools/lint\n  git add --all && git commit\n"
        "To undo it before that: git add --all && git reset --hard"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
