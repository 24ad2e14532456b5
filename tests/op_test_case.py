# SPDX-License-Identifier: Apache-2.0
"""What the tests of ops share."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tensorflow_custom_ops
from tensorflow_custom_ops import _build_info

# Whose kernels are tested: "emulator" (tests/gpu/emulated), or the device that TensorFlow prefers.
DEVICE = os.environ.get("TEST_DEVICE") or (
    "GPU"
    if tensorflow_custom_ops.build_info()["gpu_kernels"] == "loaded" and tf.config.list_physical_devices("GPU")
    else "CPU"
)

if DEVICE == "GPU":
    # Matrix products of float32 are compared as such.
    tf.config.experimental.enable_tensor_float_32_execution(False)

# For tests of what only the CPU kernel does.
cpu_only = absltest.skipIf(DEVICE != "CPU", f"about the CPU kernel, and this tests the {DEVICE}'s")

# How an op can be called; see in_mode.
MODES = ("eager", "graph", "jit") if _build_info.XLA else ("eager", "graph")

# Empty, scalar, and sizes that are no multiple of a vector or block.
SHAPES: tuple[tuple[int, ...], ...] = (
    (),
    (0,),
    (1,),
    (3, 0, 2),
    (7,),
    (2, 3),
    (5, 1, 33),
    (2, 1, 3, 1, 2, 1, 5),
)

# Enough for every thread to get several blocks, and a rest.
LARGE = 3_000_017

_RUN_SAVED_MODEL = """
import sys
import numpy as np
import tensorflow as tf
import tensorflow_custom_ops
for library in sys.argv[4:]:
    tf.load_op_library(library)
model = tf.saved_model.load(sys.argv[1])
inputs = np.load(sys.argv[2])
output = model.call(*(tf.constant(inputs[name]) for name in sorted(inputs)))
np.save(sys.argv[3], output.numpy())
"""


class OpTestCase(parameterized.TestCase):
    """A test case of an op.

    Attributes:
      libraries: The libraries with the op, if it is not one of the package's.
    """

    libraries: tuple[str, ...] = ()

    def in_mode(self, mode: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, to be called in one of MODES."""
        if mode == "eager":
            return function
        graph: Callable[..., Any] = tf.function(function, autograph=False, jit_compile=mode == "jit")
        return graph

    def random(self, shape: tuple[int, ...], dtype: tf.DType, seed: int = 0) -> np.ndarray:
        """Normally distributed values (integers: uniform over the whole type)."""
        generator = np.random.default_rng(seed)
        numpy_type = dtype.as_numpy_dtype
        if dtype.is_integer:
            limits = np.iinfo(numpy_type)
            return generator.integers(limits.min, limits.max, shape, numpy_type, endpoint=True)
        values = generator.standard_normal(shape)
        if dtype.is_complex:
            values = values + 1j * generator.standard_normal(shape)
        # asarray: a scalar must stay an array.
        return np.asarray(values).astype(numpy_type)

    def assert_same(self, expected: np.ndarray, actual: tf.Tensor) -> None:
        """Checks for the same type, shape and values, to the last bit but for NaN's kind and zero's sign."""
        values = actual.numpy()
        if DEVICE == "GPU" and expected.dtype != np.int32:
            self.assertEndsWith(actual.device, "GPU:0")
        self.assertEqual(values.dtype, expected.dtype)
        if actual.dtype == tf.bfloat16:
            # Exact, and NumPy before 2.3 does not know a NaN of this type.
            values, expected = values.astype(np.float32), expected.astype(np.float32)
        np.testing.assert_array_equal(values, expected, strict=True)

    def assert_saved_model_runs_elsewhere(self, function: Callable[..., tf.Tensor], *inputs: np.ndarray) -> None:
        """Saves `function` with unknown shapes, and runs it in a process that only loads it."""
        signature = [tf.TensorSpec(None, array.dtype) for array in inputs]
        module = tf.Module()
        module.call = tf.function(function, input_signature=signature)
        directory = pathlib.Path(self.create_tempdir().full_path)
        tf.saved_model.save(module, str(directory / "model"))
        np.savez(directory / "inputs.npz", **{f"input_{i}": array for i, array in enumerate(inputs)})
        files = [str(directory / name) for name in ("model", "inputs.npz", "output.npy")]
        self.run_python(_RUN_SAVED_MODEL, *files, *self.libraries)
        expected = function(*(tf.constant(array) for array in inputs))
        self.assert_same(np.load(directory / "output.npy"), expected)

    def run_python(self, program: str, *args: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs a program in a new process that has the import path of this one."""
        result = subprocess.run(
            [sys.executable, "-c", program, *args],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=False,
        )
        if check:
            self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def assert_buffer_reused(self, function: Callable[..., tf.Tensor], *shapes: tuple[int, ...]) -> None:
        """Checks that the op writes into the buffer of an input that nobody else needs.

        Args:
          function: calls the op; the last op that it adds to the graph is the one that is looked at.
          *shapes: of the inputs, float32.
        """
        with tf.Graph().as_default() as graph, tf.compat.v1.Session(graph=graph) as session:
            # Random inputs, so that neither constant folding nor a feed holds on to the buffers.
            inputs = [tf.random.uniform(shape) for shape in shapes]
            # Read by a reduction: a fetched tensor may be copied.
            output = function(*inputs)
            total = tf.reduce_sum(output)
            options = tf.compat.v1.RunOptions(trace_level=tf.compat.v1.RunOptions.FULL_TRACE)
            metadata = tf.compat.v1.RunMetadata()
            session.run(total, options=options, run_metadata=metadata)
        buffers = {
            node.node_name: node.output[0].tensor_description.allocation_description.ptr
            for device in metadata.step_stats.dev_stats
            for node in device.node_stats
            if node.output
        }
        self.assertIn(buffers[output.op.name], [buffers[tensor.op.name] for tensor in inputs])
