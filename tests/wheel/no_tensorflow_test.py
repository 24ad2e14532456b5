# SPDX-License-Identifier: Apache-2.0
"""Installs the wheel where no TensorFlow is."""

from __future__ import annotations

import os

from absl.testing import absltest

from tests.wheel import wheel_test_case

BUILT_FOR = os.environ["TENSORFLOW"]


class NoTensorFlowTest(wheel_test_case.WheelTestCase):
    def test_import_says_what_to_install(self) -> None:
        python = self.make_venv([])
        self.install(python)
        result = self.run_command(python, "-c", "import tensorflow_custom_ops", check=False)
        self.assertEqual(result.returncode, 1)
        error = result.stderr.splitlines()[-1]
        self.assertRegex(error, r"\AImportError: .*no TensorFlow is installed")
        self.assertIn(f"TensorFlow {BUILT_FOR}", error)
        self.assertIn("pip install 'tensorflow-custom-ops[cpu]'", error)


if __name__ == "__main__":
    absltest.main()
