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
DOCUMENTS = (
    "README.md",
    "docs/debugging.md",
    "docs/faq.md",
    "docs/packaging.md",
    "docs/profiling.md",
    "docs/testing.md",
    "docs/transformers.md",
    *WITH_XLA,
)

OPS = pathlib.Path("tensorflow_custom_ops/ops")


class SnippetsTest(op_test_case.OpTestCase):
    @parameterized.named_parameters((document, document) for document in DOCUMENTS)
    def test_snippets_run(self, document: str) -> None:
        blocks = snippets.code_blocks(document, "python")
        self.assertNotEmpty(blocks)
        for code in blocks:
            snippets.check_output(self, code, self.run_python(code).stdout)

    @parameterized.parameters(
        ("README.md", ("my_op/my_op.h", "my_op/my_op.cc")),
        ("docs/elementwise.md", ("scaled_silu/scaled_silu.h", "scaled_silu/scaled_silu.cc")),
    )
    def test_files_are_those_of_an_op(self, document: str, files: tuple[str, ...]) -> None:
        shown = snippets.code_blocks(document, "cpp")
        self.assertEqual(shown, [(OPS / file).read_text() for file in files])


if __name__ == "__main__":
    absltest.main()
