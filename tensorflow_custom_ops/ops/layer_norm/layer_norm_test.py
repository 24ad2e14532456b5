# SPDX-License-Identifier: Apache-2.0
"""Tests of LayerNorm."""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tensorflow_custom_ops as ops
from tensorflow_custom_ops.ops.layer_norm import gen_layer_norm
from tests import normalization_test_case, op_test_case


class LayerNormTest(normalization_test_case.NormalizationTestCase):
    spec = normalization_test_case.Spec(
        op="LayerNorm",
        function=ops.layer_norm,
        epsilon=1e-3,
        keras=lambda x, scale, offset: keras.ops.layer_normalization(x, scale, offset, epsilon=1e-3),
        has_offset=True,
    )

    @parameterized.product(
        dtype=(tf.float32, tf.float64), mode=op_test_case.MODES, shape=((5, 33), (3, 4099)), shift=(1e4, -1e6)
    )
    def test_large_mean(self, dtype: tf.DType, mode: str, shape: tuple[int, ...], shift: float) -> None:
        # As exact as without: the mean of the squares minus the square of the mean would have no digit left.
        self.check(self.inputs(shape, dtype, shift), mode)

    @parameterized.product(dtype=normalization_test_case.DTYPES, mode=op_test_case.MODES)
    def test_equal_elements(self, dtype: tf.DType, mode: str) -> None:
        for value in (0.1, -3.0, 1234.5):
            x = tf.fill([2, 1001], tf.cast(value, dtype))
            scale, offset = (tf.constant(array) for array in self.inputs((2, 1001), dtype)[1:])
            y = self.in_mode(mode, ops.layer_norm)(x, scale, offset)
            np.testing.assert_array_equal(y.numpy(), np.stack([offset.numpy()] * 2))

    @parameterized.product(dtype=(tf.bfloat16, tf.float32, tf.float64), mode=op_test_case.MODES)
    def test_infinite_sums(self, dtype: tf.DType, mode: str) -> None:
        # A bfloat16 is summed up in float32.
        large = tf.constant(1e308 if dtype == tf.float64 else 1e38, dtype)
        x = tf.stack([tf.fill([50], large), tf.ones([50], dtype)])
        y = self.in_mode(mode, ops.layer_norm)(x, tf.ones([50], dtype), tf.zeros([50], dtype))
        np.testing.assert_array_equal(np.isnan(tf.cast(y, tf.float64)), np.repeat([[True], [False]], 50, axis=1))

    def test_documentation(self) -> None:
        self.assertIn("standard deviation", gen_layer_norm.layer_norm.__doc__)


if __name__ == "__main__":
    absltest.main()
