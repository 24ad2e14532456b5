# SPDX-License-Identifier: Apache-2.0
"""Imports the package in processes that have its ops already."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from absl.testing import absltest

from tests.wheel import wheel_test_case

TWO_COPIES = """
import sys

sys.path.insert(0, sys.argv[1])
import tensorflow_custom_ops as first

for name in [name for name in sys.modules if name.partition(".")[0] == "tensorflow_custom_ops"]:
    del sys.modules[name]
sys.path[0] = sys.argv[2]
try:
    import tensorflow_custom_ops
except ImportError as error:
    print(error)
print(first.__file__, first.my_op(21.0).numpy())
print("\\n".join(line.split()[-1] for line in open("/proc/self/maps") if "_ops.so" in line))
"""

LOADED_BEFORE = """
import sys

sys.path.insert(0, sys.argv[1])
import tensorflow as tf

library = tf.load_op_library(sys.argv[2])
import tensorflow_custom_ops

x = tf.constant(21.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = library.my_op(input=x)
print(tensorflow_custom_ops.my_op(x).numpy(), y.numpy(), tape.gradient(y, x).numpy())
"""


class TwoCopiesTest(wheel_test_case.WheelTestCase):
    def check_refuses_a_second_copy_and_keeps_the_first(self, first: Path, second: Path) -> None:
        """Checks it for copies of the package in two folders."""
        result = self.run_command(sys.executable, "-c", TWO_COPIES, first, second)
        error, use, *mapped = result.stdout.splitlines()
        self.assertRegex(error, r"\Athe ops .*MyOp.* are registered in this process already")
        self.assertIn(f"{second}/{wheel_test_case.PACKAGE}/{wheel_test_case.LIBRARY}", error)
        self.assertEqual(use, f"{first}/{wheel_test_case.PACKAGE}/__init__.py 42.0")
        library = first / wheel_test_case.PACKAGE / wheel_test_case.LIBRARY
        self.assertEqual(set(mapped), {str(library)})

    def test_refuses_a_second_copy_and_keeps_the_first(self) -> None:
        self.check_refuses_a_second_copy_and_keeps_the_first(self.unpack(), self.unpack())

    def test_refuses_a_second_copy_whose_path_is_the_end_of_the_firsts(self) -> None:
        second = self.unpack()
        first = self.new_folder() / second.relative_to("/")
        shutil.copytree(second, first)
        self.check_refuses_a_second_copy_and_keeps_the_first(first, second)

    def test_accepts_its_own_library_loaded_by_hand(self) -> None:
        folder = self.unpack()
        library = folder / wheel_test_case.PACKAGE / wheel_test_case.LIBRARY
        result = self.run_command(sys.executable, "-c", LOADED_BEFORE, folder, library)
        self.assertEqual(result.stdout.split(), ["42.0", "42.0", "2.0"])

    def test_accepts_its_own_library_loaded_through_a_link(self) -> None:
        folder = self.unpack()
        library = folder / wheel_test_case.PACKAGE / wheel_test_case.LIBRARY
        link = self.new_folder() / "linked_ops.so"
        link.symlink_to(library)
        result = self.run_command(sys.executable, "-c", LOADED_BEFORE, folder, link)
        self.assertEqual(result.stdout.split(), ["42.0", "42.0", "2.0"])


if __name__ == "__main__":
    absltest.main()
