# SPDX-License-Identifier: Apache-2.0
"""What //tools/new_op makes, without formatters: which files, and no trace of the op that they are a copy of."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import pathlib
import re
import shutil
from unittest import mock

from absl.testing import absltest, parameterized

from tools.ci import list_ops
from tools.lint import lint
from tools.new_op import names, new_op

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
OPS_BZL = list_ops.PACKAGE / "ops.bzl"

PYTHON = ["BUILD", "__init__.py", "{op}.py", "{op}_test.py"]
FILES = {
    "elementwise": [*PYTHON, "{op}.cc", "{op}.h", "{op}_samples.py"],
    "full": [
        *PYTHON,
        *("{op}.cc", "{op}_kernel.h", "{op}_kernel.cc", "{op}_xla.cc"),
        *("{op}_gpu.cu.cc", "{op}_gpu.h", "{op}_gpu.cc", "{op}_gpu_test.cc"),
    ],
    "composite": [*PYTHON, "{op}_samples.py"],
}
MACROS = {"elementwise": "elementwise_op", "full": "custom_op", "composite": "composite_op"}

LINE_LENGTH = 120

# The longest name is how long lines can get.
NAMES = ("zz", "x" * names.MAX_LENGTH)


def long_lines(source: str) -> list[str]:
    """The lines of comments and strings that are too long for lint, and that no formatter breaks."""
    lines = source.splitlines()
    found = [line for line in lines if line.lstrip().startswith("#") and len(line) > LINE_LENGTH]
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.JoinedStr) and not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            continue
        of_node = lines[node.lineno - 1 : node.end_lineno]
        indentation = len(of_node[0]) - len(of_node[0].lstrip())
        if len(of_node) > 1:
            found += [line for line in of_node if len(line) > LINE_LENGTH]
        elif indentation + 4 + len(ast.get_source_segment(source, node) or "") > LINE_LENGTH:
            found += of_node
    return found


class NewOpTestCase(parameterized.TestCase):
    """Has a copy of what new_op reads of the repository, and calls it as Bazel does."""

    def setUp(self) -> None:
        super().setUp()
        self.repository = pathlib.Path(self.create_tempdir().full_path)
        for folder in ("tensorflow_custom_ops/ops", "tensorflow_custom_ops/core", "examples/by_hand"):
            shutil.copytree(REPOSITORY / folder, self.repository / folder)
        # Where the ops are that are copied if the package has them no more.
        if (REPOSITORY / new_op.TEMPLATES).exists():
            shutil.copytree(REPOSITORY / new_op.TEMPLATES, self.repository / new_op.TEMPLATES)
        self.ops = self.repository / list_ops.PACKAGE
        self.before = self.tree()
        self.enter_context(mock.patch.dict(os.environ, {"BUILD_WORKSPACE_DIRECTORY": str(self.repository)}))
        self.rewrite = self.enter_context(mock.patch.object(lint, "rewrite", return_value=[]))
        # Those of another process, and quicker.
        self.enter_context(mock.patch.object(new_op, "tensorflow_ops", return_value=[f"{self.prefix()}Relu"]))

    def prefix(self) -> str:
        """With which the names of this project's ops start."""
        (prefix,) = re.findall('^OP_PREFIX = "(.*)"$', (self.repository / OPS_BZL).read_text(), re.MULTILINE)
        return str(prefix)

    def tree(self) -> dict[str, str]:
        """The ops' files, and their texts."""
        files = [path for path in self.ops.rglob("*") if path.is_file() and path.suffix != ".pyc"]
        return {str(path.relative_to(self.ops)): path.read_text() for path in files}

    def new_op(self, *arguments: str) -> tuple[int, str, str]:
        """Returns the exit status, and what is printed."""
        with (
            contextlib.redirect_stdout(io.StringIO()) as out,
            contextlib.redirect_stderr(io.StringIO()) as err,
        ):
            status = new_op.main(arguments)
        return status, out.getvalue(), err.getvalue()

    def assert_refused(self, message: str, *arguments: str) -> None:
        """Checks that a call fails, says why, and changes nothing."""
        before = self.tree()
        status, out, error = self.new_op(*arguments)
        self.assertEqual((status, out), (2, ""))
        self.assertRegex(error, rf"\Anew_op: .*{message}.*\n\Z")
        self.assertEqual(self.tree(), before)
        self.assertEmpty([path.name for path in self.ops.iterdir() if path.name.startswith(".")])


