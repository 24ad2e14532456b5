# SPDX-License-Identifier: Apache-2.0
"""Runs every linter over the files of the repository.

    bazel run //tools/lint                      checks
    bazel run //tools/lint -- --fix             rewrites what the linters can rewrite, then checks
    bazel run //tools/lint -- [--fix] PATH...   only these files and folders

The files are those that git tracks or would track. Each linter prints what it finds, and gets one
line in the summary. The exit status is 1 if a linter failed, and 2 if the arguments are wrong.
"""

import argparse
import dataclasses
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

# Bazel puts the programs, which are data of this one, beside the repository in the runfiles.
_HERE = Path(__file__).absolute().parent
_RUNFILES = _HERE.parents[2]
PROGRAM_FOLDERS = (
    _HERE,
    _RUNFILES / "lint_packages/venv/bin",
    _RUNFILES / "lint_npm_packages/node_modules/.bin",
)

# buildifier's default warnings, less those that ask to load from rules_cc, rules_python and
# rules_shell what Bazel 7 still has built in: those repositories would have to be downloaded.
_BUILDIFIER_WARNINGS = "-warnings=" + ",".join(
    f"-native-{name}"
    for name in (
        "cc-binary",
        "cc-common",
        "cc-import",
        "cc-info",
        "cc-library",
        "cc-shared-library",
        "cc-test",
        "cc-toolchain",
        "py",
        "sh-binary",
        "sh-library",
        "sh-test",
    )
)


class UsageError(Exception):
    """A mistake in the call that its one-line message explains to the user."""


def is_cc(path: Path) -> bool:
    """Tells C++ and CUDA by their suffixes."""
    return path.suffix in {".cc", ".h"}


def is_python(path: Path) -> bool:
    """Tells Python by its suffixes."""
    return path.suffix in {".py", ".pyi"}


def is_starlark(path: Path) -> bool:
    """Tells Starlark by suffix or name."""
    return path.suffix == ".bzl" or path.name in {"BUILD", "WORKSPACE"}


def is_shell(path: Path) -> bool:
    """Tells a shell script by its first line."""
    with path.open("rb") as file:
        return re.match(rb"#!.*\b(?:ba|da|k)?sh\b", file.readline(256)) is not None


def is_workflow(path: Path) -> bool:
    """Tells a workflow of GitHub's by where it is."""
    return path.suffix == ".yml" and path.parts[-3:-1] == (".github", "workflows")


def is_dockerfile(path: Path) -> bool:
    """Tells a Dockerfile by its name."""
    return path.name == "Dockerfile"


def is_source(path: Path) -> bool:
    """Tells whether people write the file in a language that we lint."""
    kinds = (is_cc, is_python, is_starlark, is_shell, is_workflow, is_dockerfile)
    return any(is_kind(path) for is_kind in kinds)


@dataclasses.dataclass(frozen=True)
class Linter:
    """A linter, and how it is called.

    Attributes:
        name: What the summary calls it.
        takes: Tells whether it is for the file at a path.
        check: The command that reports with its exit status whether the files that follow are fine.
        fix: The command that rewrites the files that follow, if there is one.
    """

    name: str
    takes: Callable[[Path], bool]
    check: tuple[str, ...]
    fix: tuple[str, ...] | None = None


LINTERS = (
    Linter("spdx", is_source, check=("spdx",)),
    Linter(
        "clang-format",
        is_cc,
        check=("clang-format", "--dry-run", "--Werror"),
        fix=("clang-format", "-i"),
    ),
    Linter(
        "ruff check",
        is_python,
        check=("ruff", "check"),
        fix=("ruff", "check", "--fix-only"),
    ),
    Linter(
        "ruff format",
        is_python,
        check=("ruff", "format", "--check"),
        fix=("ruff", "format"),
    ),
    Linter("mypy", is_python, check=("mypy",)),
    Linter(
        "buildifier",
        is_starlark,
        check=("buildifier", "-mode=check", "-lint=warn", _BUILDIFIER_WARNINGS),
        fix=("buildifier", "-mode=fix", "-lint=fix", _BUILDIFIER_WARNINGS),
    ),
    Linter("shellcheck", is_shell, check=("shellcheck", "--norc")),
    Linter(
        "check-jsonschema",
        is_workflow,
        check=("check-jsonschema", "--quiet", "--builtin-schema=vendor.github-workflows"),
    ),
    # Offline, so that what it finds depends on the files only.
    Linter("zizmor", is_workflow, check=("zizmor", "--offline", "--quiet", "--persona=pedantic")),
    # Debian has no old versions of its packages: who pins one can build until there is a newer one.
    Linter("hadolint", is_dockerfile, check=("hadolint", "--ignore=DL3008")),
)


