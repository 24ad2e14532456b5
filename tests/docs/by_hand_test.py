# SPDX-License-Identifier: Apache-2.0
"""The commands in docs/by_hand.md that build ops without Bazel make a library that TensorFlow loads."""

from __future__ import annotations

import sys

from absl.testing import absltest

from tests.docs import by_hand


class ByHandTest(by_hand.ByHandTestCase):
    def test_builds_a_library_that_works(self) -> None:
        self.run_parts(1, sys.executable)


if __name__ == "__main__":
    absltest.main()
