# SPDX-License-Identifier: Apache-2.0
"""Installs the wheel beside a TensorFlow of another minor version."""

from __future__ import annotations

import os

from absl.testing import absltest

from tests.wheel import wheel_test_case

# "<major>.<minor>" of the TensorFlow that the build used, and the repository that has another one.
BUILT_FOR = os.environ["TENSORFLOW"]
OTHER = wheel_test_case.REPOSITORY.parent / os.environ["OTHER_TENSORFLOW"] / "packages"

IMPORT = """
import tensorflow
print(tensorflow.__version__)
try:
    import tensorflow_custom_ops
finally:
    maps = open("/proc/self/maps").read()
    for library in ("libtensorflow_framework.so.2", "_ops.so"):
        print(library in maps)
"""


class OtherTensorFlowTest(wheel_test_case.WheelTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.python = self.make_venv([OTHER.resolve()])

    def test_import_explains_and_opens_no_library(self) -> None:
        self.install(self.python)
        result = self.run_command(self.python, "-c", IMPORT, check=False)
        self.assertEqual(result.returncode, 1, result.stderr)
        version, tensorflow_is_open, library_is_open = result.stdout.split()
        self.assertNotStartsWith(version, f"{BUILT_FOR}.")
        self.assertEqual(tensorflow_is_open, "True")
        self.assertEqual(library_is_open, "False")
        error = result.stderr.splitlines()[-1]
        self.assertRegex(error, r"\AImportError: tensorflow_custom_ops .* was built for TensorFlow ")
        self.assertIn(f"TensorFlow {BUILT_FOR}", error)
        self.assertIn(f"TensorFlow {version} is installed", error)
        self.assertIn("pip install 'tensorflow-custom-ops[cpu]'", error)

    def test_pip_refuses_the_extra(self) -> None:
        printed = self.install(self.python, "cpu", check=False)
        self.assertRegex(printed, rf"No matching distribution found for tensorflow-cpu=={BUILT_FOR}\.\*")


if __name__ == "__main__":
    absltest.main()