def list_files(workspace: Path, paths: Sequence[Path]) -> list[Path]:
    """Returns the files that git tracks or would track, relative to the workspace.

    Args:
        workspace: The root of the repository.
        paths: Files and folders to which to keep; none means all.

    Raises:
        UsageError: git cannot list the files, or lists none under a path.
    """
    command = ["git", "--literal-pathspecs", "ls-files", "-z", "--cached", "--others"]
    command += ["--exclude-standard", "--", *map(str, paths)]
    try:
        listed = subprocess.run(command, cwd=workspace, capture_output=True, check=False)
    except FileNotFoundError:
        raise UsageError("git is not on PATH: install it") from None
    if listed.returncode:
        reason = " ".join(os.fsdecode(listed.stderr).split())
        raise UsageError(f"git cannot list the files: {reason}")
    # A set, because git lists a file with a merge conflict more than once.
    names = {Path(name) for name in os.fsdecode(listed.stdout).split("\0") if name}
    files = sorted(name for name in names if _is_file(workspace / name))
    for path in paths:
        if not any((workspace / file).is_relative_to(path) for file in files):
            raise UsageError(f"no file that git tracks or would track: {path}")
    return files


def _is_file(path: Path) -> bool:
    # Not what is deleted but still in the index, and not submodules. What a link points to either
    # is a file of the repository already, or is not ours.
    return path.is_file() and not path.is_symlink()


def run(command: Sequence[str], files: Sequence[Path], workspace: Path) -> str | None:
    """Runs a command on files and lets it print; returns why it failed, or None."""
    folders = os.pathsep.join(map(str, PROGRAM_FOLDERS))
    program = shutil.which(command[0], path=folders)
    if program is None:
        return f"no program {command[0]} in {folders}"
    # Bazel's PYTHONPATH is for this program, and would reach the linters written in Python.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    try:
        status = subprocess.run(
            [program, *command[1:], *map(str, files)], cwd=workspace, env=environment, check=False
        ).returncode
    except OSError as error:
        return f"cannot run {program}: {error.strerror}"
    if status < 0:
        return f"killed by {signal.Signals(-status).name}"
    return f"exit status {status}" if status else None


def _work(workspace: Path, files: Sequence[Path]) -> list[tuple[Linter, list[Path]]]:
    """The linters, and of the files those that each takes."""
    return [(each, [file for file in files if each.takes(workspace / file)]) for each in LINTERS]


def rewrite(workspace: Path, files: Sequence[Path]) -> list[str]:
    """Lets every linter that can rewrite the files that it takes; returns why some failed."""
    work = [(each.fix, its_files) for each, its_files in _work(workspace, files) if each.fix and its_files]
    return [failure for command, its_files in work if (failure := run(command, its_files, workspace))]


def lint(workspace: Path, files: Sequence[Path], *, fix: bool) -> bool:
    """Runs every linter on the files that it takes; returns whether all passed."""
    if fix:
        # Whether this worked is what the check tells.
        rewrite(workspace, files)
    passed, summary = True, []
    for linter, its_files in _work(workspace, files):
        failure = run(linter.check, its_files, workspace) if its_files else None
        result = f"FAILED ({failure})" if failure else "ok"
        summary.append(f"{linter.name}: {len(its_files)} files, {result}")
        passed = passed and failure is None
    print(*summary, sep="\n", flush=True)
    return passed


def main(arguments: Sequence[str] | None = None) -> int:
    """Lints what the command line says; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="bazel run //tools/lint --",
        description="Runs every linter over the files of the repository.",
    )
    parser.add_argument("--fix", action="store_true", help="rewrite what can be rewritten first")
    parser.add_argument("paths", metavar="PATH", nargs="*", help="a file or folder (default: all)")
    options = parser.parse_args(arguments)
    try:
        workspace = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]).resolve()
        directory = Path(os.environ["BUILD_WORKING_DIRECTORY"])
    except KeyError as error:
        print(f"lint: {error.args[0]} is not set: use `bazel run //tools/lint`", file=sys.stderr)
        return 2
    paths = [(directory / path).resolve() for path in options.paths]
    try:
        files = list_files(workspace, paths)
    except UsageError as error:
        print(f"lint: {error}", file=sys.stderr)
        return 2
    return 0 if lint(workspace, files, fix=options.fix) else 1


if __name__ == "__main__":
    sys.exit(main())
