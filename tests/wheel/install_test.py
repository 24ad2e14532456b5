# SPDX-License-Identifier: Apache-2.0
"""Installs the wheel into a fresh virtual environment and uses the ops there."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path

from absl.testing import absltest
from packaging import utils

from tests.wheel import wheel_test_case

# The extra that asks for a distribution of TensorFlow. Nightlies have none.
EXTRAS = {"tensorflow": "tensorflow", "tensorflow-cpu": "cpu"}

USE = """
import pathlib
import sys

import numpy as np
import tensorflow as tf
import tensorflow_custom_ops as ops

print(ops.__file__)
x = tf.constant([1.0, -2.5, 3.0])
np.testing.assert_array_equal(ops.my_op(x), [2.0, -5.0, 6.0])
# >>> only with simple_add
np.testing.assert_array_equal(ops.simple_add([1, 2], [3, 4]), [4, 6])
# <<<
with tf.GradientTape() as tape:
    tape.watch(x)
    y = ops.my_op(x) + x
np.testing.assert_array_equal(tape.gradient(y, x), [3.0, 3.0, 3.0])


@tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
def function(x):
    return ops.my_op(x) + x


np.testing.assert_array_equal(function(x), [3.0, -7.5, 9.0])
module = tf.Module()
module.function = function
tf.saved_model.save(module, sys.argv[1])
"""

LOAD = """
import sys

import numpy as np
import tensorflow as tf
import tensorflow_custom_ops

model = tf.saved_model.load(sys.argv[1])
np.testing.assert_array_equal(model.function(tf.constant([[1.0], [-2.0]])), [[3.0], [-6.0]])
"""

GPU_KERNELS = """
import json
import pathlib
import sys

import tensorflow as tf
import tensorflow_custom_ops as ops

report = {
    "gpu_kernels": ops.build_info()["gpu_kernels"],
    "is_cuda_build": tf.sysconfig.get_build_info()["is_cuda_build"],
    "is_open": "_ops_gpu.so" in pathlib.Path("/proc/self/maps").read_text(),
}
json.dump(report, sys.stdout)
"""


def tensorflow_distribution() -> str:
    """Returns the name of the distribution that TensorFlow was installed from."""
    names = importlib.metadata.packages_distributions()["tensorflow"]
    return next(iter({utils.canonicalize_name(name) for name in names} & EXTRAS.keys()), "")


class InstallTest(wheel_test_case.WheelTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.python = self.make_venv(self.tensorflow_path())
        self.printed = self.install(self.python, EXTRAS.get(tensorflow_distribution(), ""))

    def test_works_where_it_is_installed(self) -> None:
        model = str(self.new_folder() / "model")
        module = Path(self.run_command(self.python, "-c", USE, model).stdout.strip())
        self.assertTrue(module.is_relative_to(self.python.parents[1]), module)
        self.run_command(self.python, "-c", LOAD, model)

    def test_opens_gpu_kernels_for_a_cuda_build_of_tensorflow_alone(self) -> None:
        result = self.run_command(self.python, "-c", GPU_KERNELS)
        report = json.loads(result.stdout)
        has_them = bool(list(self.python.parents[1].rglob(wheel_test_case.GPU_LIBRARY)))
        if has_them and report["is_cuda_build"]:
            self.assertEqual(report["gpu_kernels"], "loaded")
        elif has_them:
            self.assertRegex(report["gpu_kernels"], r"\Athis TensorFlow \S+ is built without CUDA\Z")
        else:
            self.assertStartsWith(report["gpu_kernels"], "this build of the package has none")
        self.assertEqual(report["is_open"], has_them and report["is_cuda_build"])
        self.assertNotIn("RuntimeWarning", result.stderr)

    def test_pip_finds_nothing_wrong(self) -> None:
        self.assertIn("Successfully installed tensorflow-custom-ops", self.printed)
        # Of other packages we make no claim.
        check = self.pip(self.python, "check", check=False)
        self.assertNotIn("tensorflow-custom-ops", check.stdout + check.stderr)
        shown = self.pip(self.python, "show", "--files", "--verbose", "tensorflow-custom-ops").stdout
        self.assertRegex(shown, r"(?m)^  tensorflow_custom_ops/_ops\.so$")

    def test_uninstalls(self) -> None:
        self.pip(self.python, "uninstall", "--yes", "tensorflow-custom-ops")
        left = self.python.parents[1].rglob("tensorflow_custom_ops*")
        self.assertEmpty(list(left))


if __name__ == "__main__":
    absltest.main()
