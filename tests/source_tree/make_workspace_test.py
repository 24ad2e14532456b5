# SPDX-License-Identifier: Apache-2.0
"""Tests of how the workspace for TensorFlow's source tree is made."""

from __future__ import annotations

import os
import pathlib
import subprocess

from absl.testing import absltest

from tests.source_tree import miniature

SCRIPT = pathlib.Path("third_party/tensorflow/source_tree/bazel.sh").resolve()


class MakeWorkspaceTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.tree = self.folder / "tree"
        # What bazel.sh ends with is not tested here.
        self.bazel = self.folder / "bazel"
        self.bazel.write_text('#!/bin/sh\npwd\necho "$@"\n')
        self.bazel.chmod(0o755)

    def run_script(self, tree: str | None) -> subprocess.CompletedProcess[str]:
        """Runs bazel.sh."""
        environment = {
            "BAZEL": str(self.bazel),
            "PATH": os.environ["PATH"],
            "TF_SOURCE_TREE_WORKSPACE": f"{self.folder}/workspace",
        }
        return subprocess.run(
            [SCRIPT, "build", "//..."],
            env=environment | ({"TF_SOURCE_TREE": tree} if tree is not None else {}),
            capture_output=True,
            text=True,
            check=False,
        )

    def assert_fails(self, tree: str | None, message: str) -> None:
        """Asserts that bazel.sh fails with one line."""
        result = self.run_script(tree)
        self.assertEqual(result.stderr, f"{message}\n")
        self.assertEqual(result.returncode, 1)

    def test_bazel_runs_in_the_workspace(self) -> None:
        miniature.write(self.tree, miniature.files())
        result = self.run_script(str(self.tree))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, f"{self.folder}/workspace\nbuild //...\n")

    def test_the_workspace_has_the_statements_of_the_trees(self) -> None:
        miniature.write(self.tree, miniature.files())
        self.run_script(str(self.tree))
        text = (self.folder / "workspace/WORKSPACE").read_text()
        self.assertIn(f'    name = "org_tensorflow",\n    path = "{self.tree}",\n', text)
        expected = (
            miniature.WORKSPACE.replace('workspace(name = "org_tensorflow")\n', "")
            .replace('"@//', '"@org_tensorflow//')
            .replace('"//:requirements', '"@org_tensorflow//:requirements')
        )
        self.assertIn(expected, text)
        self.assertNotIn('workspace(name = "org_tensorflow")', text)

    def test_the_workspace_has_the_trees_settings(self) -> None:
        settings = "try-import %workspace%/.tf_configure.bazelrc\nbuild:x --y=//tensorflow/z\n"
        miniature.write(self.tree, miniature.files() | {".bazelrc": settings})
        self.run_script(str(self.tree))
        text = (self.folder / "workspace/.bazelrc").read_text()
        self.assertIn(
            f"try-import {self.tree}/.tf_configure.bazelrc\nbuild:x --y=@org_tensorflow//tensorflow/z\n",
            text,
        )
        self.assertEqual((self.folder / "workspace/.bazelversion").read_text(), "7.7.1\n")

    def test_no_tree_is_named(self) -> None:
        self.assert_fails(
            None,
            "bazel.sh: TF_SOURCE_TREE is not set; set it to the folder of a TensorFlow checkout",
        )

    def test_no_such_folder(self) -> None:
        self.assert_fails(
            "/nonexistent",
            "make_workspace: /nonexistent is not a folder; it should be a checkout of TensorFlow",
        )

    def test_no_checkout(self) -> None:
        self.tree.mkdir()
        self.assert_fails(
            str(self.tree),
            f"make_workspace: {self.tree} has no file tensorflow/tf_version.bzl;"
            " it should be a checkout of TensorFlow 2.21 or newer",
        )

    def test_an_old_checkout(self) -> None:
        miniature.write(self.tree, miniature.files(version="2.20.1"))
        self.assert_fails(
            str(self.tree),
            f"make_workspace: {self.tree} is TensorFlow 2.20.1; the BUILD files here need 2.21 or"
            " newer, whose tree calls the repository of XLA @xla",
        )

    def test_a_newer_checkout(self) -> None:
        miniature.write(self.tree, miniature.files(version="2.22.0-rc1"))
        self.assertEqual(self.run_script(str(self.tree)).returncode, 0)

    def test_a_checkout_without_a_version(self) -> None:
        miniature.write(self.tree, miniature.files(version="unknown"))
        self.assert_fails(
            str(self.tree),
            f"make_workspace: {self.tree}/tensorflow/tf_version.bzl does not set TF_VERSION to a version",
        )

    def test_a_workspace_file_that_cannot_be_parsed(self) -> None:
        miniature.write(self.tree, miniature.files() | {"WORKSPACE": "x = ["})
        self.assert_fails(
            str(self.tree),
            "make_workspace: WORKSPACE:1 cannot be parsed: '[' was never closed",
        )

    def test_a_label_that_cannot_be_rewritten(self) -> None:
        miniature.write(self.tree, miniature.files() | {"WORKSPACE": 'x("/" "/pkg:y")\n'})
        self.assert_fails(str(self.tree), "make_workspace: WORKSPACE:1: the label //pkg:y is not one plain string")


if __name__ == "__main__":
    absltest.main()
