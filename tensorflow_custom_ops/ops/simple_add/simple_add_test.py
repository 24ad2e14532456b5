# SPDX-License-Identifier: Apache-2.0
"""Tests of SimpleAdd."""

from __future__ import annotations

import hypothesis
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized
from hypothesis import strategies
from hypothesis.extra import numpy as hypothesis_numpy

import tensorflow_custom_ops as ops
from tensorflow_custom_ops import _build_info
from tensorflow_custom_ops.ops.simple_add import gen_simple_add
from tests import op_test_case

FLOATS = (tf.half, tf.bfloat16, tf.float32, tf.float64)
COMPLEX = (tf.complex64, tf.complex128)
DTYPES = (*FLOATS, *COMPLEX, tf.int32, tf.int64)

# Of the numeric gradient: a difference quotient loses half of the type's digits.
GRADIENT_RTOL = {tf.float32: 1e-3, tf.float64: 1e-9}

DIFFERENT_SHAPES = (
    ((2, 3), (3, 2)),
    ((2,), (3,)),
    ((2, 3), (3,)),
    ((1,), ()),
    ((2, 1), (2, 3)),
    ((0,), (1,)),
)


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Adds in the widest type of the kind, and rounds once."""
    if np.issubdtype(a.dtype, np.integer):
        with np.errstate(over="ignore"):
            return np.asarray(a + b)
    wide = np.complex128 if np.iscomplexobj(a) else np.float64
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(a.astype(wide) + b.astype(wide)).astype(a.dtype)


class SimpleAddTest(op_test_case.OpTestCase):
    def pair(self, shape: tuple[int, ...], dtype: tf.DType) -> tuple[np.ndarray, np.ndarray]:
        return self.random(shape, dtype, seed=1), self.random(shape, dtype, seed=2)

    @parameterized.product(dtype=DTYPES, mode=op_test_case.MODES, shape=op_test_case.SHAPES)
    def test_adds(self, dtype: tf.DType, mode: str, shape: tuple[int, ...]) -> None:
        a, b = self.pair(shape, dtype)
        self.assert_same(reference(a, b), self.in_mode(mode, ops.simple_add)(tf.constant(a), tf.constant(b)))

    @parameterized.parameters(*DTYPES)
    def test_large(self, dtype: tf.DType) -> None:
        a, b = self.pair((op_test_case.LARGE,), dtype)
        self.assert_same(reference(a, b), ops.simple_add(tf.constant(a), tf.constant(b)))

    @hypothesis.settings(deadline=None, derandomize=True, database=None, max_examples=200)
    @hypothesis.given(strategies.data(), strategies.sampled_from((np.float32, np.float64, np.int32, np.complex64)))
    def test_any_arrays(self, data: strategies.DataObject, numpy_type: type[np.generic]) -> None:
        shape = data.draw(hypothesis_numpy.array_shapes(min_dims=0, max_dims=8, min_side=0, max_side=9))
        # Integers are below an overflow here: test_integers_wrap has those. TensorFlow's threads may
        # flush denormals to zero, for every op.
        elements: dict[str, float] = {"min_value": -(2**30), "max_value": 2**30}
        if numpy_type is np.complex64:
            elements = {"max_magnitude": 2.0**30}
        if numpy_type is not np.int32:
            elements["allow_subnormal"] = False
        a, b = (data.draw(hypothesis_numpy.arrays(numpy_type, shape, elements=elements)) for _ in range(2))
        expected = reference(a, b)
        tiny = np.finfo(numpy_type).tiny if numpy_type is not np.int32 else 0
        hypothesis.assume(not np.any((np.abs(expected) < tiny) & (expected != 0)))
        self.assert_same(expected, ops.simple_add(a, b))

    @parameterized.parameters(tf.int32, tf.int64)
    def test_integers_wrap(self, dtype: tf.DType) -> None:
        # As many as a vector and a rest, which other code adds.
        a = np.full(37, dtype.max, dtype.as_numpy_dtype)
        b = np.ones_like(a)
        self.assert_same(np.full_like(a, dtype.min), ops.simple_add(tf.constant(a), tf.constant(b)))

    @parameterized.parameters(*FLOATS)
    def test_special_values(self, dtype: tf.DType) -> None:
        values = [np.inf, -np.inf, np.nan, 0.0, -0.0, dtype.max, dtype.min]
        a, b = (x.astype(dtype.as_numpy_dtype).ravel() for x in np.meshgrid(values, values))
        y = ops.simple_add(tf.constant(a), tf.constant(b))
        self.assert_same(reference(a, b), y)
        signs = np.signbit(reference(a, b).astype(np.float64))
        comparable = ~np.isnan(y.numpy())
        np.testing.assert_array_equal(np.signbit(y.numpy().astype(np.float64))[comparable], signs[comparable])

    def test_takes_what_converts(self) -> None:
        for a, b in (
            (1.5, 2.0),
            (1, 2),
            ([1.5, 2.0], np.array([1.0, 3.0], np.float32)),
            (tf.Variable([1.5, 2.0]), [3.0, 4.0]),
        ):
            np.testing.assert_array_equal(ops.simple_add(a, b), np.asarray(a) + np.asarray(b))

    @parameterized.parameters(
        ([None, 3], [2, None], [2, 3]),
        ([2, 3], [2, 3], [2, 3]),
        ([None], [None], [None]),
        (None, [2, None], [2, None]),
        (None, None, None),
        ([], [], []),
    )
    def test_static_shape(
        self,
        a: list[int | None] | None,
        b: list[int | None] | None,
        expected: list[int | None] | None,
    ) -> None:
        signature = [tf.TensorSpec(shape, tf.float32) for shape in (a, b)]
        function = tf.function(ops.simple_add, input_signature=signature)
        shape = function.get_concrete_function().structured_outputs.shape
        self.assertEqual(None if shape.rank is None else shape.as_list(), expected)

    def test_unknown_rank_runs(self) -> None:
        function = tf.function(ops.simple_add, input_signature=[tf.TensorSpec(None, tf.float32)] * 2)
        for shape in op_test_case.SHAPES:
            a, b = self.pair(shape, tf.float32)
            self.assert_same(reference(a, b), function(tf.constant(a), tf.constant(b)))

    @parameterized.parameters(*DIFFERENT_SHAPES)
    def test_refuses_different_shapes(self, a_shape: tuple[int, ...], b_shape: tuple[int, ...]) -> None:
        def text(shape: tuple[int, ...]) -> str:
            return r"\[" + ",".join(map(str, shape)) + r"\]"

        found = f"a has {text(a_shape)} and b has {text(b_shape)}"
        message = f"SimpleAdd: a and b must have the same shape, but {found}"
        a, b = tf.zeros(a_shape), tf.zeros(b_shape)
        with self.subTest("eager"), self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
            ops.simple_add(a, b)
        with self.subTest("while a graph is made"), self.assertRaisesRegex(ValueError, message):
            tf.function(ops.simple_add)(a, b)
        with (
            self.subTest("when a graph runs"),
            self.assertRaisesRegex(tf.errors.InvalidArgumentError, message),
        ):
            tf.function(ops.simple_add, input_signature=[tf.TensorSpec(None, tf.float32)] * 2)(a, b)

    @absltest.skipUnless(_build_info.XLA, "this build has no XLA kernels")
    def test_refuses_sizes_that_xla_does_not_know(self) -> None:
        def positive(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
            return ops.simple_add(tf.boolean_mask(a, a > 0), tf.boolean_mask(b, b > 0))

        a, b = tf.constant([1.0, 2.0, 3.0, -1.0]), tf.constant([1.0, 2.0, -1.0, -1.0])
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "SimpleAdd: under XLA, a and b must have sizes"):
            tf.function(positive, jit_compile=True)(a, b)

    def test_refuses_partial_shapes_that_cannot_fit(self) -> None:
        signature = [tf.TensorSpec([None, 3], tf.float32), tf.TensorSpec([None, 4], tf.float32)]
        found = r"a has \[\?,3\] and b has \[\?,4\]"
        message = f"SimpleAdd: a and b must have the same shape, but {found}"
        with self.assertRaisesRegex(ValueError, message):
            tf.function(ops.simple_add, input_signature=signature).get_concrete_function()

    @parameterized.parameters(tf.string, tf.bool, tf.uint8)
    def test_refuses_other_types(self, dtype: tf.DType) -> None:
        x = tf.zeros([2], dtype)
        with self.assertRaisesRegex(
            tf.errors.InvalidArgumentError,
            rf"'T' of {dtype.name} .*allowed values: half, .*complex128(.|\n)*SimpleAdd",
        ):
            ops.simple_add(x, x)
        with self.assertRaisesRegex(TypeError, rf"'a' has DataType {dtype.name} not in list of allowed values"):
            tf.function(ops.simple_add)(x, x)

    def test_refuses_two_types(self) -> None:
        a, b = tf.zeros([2], tf.float32), tf.zeros([2], tf.float64)
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, r"SimpleAdd.*float.*double|double.*float"):
            ops.simple_add(a, b)
        with self.assertRaisesRegex(TypeError, "'b' of 'SimpleAdd' Op has type float64 .* float32"):
            tf.function(ops.simple_add)(a, b)

    @parameterized.product(dtype=(tf.float32, tf.float64), shape=[(), (0,), (4, 3)])
    def test_gradient(self, dtype: tf.DType, shape: tuple[int, ...]) -> None:
        inputs = [tf.constant(x) for x in self.pair(shape, dtype)]
        analytic, numeric = tf.test.compute_gradient(ops.simple_add, inputs)
        for one, other in zip(analytic, numeric, strict=True):
            np.testing.assert_allclose(one, other, rtol=GRADIENT_RTOL[dtype], atol=GRADIENT_RTOL[dtype])

    @parameterized.product(dtype=(*FLOATS, *COMPLEX), mode=op_test_case.MODES)
    def test_gradient_of_every_type(self, dtype: tf.DType, mode: str) -> None:
        def gradients(a: tf.Tensor, b: tf.Tensor, weight: tf.Tensor) -> list[tf.Tensor]:
            with tf.GradientTape() as tape:
                tape.watch([a, b])
                y = ops.simple_add(a, b) * weight
            result: list[tf.Tensor] = tape.gradient(y, [a, b])
            return result

        weight = np.array([1.0, -2.0, 0.5]).astype(dtype.as_numpy_dtype)
        for gradient in self.in_mode(mode, gradients)(*map(tf.constant, (*self.pair((3,), dtype), weight))):
            self.assert_same(weight, gradient)

    def test_second_gradient(self) -> None:
        a, b = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
        with tf.GradientTape() as outer:
            outer.watch(a)
            with tf.GradientTape() as inner:
                inner.watch(a)
                y = ops.simple_add(a, b) ** 3
            first = inner.gradient(y, a)
        np.testing.assert_allclose(outer.gradient(first, a), 6 * (a + b), rtol=1e-6)

    def test_gradient_of_one_tensor_twice(self) -> None:
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = ops.simple_add(x, x)
        np.testing.assert_array_equal(tape.gradient(y, x), [2.0, 2.0])

    def test_name(self) -> None:
        with tf.Graph().as_default():
            self.assertEqual(ops.simple_add(1.0, 2.0, name="sum").op.name, "sum")
            self.assertEqual(ops.simple_add(1.0, 2.0).op.type, "SimpleAdd")

    def test_reuses_the_buffer_of_either_input(self) -> None:
        kept = tf.constant(np.ones(1000, np.float32)).numpy()
        self.assert_buffer_reused(ops.simple_add, (1000,), (1000,))
        self.assert_buffer_reused(lambda x: ops.simple_add(x, kept), (1000,))
        self.assert_buffer_reused(lambda x: ops.simple_add(kept, x), (1000,))

    @parameterized.parameters(*op_test_case.MODES)
    def test_keeps_inputs_that_are_still_needed(self, mode: str) -> None:
        def all_three(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
            a, b = x + 1.0, x + 2.0
            return a, b, ops.simple_add(a, b)

        a, b, y = self.in_mode(mode, all_three)(tf.ones([1000]))
        np.testing.assert_array_equal(a, np.full(1000, 2.0))
        np.testing.assert_array_equal(b, np.full(1000, 3.0))
        np.testing.assert_array_equal(y, np.full(1000, 5.0))

    def test_adds_a_tensor_to_itself(self) -> None:
        x = self.random((1000,), tf.float32)
        self.assert_same(2 * x, tf.function(lambda x: ops.simple_add(x * 1.0, x * 1.0))(tf.constant(x)))
        self.assert_same(2 * x, ops.simple_add(x, x))

    def test_saved_model(self) -> None:
        self.assert_saved_model_runs_elsewhere(ops.simple_add, *self.pair((3, 5), tf.float32))

    def test_documentation(self) -> None:
        self.assertIn("does not broadcast", gen_simple_add.simple_add.__doc__)
        self.assertIn("of the shape and type of `a`", gen_simple_add.simple_add.__doc__)


if __name__ == "__main__":
    absltest.main()
