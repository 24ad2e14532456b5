# SPDX-License-Identifier: Apache-2.0
"""What the tests of ops that normalise rows share: they are tested against formulas in float64."""

from __future__ import annotations

import dataclasses
import math
import os
import pathlib
from collections.abc import Callable, Sequence
from typing import Any
from unittest import mock

import ml_dtypes
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

from tensorflow_custom_ops import _build_info
from tests import instruction_sets, op_test_case

DTYPES = (tf.half, tf.bfloat16, tf.float32, tf.float64)

# No rows, one element, and sizes beside those of vectors, warps and blocks of rows.
SHAPES: tuple[tuple[int, ...], ...] = (
    (1,),
    (7,),
    (0, 5),
    (3, 0, 2),
    (5, 1),
    (2, 3),
    (9, 1, 33),
    (2, 1, 3, 1, 2, 1, 5),
    (66, 130),
    (3, 1027),
)

# More rows than there are blocks for each to have few, and rows that no cache of the first level has.
MANY_ROWS = (4500, 5)
LONG_ROWS = (3, 65_539)

# Rounding errors of so many operations beside sums, in units of the last place of the type that is computed in.
ULPS = 8

# Of difference quotients in float64, of functions whose derivatives are of order 1.
DELTA = 1e-5
NUMERIC_TOLERANCE = 1e-7

_PRINT_DIGESTS = """
import hashlib, sys
import numpy as np
import tensorflow as tf
tf.config.threading.set_intra_op_parallelism_threads(int(sys.argv[1]))
import tensorflow_custom_ops as ops
function = getattr(ops, sys.argv[2])
rows, vectors = int(sys.argv[3]), int(sys.argv[4])
for dtype in (tf.half, tf.bfloat16, tf.float32, tf.float64):
    for shape in ((1, 70000), (700, 1030), (3, 9000, 7)):
        generator = np.random.default_rng(0)
        inputs = [tf.cast(generator.standard_normal(shape), dtype) for _ in range(rows)]
        inputs += [tf.cast(generator.standard_normal(shape[-1:]), dtype) for _ in range(vectors)]
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            y = function(*inputs)
        for tensor in tf.nest.flatten([y, tape.gradient(y, inputs)]):
            print(hashlib.sha256(tensor.numpy().tobytes()).hexdigest())
"""

_RUN = """
import sys
import numpy as np
import tensorflow as tf
import tensorflow_custom_ops as ops
arrays = list(np.load(sys.argv[1]).values())
for dtype in (tf.half, tf.bfloat16, tf.float32, tf.float64):
    inputs = [tf.cast(array, dtype) for array in arrays]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        y = getattr(ops, sys.argv[3])(*inputs)
    results = tf.nest.flatten([y, tape.gradient(y, inputs)])
    np.savez(f"{sys.argv[2]}/{dtype.name}.npz", *(tf.cast(result, tf.float64) for result in results))
"""

xla_only = absltest.skipUnless(_build_info.XLA, "this build has no XLA kernels")

# A value, and the error that an implementation may have.
Expected = tuple[np.ndarray, np.ndarray]


@dataclasses.dataclass(frozen=True)
class Spec:
    """What an op is expected to do.

    Attributes:
      op: The op's name.
      function: Its Python function.
      epsilon: The default of epsilon.
      has_residual: Whether the op's inputs are x, residual and scale, and its outputs y and sum.
      has_offset: Whether the op's inputs are x, scale and offset, and the mean is subtracted.
      keras: The same by Keras, of the inputs, with the default of epsilon.
    """

    op: str
    function: Callable[..., Any]
    epsilon: float
    keras: Callable[..., Any]
    has_residual: bool = False
    has_offset: bool = False


def _mean(values: np.ndarray) -> np.ndarray:
    return np.mean(values, -1, keepdims=True)


