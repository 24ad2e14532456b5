# SPDX-License-Identifier: Apache-2.0
"""docs/migrate.md shows the files of the ops that tests/migrate builds and tests."""

from __future__ import annotations

import pathlib

from absl.testing import absltest, parameterized

from tests.docs import snippets

DOCUMENT = "docs/migrate.md"
FILES = {
    "cpp": (
        "template/cc/ops/running_max_ops.cc",
        "template/cc/kernels/running_max_kernels.cc",
        "addons/lecun_tanh.h",
        "addons/lecun_tanh.cc",
        "pytorch/row_distance.cc",
        "pytorch/row_distance_kernel.cc",
    ),
    "python": ("template/python/ops/running_max_ops.py", "addons/lecun_tanh.py", "pytorch/row_distance.py"),
}


class MigrateTest(parameterized.TestCase):
    @parameterized.parameters(*FILES)
    def test_files_are_those_that_are_tested(self, language: str) -> None:
        shown = snippets.code_blocks(DOCUMENT, language)
        self.assertEqual(shown, [(pathlib.Path("tests/migrate") / file).read_text() for file in FILES[language]])

    def test_the_rule_is_that_of_the_template(self) -> None:
        (shown,) = snippets.code_blocks(DOCUMENT, "starlark")
        _, rules = pathlib.Path("tests/migrate/template/BUILD").read_text().split("\n", 1)
        self.assertStartsWith(rules, shown)


if __name__ == "__main__":
    absltest.main()
