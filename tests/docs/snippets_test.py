# SPDX-License-Identifier: Apache-2.0
"""The Python code in the documentation runs, and prints what the comments behind it say."""

from __future__ import annotations

from absl.testing import absltest, parameterized

from tensorflow_custom_ops import _build_info
from tests import op_test_case
from tests.docs import snippets

DOCUMENTS = ("README.md", "docs/xla.md") if _build_info.XLA else ("README.md",)


class SnippetsTest(op_test_case.OpTestCase):
    @parameterized.named_parameters((document, document) for document in DOCUMENTS)
    def test_snippets_run(self, document: str) -> None:
        blocks = snippets.code_blocks(document, "python")
        self.assertNotEmpty(blocks)
        for code in blocks:
            snippets.check_output(self, code, self.run_python(code).stdout)


if __name__ == "__main__":
    absltest.main()