class MakeTest(NewOpTestCase):
    @parameterized.product(kind=tuple(new_op.KINDS), name=NAMES)
    def test_makes_a_copy_by_another_name(self, kind: str, name: str) -> None:
        status, out, error = self.new_op(name, f"--kind={kind}")
        self.assertEqual((status, error), (0, ""))
        self.assertIn(f"./bazelw test //tensorflow_custom_ops/ops/{name}/...", out)
        new = {path: text for path, text in self.tree().items() if path not in self.before}
        self.assertCountEqual(new, [f"{name}/{file.format(op=name)}" for file in FILES[kind]])
        source = new_op.KINDS[kind].source.snake.replace("_", ".?")
        for path, text in new.items():
            self.assertNotRegex(text, rf"(?i){source}|by.?hand", path)
            if path.endswith(".py"):
                self.assertEmpty(long_lines(text), path)
        camel = names.Name(name).camel
        self.assertIn(
            f'\n{MACROS[kind]}(\n    name = "{name}",\n',
            re.sub(r"\((name = .*)\)", r"(\n    \1,\n)", new[f"{name}/BUILD"]),
        )
        self.assertIn(f"def {name}(", new[f"{name}/{name}.py"])
        self.assertRegex(new[f"{name}/{name}_test.py"], rf"class {camel}Test\(")

    def test_its_files_are_formatted(self) -> None:
        self.new_op("zz")
        ((repository, files),) = (call.args for call in self.rewrite.call_args_list)
        self.assertEqual(repository, self.repository.resolve())
        self.assertCountEqual(
            [file.name for file in files], ["__init__.py", "zz.cc", "zz.h", "zz.py", "zz_samples.py", "zz_test.py"]
        )

    @parameterized.parameters("aa", "mmm", "zz")
    def test_lists_it_and_changes_nothing_else(self, name: str) -> None:
        self.new_op(name)
        after = self.tree()
        ops_bzl = self.before.pop("ops.bzl")
        self.assertEqual(list_ops.listed(after["ops.bzl"]), sorted([*list_ops.listed(ops_bzl), name]))
        self.assertEqual(after["ops.bzl"].replace(f'    "{name}",\n', ""), ops_bzl)
        self.assertEqual({path: after[path] for path in self.before}, self.before)

    def test_makes_ops_beside_each_other(self) -> None:
        for name, kind in (("aa", "full"), ("ab", "full"), ("ac", "composite"), ("ad", "elementwise")):
            self.assertEqual(self.new_op(name, f"--kind={kind}")[0], 0)
        self.assertContainsSubset({"aa", "ab", "ac", "ad"}, list_ops.listed((self.ops / "ops.bzl").read_text()))


class RefuseTest(NewOpTestCase):
    def test_overwrites_nothing(self) -> None:
        self.assert_refused("ops/my_op exists, and nothing is overwritten", "my_op")
        (self.ops / "zz").mkdir()
        self.assert_refused("ops/zz exists, and nothing is overwritten", "zz")
        (self.ops / "yy").write_text("mine")
        self.assert_refused("ops/yy exists, and nothing is overwritten", "yy")
        (self.ops / "xx").symlink_to("nowhere")
        self.assert_refused("ops/xx exists, and nothing is overwritten", "xx")

    @parameterized.parameters(
        ("Soft-Clip", "is no name in lower case"),
        ("relu", r"TensorFlow has an op \w*Relu"),
        ("myop", "the package has an op my_op"),
        ("testing", "testing is a module or function of the package"),
        ("ops", "ops is a module or function of the package"),
        ("elementwise", "scaled_silu.h uses Elementwise for something else"),
        # Of core/type.h.
        ("b_float16", "core/.* uses BFloat16 for something else"),
    )
    def test_refuses_a_name(self, name: str, message: str) -> None:
        self.assert_refused(message, name)

    def test_says_that_there_is_no_such_op(self) -> None:
        shutil.rmtree(self.ops / "row_norm", ignore_errors=True)
        shutil.rmtree(self.repository / new_op.TEMPLATES, ignore_errors=True)
        self.assert_refused(r"there is no tensorflow_custom_ops/ops/row_norm/\*, of which", "zz", "--kind=composite")

    def test_leaves_nothing_behind(self) -> None:
        self.rewrite.return_value = ["no program clang-format"]
        self.assert_refused("a formatter fails: no program clang-format", "zz")
        self.rewrite.side_effect = KeyboardInterrupt
        with self.assertRaises(KeyboardInterrupt):
            self.new_op("zz")
        self.assertEqual(self.tree(), self.before)

    def test_says_that_there_is_no_list(self) -> None:
        (self.repository / OPS_BZL).write_text("OPS = []\n")
        self.assert_refused("ops.bzl has no list OPS", "zz")

    def test_says_how_to_run_it(self) -> None:
        with mock.patch.dict(os.environ):
            del os.environ["BUILD_WORKSPACE_DIRECTORY"]
            self.assert_refused("bazel run //tools/new_op", "zz")

    @parameterized.parameters([[]], [["a", "b"]], [["zz", "--kind=other"]])
    def test_refuses_other_arguments(self, arguments: list[str]) -> None:
        with self.assertRaises(SystemExit) as exit_:
            self.new_op(*arguments)
        self.assertEqual(exit_.exception.code, 2)
        self.assertEqual(self.tree(), self.before)


if __name__ == "__main__":
    absltest.main()
