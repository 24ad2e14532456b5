# SPDX-License-Identifier: Apache-2.0
"""Runs the commands and the code in docs/by_hand.md."""

from __future__ import annotations

import os
import pathlib
import subprocess

from absl.testing import absltest

from tests.docs import snippets

DOCUMENT = "docs/by_hand.md"
REPOSITORY = pathlib.Path.cwd()


class ByHandTestCase(absltest.TestCase):
    """A test case of parts of the document. The first part is for CPU, the second one for GPU."""

    def run_parts(self, count: int, python: str, path: tuple[str, ...] = ()) -> None:
        """Runs the commands of the first parts, and then the code of each.

        Args:
          count: how many parts.
          python: the interpreter that is to be python3.
          path: folders with further programs.
        """
        folder = pathlib.Path(self.create_tempdir().full_path)
        programs = folder / "bin"
        programs.mkdir()
        # Not a link: by its own path it finds its packages.
        (programs / "python3").write_text(f'#!/bin/sh\nexec {python} "$@"\n')
        (programs / "python3").chmod(0o755)
        variables = {
            "PATH": os.pathsep.join([str(programs), *path, os.environ["PATH"]]),
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "TMPDIR": str(folder),
        }

        def run(*command: str, cwd: pathlib.Path) -> str:
            result = subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            return result.stdout

        commands = snippets.code_blocks(DOCUMENT, "sh")
        codes = snippets.code_blocks(DOCUMENT, "python")
        self.assertLen(commands, 2)
        self.assertLen(codes, 2)
        self.assertEmpty(run("bash", "-euo", "pipefail", "-c", "".join(commands[:count]), cwd=REPOSITORY))
        for code in codes[:count]:
            snippets.check_output(self, code, run("python3", "-c", code, cwd=folder / "by_hand"))
