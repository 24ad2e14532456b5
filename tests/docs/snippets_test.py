# SPDX-License-Identifier: Apache-2.0
"""The Python code in the documentation runs, and prints what the comments behind it say."""

from __future__ import annotations

import pathlib
import re

from absl.testing import absltest, parameterized

from tensorflow_custom_ops import _build_info
from tests import op_test_case

DOCUMENTS = ("README.md", "docs/xla.md") if _build_info.XLA else ("README.md",)


def expected_output(code: str) -> list[str]:
    """The comments behind calls of print: each is part of a printed line."""
    return re.findall(r"^ *print\(.*\)  # (.*)$", code, re.MULTILINE)


class SnippetsTest(op_test_case.OpTestCase):
    @parameterized.named_parameters((document, document) for document in DOCUMENTS)
    def test_snippets_run(self, document: str) -> None:
        snippets = re.findall(r"^```python\n(.*?)^```$", pathlib.Path(document).read_text(), re.MULTILINE | re.DOTALL)
        self.assertNotEmpty(snippets)
        for code in snippets:
            expected = expected_output(code)
            self.assertNotEmpty(expected, f"this prints nothing that is told:\n{code}")
            printed = self.run_python(code).stdout.splitlines()
            self.assertLen(printed, len(expected))
            for line, part in zip(printed, expected, strict=True):
                self.assertIn(part, line)


if __name__ == "__main__":
    absltest.main()
