# SPDX-License-Identifier: Apache-2.0
"""Tests that each linter, as pinned and configured, finds what it is there for."""

import contextlib
import io
import os
import shutil
import subprocess
from pathlib import Path
from unittest import mock

from absl.testing import absltest, parameterized

from tools.lint import lint

SPDX = "# SPDX-License-Identifier: Apache-2.0\n"
CC_SPDX = "// SPDX-License-Identifier: Apache-2.0\n"

WORKFLOW = ".github/workflows/a.yml"
# What a step is added to.
STEPS = f"""{SPDX}name: A
on: push
permissions: {{}}
concurrency:
  group: a-${{{{ github.ref }}}}
  cancel-in-progress: true
jobs:
  a:
    name: A
    runs-on: ubuntu-latest
    steps:
"""


class LintersTest(parameterized.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.workspace = Path(self.create_tempdir().full_path).resolve()
        for name in (".clang-format", "pyproject.toml"):
            shutil.copy(name, self.workspace)
        subprocess.run(["git", "init", "--quiet"], cwd=self.workspace, check=True)
        variables = {
            "BUILD_WORKSPACE_DIRECTORY": str(self.workspace),
            "BUILD_WORKING_DIRECTORY": str(self.workspace),
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        self.enter_context(mock.patch.dict(os.environ, variables))

    def failed(self, *arguments: str) -> set[str]:
        """Returns the linters that fail."""
        with contextlib.redirect_stdout(io.StringIO()) as out:
            status = lint.main(arguments)
        summary = out.getvalue().splitlines()
        self.assertLen(summary, len(lint.LINTERS))
        failed = {line.partition(":")[0] for line in summary if "FAILED" in line}
        self.assertEqual(status, 1 if failed else 0)
        return failed

    def write(self, name: str, text: str) -> None:
        path = self.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def test_good_files_pass(self) -> None:
        self.write("a.cc", f"{CC_SPDX}int Two() {{ return 2; }}\n")
        self.write(
            "a.py",
            f'{SPDX}"""Two."""\n\n'
            "import numpy as np\n"
            "import tensorflow as tf\n\n\n"
            "def two() -> tf.Tensor:\n"
            '    """Returns two."""\n'
            "    return tf.constant(np.float32(2))\n",
        )
        self.write("BUILD", f'{SPDX}py_library(\n    name = "a",\n    srcs = ["a.py"],\n)\n')
        self.write("run", f'#!/usr/bin/env bash\n{SPDX}echo "$1"\n')
        self.write(WORKFLOW, f"{STEPS}      - run: echo\n")
        self.write("Dockerfile", f"{SPDX}FROM debian:12\n")
        self.assertEmpty(self.failed())

    @parameterized.parameters(
        ("a.cc", f"{CC_SPDX}int  *Two( ) {{return 0;}}\n", "clang-format"),
        ("a.py", f'{SPDX}"""A."""\n\nimport sys\nimport os\n\nprint(os, sys)\n', "ruff check"),
        ("a.py", f'{SPDX}"""A."""\n\nNAMES = [\'a\',  \'b\']\n', "ruff format"),
        ("BUILD", f'{SPDX}cc_library(name = "a", srcs = ["a.cc"])\n', "buildifier"),
        ("a.bzl", f'{SPDX}"""A."""\n\nload(":b.bzl", "c", "b")\n\nB = b + c\n', "buildifier"),
    )
    def test_finds_and_fixes(self, name: str, text: str, linter: str) -> None:
        self.write(name, text)
        self.assertEqual(self.failed(), {linter})
        self.assertEmpty(self.failed("--fix"))
        self.assertNotEqual((self.workspace / name).read_text(), text)

    @parameterized.parameters(
        ("a.py", '"""A."""\n', "spdx"),
        ("a.py", f'{SPDX}"""A."""\n\nA: int = "one"\n', "mypy"),
        ("a.py", f'{SPDX}"""A."""\n\nimport tomllib\n\nprint(tomllib)\n', "mypy"),
        ("a.py", f'{SPDX}"""A."""\n\nfrom b import c\n\nprint(c)\n', "mypy"),
        ("a.py", f'{SPDX}"""A."""\n\n\ndef a() -> None:\n    print()\n', "ruff check"),
        ("a.bzl", f'{SPDX}"""A."""\n\ndef a():\n    print("a")\n', "buildifier"),
        ("run", f"#!/bin/sh\n{SPDX}echo $1\n", "shellcheck"),
        (WORKFLOW, f"{STEPS}      - run: echo\n        nothing: 1\n", "check-jsonschema"),
        (WORKFLOW, f"{STEPS}      - run: echo ${{{{ github.head_ref }}}}\n", "zizmor"),
        (WORKFLOW, f"{STEPS}      - uses: actions/setup-python@v5\n", "zizmor"),
        ("Dockerfile", f"{SPDX}FROM debian\n", "hadolint"),
    )
    def test_finds(self, name: str, text: str, linter: str) -> None:
        self.write(name, text)
        self.assertEqual(self.failed(), {linter})
        self.assertEqual(self.failed("--fix"), {linter})
        self.assertEqual((self.workspace / name).read_text(), text)


if __name__ == "__main__":
    absltest.main()
