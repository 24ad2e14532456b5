#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks, before a release, that a tag is v and the project's version.

python3 tools/ci/check_tag.py TAG
"""

from __future__ import annotations

import pathlib
import re
import sys

VERSION = pathlib.Path(__file__).parents[2] / "tensorflow_custom_ops/version.bzl"


def problem(tag: str, text: str) -> str:
    """What is wrong with a tag, or nothing.

    Args:
      tag: the tag.
      text: what version.bzl has.

    Returns:
      A message, or the empty string.
    """
    found = re.search(r'^VERSION = "(.*)"$', text, re.MULTILINE)
    if not found:
        return f"{VERSION} has no version"
    expected = f"v{found[1]}"
    return "" if tag == expected else f"the tag is {tag}, but must be {expected}, of the version in {VERSION}"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(problem(sys.argv[1], VERSION.read_text()) or 0)
