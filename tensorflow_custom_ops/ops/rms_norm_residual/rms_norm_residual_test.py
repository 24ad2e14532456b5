# SPDX-License-Identifier: Apache-2.0
"""Tests of RmsNormResidual."""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tensorflow_custom_ops as ops
from tensorflow_custom_ops import _build_info
from tensorflow_custom_ops.ops.rms_norm_residual import gen_rms_norm_residual
from tests import normalization_test_case, op_test_case


class RmsNormResidualTest(normalization_test_case.NormalizationTestCase):
    spec = normalization_test_case.Spec(
        op="RmsNormResidual",
        function=ops.rms_norm_residual,
        epsilon=1e-6,
        keras=lambda x, residual, scale: (
            keras.ops.rms_normalization(x + residual, scale, epsilon=1e-6),
            x + residual,
        ),
        has_residual=True,
    )

    # >>> only with rms_norm
    @parameterized.product(dtype=normalization_test_case.DTYPES, mode=op_test_case.MODES)
    def test_is_a_sum_and_rms_norm(self, dtype: tf.DType, mode: str) -> None:
        x, residual, scale = (tf.constant(array) for array in self.inputs((9, 37), dtype))
        y, total = self.in_mode(mode, ops.rms_norm_residual)(x, residual, scale)
        np.testing.assert_array_equal(total.numpy(), (x + residual).numpy())
        np.testing.assert_array_equal(y.numpy(), self.in_mode(mode, ops.rms_norm)(total, scale).numpy())

    # <<<
    def test_sum_reuses_the_residuals_buffer(self) -> None:
        self.assert_buffer_reused(lambda *inputs: ops.rms_norm_residual(*inputs)[1], (8, 500), (8, 500), (500,))

    @absltest.skipUnless(_build_info.XLA, "this build has no XLA kernels")
    def test_refuses_rows_of_dynamic_number(self) -> None:
        def function(x: tf.Tensor) -> tf.Tensor:
            return ops.rms_norm_residual(tf.boolean_mask(x, x[:, 0] > 0), tf.boolean_mask(x, x[:, 1] > 0), tf.ones([3]))

        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "RmsNormResidual: under XLA, .* but x has f32"):
            tf.function(function, jit_compile=True)(tf.ones([4, 3]))

    def test_documentation(self) -> None:
        self.assertIn("Adds a residual", gen_rms_norm_residual.rms_norm_residual.__doc__)


if __name__ == "__main__":
    absltest.main()
