# SPDX-License-Identifier: Apache-2.0
"""The ops without what TensorFlow does not promise."""

from __future__ import annotations

from absl.testing import absltest

from tests import op_test_case

_HIDE_MODULE = """
import sys
import tensorflow as tf
from tensorflow.python.ops import parallel_for
del parallel_for.pfor
sys.modules["tensorflow.python.ops.parallel_for.pfor"] = None
"""

_HIDE_FUNCTION = """
import tensorflow as tf
from tensorflow.python.ops.parallel_for import pfor
del pfor.RegisterPFor
"""

_USE = """
import tensorflow_custom_ops as ops
x = tf.ones([1, 2, 1, 2])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = ops.my_op(x)
    # >>> only with flash_attention, rotary_embedding, rms_norm
    y = ops.flash_attention(x, ops.rotary_embedding(x), ops.rms_norm(y, [1.0, 1.0]))
    # <<<
print(tape.gradient(y, x).shape)
"""


class VectorizationTest(op_test_case.OpTestCase):
    def test_ops_need_no_private_module(self) -> None:
        for hide in (_HIDE_MODULE, _HIDE_FUNCTION):
            with self.subTest(hide):
                self.assertEqual(self.run_python(hide + _USE).stdout, "(1, 2, 1, 2)\n")


if __name__ == "__main__":
    absltest.main()
