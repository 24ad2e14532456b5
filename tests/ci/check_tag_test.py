# SPDX-License-Identifier: Apache-2.0
"""Tests of tools/ci/check_tag.py."""

from __future__ import annotations

import pathlib

from absl.testing import absltest, parameterized

from tools.ci import check_tag

TEXT = '"""A version."""\n\nVERSION = "1.2.3"\n'


class CheckTagTest(parameterized.TestCase):
    def test_takes_the_version(self) -> None:
        self.assertEmpty(check_tag.problem("v1.2.3", TEXT))

    @parameterized.parameters("1.2.3", "v1.2.4", "v1.2.3rc1", "v", "")
    def test_refuses_another(self, tag: str) -> None:
        self.assertRegex(check_tag.problem(tag, TEXT), rf"the tag is {tag}, but must be v1\.2\.3, .*version\.bzl")

    def test_reads_the_version_of_the_repository(self) -> None:
        text = pathlib.Path("tensorflow_custom_ops/version.bzl").read_text()
        self.assertRegex(check_tag.problem("none", text), r"must be v\d+\.\d+\.\d+")

    def test_a_file_without_a_version(self) -> None:
        self.assertIn("no version", check_tag.problem("v1.2.3", "NAME = 1\n"))


if __name__ == "__main__":
    absltest.main()
