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
from collections.abc import Sequence
from unittest import mock

from absl.testing import absltest, parameterized

from tools.ci import list_ops
from tools.lint import lint
from tools.new_op import new_op
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
        status, out, error = self.rename("--name", NAME, "--keep-ops", "--apply")
        self.assertEqual((status, error), (0, ""))
        self.assertIn("./bazelw test //...", out)
        self.assert_no_trace(PROJECT)
        self.assert_no_trace(rename_project.VARIABLES)
        self.assertTrue((self.copy / NAME / "__init__.py").exists())
        self.assertRegex(
            (self.copy / "README.md").read_text(), rf"\n\nMade from {PROJECT}, Apache License 2\.0\. .*\.\n\Z"
        )
        self.commit()
        self.assertLen(self.git("ls-files").splitlines(), files)
        for path in self.copy.rglob("*.py"):
            ast.parse(path.read_text())
        ((_, formatted),) = (call.args for call in self.rewrite.call_args_list)
        self.assertIn(pathlib.Path(NAME, "ops/my_op/my_op.h"), formatted)

    def test_is_repeatable(self) -> None:
        self.make_copy()
        self.rename("--name", NAME, "--start-empty", "--apply")
        self.commit()
        # By the tool of the renamed project.
        variables = {"PROJECT": NAME, "VARIABLES": NAME.upper()}
        self.enter_context(mock.patch.dict(vars(rename_project), variables))
        source = (self.copy / "tools/rename_project/rename_project.py").read_text()
        for variable, value in variables.items():
            self.assertIn(f'\n{variable} = "{value}"\n', source)
        self.enter_context(mock.patch.object(list_ops, "PACKAGE", pathlib.Path(NAME, "ops")))
        status, out, _ = self.rename("--name", NAME, "--start-empty", "--apply")
        self.assertEqual((status, out[:24]), (0, "Nothing is to be changed"))
        self.assertEqual(self.git("status", "--porcelain"), "")
        self.assertEqual(self.rename("--name", OTHER, "--keep-ops", "--apply")[::2], (0, ""))
        self.assert_no_trace(NAME)
        self.assert_no_trace(PROJECT)
        self.assertLen(re.findall("^Made from ", (self.copy / "README.md").read_text(), re.MULTILINE), 1)

    def test_shows_what_would_change(self) -> None:
        status, out, _ = self.rename("--name", NAME, "--start-empty")
        self.assertEqual(status, 0)
        self.assertIn(f'\n-workspace(name = "{PROJECT}")\n+workspace(name = "{NAME}")\n', out)
        self.assertIn(f"\n--- a/{PROJECT}/__init__.py\n+++ b/{NAME}/__init__.py\n", out)
        # >>> only with huber
        self.assertIn(f"\ndeleted: {PROJECT}/ops/huber/huber.h\n", out)
        # <<<
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
        self.assert_refused(message, "--name", name, "--keep-ops", "--apply")

    def test_refuses_where_something_is_not_committed(self) -> None:
        self.make_copy()
        (self.copy / "new").touch()
        self.assert_refused("commit or stash your changes first", "--name", NAME, "--keep-ops", "--apply")
        self.assertEqual(self.rename("--name", NAME, "--keep-ops", "--apply", "--force")[0], 0)
        self.assert_no_trace(PROJECT)

    def test_says_that_a_formatter_fails(self) -> None:
        self.make_copy()
        self.rewrite.return_value = ["no program ruff"]
        status, _, error = self.rename("--name", NAME, "--keep-ops", "--apply")
        self.assertEqual((status, error), (2, "rename_project: changed, but a formatter fails: no program ruff\n"))

    def test_says_how_to_run_it(self) -> None:
        with mock.patch.dict(os.environ):
            del os.environ["BUILD_WORKSPACE_DIRECTORY"]
            self.assert_refused("bazel run //tools/rename_project", "--holder", "Acme")

    def test_starts_empty(self) -> None:
        self.make_copy()
        self.assertEqual(self.rename("--start-empty", "--apply")[::2], (0, ""))
        ops = self.copy / list_ops.PACKAGE
        self.assertEqual(list_ops.listed((ops / "ops.bzl").read_text()), ["my_op"])
        self.assertEqual([path.name for path in ops.iterdir() if path.is_dir()], ["my_op"])
        self.assertFalse((self.copy / "tests/transformers").exists())
        self.assertRegex((self.copy / "CHANGELOG.md").read_text(), r"(?s)\n## Unreleased\n.{,20}- The op MyOp.{,20}\Z")
        for path in self.copy.rglob("*.py"):
            ast.parse(path.read_text())
        # New ops can be made of what was removed.
        for name, kind in new_op.KINDS.items():
            folder = new_op.make_op(self.copy, f"new_{name}", kind)
            self.assertTrue((self.copy / folder / f"new_{name}_test.py").exists())

    def test_names_another_holder(self) -> None:
        self.make_copy()
        for holder in ("Acme Inc.", "Acme Inc.", "Somebody"):
            self.assertEqual(self.rename("--holder", holder, "--apply", "--force")[::2], (0, ""))
        expected = (
            r"(#!.*\n)?(#|//) SPDX-License-Identifier: Apache-2\.0\n\2 SPDX-FileCopyrightText: Somebody\n(?!.*SPDX)"
        )
        for path in ("bazelw", "WORKSPACE", str(list_ops.PACKAGE / "my_op/my_op.cc"), "tests/op_test_case.py"):
            self.assertRegex((self.copy / path).read_text(), rf"\A{expected}")
        # What README shows is what the file has.
        self.assertIn(
            (self.copy / list_ops.PACKAGE / "my_op/my_op.h").read_text(), (self.copy / "README.md").read_text()
        )

    def test_changes_the_prefix_of_registered_names(self) -> None:
        self.make_copy()
        before = rename_project.read(self.copy)
        ops = self.copy / list_ops.PACKAGE
        self.assertEqual(self.rename("--op-prefix", "Other", "--apply")[::2], (0, ""))
        self.assertIn('OP_PREFIX = "Other"\n', (ops / "ops.bzl").read_text())
        python = (ops / "my_op/my_op.py").read_text()
        self.assertIn("def my_op(", python)
        self.assertIn("gen_my_op.other_my_op(", python)
        self.assertIn('tf.RegisterGradient("OtherMyOp")', python)
        self.assertIn("REGISTER_ELEMENTWISE_OP(OtherMyOp)", (ops / "my_op/my_op.cc").read_text())
        by_hand = self.copy / "examples/by_hand"
        self.assertIn('REGISTER_OP("OtherSimpleAdd")', (by_hand / "simple_add/simple_add.cc").read_text())
        self.assertIn("library.other_simple_add)(a=a, b=b)", (by_hand / "by_hand_ops_test.py").read_text())
        # >>> only with huber
        self.assertIn("tf.keras.losses.Huber", (ops / "huber/huber.py").read_text())
        # <<<
        self.commit()
        status, out, _ = self.rename("--op-prefix", "Other", "--apply")
        self.assertEqual((status, out[:24]), (0, "Nothing is to be changed"))
        (prefix,) = re.findall('^OP_PREFIX = "(.*)"$', before[str(list_ops.PACKAGE / "ops.bzl")], re.MULTILINE)
        self.assertEqual(self.rename("--op-prefix", prefix, "--apply")[::2], (0, ""))
        self.assertEqual(rename_project.read(self.copy), before)

    @parameterized.parameters(
        (("--op-prefix", "acme", "--apply"), "'acme' is no prefix in CamelCase"),
        (("--op-prefix", "Acme1", "--apply"), "'Acme1' is no prefix in CamelCase"),
        (("--op-prefix", "Acmeacmea", "--apply"), "has 9 characters, and may have 8"),
        (("--remove-ops", "no_op", "--apply"), "there is no op no_op; there are .*my_op"),
        (("--keep-ops", "my_op", "no_op", "--apply"), "there is no op no_op"),
        (("--remove-ops", "my_op", "--apply"), "my_op is what the tests of the package use"),
        # >>> only with gelu
        (("--keep-ops", "gelu", "--apply"), "my_op is what the tests of the package use"),
        # <<<
    )
    def test_refuses(self, arguments: Sequence[str], message: str) -> None:
        self.assert_refused(message, *arguments)

    @parameterized.parameters(
        ((), "nothing to do"),
        (("--name", NAME), "say which ops stay"),
        (("--start-empty", "--keep-ops"), "not allowed with"),
    )
    def test_refuses_arguments(self, arguments: Sequence[str], message: str) -> None:
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()) as error:
            rename_project.main(arguments)
        self.assertIn(message, error.getvalue())


if __name__ == "__main__":
    absltest.main()
