# SPDX-License-Identifier: Apache-2.0
"""Takes ops out of the project, with what is made of them.

What is made of an op says so, by a mark in a comment of its own or behind a line:

    # >>> only with huber, gelu
    ...
    # <<<
    something  # only with layer.py
    # >>> only with huber: whole file

is there only with these ops, or files, from the folder that the mark is in or from the root. Of `whole folder` the
folder is meant that the marked file is in. What Markdown cannot mark goes without a mark: an op's row in a table, the
line about a folder that is no more, and links to what is no more, whose text stays.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from tools.ci import list_ops
from tools.new_op import new_op

# The op that an empty start has.
EXAMPLE = "my_op"

_NEEDED = r"only with (?P<needed>[\w./]+(?:, [\w./]+)*)"
_OWN_LINE = re.compile(rf"[ \t]*(?:#|//|<!--) (?:<<<|>>> {_NEEDED}(?:: whole (?P<whole>file|folder))?)(?: -->)?\n")
_BEHIND_LINE = re.compile(rf".*\S +(?:#|//) {_NEEDED}\n")
# What is meant to be one of these.
_ALIKE = re.compile(r".*(?:#|//|<!--) (?:>>>|<<<|only with).*\n")

# Files that are about marks.
_EXPLAIN = ("tools/rename_project/remove_ops.py", "tests/rename_project/remove_ops_test.py")

# A row of a table of ops, by the function that it starts with.
_ROW = re.compile(r"^\|[^|`]*\| `(?P<op>\w+)\(.*\n", re.MULTILINE)
# A line about a folder, with those that go on with it.
_FOLDER = re.compile(r"^    (?P<folder>(?:\w+/)+) .*\n(?: {20,}.*\n)*", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[(?P<text>[^][]*)\]\((?!\w+:)(?P<path>[^)#\s]+)(?:#[^)]*)?\)")


class MarkError(ValueError):
    """A mark that cannot be right, in a line for the user."""


class _Mark(NamedTuple):
    start: int
    end: int
    needed: list[str]
    # "file", "folder", or "" if the mark is about the text from start to end.
    whole: str


def _marks(path: str, text: str) -> list[_Mark]:
    """The marks in a text, in their order.

    Raises:
      MarkError: one is misspelt, has no end, or is within another.
    """
    marks: list[_Mark] = []
    if "only with" not in text and "<<<" not in text:
        return marks
    block: tuple[int, list[str]] | None = None
    end = 0
    for line in text.splitlines(keepends=True):
        start, end = end, end + len(line)
        if not _ALIKE.fullmatch(line):
            continue
        found = _OWN_LINE.fullmatch(line) or _BEHIND_LINE.fullmatch(line)
        needed = found["needed"].split(", ") if found and found["needed"] else []
        if found and block and not needed:
            marks.append(_Mark(block[0], end, block[1], ""))
            block = None
        elif found and needed and not block and found.re is _OWN_LINE and not found["whole"]:
            block = start, needed
        elif found and needed and not block:
            marks.append(_Mark(start, end, needed, found.groupdict().get("whole") or ""))
        else:
            raise MarkError(f"{path}: the mark {line.strip()!r} is misspelt, within another, or ends none")
    if block:
        raise MarkError(f"{path}: the mark {text[block[0] :].splitlines()[0].strip()!r} has no end")
    return marks


class _Project:
    """The project's files, and which of them are to go."""

    def __init__(self, texts: Mapping[str, str], removed: Collection[str]) -> None:
        self.ops_bzl = str(list_ops.PACKAGE / "ops.bzl")
        self.ops = list_ops.listed(texts[self.ops_bzl])
        self.removed = removed
        self.paths = set(texts)
        self.marks = {
            path: marks for path, text in texts.items() if path not in _EXPLAIN and (marks := _marks(path, text))
        }
        for op in removed:
            if op not in self.ops:
                raise MarkError(f"{self.ops_bzl} does not list {op}")
        for path, marks in self.marks.items():
            for needed in {needed for mark in marks for needed in mark.needed}:
                if needed not in self.ops and not self._files(path, needed):
                    raise MarkError(f"{path}: a mark is about {needed}, which is neither an op nor a file")
        self.gone = self._gone()

    def _files(self, path: str, needed: str) -> set[str]:
        """The files that a mark means."""
        for name in (str(pathlib.PurePosixPath(path).parent / needed), needed):
            if found := {other for other in self.paths if other == name or other.startswith(f"{name}/")}:
                return found
        return set()

    def goes(self, path: str, mark: _Mark, gone: Collection[str]) -> bool:
        """Whether something that a mark is about needs what goes."""
        for needed in mark.needed:
            if needed in self.removed:
                return True
            if needed not in self.ops and any(file in gone for file in self._files(path, needed)):
                return True
        return False

    def _gone(self) -> set[str]:
        """The files that go as a whole."""
        folders = tuple(f"{list_ops.PACKAGE}/{op}/" for op in self.removed)
        gone = {path for path in self.paths if path.startswith(folders)}
        while True:
            before = len(gone)
            for path, marks in self.marks.items():
                for mark in marks:
                    if mark.whole and self.goes(path, mark, gone):
                        folder = f"{pathlib.PurePosixPath(path).parent}/"
                        gone |= {path} if mark.whole == "file" else {p for p in self.paths if p.startswith(folder)}
            if len(gone) == before:
                return gone


def _documentation(path: str, text: str, project: _Project) -> str:
    """A page without what it has of ops and files that are no more."""
    left = project.paths - project.gone

    def goes(relative: str, folder: pathlib.PurePosixPath) -> bool:
        parts: list[str] = []
        for part in (folder / relative).parts:
            parts = parts[:-1] if part == ".." else [*parts, part]
        name = "/".join(parts)

        def has(paths: Collection[str]) -> bool:
            return name in paths or any(path.startswith(f"{name}/") for path in paths)

        return has(project.gone) and not has(left)

    here = pathlib.PurePosixPath(path).parent
    text = _ROW.sub(lambda row: "" if row["op"] in project.removed else row[0], text)
    text = _FOLDER.sub(lambda line: "" if goes(line["folder"], pathlib.PurePosixPath()) else line[0], text)
    return _LINK.sub(lambda link: link["text"] if goes(link["path"], here) else link[0], text)


def _templates(texts: Mapping[str, str], gone: Collection[str]) -> dict[str, str]:
    """Where //tools/new_op looks for the files of which it makes new ops, when these ops are no more."""
    patterns = [pattern for kind in new_op.KINDS.values() for pattern in kind.files]
    kept = {path for path in gone if any(pathlib.PurePosixPath(path).match(pattern) for pattern in patterns)}
    return {f"{new_op.TEMPLATES}/{path}{new_op.TEMPLATE_SUFFIX}": texts[path] for path in kept}


def remove(texts: Mapping[str, str], removed: Collection[str]) -> dict[str, str]:
    """The project's files without some ops.

    Args:
      texts: the files, by their paths.
      removed: the ops' names.

    Returns:
      The files that there are then.

    Raises:
      MarkError: a mark is wrong, or there is no such op.
    """
    project = _Project(texts, removed)
    after = {}
    for path, text in texts.items():
        if path in project.gone:
            continue
        for mark in reversed(project.marks.get(path, [])):
            if not mark.whole and project.goes(path, mark, project.gone):
                text = text[: mark.start] + text[mark.end :]  # noqa: PLW2901
        after[path] = _documentation(path, text, project) if path.endswith(".md") else text
    after[project.ops_bzl] = list_ops.with_ops(after[project.ops_bzl], [op for op in project.ops if op not in removed])
    return after | _templates(texts, project.gone)
