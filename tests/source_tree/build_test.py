# SPDX-License-Identifier: Apache-2.0
"""Runs the workspace for TensorFlow's source tree, on a miniature of that."""

from __future__ import annotations

import os
import pathlib
import subprocess

import tensorflow as tf
from absl.testing import absltest

from tests.source_tree import miniature
from tools.ci import list_ops

# Where the sources are that the workspace shows to Bazel.
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]

# The ops that are built: one made from a functor, one that has kernels of its own. All would take many minutes.
BUILT = ["my_op"]
# >>> only with fused_dense
BUILT += ["fused_dense"]
# <<<


class BuildTest(absltest.TestCase):
    root: pathlib.Path

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.root = pathlib.Path(absltest.TEST_TMPDIR.value, "source_tree")
        installed = miniature.Installed(
            include=tf.sysconfig.get_include(),
            libraries=tf.sysconfig.get_lib(),
            copts=tuple(f for f in tf.sysconfig.get_compile_flags() if not f.startswith("-I")),
        )
        miniature.write(cls.root / "tensorflow", miniature.files(installed=installed))
        (cls.root / "tensorflow/include").symlink_to(installed.include)
        miniature.write(
            cls.root / "test_packages",
            {
                "WORKSPACE": "",
                "BUILD": 'py_library(name = "site", visibility = ["//visibility:public"])',
            },
        )

    @classmethod
    def tearDownClass(cls) -> None:
        cls.bazel("shutdown")
        super().tearDownClass()

    @classmethod
    def bazel(cls, command: str, *arguments: str) -> str:
        """Runs Bazel on the miniature and returns what it prints."""
        if command != "shutdown":
            # PyPI is not needed to look at what the tests are made of.
            packages = cls.root / "test_packages"
            arguments = (f"--override_repository=test_packages={packages}", *arguments)
        result = subprocess.run(
            [
                REPOSITORY / "third_party/tensorflow/source_tree/bazel.sh",
                f"--output_user_root={cls.root}/output",
                "--host_jvm_args=-Xmx1g",
                command,
                *arguments,
            ],
            env=os.environ
            | {
                "TF_SOURCE_TREE": f"{cls.root}/tensorflow",
                "TF_SOURCE_TREE_WORKSPACE": f"{cls.root}/workspace",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode:
            raise AssertionError(f"bazel {command} failed:\n{result.stderr}")
        return result.stdout

    def test_every_target_of_the_package_is_analysed(self) -> None:
        self.bazel("build", "--nobuild", "//tensorflow_custom_ops/...")

    def test_the_op_library_is_built_and_works(self) -> None:
        list_ops.list_ops(REPOSITORY, self.root / "ops", BUILT)
        options = ("--compilation_mode=fastbuild", f"--package_path={self.root}/ops:%workspace%:{REPOSITORY}")
        target = "//tensorflow_custom_ops:_ops.so"
        self.bazel("build", *options, target)
        (path,) = self.bazel("cquery", *options, "--output=files", target).split()
        execution_root = self.bazel("info", "execution_root").strip()
        library = tf.load_op_library(f"{execution_root}/{path}")
        self.assertEqual(library.my_op(3.0).numpy(), 6.0)
        # >>> only with fused_dense
        self.assertEqual(library.fused_dense([[1.0, 2.0]], [[3.0], [4.0]], [5.0]).numpy(), 16.0)
        # <<<


if __name__ == "__main__":
    absltest.main()
