# SPDX-License-Identifier: Apache-2.0
"""Installs the wheel beside TensorFlow's CUDA build, which needs no GPU to take GPU kernels."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

from absl.testing import absltest

from tests.wheel import wheel_test_case

# The repository that has TensorFlow's CUDA build. Without one, this Python has it.
CUDA_TENSORFLOW = os.environ["CUDA_TENSORFLOW"]

# Prints build_info() after a check that the ops work.
USE = """
import json
import sys

import numpy as np
import tensorflow_custom_ops as ops

np.testing.assert_array_equal(ops.my_op([1.0, -2.5]), [2.0, -5.0])
# >>> only with simple_add
np.testing.assert_array_equal(ops.simple_add([1, 2], [3, 4]), [4, 6])
# <<<
# >>> only with top_k_mask
np.testing.assert_array_equal(ops.top_k_mask([[1.0, 3.0, 2.0]], 1), [[0.0, 3.0, 0.0]])
# <<<
# >>> only with fused_dense
np.testing.assert_array_equal(ops.fused_dense([[1.0, 2.0]], [[3.0], [4.0]], [5.0]), [[16.0]])
# <<<
json.dump(ops.build_info(), sys.stdout)
"""

# What may come before it.
BEFORE = {
    "nothing": "",
    "import of TensorFlow": "import tensorflow",
    "import of the package": "import importlib, tensorflow_custom_ops; importlib.reload(tensorflow_custom_ops)",
    "use of TensorFlow": """
import tensorflow as tf

x = tf.random.normal([100, 100])
for _ in range(100):
    x = tf.tanh(x @ x)
tf.function(tf.nn.softmax, jit_compile=True)(x).numpy()
""",
}

# Prints the kernels of each op.
KERNELS = """
import json
import sys

import tensorflow_custom_ops
from tensorflow.python.framework import kernels

json.dump(
    {
        op: [
            {
                "device": kernel.device_type,
                "types": [value for c in kernel.constraint for value in c.allowed_values.list.type],
                "host_memory": list(kernel.host_memory_arg),
            }
            for kernel in kernels.get_registered_kernels_for_op(op).kernel
            if kernel.device_type in ("CPU", "GPU")
        ]
        for op in tensorflow_custom_ops.build_info()["ops"]
    },
    sys.stdout,
)
"""

# >>> only with top_k_mask
# Prints XLA's program for a GPU.
HLO = """
import tensorflow as tf
import tensorflow_custom_ops as ops

x = tf.ones([2, 8])
function = tf.function(lambda x: ops.top_k_mask(x, 3), jit_compile=True)
print(function.experimental_get_compiler_ir(x)(stage="hlo", platform_name="GPU"))
print("kept on the CPU:", function(x).numpy().sum())
"""
# <<<

SAVE = """
import sys

import tensorflow as tf
import tensorflow_custom_ops as ops

module = tf.Module()
module.function = tf.function(ops.my_op, input_signature=[tf.TensorSpec([None, None])])
tf.saved_model.save(module, sys.argv[1])
"""

LOAD = """
import sys

import numpy as np
import tensorflow as tf
import tensorflow_custom_ops

model = tf.saved_model.load(sys.argv[1])
np.testing.assert_array_equal(model.function(tf.constant([[1.0, -2.0]])), [[2.0, -4.0]])
"""


# The arguments of ops that are in host memory, whatever their type.
IN_HOST_MEMORY: dict[str, list[str]] = {
    "TopKMask": ["k"],  # only with top_k_mask
}


class CudaTensorFlowTestCase(wheel_test_case.WheelTestCase):
    """Has the wheel installed.

    Attributes:
      python: the interpreter that has both.
      package: the folder of the package.
      library: the one with the GPU kernels.
    """

    def setUp(self) -> None:
        super().setUp()
        packages = wheel_test_case.REPOSITORY.parent / CUDA_TENSORFLOW / "packages"
        self.python = self.make_venv([packages.resolve()] if CUDA_TENSORFLOW else self.tensorflow_path())
        self.install(self.python)
        (site,) = self.python.parents[1].glob("lib/python3.*/site-packages")
        self.package = site / wheel_test_case.PACKAGE
        self.library = self.package / wheel_test_case.GPU_LIBRARY

    def run_program(self, program: str, *arguments: Path) -> subprocess.CompletedProcess[str]:
        """Runs a program of the interpreter's."""
        return self.run_command(self.python, "-c", program, *arguments)


