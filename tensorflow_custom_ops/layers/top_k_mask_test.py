# SPDX-License-Identifier: Apache-2.0
# >>> only with top_k_mask.py: whole file
"""Tests of the layer TopKMask."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

from tensorflow_custom_ops.layers import TopKMask
from tests import layer_test_case, op_test_case


class TopKMaskTest(layer_test_case.LayerTestCase):
    @parameterized.product(mode=op_test_case.MODES, policy=layer_test_case.POLICIES)
    def test_keeps_the_largest(self, mode: str, policy: str) -> None:
        layer = TopKMask(2, fill_value=-5.0, dtype=policy)
        y = self.in_mode(mode, layer)(tf.constant([[1.0, 3.0, 2.0], [4.0, 0.0, 4.0]]))
        self.assertEqual(y.dtype.name, layer.compute_dtype)
        np.testing.assert_array_equal(y, [[-5, 3, 2], [4, -5, 4]])

    def test_functional_model(self) -> None:
        inputs = keras.Input((None, 6))
        outputs = TopKMask(3, fill_value=-np.inf)(inputs)
        self.assertEqual(outputs.shape, (None, None, 6))
        self.assert_model_saves(inputs, keras.layers.Softmax()(outputs), self.random((2, 3, 6), tf.float32))

    def test_output_shape(self) -> None:
        self.assertEqual(TopKMask(3).compute_output_shape((None, None, 6)), (None, None, 6))

    def test_config(self) -> None:
        self.assert_config(TopKMask(3, fill_value=1.5, name="layer", dtype="float16"), unchanged=["k"])

    @parameterized.parameters(0, -1, 1.5, "3", None, True)
    def test_refuses_k(self, k: Any) -> None:  # noqa: ANN401
        with self.assertRaisesRegex(ValueError, f"TopKMask: k must be a positive integer, but it is {k!r}"):
            TopKMask(k)

    @parameterized.parameters("1", None, True)
    def test_refuses_fill_value(self, fill_value: Any) -> None:  # noqa: ANN401
        with self.assertRaisesRegex(ValueError, f"TopKMask: fill_value must be a number, but it is {fill_value!r}"):
            TopKMask(1, fill_value)

    def test_refuses_symbolic_rows_that_are_too_short(self) -> None:
        with self.assertRaisesRegex(ValueError, "TopKMask: k"):
            TopKMask(3)(keras.Input((2,)))

    def test_refuses_rows_that_are_too_short(self) -> None:
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "TopKMask: k"):
            TopKMask(3)(np.ones([1, 2]))


if __name__ == "__main__":
    absltest.main()
