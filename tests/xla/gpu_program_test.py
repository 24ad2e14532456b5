# SPDX-License-Identifier: Apache-2.0
"""XLA compiles the ops for a GPU, with no GPU here. Needs a CUDA build of TensorFlow."""

from __future__ import annotations

import ctypes
import pathlib
from collections.abc import Callable

import tensorflow as tf
from absl.testing import absltest, parameterized

import tensorflow_custom_ops as ops
from tests import op_test_case

LIBRARY = pathlib.Path(__file__).parent / "_gpu_program.so"

# >>> only with top_k_mask
# As XLA knows the handler that launches TopKMask's kernel.
CUSTOM_CALL = b"tensorflow_custom_ops.TopKMask"
# <<<


def program_for_gpu(function: Callable[..., tf.Tensor], *inputs: tf.Tensor) -> bytes:
    """The HLO of a function on a GPU, serialized."""
    compiled = tf.function(function, jit_compile=True, autograph=False)
    hlo = compiled.experimental_get_compiler_ir(*inputs)(stage="hlo_serialized", platform_name="GPU")
    assert isinstance(hlo, bytes)
    return hlo


def compile_for_gpu(hlo: bytes) -> bytes:
    """The program that XLA makes of serialized HLO for an H100.

    Raises:
      ValueError: what XLA says is wrong.
    """
    library = ctypes.CDLL(str(LIBRARY))
    library.CompileGpuProgram.restype = ctypes.c_bool
    result, size = ctypes.POINTER(ctypes.c_char)(), ctypes.c_size_t()
    done = library.CompileGpuProgram(hlo, ctypes.c_size_t(len(hlo)), ctypes.byref(result), ctypes.byref(size))
    text = ctypes.string_at(result, size.value)
    if not done:
        raise ValueError(text.decode())
    return text


class GpuProgramTest(op_test_case.OpTestCase):
    @parameterized.named_parameters(
        ("my_op", lambda x: ops.my_op(x) + 1.0),
        # >>> only with simple_add
        ("simple_add", lambda x: tf.exp(ops.simple_add(x, x * 3.0))),
        # <<<
        ("gradient", lambda x: tf.gradients(ops.my_op(x) ** 2.0, x)[0]),
    )
    def test_fuses_into_one_kernel(self, function: Callable[..., tf.Tensor]) -> None:
        program = compile_for_gpu(program_for_gpu(function, tf.ones([1024])))
        self.assertIn(b".target sm_90", program)
        self.assertEqual(program.count(b".entry"), 1)

    def test_says_what_is_wrong(self) -> None:
        with self.assertRaisesRegex(ValueError, "no serialized HloModuleProto"):
            compile_for_gpu(b"?")


# >>> only with top_k_mask
@absltest.skipUnless(ops.build_info()["gpu_kernels"] == "loaded", "there are no GPU kernels")
class CustomCallTest(op_test_case.OpTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.hlo = program_for_gpu(lambda x: tf.exp(ops.top_k_mask(x + 1.0, 3)[0]), tf.ones([5, 100]))

    def test_calls_the_gpu_kernel(self) -> None:
        program = compile_for_gpu(self.hlo)
        self.assertIn(CUSTOM_CALL, program)
        self.assertEqual(program.count(b".entry"), 2, "what is before the call and after it is not one kernel each")

    def test_needs_the_handler(self) -> None:
        renamed = CUSTOM_CALL.replace(b"Mask", b"Task")
        with self.assertRaisesRegex(ValueError, renamed.decode()):
            compile_for_gpu(self.hlo.replace(CUSTOM_CALL, renamed))


# <<<


if __name__ == "__main__":
    absltest.main()