class LoadedTest(CudaTensorFlowTestCase):
    def test_loads_in_every_order(self) -> None:
        for name, before in BEFORE.items():
            with self.subTest(name):
                result = self.run_program(before + USE)
                self.assertEqual(json.loads(result.stdout)["gpu_kernels"], "loaded")
                self.assertNotIn("Warning", result.stderr)

    def test_has_a_gpu_kernel_wherever_the_cpu_has_one(self) -> None:
        registered: dict[str, dict[str, dict[tuple[int, ...], list[str]]]] = {}
        for op, kernels in json.loads(self.run_program(KERNELS).stdout).items():
            self.assertNotEmpty(kernels, op)
            for kernel in kernels:
                types = tuple(kernel["types"])
                of_device = registered.setdefault(op, {}).setdefault(kernel["device"], {})
                self.assertNotIn(types, of_device, (op, kernel))
                of_device[types] = kernel["host_memory"]
        self.assertContainsSubset({"MyOp"}, registered)
        for op, devices in registered.items():
            self.assertSameElements(devices["GPU"], devices["CPU"], op)
        int32 = (3,)
        # >>> only with simple_add
        self.assertCountEqual(registered["SimpleAdd"]["GPU"][int32], ["a", "b", "output"])
        # <<<
        for op, devices in registered.items():
            for types, host_memory in devices["GPU"].items():
                # All int32 is in host memory.
                if types != int32:
                    self.assertEqual(host_memory, IN_HOST_MEMORY.get(op, []), (op, types))

    def test_saved_model(self) -> None:
        model = self.new_folder() / "model"
        self.run_program(SAVE, model)
        self.run_program(LOAD, model)

    # >>> only with top_k_mask
    def test_xla_calls_the_gpu_kernel(self) -> None:
        hlo = self.run_program(HLO).stdout
        self.assertRegex(hlo, r'custom-call\(.*custom_call_target="tensorflow_custom_ops\.TopKMask"')
        self.assertNotIn("sort(", hlo)
        self.assertIn("kept on the CPU: 6.0", hlo)

    # <<<


class NotLoadedTest(CudaTensorFlowTestCase):
    def check_explains(self, cause: str) -> None:
        """Checks that the ops work on the CPU, and that one warning and build_info() tell why not on a GPU.

        Args:
          cause: a regular expression for a part of the reason.
        """
        result = self.run_program(USE)
        info = json.loads(result.stdout)
        reason = info["gpu_kernels"]
        self.assertRegex(reason, cause)
        self.assertRegex(reason, rf"cannot load {self.library}, built with CUDA {info['cuda_version']}")
        self.assertRegex(reason, r"into TensorFlow \S+, built with CUDA \d+\.\d+")
        self.assertRegex(reason, "the NVIDIA driver is (not there|.*Kernel Module)")
        self.assertEqual(result.stderr.count("Warning"), 1, result.stderr)
        # Of the line that imports the package.
        self.assertIn("<string>:6: RuntimeWarning: the ops of tensorflow_custom_ops run on the CPU only", result.stderr)
        self.assertIn(reason, result.stderr)

    def test_missing_library(self) -> None:
        self.library.unlink()
        self.check_explains("No such file")
        # >>> only with top_k_mask
        hlo = self.run_program(HLO).stdout
        self.assertIn(" sort(", hlo)
        self.assertNotIn("custom-call", hlo)
        self.assertIn("kept on the CPU: 6.0", hlo)
        # <<<

    def test_truncated_library(self) -> None:
        content = self.library.read_bytes()
        # Opening most of these would end the process by a signal.
        for size in (0, 1000, len(content) // 2, len(content) - 1):
            with self.subTest(size):
                self.library.write_bytes(content[:size])
                self.check_explains(f"it has {size} bytes instead of {len(content)}")

    def test_changed_library(self) -> None:
        content = bytearray(self.library.read_bytes())
        content[-1] ^= 1
        self.library.write_bytes(content)
        self.check_explains("it is not the library of this package: its SHA-256 is [0-9a-f]{64} instead of")

    def test_undefined_symbol(self) -> None:
        compiler = shutil.which("cc")
        assert compiler
        source = self.new_folder() / "library.c"
        source.write_text("void Missing(void); __attribute__((constructor)) static void Call(void) { Missing(); }\n")
        self.run_command(compiler, "-shared", "-fPIC", "-o", self.library, source)
        content = self.library.read_bytes()
        known = {self.library.name: (len(content), hashlib.sha256(content).hexdigest())}
        with (self.package / "_build_info.py").open("a") as build_info:
            build_info.write(f"LIBRARIES.update({known})\n")
        self.check_explains("undefined symbol: Missing")

    def test_other_major_version_of_cuda(self) -> None:
        build_info = self.package / "_build_info.py"
        text, replaced = build_info.read_text(), 'CUDA_VERSION: str | None = "13.0.1"'
        lines = [replaced if line.startswith("CUDA_VERSION:") else line for line in text.splitlines()]
        self.assertIn(replaced, lines)
        build_info.write_text("\n".join(lines))
        # Refused before it is opened.
        self.library.write_bytes(b"")
        self.check_explains("the major versions of CUDA differ")


if __name__ == "__main__":
    absltest.main()
