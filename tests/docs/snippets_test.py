# SPDX-License-Identifier: Apache-2.0
"""The Python code in the documentation runs, and prints what the comments behind it say."""

from __future__ import annotations

import pathlib

from absl.testing import absltest, parameterized

from tensorflow_custom_ops import _build_info
from tests import op_test_case
from tests.docs import snippets

# Of these the code needs XLA.
WITH_XLA = ("docs/elementwise.md", "docs/xla.md") if _build_info.XLA else ()
DOCUMENTS = ("README.md", "docs/profiling.md", "docs/testing.md", *WITH_XLA)

SCALED_SILU = pathlib.Path("tensorflow_custom_ops/ops/scaled_silu/scaled_silu")


class SnippetsTest(op_test_case.OpTestCase):
    @parameterized.named_parameters((document, document) for document in DOCUMENTS)
    def test_snippets_run(self, document: str) -> None:
        blocks = snippets.code_blocks(document, "python")
        self.assertNotEmpty(blocks)
        for code in blocks:
            snippets.check_output(self, code, self.run_python(code).stdout)

    def test_the_ten_lines_are_those_of_an_op(self) -> None:
        functor, definition = snippets.code_blocks("docs/elementwise.md", "cpp")
        self.assertIn(functor, SCALED_SILU.with_suffix(".h").read_text())
        self.assertIn(definition, SCALED_SILU.with_suffix(".cc").read_text())


if __name__ == "__main__":
    absltest.main()
