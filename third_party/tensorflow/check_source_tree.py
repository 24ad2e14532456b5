#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists what this repository's BUILD files use of TensorFlow's source tree and a checkout lacks.

Labels, symbols that are loaded from .bzl files and arguments that are passed to their macros are
compared with the checkout's BUILD and .bzl files, without running Bazel. Where a thing is made in
a way that reading cannot follow, the report says that it is not decided.

Exit status: 0 nothing is lacking; 1 something is; 2 the arguments or files are wrong.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import functools
import itertools
import pathlib
import re
import sys
from collections.abc import Iterable, Iterator

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]

# Not read for uses: what stands in for the source tree, and the tests of that.
STAND_INS = ("third_party/tensorflow/", "tests/facade/", "tests/source_tree/")

# Repositories that Bazel brings along.
BUILT_IN = {"bazel_tools", "platforms"}

# How deep to follow macros that call macros.
DEPTH = 5


class ReadError(Exception):
    """A file cannot be read or parsed; the message is one line."""


# Reading Starlark, whose syntax Python's parser takes.


@functools.cache
def parse(path: pathlib.Path) -> ast.Module:
    """The syntax tree of a Starlark file.

    Raises:
      ReadError: the file cannot be read, or is not of the syntax that Starlark and Python share.
    """
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError) as error:
        raise ReadError(f"cannot read {path}: {error}") from error


def string(node: ast.AST | None) -> str | None:
    """The value of a string literal, None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return None


def calls(node: ast.AST) -> Iterator[ast.Call]:
    """Every call in a piece of code."""
    return (each for each in ast.walk(node) if isinstance(each, ast.Call))


def callee(call: ast.Call) -> str:
    """The name of what is called; for `native.rule`, that of the rule."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def argument(call: ast.Call, name: str) -> ast.expr | None:
    """The value of a keyword argument."""
    return next((each.value for each in call.keywords if each.arg == name), None)


@dataclasses.dataclass(frozen=True)
class Label:
    """A target, or a file, of a repository."""

    repository: str
    package: str
    target: str

    @classmethod
    def parse(cls, text: str, repository: str = "", package: str = "") -> Label | None:
        """Reads a label.

        Args:
          text: what may be a label.
          repository: the repository that the text stands in.
          package: the package that the text stands in.

        Returns:
          The label, or None if the text is none.
        """
        if text.startswith(":"):
            text = f"//{package}{text}"
        if text.startswith("//"):
            text = f"@{repository}{text}"
        match = re.fullmatch(r"@{1,2}([\w.+~-]*)//([\w./+-]*)(?::([\w./+=@~-]+))?", text)
        if not match or not (match[2] or match[3]) or match[2].endswith("/"):
            return None
        return cls(match[1], match[2], match[3] or match[2].rpartition("/")[2])

    def __str__(self) -> str:
        return f"@{self.repository}//{self.package}:{self.target}"


@dataclasses.dataclass(frozen=True)
class Load:
    """One load statement."""

    label: str
    symbols: dict[str, str]  # the name in the file: the name in the loaded one
    line: int


@functools.cache
def loads(path: pathlib.Path) -> list[Load]:
    """The load statements of a file."""
    found = []
    for call in calls(parse(path)):
        label = string(call.args[0]) if call.args else None
        if callee(call) == "load" and label:
            names = {name: name for name in map(string, call.args[1:]) if name}
            aliases = {each.arg or "": string(each.value) or "" for each in call.keywords}
            found.append(Load(label, names | aliases, call.lineno))
    return found


# Names of targets that are made by expressions. Regular expressions stand for what is not known.

ANYTHING = ".+"


