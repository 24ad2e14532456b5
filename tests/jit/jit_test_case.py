# SPDX-License-Identifier: Apache-2.0
"""What the tests of tensorflow_custom_ops.jit share."""

from __future__ import annotations

import os
import pathlib
import shlex
from unittest import mock

from absl.testing import absltest

from tensorflow_custom_ops.jit import _cache
from tests import op_test_case


class JitTestCase(op_test_case.OpTestCase):
    """Has a cache for this process.

    Attributes:
      folder: an empty folder.
    """

    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        # One for all tests: what is loaded stays loaded.
        self.set_variable(_cache.VARIABLE, str(pathlib.Path(absltest.get_default_test_tmpdir()) / "jit"))

    def set_variable(self, name: str, value: str) -> None:
        """Sets a variable of the environment until the test ends."""
        self.enter_context(mock.patch.dict(os.environ, {name: value}))

    def write(self, name: str, text: str) -> pathlib.Path:
        """Writes a file; returns its path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def write_compiler(self, version: str = "1") -> pathlib.Path:
        """Writes a compiler that tells its calls, and makes it the one to use; returns where it tells them."""
        calls = self.folder / "calls.txt"
        calls.touch()
        program = self.write(
            "compiler",
            f'#!/bin/sh\n[ "$1" = --version ] && echo version {version} && exit\necho "$*" >> {calls}\nexec g++ "$@"\n',
        )
        program.chmod(0o755)
        self.set_variable("CXX", shlex.quote(str(program)))
        return calls
