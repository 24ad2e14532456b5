# SPDX-License-Identifier: Apache-2.0
"""The code in the documentation runs, and prints what its comments say."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

from absl.testing import absltest, parameterized

from tensorflow_custom_ops import _build_info
from tests import op_test_case
from tests.docs import snippets

# Of these the code needs XLA.
WITH_XLA = ("docs/debugging.md", "docs/elementwise.md", "docs/xla.md") if _build_info.XLA else ()
DOCUMENTS = (
    "README.md",
    "docs/faq.md",
    "docs/packaging.md",
    "docs/profiling.md",
    "docs/testing.md",
    "docs/transformers.md",  # only with docs/transformers.md
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

    @absltest.skipUnless(_build_info.XLA, "about XLA's program, too")
    def test_commands_of_debugging_run(self) -> None:
        folder = pathlib.Path(self.create_tempdir().full_path)
        (folder / "program.py").write_text(snippets.code_blocks("docs/debugging.md", "python")[0])
        (folder / "python").symlink_to(sys.executable)
        variables = {"PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": os.pathsep.join(sys.path)}
        blocks = snippets.code_blocks("docs/debugging.md", "sh")
        self.assertNotEmpty(blocks)
        for block in blocks:
            printed = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", block],
                cwd=folder,
                env={**os.environ, **variables, "TF_CPP_MIN_LOG_LEVEL": "0"},
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            ).stdout
            expected = re.findall(r"^# (.*)$", block, re.MULTILINE)
            self.assertNotEmpty(expected)
            for part in expected:
                self.assertIn(part, printed)

    @parameterized.parameters(
        ("README.md", ("my_op/my_op.h", "my_op/my_op.cc")),
        # >>> only with scaled_silu
        ("docs/elementwise.md", ("scaled_silu/scaled_silu.h", "scaled_silu/scaled_silu.cc")),
        # <<<
    )
    def test_files_are_those_of_an_op(self, document: str, files: tuple[str, ...]) -> None:
        shown = snippets.code_blocks(document, "cpp")
        self.assertEqual(shown, [(OPS / file).read_text() for file in files])


if __name__ == "__main__":
    absltest.main()
