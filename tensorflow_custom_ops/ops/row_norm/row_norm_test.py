# SPDX-License-Identifier: Apache-2.0
"""Tests of row_norm."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tensorflow_custom_ops as ops
from tests import op_test_case

DTYPES = (tf.half, tf.bfloat16, tf.float32, tf.float64)

# Of the results: a sum of squares, and one rounding to the type.
RTOL = {tf.half: 1e-3, tf.bfloat16: 8e-3, tf.float32: 1e-6, tf.float64: 1e-14}

SHAPES = ((0,), (1,), (7,), (3, 0), (0, 3), (2, 3), (5, 1, 33))


def reference(x: np.ndarray) -> np.ndarray:
    """Computes in float64."""
    return np.asarray(np.sqrt(np.sum(x.astype(np.float64) ** 2, axis=-1)))


class RowNormTest(op_test_case.OpTestCase):
    @parameterized.product(dtype=DTYPES, mode=op_test_case.MODES, shape=SHAPES)
    def test_values(self, dtype: tf.DType, mode: str, shape: tuple[int, ...]) -> None:
        x = self.random(shape, dtype)
        y = self.in_mode(mode, ops.row_norm)(tf.constant(x))
        self.assertEqual(y.dtype, dtype)
        np.testing.assert_allclose(y.numpy().astype(np.float64), reference(x), rtol=RTOL[dtype], strict=True)

    def test_half_is_computed_in_float(self) -> None:
        # The square of 300 is more than half can hold.
        self.assertEqual(ops.row_norm(tf.constant([300.0, 400.0], tf.half)).numpy(), 500.0)

    def test_takes_what_converts(self) -> None:
        for x in ([3.0, 4.0], np.array([3.0, 4.0]), tf.Variable([3.0, 4.0])):
            self.assertEqual(ops.row_norm(x).numpy(), 5.0)

    @parameterized.parameters(([None, 3], [None]), ([2, 3, None], [2, 3]), (None, None))
    def test_static_shape(self, input_shape: list[int | None] | None, output_shape: list[int | None] | None) -> None:
        function = tf.function(ops.row_norm, input_signature=[tf.TensorSpec(input_shape, tf.float32)])
        shape = function.get_concrete_function().structured_outputs.shape
        self.assertEqual(None if shape.rank is None else shape.as_list(), output_shape)

    @parameterized.product(dtype=DTYPES, mode=op_test_case.MODES)
    def test_gradient(self, dtype: tf.DType, mode: str) -> None:
        def gradient(x: tf.Tensor, weight: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = ops.row_norm(x) * weight
            return tape.gradient(y, x)

        x, weight = self.random((4, 5), dtype, seed=1), self.random((4,), dtype, seed=2)
        x[2] = 0
        actual = self.in_mode(mode, gradient)(tf.constant(x), tf.constant(weight)).numpy().astype(np.float64)
        wide = x.astype(np.float64)
        norm = np.where(np.arange(4) == 2, 1, reference(x))
        expected = weight.astype(np.float64)[:, np.newaxis] * wide / norm[:, np.newaxis]
        np.testing.assert_allclose(actual, expected, rtol=4 * RTOL[dtype])

    @parameterized.parameters(*op_test_case.MODES)
    def test_second_gradient(self, mode: str) -> None:
        def second(x: tf.Tensor, direction: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    y = ops.row_norm(x)
                slope = tf.reduce_sum(inner.gradient(y, x) * direction)
            return outer.gradient(slope, x)

        x, direction = self.random((4, 5), tf.float64, seed=1), self.random((4, 5), tf.float64, seed=2)
        x[2] = 0
        actual = self.in_mode(mode, second)(tf.constant(x), tf.constant(direction))
        norm = reference(x)[:, np.newaxis]
        with np.errstate(invalid="ignore"):
            unit = np.nan_to_num(x / norm)
            along = np.sum(unit * direction, axis=-1, keepdims=True)
            expected = np.nan_to_num((direction - along * unit) / norm, nan=0.0, posinf=0.0, neginf=0.0)
        expected[2] = 0
        np.testing.assert_allclose(actual, expected, rtol=1e-12)

    @parameterized.parameters(*op_test_case.MODES)
    def test_refuses_a_scalar(self, mode: str) -> None:
        message = "row_norm: input must have one dimension at least, but is a scalar"
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
            self.in_mode(mode, ops.row_norm)(tf.constant(1.0))

    @parameterized.product(dtype=(tf.int32, tf.string, tf.complex64, tf.bool), mode=op_test_case.MODES)
    def test_refuses_other_types(self, dtype: tf.DType, mode: str) -> None:
        message = f"row_norm: the type of input must be one of float16, .*float64, but is {dtype.name}"
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
            self.in_mode(mode, ops.row_norm)(tf.zeros([2], dtype))

    def test_vectorized_map(self) -> None:
        x = tf.constant(self.random((5, 3, 4), tf.float32))
        y = tf.vectorized_map(ops.row_norm, x, fallback_to_while_loop=False)
        np.testing.assert_allclose(y, ops.row_norm(x), rtol=1e-6)

    def test_name(self) -> None:
        with tf.Graph().as_default():
            self.assertStartsWith(ops.row_norm([1.0], name="length").op.name, "length/")

    def test_saved_model(self) -> None:
        self.assert_saved_model_runs_elsewhere(ops.row_norm, self.random((3, 5), tf.float32))


if __name__ == "__main__":
    absltest.main()