@dataclasses.dataclass(frozen=True)
class Scope:
    """What is known at a place in a file."""

    file: pathlib.Path
    names: dict[str, str]  # a variable: a regular expression for its values
    lists: dict[str, list[ast.expr]]  # a variable: the elements of its value
    certain: bool  # whether the place is reached in every case
    depth: int

    def bind(self, target: ast.expr, value: ast.AST | None) -> Scope:
        """The scope after an assignment; of something unknown, if there is no value."""
        if isinstance(target, ast.Name):
            lists = {name: each for name, each in self.lists.items() if name != target.id}
            if value and self.elements(value) is not None:
                lists[target.id] = self.elements(value) or []
            names = self.names | {target.id: self.pattern(value) if value else ANYTHING}
            return dataclasses.replace(self, names=names, lists=lists)
        scope = self
        if isinstance(target, ast.Tuple):
            values = (value and self.elements(value)) or []
            for part, each in itertools.zip_longest(target.elts, values[: len(target.elts)]):
                scope = scope.bind(part, each)
        return scope

    def call(self, function: ast.FunctionDef, call: ast.Call, caller: Scope) -> Scope:
        """The scope in a function's body.

        Args:
          function: the function.
          call: the call of it.
          caller: the scope that the call is in.

        Returns:
          This scope with the function's parameters.
        """
        parameters = [each.arg for each in function.args.args]
        defaults = function.args.defaults
        values: dict[str, ast.expr] = dict(zip(parameters[len(parameters) - len(defaults) :], defaults, strict=True))
        names = {name: self.pattern(value) for name, value in values.items()}
        passed = dict(zip(parameters, call.args, strict=False))
        passed |= {each.arg: each.value for each in call.keywords if each.arg}
        names |= {name: caller.pattern(value) for name, value in passed.items()}
        lists = {
            name: elements
            for name, value in (values | passed).items()
            if (elements := caller.elements(value)) is not None
            and all(map(string, elements))  # what other elements are, only the caller's scope tells
        }
        return dataclasses.replace(self, names=names, lists=lists)

    def either(self, other: Scope) -> Scope:
        """The scope after one of two branches."""
        names = {
            name: alternatives({self.names.get(name, ANYTHING), other.names.get(name, ANYTHING)})
            for name in self.names | other.names
        }
        return dataclasses.replace(self, names=names)

    def uncertain(self) -> Scope:
        """The same scope at a place that is not reached in every case."""
        return dataclasses.replace(self, certain=False)

    def elements(self, node: ast.AST) -> list[ast.expr] | None:
        """The elements of a list, None where they are not known."""
        if isinstance(node, ast.List | ast.Tuple):
            return node.elts
        return self.lists.get(node.id) if isinstance(node, ast.Name) else None

    def pattern(self, node: ast.AST) -> str:
        """A regular expression for the strings that an expression can be."""
        if isinstance(node, ast.Constant):
            return re.escape(str(node.value))
        if isinstance(node, ast.Name):
            return self.names.get(node.id, ANYTHING)
        if isinstance(node, ast.IfExp):
            return alternatives({self.pattern(node.body), self.pattern(node.orelse)})
        if isinstance(node, ast.BoolOp):
            return alternatives({self.pattern(value) for value in node.values})
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self.pattern(node.left) + self.pattern(node.right)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            values = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
            return self._filled(node.left, r"%[sd]", values)
        if isinstance(node, ast.Call) and callee(node) == "format" and not node.keywords:
            return self._filled(getattr(node.func, "value", None), r"\{\}", node.args)
        return ANYTHING

    def _filled(self, template: ast.AST | None, placeholder: str, values: list[ast.expr]) -> str:
        parts = re.split(placeholder, string(template) or "")
        if len(parts) != len(values) + 1:
            return ANYTHING
        patterns = [*map(self.pattern, values), ""]
        return "".join(map(str.__add__, map(re.escape, parts), patterns))


def alternatives(patterns: set[str]) -> str:
    """A regular expression for any of several."""
    return f"(?:{'|'.join(sorted(patterns))})" if len(patterns) > 1 else "".join(patterns)


# What a checkout has.


@dataclasses.dataclass(frozen=True)
class Made:
    """A target, or several, that a BUILD file makes."""

    name: str  # a regular expression
    how: str
    certain: bool  # whether it is made in every case


@dataclasses.dataclass(frozen=True)
class Lacking:
    """Something is not in the checkout."""

    why: str


@dataclasses.dataclass(frozen=True)
class Undecided:
    """Reading does not tell whether something is in the checkout."""

    why: str


@dataclasses.dataclass(frozen=True)
class Definition:
    """A function, or the call that makes a rule."""

    file: pathlib.Path
    node: ast.AST


def _assigned(statement: ast.Assign) -> set[str]:
    """The names that an assignment gives a value to."""
    names = (each for target in statement.targets for each in ast.walk(target))
    return {each.id for each in names if isinstance(each, ast.Name)}


