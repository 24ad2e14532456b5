# SPDX-License-Identifier: Apache-2.0
"""Code in the documentation, and what it says that the code prints."""

from __future__ import annotations

import pathlib
import re

from absl.testing import absltest


def code_blocks(document: str, language: str) -> list[str]:
    """The blocks of a language in a document, whose path is from the repository's root."""
    text = pathlib.Path(document).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def check_output(test: absltest.TestCase, code: str, output: str) -> None:
    """Checks that Python code prints what the comments behind its calls of print say, which are parts of lines."""
    expected = re.findall(r"^ *print\(.*\)  # (.*)$", code, re.MULTILINE)
    test.assertNotEmpty(expected, f"this prints nothing that is told:\n{code}")
    printed = output.splitlines()
    test.assertLen(printed, len(expected))
    for line, part in zip(printed, expected, strict=True):
        test.assertIn(part, line)