class NormalizationTestCase(op_test_case.OpTestCase):
    """Tests an op against its `spec`, which a subclass has."""

    spec: Spec

    def num_rows(self) -> int:
        """How many inputs have the shape of x; they are the first."""
        return 2 if self.spec.has_residual else 1

    def num_vectors(self) -> int:
        return 2 if self.spec.has_offset else 1

    def inputs(self, shape: tuple[int, ...], dtype: tf.DType, shift: float = 0.0) -> list[np.ndarray]:
        shapes = [shape] * self.num_rows() + [shape[-1:]] * self.num_vectors()
        arrays = [self.random(of_input, tf.float64, seed) for seed, of_input in enumerate(shapes)]
        arrays[0] = arrays[0] + shift
        return [np.asarray(array).astype(dtype.as_numpy_dtype) for array in arrays]

    def output_grads(self, shape: tuple[int, ...], dtype: tf.DType) -> list[np.ndarray]:
        return [self.random(shape, dtype, 10 + i) for i in range(self.num_rows())]

    def call(self, epsilon: float | None = None) -> Callable[..., tuple[tf.Tensor, ...]]:
        """The op's function, with its outputs as a tuple."""
        kwargs = {} if epsilon is None else {"epsilon": epsilon}

        def function(*inputs: tf.Tensor) -> tuple[tf.Tensor, ...]:
            outputs = self.spec.function(*inputs, **kwargs)
            return outputs if self.spec.has_residual else (outputs,)

        return function

    def value_and_gradients(self, epsilon: float | None = None) -> Callable[..., tuple[Any, Any]]:
        """A function of inputs and of the outputs' gradients."""
        function = self.call(epsilon)

        def compute(inputs: Sequence[tf.Tensor], grads: Sequence[tf.Tensor]) -> tuple[Any, Any]:
            with tf.GradientTape() as tape:
                tape.watch(inputs)
                outputs = function(*inputs)
            return outputs, tape.gradient(outputs, inputs, grads)

        return compute

    def expected(
        self, inputs: Sequence[np.ndarray], grads: Sequence[np.ndarray] | None = None, epsilon: float | None = None
    ) -> tuple[list[Expected], list[Expected]]:
        """The outputs, and the gradients with respect to all inputs, with the errors that they may have.

        Errors of n roundings mostly cancel out: a sum may be off by the square root of n units in the last place of the
        sum of the absolute terms. A half type then is rounded, by half a unit.
        """
        dtype = inputs[0].dtype
        wide = np.float64 if dtype == np.float64 else np.float32
        unit = float(np.finfo(wide).eps)
        half = (
            (0.0, 0.0)
            if dtype == wide
            else (float(ml_dtypes.finfo(dtype).eps) / 2, float(ml_dtypes.finfo(dtype).smallest_subnormal))
        )
        epsilon = float(np.float32(self.spec.epsilon if epsilon is None else epsilon))

        def rounded(value: np.ndarray, error: np.ndarray) -> Expected:
            return value, error + half[0] * (np.abs(value) + error) + half[1]

        outputs = []
        x = inputs[0]
        if self.spec.has_residual:
            # Rounded to float32, and then to the type.
            x = np.asarray(x.astype(wide) + inputs[1].astype(wide)).astype(dtype)
            outputs.append((x.astype(np.float64), np.zeros(x.shape)))
        x, scale = x.astype(np.float64), inputs[self.num_rows()].astype(np.float64)
        centered = x
        if self.spec.has_offset:
            centered = x - _mean(x)
            # What rounding the mean has left.
            centered = centered - _mean(centered)
        inverse = 1 / np.sqrt(_mean(centered**2) + epsilon)
        normalized = centered * inverse
        of_sums = ULPS + math.sqrt(x.shape[-1])
        size = np.abs(normalized)
        if self.spec.has_offset:
            size = size + _mean(np.abs(normalized))
        y, error = normalized * scale, of_sums * unit * size * np.abs(scale)
        if self.spec.has_offset:
            y = y + inputs[2].astype(np.float64)
            error = error + unit * np.abs(y)
        outputs.insert(0, rounded(y, error))
        if grads is None:
            return outputs, []

        grad = grads[0].astype(np.float64)
        scaled = grad * scale
        product = scaled * normalized
        x_grad = scaled - normalized * _mean(product)
        x_size = np.abs(scaled) + np.abs(normalized) * _mean(np.abs(product))
        if self.spec.has_offset:
            x_grad = x_grad - _mean(scaled)
            x_size = x_size + _mean(np.abs(scaled))
        x_grad, x_size = x_grad * inverse, x_size * inverse
        if self.spec.has_residual:
            x_grad = x_grad + grads[1].astype(np.float64)
            x_size = x_size + np.abs(x_grad)
        row_axes = tuple(range(x.ndim - 1))
        of_rows = ULPS + math.sqrt(x.size / x.shape[-1])
        scale_size = np.sum(np.abs(grad) * size, row_axes)
        gradients = [rounded(x_grad, 2 * of_sums * unit * x_size)] * self.num_rows()
        gradients.append(rounded(np.sum(grad * normalized, row_axes), (of_sums + of_rows) * unit * scale_size))
        if self.spec.has_offset:
            gradients.append(rounded(np.sum(grad, row_axes), of_rows * unit * np.sum(np.abs(grad), row_axes)))
        return outputs, gradients

    def assert_near(self, expected: Sequence[Expected], actual: Sequence[tf.Tensor | np.ndarray]) -> None:
        self.assertLen(actual, len(expected))
        for i, ((value, error), tensor) in enumerate(zip(expected, actual, strict=True)):
            array = np.asarray(tensor)
            self.assertEqual(array.shape, value.shape, i)
            excess = np.abs(array.astype(np.float64) - value) / np.maximum(error, 1e-300)
            # Not above: NaN must not pass.
            self.assertTrue(
                np.all(excess <= 1), f"result {i} is off by {np.max(excess, initial=0):.2f} times the bound"
            )

    def check(
        self,
        inputs: Sequence[np.ndarray],
        mode: str = "eager",
        epsilon: float | None = None,
    ) -> None:
        """Checks the outputs and the gradients."""
        dtype = tf.as_dtype(inputs[0].dtype)
        grads = self.output_grads(inputs[0].shape, dtype)
        function = self.in_mode(mode, self.value_and_gradients(epsilon))
        outputs, gradients = function([*map(tf.constant, inputs)], [*map(tf.constant, grads)])
        for tensor in [*outputs, *gradients]:
            self.assertEqual(tensor.dtype, dtype)
        expected_outputs, expected_gradients = self.expected(inputs, grads, epsilon)
        self.assert_near(expected_outputs, outputs)
        self.assert_near(expected_gradients, gradients)

    @parameterized.product(dtype=DTYPES, mode=op_test_case.MODES)
    def test_values_and_gradients(self, dtype: tf.DType, mode: str) -> None:
        for shape in SHAPES:
            with self.subTest(shape=shape):
                self.check(self.inputs(shape, dtype), mode)

    @parameterized.parameters(*DTYPES)
    def test_row_sizes(self, dtype: tf.DType) -> None:
        # Beside powers of two, up to 65,536.
        for exponent in range(17):
            for n in sorted({max(2**exponent + offset, 1) for offset in (-1, 0, 1)}):
                with self.subTest(n=n):
                    self.check(self.inputs((2, n), dtype))

    @parameterized.product(dtype=DTYPES, mode=op_test_case.MODES, shape=(MANY_ROWS, LONG_ROWS))
    def test_large(self, dtype: tf.DType, mode: str, shape: tuple[int, ...]) -> None:
        self.check(self.inputs(shape, dtype), mode)

    @parameterized.product(epsilon=(0.0, 1e-8, 0.5, 3.0), mode=op_test_case.MODES)
    def test_epsilon(self, epsilon: float, mode: str) -> None:
        self.check(self.inputs((5, 33), tf.float32), mode, epsilon)

    @parameterized.parameters(*DTYPES)
    def test_not_aligned(self, dtype: tf.DType) -> None:
        inputs = self.inputs((6, 32), dtype)
        # As views that begin one row later, and the rows of which begin anywhere.
        expected, _ = self.expected([array[1:] if array.ndim == 2 else array for array in inputs])
        tensors = [tf.constant(array)[1:] if array.ndim == 2 else tf.constant(array) for array in inputs]
        self.assert_near(expected, self.call()(*tensors))

    @parameterized.parameters(*op_test_case.MODES)
    def test_agrees_with_keras(self, mode: str) -> None:
        inputs = [tf.constant(array) for array in self.inputs((3, 5, 40), tf.float32)]
        outputs = self.in_mode(mode, self.call())(*inputs)
        for ours, keras in zip(outputs, tf.nest.flatten(self.spec.keras(*inputs)), strict=True):
            np.testing.assert_allclose(ours, keras, rtol=1e-5, atol=1e-6)

    @parameterized.parameters(*op_test_case.MODES)
    def test_nan_stays_in_its_row(self, mode: str) -> None:
        for dtype in DTYPES:
            inputs = self.inputs((4, 37), dtype)
            inputs[0][1, 36] = np.nan
            inputs[0][2, 3] = np.inf
            grads = self.output_grads((4, 37), dtype)
            function = self.in_mode(mode, self.value_and_gradients())
            outputs, gradients = function([*map(tf.constant, inputs)], [*map(tf.constant, grads)])
            y, x_grad = (tensor.numpy().astype(np.float32) for tensor in (outputs[0], gradients[0]))
            self.assertTrue(np.all(np.isnan(y[1])))
            self.assertTrue(np.all(np.isnan(x_grad[1])))
            self.assertTrue(np.all(np.isfinite(y[[0, 3]])))
            self.assertTrue(np.all(np.isfinite(x_grad[[0, 3]])))
            is_nan = np.isnan(y[2])
            if self.spec.has_offset:
                self.assertTrue(np.all(is_nan))
            else:
                np.testing.assert_array_equal(np.flatnonzero(is_nan), [3])
                np.testing.assert_array_equal(np.delete(y[2], 3), 0)

    @parameterized.parameters(*op_test_case.MODES)
    def test_large_values(self, mode: str) -> None:
        for dtype in (tf.bfloat16, tf.float32):
            # Squares that are within the range, and some that are not.
            inputs = self.inputs((1, 4), dtype)
            for array in inputs[: self.num_rows()]:
                array[...] = array * np.asarray(1e18, array.dtype)
            self.check(inputs, mode)
            for array in inputs[: self.num_rows()]:
                array[...] = array * np.asarray(1e4, array.dtype)
            y, *_ = self.in_mode(mode, self.call())(*map(tf.constant, inputs))
            expected = inputs[2] if self.spec.has_offset else np.zeros(4)
            np.testing.assert_array_equal(y.numpy().astype(np.float64), [expected.astype(np.float64)])

    @parameterized.product(dtype=DTYPES, mode=op_test_case.MODES)
    def test_zeros(self, dtype: tf.DType, mode: str) -> None:
        inputs = self.inputs((3, 21), dtype)
        for array in inputs[: self.num_rows()]:
            array[:] = 0
        self.check(inputs, mode)
        y, *_ = self.in_mode(mode, self.call(0.0))(*map(tf.constant, inputs))
        self.assertTrue(np.all(np.isnan(y.numpy().astype(np.float32))))

    def gradients_sum(self, weights: Sequence[tf.Tensor]) -> Callable[..., tf.Tensor]:
        """A weighted sum of all gradients, as a function of the inputs and the outputs' gradients."""
        compute = self.value_and_gradients()

        def function(*arguments: tf.Tensor) -> tf.Tensor:
            inputs, grads = arguments[: -self.num_rows()], arguments[-self.num_rows() :]
            _, gradients = compute(list(inputs), list(grads))
            return tf.add_n([tf.reduce_sum(w * g) for w, g in zip(weights, gradients, strict=True)])

        return function

    @parameterized.parameters(*op_test_case.MODES)
    def test_second_derivative(self, mode: str) -> None:
        inputs = self.inputs((2, 3, 5), tf.float64)
        arguments = [tf.constant(array) for array in inputs + self.output_grads((2, 3, 5), tf.float64)]
        weights = [tf.constant(self.random(array.shape, tf.float64, 20 + i)) for i, array in enumerate(inputs)]
        function = self.gradients_sum(weights)

        def gradient(*arguments: tf.Tensor) -> list[tf.Tensor]:
            with tf.GradientTape() as tape:
                tape.watch(arguments)
                value = function(*arguments)
            result: list[tf.Tensor] = tape.gradient(value, arguments, unconnected_gradients="zero")
            return result

        gradients = self.in_mode(mode, gradient)(*arguments)
        for seed in range(8):
            direction = [self.random(tuple(a.shape), tf.float64, 100 * seed + i) for i, a in enumerate(arguments)]
            values = [
                function(*(a + sign * DELTA * d for a, d in zip(arguments, direction, strict=True))) for sign in (1, -1)
            ]
            expected = float(values[0] - values[1]) / (2 * DELTA)
            actual = sum(float(tf.reduce_sum(g * d)) for g, d in zip(gradients, direction, strict=True))
            self.assertAlmostEqual(actual, expected, delta=NUMERIC_TOLERANCE * max(1.0, abs(expected)) * 10)

    @parameterized.parameters(*DTYPES)
    def test_second_derivative_has_the_type(self, dtype: tf.DType) -> None:
        arguments = [tf.constant(a) for a in self.inputs((3, 5), dtype) + self.output_grads((3, 5), dtype)]
        function = self.gradients_sum([tf.ones([], dtype)] * (len(arguments) - self.num_rows()))
        with tf.GradientTape() as tape:
            tape.watch(arguments)
            value = function(*arguments)
        for argument, gradient in zip(arguments, tape.gradient(value, arguments), strict=True):
            if gradient is not None:
                self.assertEqual((gradient.dtype, gradient.shape), (dtype, argument.shape))

    def test_third_derivative(self) -> None:
        x, *others = (tf.constant(array) for array in self.inputs((2, 5), tf.float64))

        def derivative(order: int, x: tf.Tensor) -> tf.Tensor:
            if order == 0:
                return tf.reduce_sum(tf.sin(self.call()(x, *others)[0]))
            with tf.GradientTape() as tape:
                tape.watch(x)
                value = derivative(order - 1, x)
            return tf.reduce_sum(tape.gradient(value, x) ** 2)

        direction = tf.constant(self.random((2, 5), tf.float64, 7))
        with tf.GradientTape() as tape:
            tape.watch(x)
            value = derivative(2, x)
        actual = float(tf.reduce_sum(tape.gradient(value, x) * direction))
        quotient = float(derivative(2, x + DELTA * direction) - derivative(2, x - DELTA * direction)) / (2 * DELTA)
        self.assertAlmostEqual(actual / quotient, 1, delta=1e-6)

    def test_forward_mode(self) -> None:
        inputs = [tf.constant(array) for array in self.inputs((3, 6), tf.float64)]
        tangents = [tf.constant(self.random(tuple(x.shape), tf.float64, 30 + i)) for i, x in enumerate(inputs)]
        with tf.autodiff.ForwardAccumulator(inputs, tangents) as accumulator:
            y = self.call()(*inputs)[0]
        moved = [
            self.call()(*(x + sign * DELTA * t for x, t in zip(inputs, tangents, strict=True)))[0] for sign in (1, -1)
        ]
        np.testing.assert_allclose(accumulator.jvp(y), (moved[0] - moved[1]) / (2 * DELTA), rtol=1e-6, atol=1e-8)

    def test_gradient_of_one_input(self) -> None:
        inputs = [tf.constant(array) for array in self.inputs((3, 6), tf.float32)]
        for x in inputs:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = self.call()(*inputs)[0]
            self.assertEqual(tape.gradient(y, x).shape, x.shape)

    @parameterized.product(mode=op_test_case.MODES, axis=(-3, -2, -1, 0, 1, 2))
    def test_axis(self, mode: str, axis: int) -> None:
        inputs = self.inputs((2, 5, 3), tf.float32)
        rows = self.num_rows()
        n = inputs[0].shape[axis]
        vectors = [self.random((n,), tf.float32, 40 + i) for i in range(self.num_vectors())]
        function = self.in_mode(mode, lambda *xs: tf.nest.flatten(self.spec.function(*xs, axis=axis)))
        results = function(*map(tf.constant, [*inputs[:rows], *vectors]))
        expected, _ = self.expected([*(np.moveaxis(array, axis, -1) for array in inputs[:rows]), *vectors])
        self.assert_near(expected, [np.moveaxis(result.numpy(), axis, -1) for result in results])

    def test_refuses_an_axis(self) -> None:
        name = self.spec.function.__name__
        inputs = self.inputs((2, 3), tf.float32)
        for axis in (2, -3):
            with self.assertRaisesRegex(
                ValueError, f"{name}: axis must be one of the 2 dimensions of x, but is {axis}"
            ):
                self.spec.function(*inputs, axis=axis)
        for other in (0.0, None, True, (0, 1)):
            with self.assertRaisesRegex(TypeError, f"{name}: axis must be an int, but is "):
                self.spec.function(*inputs, axis=other)
        signature = [tf.TensorSpec(None, tf.float32)] * len(inputs)
        with self.assertRaisesRegex(ValueError, f"{name}: axis must be -1 where the rank of x is unknown, but is 0"):
            tf.function(lambda *xs: self.spec.function(*xs, axis=0), signature, autograph=False).get_concrete_function()

    @parameterized.parameters(*op_test_case.MODES)
    def test_refuses_shapes(self, mode: str) -> None:
        op = self.spec.op
        good = self.inputs((2, 3), tf.float32)
        cases = [
            (0, np.float32(1), f"{op}: x must have at least one dimension, but it is a scalar"),
            (
                0,
                np.ones([2, 0], np.float32),
                f"{op}: the last dimension of x must have at least one element, but x has "
                r"shape \[2,0\]: empty rows have no mean",
            ),
            (
                self.num_rows(),
                np.ones([4], np.float32),
                f"{op}: scale must have shape .n., where n is the last "
                r"dimension of x, 3, but it has shape \[4\]",
            ),
            (
                self.num_rows(),
                np.ones([1, 3], np.float32),
                f"{op}: scale must have shape .n., .*, 3, but it has shape "
                r"\[1,3\]",
            ),
            (self.num_rows(), np.float32(1), rf"{op}: scale must have shape .n., .*, but it has shape \[\]"),
        ]
        if self.spec.has_residual:
            cases.append(
                (
                    1,
                    np.ones([1, 3], np.float32),
                    f"{op}: residual must have the shape of x, "
                    r"\[2,3\], but it has shape \[1,3\]",
                )
            )
        if self.spec.has_offset:
            cases.append(
                (
                    2,
                    np.ones([2], np.float32),
                    f"{op}: offset must have shape .n., .*, 3, but it has shape "
                    r"\[2\]",
                )
            )
        for index, array, message in cases:
            arrays = [*good[:index], array, *good[index + 1 :]]
            with self.subTest(message):
                # Known while the function is traced, or only when it runs.
                for spec in (None, [tf.TensorSpec(None, tf.float32)] * len(arrays)):
                    function: Callable[..., Any] = self.call()
                    if mode != "eager":
                        function = tf.function(function, spec, autograph=False, jit_compile=mode == "jit")
                    with self.assertRaisesRegex((tf.errors.InvalidArgumentError, ValueError), message):
                        function(*map(tf.constant, arrays))

    def test_refuses_partial_shapes_that_cannot_fit(self) -> None:
        """Whatever inputs the sizes are known of, the op says itself what does not fit."""
        op = self.spec.op
        rows = self.num_rows()
        cases: list[tuple[list[list[int | None] | None], str]] = []
        vectors = len(self.inputs((2, 3), tf.float32)) - rows
        if vectors == 2:
            cases.append(([None] * rows + [[3], [4]], f"{op}: offset must have shape .n., .*, 3, but it has shape .4."))
        if rows == 2:
            message = f"{op}: residual must have the shape of x, .*, but it has shape"
            cases.append(([[None, 3], [None, 4], *[None] * vectors], message))
            message = rf"{op}: scale must have shape .n., .*, 4, but it has shape \[3\]"
            cases.append(([[None, None], [2, 4], [3]], message))
        shapes: list[list[int | None] | None] = [[None, 4], *[None] * (rows - 1), [3], *[None] * (vectors - 1)]
        cases.append((shapes, f"{op}: scale must have shape .n., .*, 4, but"))
        for shapes, message in cases:
            with self.subTest(message), self.assertRaisesRegex(ValueError, message):
                tf.function(self.call()).get_concrete_function(*map(tf.TensorSpec, shapes))

    @parameterized.parameters(*op_test_case.MODES)
    def test_refuses_epsilon(self, mode: str) -> None:
        inputs = [*map(tf.constant, self.inputs((2, 3), tf.float32))]
        for epsilon in (-1.0, math.inf, math.nan):
            with self.assertRaisesRegex(
                (tf.errors.InvalidArgumentError, ValueError),
                f"{self.spec.op}: epsilon must be finite and not negative, but it is {epsilon:g}",
            ):
                self.in_mode(mode, self.call(epsilon))(*inputs)
        for value in (None, True, "1", [1.0]):
            with self.assertRaisesRegex(TypeError, "epsilon must be a number, but is "):
                self.spec.function(*inputs, epsilon=value)

    def test_refuses_types(self) -> None:
        inputs = self.inputs((2, 3), tf.float32)
        with self.assertRaises((tf.errors.InvalidArgumentError, tf.errors.NotFoundError)):
            self.call()(*(tf.constant(array.astype(np.int32)) for array in inputs))
        with self.assertRaises(tf.errors.InvalidArgumentError):
            self.call()(*map(tf.constant, inputs[:-1]), tf.constant(inputs[-1], tf.float64))

    @parameterized.parameters(
        ([2, 4], [4], [2, 4]),
        ([None, 4], [4], [None, 4]),
        ([2, None], [4], [2, 4]),
        ([None, None], [None], [None, None]),
        ([4], None, [4]),
        (None, [4], None),
    )
    def test_static_shape(self, x: list[int | None], scale: list[int] | None, expected: list[int | None]) -> None:
        shapes = [x] * self.num_rows() + [scale] * self.num_vectors()
        signature = [tf.TensorSpec(shape, tf.float32) for shape in shapes]

        def function(*inputs: tf.Tensor) -> None:
            with tf.GradientTape() as tape:
                tape.watch(inputs)
                outputs = self.call()(*inputs)
            gradients = tape.gradient(outputs, inputs)
            for tensor in (*outputs, gradients[0]):
                self.assertEqual(tensor.shape.as_list() if tensor.shape.rank is not None else None, expected)
            for tensor in gradients[self.num_rows() :]:
                self.assertEqual(tensor.shape.as_list(), [expected[-1] if expected else 4])

        tf.function(function, signature, autograph=False).get_concrete_function()

    @parameterized.product(mode=[mode for mode in op_test_case.MODES if mode != "eager"])
    def test_unknown_shapes(self, mode: str) -> None:
        for shape in ([None, 5], [None, None], None):
            rows = [tf.TensorSpec(shape, tf.float32)] * self.num_rows()
            vectors = [tf.TensorSpec(shape and shape[-1:], tf.float32)] * self.num_vectors()
            function = tf.function(
                self.value_and_gradients(), [[*rows, *vectors], rows], autograph=False, jit_compile=mode == "jit"
            )
            for size in (2, 7):
                inputs, grads = self.inputs((size, 5), tf.float32), self.output_grads((size, 5), tf.float32)
                outputs, gradients = function([*map(tf.constant, inputs)], [*map(tf.constant, grads)])
                expected = self.expected(inputs, grads)
                self.assert_near(expected[0], outputs)
                self.assert_near(expected[1], gradients)

    @parameterized.parameters(*op_test_case.MODES)
    def test_vectorized_map(self, mode: str) -> None:
        inputs = self.inputs((4, 3, 5), tf.float32)
        grads = self.output_grads((4, 3, 5), tf.float32)
        rows, vectors = inputs[: self.num_rows()], [*map(tf.constant, inputs[self.num_rows() :])]
        compute = self.value_and_gradients()

        def mapped(rows: list[tf.Tensor], grads: list[tf.Tensor]) -> Any:  # noqa: ANN401
            return tf.vectorized_map(lambda both: compute([*both[0], *vectors], list(both[1])), (rows, grads))

        outputs, gradients = self.in_mode(mode, mapped)([*map(tf.constant, rows)], [*map(tf.constant, grads)])
        for i in range(4):
            expected = self.expected(
                [*(array[i] for array in rows), *(v.numpy() for v in vectors)], [g[i] for g in grads]
            )
            self.assert_near(expected[0], [tensor[i] for tensor in outputs])
            self.assert_near(expected[1], [tensor[i] for tensor in gradients])

    def test_vectorized_map_makes_no_loop(self) -> None:
        inputs = [*map(tf.constant, self.inputs((4, 3, 5), tf.float32))]
        rows, vectors = inputs[: self.num_rows()], inputs[self.num_rows() :]

        def gradients(*rows: tf.Tensor) -> Any:  # noqa: ANN401 - a structure of tensors
            with tf.GradientTape() as tape:
                tape.watch([*rows, *vectors])
                y = self.call()(*rows, *vectors)[0]
            return tape.gradient(y, [*rows, *vectors])

        function = tf.function(lambda *rows: tf.vectorized_map(lambda of: gradients(*of), rows), autograph=False)
        types = {node.type for node in function.get_concrete_function(*rows).graph.get_operations()}
        self.assertContainsSubset({self.spec.op, self.spec.op + "Grad"}, types)
        self.assertNoCommonElements({"While", "StatelessWhile"}, types)

    def test_vectorized_map_over_scales(self) -> None:
        inputs = self.inputs((4, 5), tf.float32)
        rows = [*map(tf.constant, inputs[: self.num_rows()])]
        vectors = [tf.constant(self.random((4, 5), tf.float32, 50 + i)) for i in range(self.num_vectors())]
        y = tf.vectorized_map(lambda both: self.call()(*both[0], *both[1])[0], (rows, vectors))
        expected = [self.call()(*(x[i] for x in rows), *(v[i] for v in vectors))[0] for i in range(4)]
        np.testing.assert_array_equal(y, expected)

    @parameterized.parameters(*op_test_case.MODES)
    def test_jacobian(self, mode: str) -> None:
        x, *others = (tf.constant(array) for array in self.inputs((2, 3), tf.float64))

        def jacobian(x: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = self.call()(x, *others)[0]
            return tape.jacobian(y, x)

        rows = []
        for i in range(6):
            step = tf.reshape(tf.one_hot(i, 6, dtype=tf.float64), [2, 3]) * DELTA
            rows.append((self.call()(x + step, *others)[0] - self.call()(x - step, *others)[0]) / (2 * DELTA))
        expected = tf.reshape(tf.stack(rows, -1), [2, 3, 2, 3])
        np.testing.assert_allclose(self.in_mode(mode, jacobian)(x), expected, atol=1e-7)

    @op_test_case.cpu_only
    def test_does_not_depend_on_the_number_of_threads(self) -> None:
        arguments = (self.spec.function.__name__, str(self.num_rows()), str(self.num_vectors()))
        digests = {self.run_python(_PRINT_DIGESTS, threads, *arguments).stdout for threads in ("1", "2", "5")}
        self.assertLen(digests, 1)
        of_each = 2 * self.num_rows() + self.num_vectors()
        self.assertLen(digests.pop().split(), len(DTYPES) * 3 * of_each)

    @op_test_case.cpu_only
    @parameterized.product(isa=instruction_sets.of_processor())
    def test_instruction_set(self, isa: str) -> None:
        directory = pathlib.Path(self.create_tempdir().full_path)
        arrays = self.inputs((67, 213), tf.float64)
        np.savez(directory / "inputs.npz", *arrays)
        log = {"TF_CPP_VMODULE": "cpu_op=1", "TF_CPP_MIN_LOG_LEVEL": "0"}
        with mock.patch.dict(os.environ, {"TF_CUSTOM_OPS_ISA": isa, **log}):
            name = self.spec.function.__name__
            result = self.run_python(_RUN, str(directory / "inputs.npz"), str(directory), name)
        for op in (self.spec.op, self.spec.op + "Grad"):
            self.assertRegex(result.stderr, rf"{op}: the code for {isa}\n")
            self.assertNotRegex(result.stderr, rf"{op}: the code for (?!{isa}\n)")
        for dtype in DTYPES:
            with self.subTest(dtype=dtype.name):
                # By TensorFlow, as in the program, for NumPy's bfloat16 may round a float64 twice.
                inputs = [tf.cast(array, dtype).numpy() for array in arrays]
                outputs, gradients = self.expected(inputs, [np.ones_like(inputs[0])] * self.num_rows())
                results = list(np.load(directory / f"{dtype.name}.npz").values())
                self.assert_near(outputs + gradients, results)

    def test_reuses_the_input_buffer(self) -> None:
        shapes = [(8, 500)] * self.num_rows() + [(500,)] * self.num_vectors()
        self.assert_buffer_reused(lambda *inputs: self.call()(*inputs)[0], *shapes)

    @parameterized.parameters(*op_test_case.MODES)
    def test_keeps_an_input_that_is_still_needed(self, mode: str) -> None:
        inputs = self.inputs((8, 50), tf.float32)

        def both(*inputs: tf.Tensor) -> tuple[tf.Tensor, ...]:
            shifted = [x + 1.0 for x in inputs]
            return (*shifted, *self.call()(*shifted))

        results = self.in_mode(mode, both)(*map(tf.constant, inputs))
        shifted = [array + np.float32(1) for array in inputs]
        for expected, actual in zip(shifted, results, strict=False):
            self.assert_same(expected, actual)
        self.assert_near(self.expected(shifted)[0], results[len(shifted) :])

    def test_saved_model(self) -> None:
        self.assert_saved_model_runs_elsewhere(lambda *xs: self.call()(*xs)[0], *self.inputs((3, 5), tf.float32))

    def test_takes_what_converts(self) -> None:
        rows, vectors = [[[1.0, 2.0]]] * self.num_rows(), [np.array([1, 2], np.float32)] * self.num_vectors()
        self.assertEqual(self.call()(*rows, *vectors)[0].shape, [1, 2])

    def test_name(self) -> None:
        with tf.Graph().as_default():
            y = self.spec.function(*self.inputs((2, 3), tf.float32), name="norm")
            op = tf.nest.flatten(y)[0].op
            self.assertEqual((op.name, op.type), ("norm", self.spec.op))

    @xla_only
    def test_calls_the_kernel(self) -> None:
        # The interface for custom calls is in TensorFlow's wheel since 2.20.
        custom_calls = tuple(map(int, tf.__version__.split(".")[:2])) >= (2, 20)
        inputs = [*map(tf.constant, self.inputs((4, 5), tf.float32))]
        grads = [*map(tf.constant, self.output_grads((4, 5), tf.float32))]
        function = tf.function(self.value_and_gradients(), jit_compile=True, autograph=False)
        hlo = function.experimental_get_compiler_ir(inputs, grads)(stage="optimized_hlo")
        for name in ("Normalization", "NormalizationGrad"):
            self.assertEqual(f'custom_call_target="tensorflow_custom_ops.{name}"' in hlo, custom_calls)

    @xla_only
    @parameterized.product(dtype=DTYPES, size=(0, 1, 5, 8))
    def test_dynamic_rows(self, dtype: tf.DType, size: int) -> None:
        if self.spec.has_residual:
            self.skipTest("two inputs would have such a size")
        inputs, grads = self.inputs((8, 6), dtype), self.output_grads((8, 6), dtype)
        selected = np.arange(8) < size
        compute = self.value_and_gradients()

        def function(inputs: list[tf.Tensor], grads: list[tf.Tensor], selected: tf.Tensor) -> tuple[Any, Any]:
            mask = lambda x: tf.boolean_mask(x, selected) if x.shape.rank == 2 else x  # noqa: E731
            return compute([*map(mask, inputs)], [*map(mask, grads)])

        outputs, gradients = tf.function(function, jit_compile=True, autograph=False)(
            [*map(tf.constant, inputs)], [*map(tf.constant, grads)], tf.constant(selected)
        )
        of_selected = [array[selected] if array.ndim == 2 else array for array in inputs]
        expected = self.expected(of_selected, [grad[selected] for grad in grads])
        self.assert_near(expected[0], outputs)
        self.assert_near(expected[1], gradients)

    @xla_only
    def test_refuses_dynamic_row_size(self) -> None:
        inputs = [*map(tf.constant, self.inputs((6,), tf.float32))]

        def function(*inputs: tf.Tensor) -> tuple[tf.Tensor, ...]:
            return self.call()(*(tf.boolean_mask(x, x > 0.0) for x in inputs))

        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, f"{self.spec.op}: under XLA, .* but x has f32"):
            tf.function(function, jit_compile=True, autograph=False)(*inputs)

    @xla_only
    def test_refuses_empty_arrays_of_a_batch_that_xla_does_not_know(self) -> None:
        inputs = [*map(tf.constant, self.inputs((3, 0, 6), tf.float32))]

        def function(selected: tf.Tensor, *inputs: tf.Tensor) -> tuple[tf.Tensor, ...]:
            return self.call()(*(tf.boolean_mask(x, selected) if x.shape.rank == 3 else x for x in inputs))

        with self.assertRaisesRegex(
            tf.errors.InvalidArgumentError, f"{self.spec.op}: under XLA, all sizes must be known .* but x has f32"
        ):
            tf.function(function, jit_compile=True, autograph=False)(tf.constant([True, False, True]), *inputs)

    @xla_only
    @parameterized.parameters("x", "grad")
    def test_refuses_a_gradient_of_another_batch(self, dynamic: str) -> None:
        if self.spec.has_residual:
            self.skipTest("it takes no such batch")
        compute = self.value_and_gradients()

        def function(selected: tf.Tensor, x: tf.Tensor, grad: tf.Tensor, *vectors: tf.Tensor) -> Any:  # noqa: ANN401
            if dynamic == "x":
                x = tf.boolean_mask(x, selected)
            else:
                grad = tf.boolean_mask(grad, selected)
            return compute([x, *vectors], [grad])

        x, *vectors = map(tf.constant, self.inputs((3, 6), tf.float32))
        (grad,) = map(tf.constant, self.output_grads((3, 6), tf.float32))
        with self.assertRaisesRegex(
            tf.errors.InvalidArgumentError,
            f"{self.spec.op}Grad: under XLA, dimension 0 of grad and x must be known while it compiles for both or",
        ):
            tf.function(function, jit_compile=True, autograph=False)(
                tf.constant([True, False, True]), x, grad, *vectors
            )
