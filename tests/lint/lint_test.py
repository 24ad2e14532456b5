# SPDX-License-Identifier: Apache-2.0
"""Tests of //tools/lint with stand-ins for linters: which files, which calls, what is reported."""

import contextlib
import io
import os
import subprocess
from pathlib import Path
from unittest import mock

from absl.testing import absltest, parameterized

from tools.lint import lint


class LintTestCase(parameterized.TestCase):
    """Makes an empty repository, and calls lint as Bazel does."""

    def setUp(self) -> None:
        super().setUp()
        # A link, as a path to the workspace may hold one.
        folder = Path(self.create_tempdir().full_path).resolve()
        (folder / "real").mkdir()
        (folder / "link").symlink_to("real")
        self.workspace = folder / "link"
        self.programs = folder / "programs"
        self.programs.mkdir()
        self.log = folder / "log"
        self.log.touch()
        variables = {
            "BUILD_WORKSPACE_DIRECTORY": str(self.workspace),
            "BUILD_WORKING_DIRECTORY": str(self.workspace),
            "GIT_CEILING_DIRECTORIES": str(folder),
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        self.enter_context(mock.patch.dict(os.environ, variables))
        self.enter_context(mock.patch.object(lint, "PROGRAM_FOLDERS", (self.programs,)))
        self.git("init", "--quiet")

    def git(self, *arguments: str, stdin: str = "") -> None:
        """Runs git in the repository."""
        subprocess.run(["git", *arguments], cwd=self.workspace, check=True, text=True, input=stdin)

    def write(self, name: str, text: str = "") -> None:
        """Writes a file of the repository."""
        path = self.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def add_program(self, name: str, then: str = "") -> None:
        """Adds a program that logs its call, then does as the shell code says."""
        program = self.programs / name
        program.write_text(f'#!/bin/sh\necho {name} "$@" >>{self.log}\n{then}\n')
        program.chmod(0o755)

    def lint(self, *arguments: str) -> tuple[int, list[str], str]:
        """Returns the exit status of lint, the lines of its summary, and what it says of errors."""
        with (
            contextlib.redirect_stdout(io.StringIO()) as out,
            contextlib.redirect_stderr(io.StringIO()) as err,
        ):
            status = lint.main(arguments)
        return status, out.getvalue().splitlines(), err.getvalue()

    def calls(self) -> list[str]:
        """Returns the calls of programs so far."""
        return self.log.read_text().splitlines()


class FilesTest(LintTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.write(".gitignore", "*.log\n/out/\n")
        for name in ("tracked.py", "deleted.py", "a folder/tracked.py"):
            self.write(name)
        self.git("add", ".")
        (self.workspace / "deleted.py").unlink()
        for name in ("new.py", "a folder/né*.py", "x.log", "out/made.py"):
            self.write(name)
        (self.workspace / "link.py").symlink_to("tracked.py")
        self.all = {".gitignore", "tracked.py", "a folder/tracked.py", "new.py", "a folder/né*.py"}

    def files(self, *names: str) -> set[str]:
        root = self.workspace.resolve()
        files = lint.list_files(root, [root / name for name in names])
        self.assertLen(set(files), len(files))
        return set(map(str, files))

    def test_takes_what_git_tracks_or_would_track(self) -> None:
        self.assertEqual(self.files(), self.all)

    def test_keeps_to_paths(self) -> None:
        self.assertEqual(self.files("new.py"), {"new.py"})
        self.assertEqual(self.files("."), self.all)
        self.assertEqual(
            self.files("a folder", "tracked.py"),
            {"tracked.py", "a folder/tracked.py", "a folder/né*.py"},
        )

    def test_lists_a_file_with_a_merge_conflict_once(self) -> None:
        entries = [f"100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391 {n}\tnew.py\n" for n in (1, 2, 3)]
        self.git("update-index", "--index-info", stdin="".join(entries))
        self.assertEqual(self.files("new.py"), {"new.py"})

    def test_paths_are_no_patterns(self) -> None:
        self.write("a folder/né2.py")
        self.assertEqual(self.files("a folder/né*.py"), {"a folder/né*.py"})

    def test_relative_paths_start_where_the_user_is(self) -> None:
        self.add_program("fake")
        linters = (lint.Linter("fake", lint.is_python, ("fake",)),)
        here = {"BUILD_WORKING_DIRECTORY": str(self.workspace / "a folder")}
        with mock.patch.object(lint, "LINTERS", linters), mock.patch.dict(os.environ, here):
            self.lint("tracked.py", "../new.py")
        self.assertEqual(self.calls(), ["fake a folder/tracked.py new.py"])

    @parameterized.parameters("missing.py", "x.log", "out", "deleted.py", "../programs")
    def test_refuses_a_path_without_files(self, name: str) -> None:
        status, summary, error = self.lint("new.py", name)
        self.assertEqual((status, summary), (2, []))
        self.assertRegex(error, rf"\Alint: .*{name}.*\n\Z")

    def test_says_what_git_says(self) -> None:
        (self.workspace / ".git").rename(self.workspace / "no.git")
        status, _, error = self.lint()
        self.assertEqual(status, 2)
        self.assertRegex(error, r"\Alint: git cannot list the files: .*not a git repository.*\n\Z")

    def test_says_that_git_is_missing(self) -> None:
        with mock.patch.dict(os.environ, {"PATH": str(self.programs)}):
            status, _, error = self.lint()
        self.assertEqual((status, error), (2, "lint: git is not on PATH: install it\n"))

    def test_says_how_to_run_it(self) -> None:
        with mock.patch.dict(os.environ):
            del os.environ["BUILD_WORKSPACE_DIRECTORY"]
            status, _, error = self.lint()
        self.assertEqual(status, 2)
        self.assertRegex(error, r"\Alint: .*bazel run //tools/lint.*\n\Z")


class TableTest(LintTestCase):
    @parameterized.parameters(
        ("a.cc", "", {"spdx", "clang-format"}),
        ("a.cu.cc", "", {"spdx", "clang-format"}),
        ("a.h", "", {"spdx", "clang-format"}),
        ("a.py", "#!/usr/bin/env python3\n", {"spdx", "ruff check", "ruff format", "mypy"}),
        ("a.pyi", "", {"spdx", "ruff check", "ruff format", "mypy"}),
        ("a.bzl", "", {"spdx", "buildifier"}),
        ("a/BUILD", "", {"spdx", "buildifier"}),
        ("WORKSPACE", "", {"spdx", "buildifier"}),
        ("run", "#!/usr/bin/env bash\n", {"spdx", "shellcheck"}),
        ("run.sh", "#!/bin/sh -e\n", {"spdx", "shellcheck"}),
        (".github/workflows/a.yml", "", {"spdx", "check-jsonschema", "zizmor"}),
        ("tools/docker/Dockerfile", "", {"spdx", "hadolint"}),
        ("docs/a.yml", "", set()),
        ("notes", "bash\n", set()),
        ("README.md", "Scripts start with\n#!/bin/sh\n", set()),
        ("data.bin", "", set()),
    )
    def test_linters_take_their_files(self, name: str, text: str, expected: set[str]) -> None:
        self.write(name, text)
        path = self.workspace / name
        self.assertEqual({each.name for each in lint.LINTERS if each.takes(path)}, expected)

    def test_every_linter_is_called_once_with_all_its_files(self) -> None:
        for linter in lint.LINTERS:
            self.add_program(linter.check[0])
        for name in ("a.cc", "b.h", "a.py", "b.py", "BUILD", "b.bzl", "Dockerfile", "b/Dockerfile"):
            self.write(name)
        for name in ("a", "b"):
            self.write(f".github/workflows/{name}.yml")
        for name in ("run", "stop"):
            self.write(name, "#!/bin/bash\n")
        status, summary, _ = self.lint()
        self.assertEqual(status, 0)
        self.assertLen(self.calls(), len(lint.LINTERS))
        expected = [f"{each.name}: {12 if each.name == 'spdx' else 2} files, ok" for each in lint.LINTERS]
        self.assertEqual(summary, expected)


class RunTest(LintTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.write("a.py")
        self.write("b.py")
        self.add_program("first")
        self.add_program("second")
        self.add_program("third")
        self.add_program("fixer")
        linters = (
            lint.Linter("First", lint.is_python, ("first", "--check"), ("fixer", "-i")),
            lint.Linter("Second", lint.is_python, ("second",)),
            lint.Linter("Third", lint.is_cc, ("third",), ("third", "--fix")),
        )
        self.enter_context(mock.patch.object(lint, "LINTERS", linters))

    def test_all_pass(self) -> None:
        status, summary, error = self.lint()
        self.assertEqual((status, error), (0, ""))
        self.assertEqual(summary, ["First: 2 files, ok", "Second: 2 files, ok", "Third: 0 files, ok"])
        self.assertEqual(self.calls(), ["first --check a.py b.py", "second a.py b.py"])

    def test_one_fails_and_all_run(self) -> None:
        self.add_program("first", "exit 3")
        status, summary, _ = self.lint()
        self.assertEqual(status, 1)
        self.assertEqual(summary[:2], ["First: 2 files, FAILED (exit status 3)", "Second: 2 files, ok"])
        self.assertEqual(self.calls(), ["first --check a.py b.py", "second a.py b.py"])

    def test_the_last_fails(self) -> None:
        self.add_program("second", "exit 1")
        self.assertEqual(self.lint()[0], 1)

    def test_a_missing_program_is_a_failure(self) -> None:
        (self.programs / "first").unlink()
        status, summary, _ = self.lint()
        self.assertEqual(status, 1)
        self.assertEqual(summary[0], f"First: 2 files, FAILED (no program first in {self.programs})")
        self.assertEqual(self.calls(), ["second a.py b.py"])

    def test_a_program_on_path_does_not_stand_in(self) -> None:
        linters = (lint.Linter("Shell", lint.is_python, ("sh",)),)
        with mock.patch.object(lint, "LINTERS", linters):
            status, summary, _ = self.lint()
        self.assertEqual(status, 1)
        self.assertIn("no program sh", summary[0])

    def test_a_program_that_cannot_start_is_a_failure(self) -> None:
        (self.programs / "first").write_text("#!/no/such/interpreter\n")
        status, summary, _ = self.lint()
        self.assertEqual(status, 1)
        self.assertRegex(summary[0], r"\AFirst: 2 files, FAILED \(cannot run .*/first: .+\)\Z")

    def test_a_crash_is_a_failure(self) -> None:
        self.add_program("first", "kill -SEGV $$")
        status, summary, _ = self.lint()
        self.assertEqual(status, 1)
        self.assertEqual(summary[0], "First: 2 files, FAILED (killed by SIGSEGV)")

    def test_fix_rewrites_then_checks(self) -> None:
        self.add_program("first", 'grep -q fixed "$2"')
        self.add_program("fixer", 'echo fixed >"$2"')
        self.assertEqual(self.lint()[0], 1)
        status, summary, _ = self.lint("--fix")
        self.assertEqual((status, summary[0]), (0, "First: 2 files, ok"))
        self.assertEqual(self.calls()[2:], ["fixer -i a.py b.py", "first --check a.py b.py", "second a.py b.py"])

    def test_fix_of_some_files(self) -> None:
        self.lint("--fix", "b.py")
        self.assertEqual(self.calls(), ["fixer -i b.py", "first --check b.py", "second b.py"])

    def test_fix_that_does_not_help_is_a_failure(self) -> None:
        self.add_program("first", "exit 1")
        self.assertEqual(self.lint("--fix")[0], 1)

    def test_runs_in_the_workspace_without_the_python_path_of_bazel(self) -> None:
        self.add_program("first", f'echo "${{PYTHONPATH-unset}}" >>{self.log}; pwd -P >>{self.log}')
        with mock.patch.dict(os.environ, {"PYTHONPATH": "/elsewhere"}):
            self.lint()
        self.assertEqual(self.calls()[1:3], ["unset", str(self.workspace.resolve())])


if __name__ == "__main__":
    absltest.main()
