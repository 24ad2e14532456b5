# SPDX-License-Identifier: Apache-2.0
"""//tools/rename_project, without formatters, on a copy of the repository: no trace of the old name is left."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
from unittest import mock

from absl.testing import absltest, parameterized

from tools.lint import lint
from tools.rename_project import rename_project

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PROJECT = rename_project.PROJECT

# In parts: the tool refuses names that the repository has.
NAME = "_".join(("acme", "kernels"))
OTHER = "_".join(("other", "kernels"))


class RenameProjectTest(parameterized.TestCase):
    # A repository that stays as it is.
    original: pathlib.Path
    # The one that is renamed.
    copy: pathlib.Path

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.original = cls.copy = pathlib.Path(tempfile.mkdtemp(dir=absltest.TEST_TMPDIR.value), "original")
        ignored = shutil.ignore_patterns(".git", "bazel-*", "__pycache__", ".*_cache", ".bazelrc.user")
        shutil.copytree(REPOSITORY, cls.original, symlinks=True, ignore=ignored)
        cls.git("init", "--quiet")
        cls.commit()

    def setUp(self) -> None:
        super().setUp()
        self.enter_context(mock.patch.dict(os.environ, {"BUILD_WORKSPACE_DIRECTORY": str(self.original)}))
        self.rewrite = self.enter_context(mock.patch.object(lint, "rewrite", return_value=[]))

    def make_copy(self) -> None:
        """Makes a copy of the repository for this test to rename."""
        type(self).copy = pathlib.Path(self.create_tempdir().full_path, "copy")
        self.addCleanup(setattr, type(self), "copy", self.original)
        shutil.copytree(self.original, self.copy, symlinks=True)
        os.environ["BUILD_WORKSPACE_DIRECTORY"] = str(self.copy)

    @classmethod
    def git(cls, *arguments: str) -> str:
        """Runs git in the copy, and returns what it prints."""
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
        variables = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        return subprocess.run(command, cwd=cls.copy, env=variables, check=True, capture_output=True, text=True).stdout

    @classmethod
    def commit(cls) -> None:
        """Commits all."""
        cls.git("add", "--all")
        cls.git("commit", "--quiet", "--message=All")

    def rename(self, *arguments: str) -> tuple[int, str, str]:
        """Returns the exit status, and what is printed."""
        with (
            contextlib.redirect_stdout(io.StringIO()) as out,
            contextlib.redirect_stderr(io.StringIO()) as err,
        ):
            status = rename_project.main(arguments)
        return status, out.getvalue(), err.getvalue()

    def assert_refused(self, message: str, *arguments: str) -> None:
        """Checks that a call fails, says why, and changes nothing."""
        before = self.git("status", "--porcelain")
        status, out, error = self.rename(*arguments)
        self.assertEqual((status, out), (2, ""))
        self.assertRegex(error, rf"\Arename_project: .*{message}.*\n\Z")
        self.assertEqual(self.git("status", "--porcelain"), before)

    def assert_no_trace(self, of: str) -> None:
        """Checks that nothing but the line of origin has a name, in any form."""
        forms = re.compile("(?i)" + of.replace("_", "[-_ ]?"))
        for path, text in rename_project.read(self.copy).items():
            self.assertIsNone(forms.search(path), path)
            found = [line for line in text.splitlines() if forms.search(line)]
            self.assertEqual([line for line in found if not line.startswith(rename_project.ORIGIN)], [], path)

    def test_leaves_no_trace_but_a_line_of_origin(self) -> None:
        self.make_copy()
        files = len(self.git("ls-files").splitlines())
        status, out, error = self.rename("--name", NAME, "--apply")
        self.assertEqual((status, error), (0, ""))
        self.assertIn("./bazelw test //...", out)
        self.assert_no_trace(PROJECT)
        self.assert_no_trace(rename_project.VARIABLES)
        self.assertTrue((self.copy / NAME / "__init__.py").exists())
        self.assertEndsWith((self.copy / "README.md").read_text(), f"\n\nMade from {PROJECT}, Apache License 2.0.\n")
        self.commit()
        self.assertLen(self.git("ls-files").splitlines(), files)
        for path in self.copy.rglob("*.py"):
            ast.parse(path.read_text())
        ((_, formatted),) = (call.args for call in self.rewrite.call_args_list)
        self.assertIn(pathlib.Path(NAME, "ops/my_op/my_op.h"), formatted)

    def test_is_repeatable(self) -> None:
        self.make_copy()
        self.rename("--name", NAME, "--apply")
        self.commit()
        # By the tool of the renamed project.
        variables = {"PROJECT": NAME, "VARIABLES": NAME.upper()}
        self.enter_context(mock.patch.dict(vars(rename_project), variables))
        source = (self.copy / "tools/rename_project/rename_project.py").read_text()
        for variable, value in variables.items():
            self.assertIn(f'\n{variable} = "{value}"\n', source)
        self.assertEqual(self.rename("--name", NAME, "--apply")[::2], (0, ""))
        self.assertEqual(self.git("status", "--porcelain"), "")
        self.assertEqual(self.rename("--name", OTHER, "--apply")[::2], (0, ""))
        self.assert_no_trace(NAME)
        self.assert_no_trace(PROJECT)
        self.assertLen(re.findall("^Made from ", (self.copy / "README.md").read_text(), re.MULTILINE), 1)

    def test_shows_what_would_change(self) -> None:
        status, out, _ = self.rename("--name", NAME)
        self.assertEqual(status, 0)
        self.assertIn(f'\n-workspace(name = "{PROJECT}")\n+workspace(name = "{NAME}")\n', out)
        self.assertIn(f"\n--- a/{PROJECT}/__init__.py\n+++ b/{NAME}/__init__.py\n", out)
        self.assertRegex(
            out, rf"\n\d+ files would change, and {PROJECT}/ would become {NAME}/\. Nothing has: add --apply"
        )
        self.assertEqual(self.git("status", "--porcelain"), "")

    @parameterized.parameters(
        ("Acme", "'Acme' is no name in lower case"),
        ("acme-ops", "is no name in lower case"),
        ("../acme", "is no name in lower case"),
        ("a" * 22, "has 22 characters, and may have 21"),
        ("lambda", "lambda means something in Python"),
        ("print", "print means something in Python"),
        ("json", "json means something in Python"),
        # A folder of the repository, a package that it imports, a library of it.
        ("tools", "uses tools for something else"),
        ("keras", "uses keras for something else"),
        ("by_hand", "uses by_hand for something else"),
    )
    def test_refuses_a_name(self, name: str, message: str) -> None:
        self.assert_refused(message, "--name", name, "--apply")

    def test_refuses_where_something_is_not_committed(self) -> None:
        self.make_copy()
        (self.copy / "new").touch()
        self.assert_refused("commit or stash your changes first", "--name", NAME, "--apply")
        self.assertEqual(self.rename("--name", NAME, "--apply", "--force")[0], 0)
        self.assert_no_trace(PROJECT)

    def test_says_that_a_formatter_fails(self) -> None:
        self.make_copy()
        self.rewrite.return_value = ["no program ruff"]
        status, _, error = self.rename("--name", NAME, "--apply")
        self.assertEqual((status, error), (2, "rename_project: renamed, but a formatter fails: no program ruff\n"))

    def test_says_how_to_run_it(self) -> None:
        with mock.patch.dict(os.environ):
            del os.environ["BUILD_WORKSPACE_DIRECTORY"]
            self.assert_refused("bazel run //tools/rename_project", "--name", NAME)


if __name__ == "__main__":
    absltest.main()