class Checkout:
    """TensorFlow's source tree."""

    def __init__(self, root: pathlib.Path) -> None:
        self._root = root
        self._made: dict[tuple[pathlib.Path, int], list[Made]] = {}

    @functools.cached_property
    def _setups(self) -> dict[str, list[tuple[pathlib.Path, ast.Call]]]:
        """The calls that set up repositories, with the files that they are in."""
        files = [self._root / "WORKSPACE", *(self._root / "tensorflow").glob("workspace*.bzl")]
        files += sorted((self._root / "third_party").rglob("workspace*.bzl"))
        found: dict[str, list[tuple[pathlib.Path, ast.Call]]] = {}
        for file in files:
            for call in calls(parse(file)):
                name = string(argument(call, "name"))
                if name:
                    found.setdefault(name, []).append((file, call))
        return found

    @functools.cached_property
    def _folders(self) -> dict[str, pathlib.Path]:
        """The repositories whose files are in the checkout: their folders."""
        folders = {"org_tensorflow": self._root}
        for name, setups in self._setups.items():
            for _, call in setups:
                path = string(argument(call, "path")) or string(argument(call, "relpath"))
                if callee(call) == "tf_vendored" and path:
                    folders[name] = self._root / path
        return folders

    def _shown(self, file: pathlib.Path, line: int) -> str:
        return f"{file.relative_to(self._root)}:{line}"

    def _path(self, text: str, file: pathlib.Path) -> pathlib.Path | None:
        """The path of a file that a label in another file names, if it is in the checkout."""
        repository, folder = max(
            (each for each in self._folders.items() if file.is_relative_to(each[1])),
            key=lambda each: len(each[1].parts),
        )
        label = Label.parse(text, repository, str(file.parent.relative_to(folder)))
        return self.path(label) if label else None

    def path(self, label: Label) -> pathlib.Path | None:
        """The path that a label is of if it names a file, None if its repository is elsewhere."""
        folder = self._folders.get(label.repository)
        return folder / label.package / label.target if folder else None

    def _build_file(self, label: Label) -> pathlib.Path | Lacking | Undecided:
        """The BUILD file of a label's package."""
        if label.repository in self._folders:
            package = self._folders[label.repository] / label.package
            for name in ("BUILD.bazel", "BUILD"):
                if (package / name).is_file():
                    return package / name
            return Lacking(f"{package.relative_to(self._root)} has no BUILD file")
        setups = self._setups.get(label.repository, [])
        for file, call in setups:
            path = self._path(string(argument(call, "build_file")) or "", file)
            if path and path.is_file() and not label.package:
                return path
        if not setups:
            return Lacking(f"nothing sets up a repository of the name {label.repository}")
        file, call = setups[0]
        return Undecided(f"its repository is set up by {self._shown(file, call.lineno)}; its files are elsewhere")

    def target(self, label: Label) -> Lacking | Undecided | None:
        """Why the checkout has no such target or source file, None if it has."""
        build_file = self._build_file(label)
        if isinstance(build_file, Lacking | Undecided):
            return build_file
        path = self.path(label)
        if path and path.is_file():
            return None
        matches: list[Made] = []
        # Following macros takes seconds, and few targets need it.
        for depth in (0, DEPTH):
            made = self._made_in(build_file, depth)
            matches = [each for each in made if re.fullmatch(each.name, label.target)]
            if any(each.certain for each in matches):
                return None
        # A name that can be anything says nothing of this one.
        matches = [each for each in matches if each.name != ANYTHING]
        if matches:
            return Undecided(f"it may be made by {matches[0].how}")
        return Lacking(f"{build_file.relative_to(self._root)} makes no such target")

    def _made_in(self, build_file: pathlib.Path, depth: int) -> list[Made]:
        """The targets of a BUILD file, with macros followed so deep."""
        if (build_file, depth) not in self._made:
            scope = Scope(build_file, {}, {}, certain=True, depth=depth)
            self._made[build_file, depth] = list(self._made_by(parse(build_file).body, scope))
        return self._made[build_file, depth]

    def _made_by(self, nodes: Iterable[ast.AST], scope: Scope) -> Iterator[Made]:
        """The targets that a piece of code makes."""
        for node in nodes:
            if isinstance(node, ast.Assign):
                yield from self._made_by([node.value], scope)
                scope = scope.bind(node.targets[0], node.value)
            elif isinstance(node, ast.If):
                yield from self._made_by([*node.body, *node.orelse], scope.uncertain())
                for each in ast.walk(node):
                    if isinstance(each, ast.Assign):
                        scope = scope.either(scope.bind(each.targets[0], each.value))
                    elif isinstance(each, ast.Return):
                        scope = scope.uncertain()
            elif isinstance(node, ast.For):
                for inner in self._iterations(node.target, node.iter, scope):
                    yield from self._made_by(node.body, inner)
            elif isinstance(node, ast.ListComp):
                scopes = [scope]
                for loop in node.generators:
                    inners = (self._iterations(loop.target, loop.iter, each) for each in scopes)
                    scopes = list(itertools.chain.from_iterable(inners))
                    scopes = [each.uncertain() for each in scopes] if loop.ifs else scopes
                for inner in scopes:
                    yield from self._made_by([node.elt], inner)
            elif not isinstance(node, ast.FunctionDef):
                if isinstance(node, ast.Call):
                    yield from self._made_by_call(node, scope)
                yield from self._made_by(ast.iter_child_nodes(node), scope)

    @staticmethod
    def _iterations(target: ast.expr, iterable: ast.expr, scope: Scope) -> list[Scope]:
        values = scope.elements(iterable)
        if values is None:
            return [scope.uncertain().bind(target, None)]
        return [scope.bind(target, value) for value in values]

    def _made_by_call(self, call: ast.Call, scope: Scope) -> Iterator[Made]:
        """The targets that the call of a rule or macro makes."""
        how = f"{callee(call)} in {self._shown(scope.file, call.lineno)}"
        names = [argument(call, "name"), argument(call, "out")]
        names += scope.elements(argument(call, "outs") or call) or []
        if callee(call) == "exports_files" and call.args:
            names += scope.elements(call.args[0]) or []
        for name in names:
            if name:
                yield Made(scope.pattern(name), how, scope.certain)
        if not scope.depth or not isinstance(call.func, ast.Name):
            return
        macro = self._definition(scope.file, call.func.id)
        if isinstance(macro, Definition) and isinstance(macro.node, ast.FunctionDef):
            inner = Scope(macro.file, {}, {}, scope.certain, scope.depth - 1)
            yield from self._made_by(macro.node.body, inner.call(macro.node, call, scope))

    def symbol(self, label: Label, name: str) -> Definition | Lacking | Undecided:
        """What a symbol of a .bzl file is defined as."""
        path = self.path(label)
        if path is None:
            build_file = self._build_file(label)
            elsewhere = Undecided(f"the files of @{label.repository} are not part of the checkout")
            return build_file if isinstance(build_file, Lacking) else elsewhere
        if not path.is_file():
            return Lacking(f"there is no file {path.relative_to(self._root)}")
        return self._definition(path, name, exported=True)

    def _definition(self, file: pathlib.Path, name: str, *, exported: bool = False) -> Definition | Lacking | Undecided:
        """What a name stands for in a file; if exported, for those who load it from there."""
        for statement in parse(file).body:
            if isinstance(statement, ast.FunctionDef) and statement.name == name:
                return Definition(file, statement)
            if isinstance(statement, ast.Assign) and name in _assigned(statement):
                if isinstance(statement.value, ast.Name):
                    return self._definition(file, statement.value.id)
                return Definition(file, statement.value)
        for load in loads(file):
            if name in load.symbols:
                if exported:
                    where = self._shown(file, load.line)
                    return Lacking(f"{where} loads it from {load.label}, but does not export it")
                path = self._path(load.label, file)
                if path is None or not path.is_file():
                    return Undecided(f"{load.label} is not part of the checkout")
                return self._definition(path, load.symbols[name], exported=True)
        return Lacking(f"{file.relative_to(self._root)} has no {name}")


