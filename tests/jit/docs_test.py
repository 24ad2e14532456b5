# SPDX-License-Identifier: Apache-2.0
"""The code in docs/jit.md runs, and prints what it says."""

from __future__ import annotations

from absl.testing import absltest

from tensorflow_custom_ops import _build_info
from tests.docs import snippets
from tests.jit import jit_test_case


class DocsTest(jit_test_case.JitTestCase):
    @absltest.skipUnless(_build_info.XLA, "one of the lines is about XLA")
    def test_snippets_run(self) -> None:
        blocks = snippets.code_blocks("docs/jit.md", "python")
        self.assertNotEmpty(blocks)
        for code in blocks:
            snippets.check_output(self, code, self.run_python(code).stdout)


if __name__ == "__main__":
    absltest.main()
