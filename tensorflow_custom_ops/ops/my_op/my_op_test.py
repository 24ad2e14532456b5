# SPDX-License-Identifier: Apache-2.0
"""Tests of MyOp."""

from __future__ import annotations

import hypothesis
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized
from hypothesis.extra import numpy as hypothesis_numpy

import tensorflow_custom_ops as ops
from tensorflow_custom_ops.ops.my_op import gen_my_op
from tests import op_test_case

DTYPES = (tf.half, tf.bfloat16, tf.float32, tf.float64)

# Of the numeric gradient: a difference quotient loses half of the type's digits.
GRADIENT_RTOL = {tf.float32: 1e-3, tf.float64: 1e-9}


def reference(x: np.ndarray) -> np.ndarray:
    """Doubles in float64, and rounds once."""
    with np.errstate(over="ignore"):
        return np.asarray(2 * x.astype(np.float64)).astype(x.dtype)


class MyOpTest(op_test_case.OpTestCase):
    @parameterized.product(dtype=DTYPES, mode=op_test_case.MODES, shape=op_test_case.SHAPES)
    def test_doubles(self, dtype: tf.DType, mode: str, shape: tuple[int, ...]) -> None:
        x = self.random(shape, dtype)
        self.assert_same(reference(x), self.in_mode(mode, ops.my_op)(tf.constant(x)))

    @parameterized.parameters(*DTYPES)
    def test_large(self, dtype: tf.DType) -> None:
        x = self.random((op_test_case.LARGE,), dtype)
        self.assert_same(reference(x), ops.my_op(tf.constant(x)))

    @hypothesis.settings(deadline=None, derandomize=True, database=None, max_examples=200)
    @hypothesis.given(
        hypothesis_numpy.arrays(
            np.float32,
            hypothesis_numpy.array_shapes(min_dims=0, max_dims=8, min_side=0, max_side=9),
            # TensorFlow's threads may flush denormals to zero, for every op.
            elements={"allow_subnormal": False},
        )
    )
    def test_any_array(self, x: np.ndarray) -> None:
        self.assert_same(reference(x), ops.my_op(x))

    @parameterized.parameters(*DTYPES)
    def test_special_values(self, dtype: tf.DType) -> None:
        x = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, dtype.max, dtype.min]).astype(dtype.as_numpy_dtype)
        y = ops.my_op(tf.constant(x))
        self.assert_same(reference(x), y)
        np.testing.assert_array_equal(np.signbit(y.numpy()[3:5].astype(np.float32)), [False, True])

    def test_takes_what_converts(self) -> None:
        for x in (1.5, [1.5, 2.0], np.array([[1.5]]), tf.Variable([1.5, 2.0])):
            np.testing.assert_array_equal(ops.my_op(x), 2 * np.asarray(x))

    @parameterized.parameters(([None], [None]), ([None, 3], [None, 3]), ([2, 3], [2, 3]), ([], []), (None, None))
    def test_static_shape(self, input_shape: list[int | None] | None, output_shape: list[int | None] | None) -> None:
        function = tf.function(ops.my_op, input_signature=[tf.TensorSpec(input_shape, tf.float32)])
        shape = function.get_concrete_function().structured_outputs.shape
        self.assertEqual(None if shape.rank is None else shape.as_list(), output_shape)

    def test_unknown_rank_runs(self) -> None:
        function = tf.function(ops.my_op, input_signature=[tf.TensorSpec(None, tf.float32)])
        for shape in op_test_case.SHAPES:
            x = self.random(shape, tf.float32)
            self.assert_same(reference(x), function(tf.constant(x)))

    @parameterized.product(dtype=(tf.float32, tf.float64), shape=[(), (0,), (4, 3)])
    def test_gradient(self, dtype: tf.DType, shape: tuple[int, ...]) -> None:
        x = tf.constant(self.random(shape, dtype))
        (analytic,), (numeric,) = tf.test.compute_gradient(ops.my_op, [x])
        np.testing.assert_allclose(analytic, numeric, rtol=GRADIENT_RTOL[dtype])

    @parameterized.product(dtype=DTYPES, mode=op_test_case.MODES)
    def test_gradient_of_every_type(self, dtype: tf.DType, mode: str) -> None:
        def first_and_second(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    y = ops.my_op(x) * ops.my_op(x)
                first = inner.gradient(y, x)
            return first, outer.gradient(first, x)

        x = tf.constant([1.0, -0.5, 3.0], dtype)
        first, second = self.in_mode(mode, first_and_second)(x)
        # (2x)^2 has the derivatives 8x and 8.
        self.assert_same(8 * x.numpy(), first)
        self.assert_same(np.full_like(x.numpy(), 8), second)

    @parameterized.parameters(tf.int32, tf.string, tf.complex64, tf.bool)
    def test_refuses_other_types(self, dtype: tf.DType) -> None:
        x = tf.zeros([2], dtype)
        with self.assertRaisesRegex(
            tf.errors.InvalidArgumentError,
            rf"'dtype' of {dtype.name} .*allowed values: half, bfloat16, float, double(.|\n)*MyOp",
        ):
            ops.my_op(x)
        with self.assertRaisesRegex(
            TypeError,
            rf"'input' has DataType {dtype.name} not in list of allowed values: .*float16",
        ):
            tf.function(ops.my_op)(x)

    def test_name(self) -> None:
        with tf.Graph().as_default():
            self.assertEqual(ops.my_op(1.0, name="doubled").op.name, "doubled")
            self.assertEqual(ops.my_op(1.0).op.type, "MyOp")

    def test_reuses_the_input_buffer(self) -> None:
        self.assert_buffer_reused(ops.my_op, (1000,))

    @parameterized.parameters(*op_test_case.MODES)
    def test_keeps_an_input_that_is_still_needed(self, mode: str) -> None:
        def both(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            x = x + 1.0
            return x, ops.my_op(x)

        x, y = self.in_mode(mode, both)(tf.ones([1000]))
        np.testing.assert_array_equal(x, np.full(1000, 2.0))
        np.testing.assert_array_equal(y, np.full(1000, 4.0))

    def test_saved_model(self) -> None:
        self.assert_saved_model_runs_elsewhere(ops.my_op, self.random((3, 5), tf.float32))

    def test_documentation(self) -> None:
        self.assertIn("2 * input", gen_my_op.my_op.__doc__)
        self.assertIn("A tensor of any shape", gen_my_op.my_op.__doc__)


if __name__ == "__main__":
    absltest.main()