# What this repository uses.


@dataclasses.dataclass(frozen=True)
class Use:
    """One use of something that a checkout may lack."""

    place: str
    text: str
    label: Label | None  # None if it is not known
    symbol: str | None = None  # what is loaded from the file that the label names
    call: ast.Call | None = None  # of the symbol


def uses(repository: pathlib.Path) -> Iterator[Use]:
    """What the BUILD and .bzl files of a repository use of other repositories."""
    own = set(BUILT_IN)
    for call in calls(parse(repository / "WORKSPACE")):
        name = string(argument(call, "name"))
        own |= {name} if name else set()
    for name in ("BUILD", "BUILD.bazel", "*.bzl"):
        for file in sorted(repository.rglob(name)):
            shown = file.relative_to(repository).as_posix()
            if not shown.startswith(("bazel-", ".", *STAND_INS)):
                yield from (use for use in _uses_in(file, shown) if _repository(use) not in own)


def _repository(use: Use) -> str:
    return use.text.lstrip("@").partition("//")[0]


def _uses_in(file: pathlib.Path, shown: str) -> Iterator[Use]:
    loaded: dict[str, tuple[Load, str]] = {}
    for load in loads(file):
        for name, symbol in load.symbols.items():
            loaded[name] = (load, symbol)
            if load.label.startswith("@"):
                label = Label.parse(load.label)
                yield Use(f"{shown}:{load.line}", load.label, label, symbol)
    for node in ast.walk(parse(file)):
        text = string(node)
        if text and re.match(r"@{1,2}[\w.+~-]+//\S*$", text) and not text.endswith(".bzl"):
            yield Use(f"{shown}:{getattr(node, 'lineno', 0)}", text, Label.parse(text))
        if isinstance(node, ast.Call) and callee(node) in loaded:
            load, symbol = loaded[callee(node)]
            if load.label.startswith("@"):
                label = Label.parse(load.label)
                yield Use(f"{shown}:{node.lineno}", load.label, label, symbol, node)


