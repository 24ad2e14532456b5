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


def compile_for_gpu(function: Callable[..., tf.Tensor], *inputs: tf.Tensor) -> bytes:
    """The program that XLA makes of a function for an H100."""
    compiled = tf.function(function, jit_compile=True, autograph=False)
    hlo = compiled.experimental_get_compiler_ir(*inputs)(stage="hlo_serialized", platform_name="GPU")
    library = ctypes.CDLL(str(LIBRARY))
    library.CompileGpuProgram.restype = ctypes.c_bool
    result, size = ctypes.POINTER(ctypes.c_char)(), ctypes.c_size_t()
    done = library.CompileGpuProgram(hlo, ctypes.c_size_t(len(hlo)), ctypes.byref(result), ctypes.byref(size))
    text = ctypes.string_at(result, size.value)
    if not done:
        raise AssertionError(text.decode())
    return text


class GpuProgramTest(op_test_case.OpTestCase):
    @parameterized.named_parameters(
        ("my_op", lambda x: ops.my_op(x) + 1.0),
        ("simple_add", lambda x: tf.exp(ops.simple_add(x, x * 3.0))),
        ("gradient", lambda x: tf.gradients(ops.my_op(x) ** 2.0, x)[0]),
    )
    def test_compiles_to_ptx(self, function: Callable[..., tf.Tensor]) -> None:
        program = compile_for_gpu(function, tf.ones([1024]))
        self.assertIn(b".target sm_90", program)
        self.assertEqual(program.count(b".entry"), 1, "the ops did not fuse into one kernel")

    def test_says_what_is_wrong(self) -> None:
        library = ctypes.CDLL(str(LIBRARY))
        library.CompileGpuProgram.restype = ctypes.c_bool
        result, size = ctypes.POINTER(ctypes.c_char)(), ctypes.c_size_t()
        self.assertFalse(library.CompileGpuProgram(b"?", ctypes.c_size_t(1), ctypes.byref(result), ctypes.byref(size)))
        self.assertIn(b"no serialized HloModuleProto", ctypes.string_at(result, size.value))


if __name__ == "__main__":
    absltest.main()
