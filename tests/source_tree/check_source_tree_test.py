# SPDX-License-Identifier: Apache-2.0
"""Tests of check_source_tree.py, on a miniature of the source tree and some that lack things."""

from __future__ import annotations

import pathlib
import subprocess
import sys

from absl.testing import absltest, parameterized

from tests.source_tree import miniature

CHECKER = "third_party/tensorflow/check_source_tree.py"

# The users' repository, but for its BUILD file.
WORKSPACE = """\
workspace(name = "mine")

local_repository(
    name = "own",
    path = "own",
)
"""


class CheckSourceTreeTest(parameterized.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.tree = miniature.files()

    def check(self, *arguments: str) -> tuple[int, list[str]]:
        """Runs the checker on the tree and returns its exit status and the lines that it prints."""
        miniature.write(self.folder / "tree", self.tree)
        return self.run_checker(f"{self.folder}/tree", *arguments)

    def run_checker(self, *arguments: str) -> tuple[int, list[str]]:
        """Runs the checker and returns its exit status and the lines that it prints."""
        result = subprocess.run(
            [sys.executable, CHECKER, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return result.returncode, result.stdout.splitlines()

    def check_uses(self, build: str) -> tuple[int, list[str]]:
        """Runs the checker on the tree, for a repository with one BUILD file."""
        files = {"WORKSPACE": WORKSPACE, "pkg/BUILD": build}
        miniature.write(self.folder / "mine", files)
        return self.check("--repository", f"{self.folder}/mine")

    def edit(self, name: str, old: str, new: str) -> None:
        """Replaces a text in a file of the tree."""
        self.assertIn(old, self.tree[name])
        self.tree[name] = self.tree[name].replace(old, new)

    def test_the_tree_has_what_this_repository_uses(self) -> None:
        status, lines = self.check()
        self.assertEqual(status, 0, lines)
        self.assertRegex(lines[-1], r"^[1-9]\d* uses, 0 lacking, \d+ not decided$")

    def test_a_label_that_this_repository_uses_is_lacking(self) -> None:
        self.edit("tensorflow/core/BUILD", '"framework_headers_lib"', '"headers"')
        status, lines = self.check()
        self.assertEqual(status, 1)
        self.assertRegex(
            "\n".join(lines),
            r"(?m)^tools/build_defs/custom_op\.bzl:\d+: lacking:"
            r" @org_tensorflow//tensorflow/core:framework_headers_lib:"
            r" tensorflow/core/BUILD makes no such target$",
        )

    def test_a_macro_that_this_repository_uses_is_lacking(self) -> None:
        self.edit("tensorflow/tensorflow.bzl", "def tf_kernel_library(", "def kernels(")
        status, lines = self.check()
        self.assertEqual(status, 1)
        self.assertRegex(
            "\n".join(lines),
            r"(?m)^tools/build_defs/custom_op\.bzl:\d+: lacking:"
            r" @org_tensorflow//tensorflow:tensorflow\.bzl%tf_kernel_library:"
            r" tensorflow/tensorflow\.bzl has no tf_kernel_library$",
        )

    def test_a_parameter_that_this_repository_uses_is_lacking(self) -> None:
        self.edit("tensorflow/tensorflow.bzl", "        out = None,\n", "")
        status, lines = self.check()
        self.assertEqual(status, 1)
        self.assertRegex(
            "\n".join(lines),
            r"(?m)^tools/build_defs/custom_op\.bzl:\d+: lacking:"
            r" @org_tensorflow//tensorflow:tensorflow\.bzl%tf_gen_op_wrapper_py:"
            r" tf_gen_op_wrapper_py has no parameter out$",
        )

    @parameterized.named_parameters(
        ("target", 'x = ["@org_tensorflow//tensorflow/core:framework"]'),
        ("default_target", 'x = ["@org_tensorflow//tensorflow:tensorflow_py"]'),
        ("list_comprehension", 'x = ["@org_tensorflow//tensorflow/core:core_cpu"]'),
        ("macro", 'x = ["@org_tensorflow//tensorflow/core:protos_all_cc"]'),
        ("file", 'x = ["@org_tensorflow//:requirements_lock_3_13.txt"]'),
        ("build_file_of_an_archive", 'x = ["@eigen_archive//:eigen3"]'),
        ("package_within_the_tree", 'x = ["@xla//xla/tsl:tsl.bzl"]'),
        ("own_repository", 'x = ["@own//:anything", "@bazel_tools//tools/cpp:all", "//pkg:x"]'),
        ("alias", 'load("@org_tensorflow//tensorflow:tensorflow.bzl", "tf_cuda_library")'),
        (
            "one_of_several_values",
            'load("@org_tensorflow//tensorflow:tf_version.bzl", "MINOR_VERSION")',
        ),
        (
            "arguments",
            'load("@org_tensorflow//tensorflow:tensorflow.bzl", "tf_copts")\n'
            'load("@org_tensorflow//tensorflow:tensorflow.bzl", lib = "tf_cuda_library")\n'
            'lib(name = "x", cuda_deps = [], whatever = tf_copts(allow_exceptions = True))',
        ),
    )
    def test_there(self, build: str) -> None:
        status, lines = self.check_uses(build)
        self.assertEqual(status, 0, lines)
        self.assertRegex(lines[-1], "uses, 0 lacking, 0 not decided$")

    @parameterized.named_parameters(
        (
            "target",
            'x = ["@org_tensorflow//tensorflow/core:nothing"]',
            "@org_tensorflow//tensorflow/core:nothing: tensorflow/core/BUILD makes no such target",
        ),
        (
            "default_target",
            'x = ["@org_tensorflow//tensorflow/core"]',
            "@org_tensorflow//tensorflow/core: tensorflow/core/BUILD makes no such target",
        ),
        (
            "package",
            'x = ["@xla//xla/hlo:builder"]',
            "@xla//xla/hlo:builder: third_party/xla/xla/hlo has no BUILD file",
        ),
        (
            "repository",
            'x = ["@local_xla//xla/tsl:tsl"]',
            "@local_xla//xla/tsl:tsl: nothing sets up a repository of the name local_xla",
        ),
        (
            "repository_of_a_file",
            'load("@local_xla//xla/tsl:tsl.bzl", "x")',
            "@local_xla//xla/tsl:tsl.bzl%x: nothing sets up a repository of the name local_xla",
        ),
        (
            "file",
            'load("@org_tensorflow//tensorflow:nothing.bzl", "x")',
            "@org_tensorflow//tensorflow:nothing.bzl%x: there is no file tensorflow/nothing.bzl",
        ),
        (
            "symbol_that_is_not_exported",
            'load("@org_tensorflow//tensorflow:tensorflow.bzl", "tsl_gpu_library")',
            "@org_tensorflow//tensorflow:tensorflow.bzl%tsl_gpu_library:"
            " tensorflow/tensorflow.bzl:1 loads it from @xla//xla/tsl:tsl.bzl,"
            " but does not export it",
        ),
        (
            "parameter",
            'load("@org_tensorflow//tensorflow:tensorflow.bzl", f = "tf_copts")\n'
            "def g():\n"
            "    return [f(exceptions = True)]",
            "@org_tensorflow//tensorflow:tensorflow.bzl%tf_copts: tf_copts has no parameter exceptions",
        ),
        (
            "parameter_of_an_alias_in_another_repository",
            'load("@org_tensorflow//tensorflow/core/platform:build_config.bzl",'
            ' "tf_proto_library")\n'
            'tf_proto_library(name = "x", protos = [])',
            "@org_tensorflow//tensorflow/core/platform:build_config.bzl%tf_proto_library:"
            " tf_proto_library has no parameter protos",
        ),
        (
            "argument",
            'load("@org_tensorflow//tensorflow:tensorflow.bzl", "tf_custom_op_library")\n'
            "tf_custom_op_library(srcs = [])",
            "@org_tensorflow//tensorflow:tensorflow.bzl%tf_custom_op_library: tf_custom_op_library needs name",
        ),
    )
    def test_lacking(self, build: str, message: str) -> None:
        status, lines = self.check_uses(build)
        self.assertEqual(status, 1)
        self.assertRegex(lines[0], r"^pkg/BUILD:\d: lacking: ")
        self.assertEndsWith(lines[0], f": lacking: {message}")
        self.assertRegex(lines[-1], "uses, 1 lacking, 0 not decided$")

    @parameterized.named_parameters(
        (
            "archive",
            'x = ["@com_google_absl//absl/strings"]',
            "its repository is set up by third_party/xla/third_party/absl/workspace.bzl:4; its files are elsewhere",
        ),
        (
            "file_of_an_archive",
            'load("@com_google_absl//absl:copts.bzl", "ABSL_COPTS")',
            "the files of @com_google_absl are not part of the checkout",
        ),
        (
            "condition_in_a_macro",
            'x = ["@org_tensorflow//tensorflow/core:protos_all_java"]',
            "it may be made by filegroup in third_party/xla/xla/tsl/platform/build_config.bzl:6",
        ),
        (
            "computed_label",
            'x = ["@org_tensorflow//tensorflow/core:" + y for y in []]',
            "the label is put together when the BUILD file is loaded",
        ),
        (
            "rule",
            'load("@org_tensorflow//tensorflow:tensorflow.bzl", "check_deps")\ncheck_deps(x = 1)',
            "check_deps is not a function, so its arguments are not compared",
        ),
    )
    def test_not_decided(self, build: str, reason: str) -> None:
        status, lines = self.check_uses(build)
        self.assertEqual(status, 0, lines)
        self.assertRegex(lines[0], r"^pkg/BUILD:\d: not decided: @")
        self.assertEndsWith(lines[0], f": {reason}")
        self.assertRegex(lines[-1], "uses, 0 lacking, 1 not decided$")

    def test_a_file_that_is_not_starlark(self) -> None:
        status, lines = self.check_uses("x = [")
        self.assertEqual(status, 2)
        self.assertStartsWith(lines[-1], "check_source_tree.py: error: cannot read ")
        self.assertIn("pkg/BUILD", lines[-1])

    def test_no_checkout(self) -> None:
        status, lines = self.run_checker(str(self.folder))
        self.assertEqual(status, 2)
        self.assertEndsWith(
            lines[-1],
            f"the checkout should be a folder with a WORKSPACE file; {self.folder} is not",
        )


if __name__ == "__main__":
    absltest.main()