def unaccepted(call: ast.Call, definition: Definition, name: str) -> list[Lacking | Undecided]:
    """What is wrong with the arguments of a call.

    Args:
      call: the call.
      definition: what is called.
      name: the name of that.

    Returns:
      Keyword arguments that it does not take, and arguments that it needs.
    """
    function = definition.node
    if not isinstance(function, ast.FunctionDef):
        return [Undecided(f"{name} is not a function, so its arguments are not compared")]
    parameters = [each.arg for each in function.args.args]
    passed = {each.arg for each in call.keywords}
    found: list[Lacking | Undecided] = []
    if not function.args.kwarg:
        known = {*parameters, *(each.arg for each in function.args.kwonlyargs), None}
        unknown = sorted(str(each) for each in passed - known)
        found += [Lacking(f"{name} has no parameter {each}") for each in unknown]
    if None not in passed:
        needed = parameters[len(call.args) : len(parameters) - len(function.args.defaults)]
        found += [Lacking(f"{name} needs {each}") for each in needed if each not in passed]
    return found


def check(checkout: Checkout, use: Use) -> list[Lacking | Undecided]:
    """What the checkout lacks for one use, or may lack."""
    if use.label is None:
        return [Undecided("the label is put together when the BUILD file is loaded")]
    if use.symbol is None:
        verdict = checkout.target(use.label)
        return [verdict] if verdict else []
    definition = checkout.symbol(use.label, use.symbol)
    if use.call is None:
        return [] if isinstance(definition, Definition) else [definition]
    if not isinstance(definition, Definition):
        return []  # the load statement's use says so
    return unaccepted(use.call, definition, use.symbol)


def main() -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=pathlib.Path, help="TensorFlow's source tree")
    parser.add_argument(
        "--repository",
        type=pathlib.Path,
        default=REPOSITORY,
        help="the repository whose uses are checked (default: the one that this program is in)",
    )
    args = parser.parse_args()
    for option, folder in (("the checkout", args.checkout), ("--repository", args.repository)):
        if not (folder / "WORKSPACE").is_file():
            parser.error(f"{option} should be a folder with a WORKSPACE file; {folder} is not")
    checkout = Checkout(args.checkout.resolve())
    counts = {Lacking: 0, Undecided: 0}
    total = 0
    try:
        for use in uses(args.repository.resolve()):
            total += 1
            for verdict in check(checkout, use):
                counts[type(verdict)] += 1
                kind = "lacking" if isinstance(verdict, Lacking) else "not decided"
                name = f"{use.text}%{use.symbol}" if use.symbol else use.text
                print(f"{use.place}: {kind}: {name}: {verdict.why}")
    except ReadError as error:
        parser.error(str(error))
    print(f"{total} uses, {counts[Lacking]} lacking, {counts[Undecided]} not decided")
    return 1 if counts[Lacking] else 0


if __name__ == "__main__":
    sys.exit(main())
