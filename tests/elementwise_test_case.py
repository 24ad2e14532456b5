# SPDX-License-Identifier: Apache-2.0
"""What the tests of elementwise ops share: they are tested against formulas in float64."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import hypothesis
import ml_dtypes
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized
from hypothesis import strategies
from hypothesis.extra import numpy as hypothesis_numpy

from tensorflow_custom_ops import _build_info
from tests import instruction_sets, op_test_case

DTYPES = (tf.half, tf.bfloat16, tf.float32, tf.float64)
WIDE = (tf.float32, tf.float64)

# In what the half types are computed, before they are rounded once.
COMPUTED_IN = {tf.half: tf.float32, tf.bfloat16: tf.float32, tf.float32: tf.float32, tf.float64: tf.float64}

# Their rounding: half of a unit in the last place, relative to the value, and of the smallest values.
HALF_ULP = {tf.half: (2.0**-11, 2.0**-25), tf.bfloat16: (2.0**-8, 0.0), tf.float32: (0.0, 0.0), tf.float64: (0.0, 0.0)}

# More than a vector, and no multiple of one.
SIZE = 131

# How many values over the range of an input are compared.
DENSE = 20_001

# What is smaller than this many times the smallest normal number may be flushed to zero, or come from what was. The
# flushed number may be a function of the first input which is multiplied by the others.
FLUSHED = 64

# A difference quotient in float64, of a function whose values and derivatives are of order 1.
NUMERIC_DELTA = 1e-5
NUMERIC_TOLERANCE = 1e-6

BROADCASTS = (
    ((2, 3), (3,)),
    ((), (2, 3)),
    ((4, 1, 3), (5, 1)),
    ((7,), (1,)),
    ((0, 3), (1, 3)),
    ((2, 1, 2, 1), (1, 3, 1, 2)),
)

# A formula takes the inputs, in float64, and the attributes by name.
Formula = Callable[..., np.ndarray]
Attributes = Mapping[str, Any]
Shape = tuple[int, ...]
Orders = tuple[int, ...]
T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Tolerance:
    """How far a result may be from the formula.

    Attributes:
      float32: in ulps of that type, which half and bfloat16 are computed in.
      float64: in ulps of that type.
      scale: The ulp is that of the result, or of this if the result is smaller: a number, or a formula.
    """

    float32: float
    float64: float
    scale: float | Formula = 0.0


@dataclasses.dataclass(frozen=True)
class Input:
    """An input of an op.

    Attributes:
      name: Its name.
      low: Random values are from here ...
      high: ... to here: where the function does something.
      limits: All values that are allowed.
      extreme: Derivatives are tested up to this part of the type's largest number.
    """

    name: str = "input"
    low: float = -12.0
    high: float = 12.0
    limits: tuple[float, float] = (-math.inf, math.inf)
    extreme: float = 1.0


@dataclasses.dataclass(frozen=True)
class Spec:
    """What an op is expected to do.

    Attributes:
      op: The op's name.
      function: Its Python function.
      reference: The formula of its values.
      derivatives: The formulas of its derivatives, by how often it is differentiated by each input. All first and
        second ones, as far as it has them.
      tolerances: Of the values, the first derivatives, and so on.
      inputs: The inputs.
      variants: Values of the attributes. The first ones are the defaults.
      refused: Values of attributes that the op refuses, and its words.
      order: How often it can be differentiated.
    """

    op: str
    function: Callable[..., tf.Tensor]
    reference: Formula
    derivatives: Mapping[Orders, Formula]
    tolerances: tuple[Tolerance, ...]
    inputs: tuple[Input, ...] = (Input(),)
    variants: tuple[Attributes, ...] = ({},)
    refused: tuple[tuple[Attributes, str], ...] = ()
    order: int = 2


def _differentiated(function: Callable[..., tf.Tensor], orders: Orders) -> Callable[..., tf.Tensor]:
    """The function of tensors of one shape, differentiated so often by each."""
    for i, order in enumerate(orders):
        if order:
            lower = _differentiated(function, (*orders[:i], order - 1, *orders[i + 1 :]))

            def derivative(*inputs: tf.Tensor, i: int = i, lower: Callable[..., tf.Tensor] = lower) -> tf.Tensor:
                with tf.GradientTape() as tape:
                    tape.watch(inputs)
                    y = lower(*inputs)
                return tape.gradient(y, inputs[i], unconnected_gradients="zero")

            return derivative
    return function


def _rounded(attributes: Attributes) -> dict[str, Any]:
    """Attributes as the op has them: real numbers are float32."""
    return {name: float(np.float32(v)) if isinstance(v, float) else v for name, v in attributes.items()}


def _evaluated(formula: Formula, inputs: list[np.ndarray], attributes: Attributes) -> np.ndarray:
    """The formula's values, in float64, of inputs that are broadcast."""
    with np.errstate(all="ignore"):
        values = formula(*(x.astype(np.float64) for x in inputs), **_rounded(attributes))
    return np.broadcast_to(values, np.broadcast_shapes(*(x.shape for x in inputs)))


def _summed(values: np.ndarray, shape: Shape) -> np.ndarray:
    """The sum over all dimensions to which a shape has been broadcast."""
    values = values.sum(axis=tuple(range(values.ndim - len(shape))))
    axes = tuple(i for i, size in enumerate(shape) if size != values.shape[i])
    return np.asarray(values.sum(axis=axes, keepdims=True)).reshape(shape)


def sigmoid(x: np.ndarray) -> np.ndarray:
    """The logistic function, to the last digits also where it is near 0."""
    e = np.exp(-np.abs(x))
    return np.where(x > 0, 1.0, e) / (1 + e)


def softplus(x: np.ndarray) -> np.ndarray:
    """log(1 + e^x), to the last digits also where it is near 0."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


class ElementwiseTestCase(op_test_case.OpTestCase):
    """Tests an elementwise op against its `Spec`, which a subclass has as `spec`."""

    spec: Spec

    def call(self, attributes: Attributes | None = None) -> Callable[..., tf.Tensor]:
        """The op's function of its inputs alone. Without attributes it has the defaults."""
        return lambda *inputs: self.spec.function(*inputs, **(attributes or {}))

    def derivative(self, orders: Orders, attributes: Attributes) -> Callable[..., tf.Tensor]:
        return _differentiated(self.call(attributes), orders)

    def expected(self, orders: Orders, inputs: list[np.ndarray], attributes: Attributes) -> np.ndarray:
        """The formula's values, in float64."""
        formula = self.spec.derivatives[orders] if any(orders) else self.spec.reference
        # Attributes that are not given have the defaults.
        return _evaluated(formula, inputs, {**self.spec.variants[0], **attributes})

    def all_orders(self) -> list[Orders]:
        """Of the function itself, and of its derivatives that have formulas."""
        return [(0,) * len(self.spec.inputs), *self.spec.derivatives]

    def random_inputs(self, shapes: Sequence[Shape], dtype: tf.DType, seed: int = 0) -> list[np.ndarray]:
        generator = np.random.default_rng(seed)
        return [
            np.asarray(generator.uniform(x.low, x.high, shape)).astype(dtype.as_numpy_dtype)
            for x, shape in zip(self.spec.inputs, shapes, strict=True)
        ]

    def same_shapes(self, shape: Shape) -> list[Shape]:
        return [shape] * len(self.spec.inputs)

    def combinations(self, values: Sequence[float], dtype: tf.DType) -> list[np.ndarray]:
        """All combinations of the values, as far as an input may have them, and of each input's `low` and `high`."""
        of_inputs = [
            [v for v in values if math.isnan(v) or x.limits[0] <= v <= x.limits[1]] + [x.low, x.high]
            for x in self.spec.inputs
        ]
        columns = zip(*itertools.product(*of_inputs), strict=True)
        with np.errstate(over="ignore"):
            return [np.array(column).astype(dtype.as_numpy_dtype) for column in columns]

    def assert_near(self, orders: Orders, inputs: list[np.ndarray], attributes: Attributes, actual: tf.Tensor) -> None:
        """Checks values: NaN and infinite where they should be, and else within the tolerance of this order."""
        expected = self.expected(orders, inputs, attributes)
        tolerance = self.spec.tolerances[sum(orders)]
        scale = tolerance.scale if callable(tolerance.scale) else lambda *_: np.array(tolerance.scale)
        scales = _evaluated(scale, inputs, {})
        flushed = FLUSHED * _evaluated(
            lambda *x: np.maximum.reduce([np.ones_like(x[0]), *map(np.abs, x[1:])]), inputs, {}
        )
        message = f"{orders}, {attributes}"
        dtype, computed_in = actual.dtype, COMPUTED_IN[actual.dtype]
        values = actual.numpy().astype(np.float64)
        with np.errstate(over="ignore"):
            rounded = expected.astype(dtype.as_numpy_dtype).astype(np.float64)
        self.assertEqual(values.shape, expected.shape)
        finite = np.isfinite(rounded) & np.isfinite(values)
        np.testing.assert_array_equal(values[~finite], rounded[~finite], message)

        expected, values, scales, flushed = (a[finite] for a in (expected, values, scales, flushed))
        limits = np.finfo(computed_in.as_numpy_dtype)
        size = np.maximum(np.maximum(np.abs(expected), scales), limits.tiny)
        ulp = np.spacing(np.minimum(size, limits.max).astype(computed_in.as_numpy_dtype)).astype(np.float64)
        relative, absolute = HALF_ULP[dtype]
        bound = (
            getattr(tolerance, computed_in.name) * ulp + relative * np.abs(expected) + absolute + flushed * limits.tiny
        )
        error = np.abs(values - expected)
        if np.any(error > bound):
            worst = np.argmax(error / bound)
            self.fail(
                f"{message}: {values[worst]!r} instead of {expected[worst]!r} at {worst} of the {error.size} finite "
                f"ones: by {error[worst] / ulp[worst]:.1f} ulps"
            )

    def check(
        self,
        orders: Orders,
        inputs: list[np.ndarray],
        attributes: Attributes,
        mode: str = "eager",
    ) -> None:
        """Checks the function or a derivative of it."""
        actual = self.in_mode(mode, self.derivative(orders, attributes))(*map(tf.constant, inputs))
        self.assertEqual(actual.dtype.as_numpy_dtype, inputs[0].dtype.type)
        self.assert_near(orders, inputs, attributes, actual)

    def test_spec(self) -> None:
        count = len(self.spec.inputs)
        orders = [o for o in itertools.product(range(3), repeat=count) if 1 <= sum(o) <= min(self.spec.order, 2)]
        self.assertContainsSubset(orders, self.spec.derivatives)
        self.assertEqual(max(map(sum, self.spec.derivatives)), self.spec.order)
        self.assertLen(self.spec.tolerances, 1 + self.spec.order)

    @parameterized.product(dtype=DTYPES, mode=op_test_case.MODES, shape=op_test_case.SHAPES)
    def test_values(self, dtype: tf.DType, mode: str, shape: Shape) -> None:
        inputs = self.random_inputs(self.same_shapes(shape), dtype)
        self.check(self.all_orders()[0], inputs, self.spec.variants[0], mode)

    def test_defaults(self) -> None:
        inputs = self.random_inputs(self.same_shapes((SIZE,)), tf.float32)
        self.assert_near(self.all_orders()[0], inputs, {}, self.call()(*inputs))

    @parameterized.product(dtype=DTYPES, mode=op_test_case.MODES)
    def test_derivatives(self, dtype: tf.DType, mode: str) -> None:
        for attributes in self.spec.variants:
            inputs = self.random_inputs(self.same_shapes((SIZE,)), dtype)
            for orders in self.all_orders():
                self.check(orders, inputs, attributes, mode)

    @parameterized.parameters(*WIDE)
    def test_dense(self, dtype: tf.DType) -> None:
        grids = [np.linspace(x.low, x.high, DENSE) for x in self.spec.inputs]
        # Not the same places of all inputs.
        generator = np.random.default_rng(0)
        inputs = [grids[0], *map(generator.permutation, grids[1:])]
        for attributes in self.spec.variants:
            for orders in self.all_orders():
                self.check(orders, [x.astype(dtype.as_numpy_dtype) for x in inputs], attributes)

    @op_test_case.cpu_only
    @parameterized.parameters(*instruction_sets.of_processor()[:-1])
    def test_dense_with_a_lesser_instruction_set(self, isa: str) -> None:
        program = sys.modules[type(self).__module__].__file__
        tests = [f"{type(self).__name__}.{name}" for name in dir(self) if re.fullmatch(r"test_dense\d", name)]
        self.assertLen(tests, len(WIDE))
        # Without what says which tests of this process run, and where it tells of them.
        environment = {name: value for name, value in os.environ.items() if not re.match("TEST|XML_OUTPUT", name)}
        result = subprocess.run(
            [sys.executable, str(program), *tests],
            env={**environment, "PYTHONPATH": os.pathsep.join(sys.path), "TF_CUSTOM_OPS_ISA": isa},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(f"Ran {len(tests)} tests", result.stderr)

    def test_large(self) -> None:
        inputs = self.random_inputs(self.same_shapes((op_test_case.LARGE,)), tf.float32)
        self.check(self.all_orders()[0], inputs, self.spec.variants[0])

    @parameterized.product(dtype=DTYPES, mode=op_test_case.MODES)
    def test_special_values(self, dtype: tf.DType, mode: str) -> None:
        limits = np.finfo(dtype.as_numpy_dtype) if dtype != tf.bfloat16 else ml_dtypes.finfo(ml_dtypes.bfloat16)
        small = FLUSHED * float(limits.tiny)
        finite = [0.0, -0.0, 1.0, -1.0, small, -small, dtype.max, dtype.min]
        for attributes in self.spec.variants:
            inputs = self.combinations([*map(float, finite), math.nan, math.inf, -math.inf], dtype)
            self.check(self.all_orders()[0], inputs, attributes, mode)

    @parameterized.parameters(*DTYPES)
    def test_derivatives_of_extreme_values(self, dtype: tf.DType) -> None:
        extreme = float(dtype.max) * min(x.extreme for x in self.spec.inputs)
        values = [0.0, 1.0, -1.0, 50.0, -50.0, 100.0, -100.0, extreme, -extreme]
        for attributes in self.spec.variants:
            inputs = self.combinations(values, dtype)
            for orders in self.spec.derivatives:
                self.check(orders, inputs, attributes)

    @parameterized.parameters(*DTYPES)
    def test_derivatives_of_nan(self, dtype: tf.DType) -> None:
        inputs = [np.full(SIZE, np.nan).astype(dtype.as_numpy_dtype) for _ in self.spec.inputs]
        for attributes in self.spec.variants:
            for orders in self.spec.derivatives:
                if sum(orders) == 1:
                    y = self.derivative(orders, attributes)(*map(tf.constant, inputs))
                    self.assertTrue(np.all(np.isnan(y.numpy().astype(np.float32))), f"{orders}, {attributes}")

    @hypothesis.settings(deadline=None, derandomize=True, database=None, max_examples=200)
    @hypothesis.given(strategies.data())
    def test_any_arrays(self, data: strategies.DataObject) -> None:
        shape = data.draw(hypothesis_numpy.array_shapes(min_dims=0, max_dims=6, min_side=0, max_side=7))
        limits = np.finfo(np.float32)
        inputs = [
            data.draw(
                hypothesis_numpy.arrays(
                    np.float32,
                    shape,
                    elements={
                        "min_value": max(x.limits[0], float(limits.min)),
                        "max_value": min(x.limits[1], float(limits.max)),
                        # TensorFlow's threads may flush denormals to zero, for every op.
                        "allow_subnormal": False,
                    },
                )
            )
            for x in self.spec.inputs
        ]
        attributes = data.draw(strategies.sampled_from(self.spec.variants))
        self.check(self.all_orders()[0], inputs, attributes)

    def test_numeric_derivatives(self) -> None:
        inputs = [tf.constant(x) for x in self.random_inputs(self.same_shapes((17,)), tf.float64)]
        for attributes in self.spec.variants:
            for orders in self.all_orders():
                if sum(orders) < self.spec.order:
                    # Each kernel's derivative, whatever the formulas are.
                    analytic, numeric = tf.test.compute_gradient(
                        self.derivative(orders, attributes), inputs, NUMERIC_DELTA
                    )
                    for one, other in zip(analytic, numeric, strict=True):
                        np.testing.assert_allclose(
                            one, other, rtol=NUMERIC_TOLERANCE, atol=NUMERIC_TOLERANCE, err_msg=f"{orders}"
                        )

    @parameterized.parameters(*DTYPES)
    def test_weights(self, dtype: tf.DType) -> None:
        attributes = self.spec.variants[0]
        inputs = self.random_inputs(self.same_shapes((SIZE,)), dtype)
        # Powers of two, whose products are exact.
        weights = np.random.default_rng(0).choice([1.0, -2.0, 0.5], SIZE)
        tensors = [tf.constant(x) for x in inputs]
        with tf.GradientTape() as tape:
            tape.watch(tensors)
            y = self.call(attributes)(*tensors)
        gradients = tape.gradient(y, tensors, tf.constant(weights, dtype))
        for orders, gradient in zip(self.first_orders(), gradients, strict=True):
            self.assert_near(orders, inputs, attributes, gradient / tf.constant(weights, dtype))

    def first_orders(self) -> list[Orders]:
        """Of the first derivatives, by each input."""
        count = len(self.spec.inputs)
        return [tuple(int(i == j) for j in range(count)) for i in range(count)]

    @parameterized.parameters(*(mode for mode in op_test_case.MODES if mode != "jit"))
    def test_refuses_higher_order(self, mode: str) -> None:
        orders = (self.spec.order + 1, *[0] * (len(self.spec.inputs) - 1))
        inputs = [tf.constant(x) for x in self.random_inputs(self.same_shapes((3,)), tf.float32)]
        message = (
            f"{self.spec.op}Grad: {self.spec.op} has derivatives up to order {self.spec.order}, so orders must add up "
            f"to less, but they are {', '.join(map(str, (self.spec.order, *orders[1:])))}"
        )
        with self.assertRaisesRegex(tf.errors.UnimplementedError, message):
            self.in_mode(mode, self.derivative(orders, {}))(*inputs)

    def test_forward_mode(self) -> None:
        attributes = self.spec.variants[0]
        inputs = self.random_inputs(self.same_shapes((SIZE,)), tf.float64)
        directions = self.random_inputs(self.same_shapes((SIZE,)), tf.float64, seed=1)
        tensors = [tf.constant(x) for x in inputs]
        with tf.autodiff.ForwardAccumulator(tensors, [tf.constant(t) for t in directions]) as accumulator:
            y = self.call(attributes)(*tensors)
        expected = sum(
            self.expected(orders, inputs, attributes) * direction
            for orders, direction in zip(self.first_orders(), directions, strict=True)
        )
        np.testing.assert_allclose(accumulator.jvp(y), expected, rtol=1e-9, atol=1e-9)

    def test_vectorized_map(self) -> None:
        inputs = [tf.constant(x) for x in self.random_inputs(self.same_shapes((5, 3)), tf.float32)]
        for attributes in self.spec.variants:
            for orders in self.all_orders():
                function = self.derivative(orders, attributes)
                rows = tf.vectorized_map(lambda x, f=function: f(*x), tuple(inputs), fallback_to_while_loop=False)
                self.assert_same(function(*inputs).numpy(), rows)

    def test_jacobian(self) -> None:
        attributes = self.spec.variants[0]
        inputs = self.random_inputs(self.same_shapes((7,)), tf.float64)
        tensors = [tf.constant(x) for x in inputs]
        with tf.GradientTape() as tape:
            tape.watch(tensors)
            y = self.call(attributes)(*tensors)
        for orders, jacobian in zip(self.first_orders(), tape.jacobian(y, tensors), strict=True):
            expected = np.diag(self.expected(orders, inputs, attributes))
            np.testing.assert_allclose(jacobian, expected, rtol=1e-9, atol=1e-12)

    @parameterized.parameters(([None],), ([None, 3],), ([2, 3],), ([],), (None,))
    def test_static_shape(self, shape: list[int | None] | None) -> None:
        signature = [tf.TensorSpec(shape, tf.float32)] * len(self.spec.inputs)
        for function in (self.call(), self.derivative(self.first_orders()[0], {})):
            traced = tf.function(function, input_signature=signature).get_concrete_function()
            result = traced.structured_outputs.shape
            self.assertEqual(None if result.rank is None else result.as_list(), shape)

    def test_unknown_rank_runs(self) -> None:
        signature = [tf.TensorSpec(None, tf.float32)] * len(self.spec.inputs)
        for orders in (self.all_orders()[0], *self.first_orders()):
            function = tf.function(self.derivative(orders, {}), input_signature=signature)
            for shape in op_test_case.SHAPES:
                inputs = self.random_inputs(self.same_shapes(shape), tf.float32)
                self.assert_near(orders, inputs, {}, function(*map(tf.constant, inputs)))

    @absltest.skipUnless(_build_info.XLA, "this build has no XLA kernels")
    def test_sizes_that_xla_does_not_know(self) -> None:
        if len(self.spec.inputs) > 1:
            return  # Refused; see test_refuses_sizes_that_xla_does_not_know.

        def gradient(x: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = self.call()(tf.boolean_mask(x, x > 0.5))
            return tape.gradient(y, x)

        x = tf.constant([0.25, 0.75, 0.4, 0.625])
        expected, actual = gradient(x), tf.function(gradient, jit_compile=True)(x)
        np.testing.assert_allclose(actual, expected, rtol=1e-5)
        self.assertTrue(np.any(expected.numpy() != 0))

        with self.assertRaisesRegex(
            tf.errors.InvalidArgumentError, f"{self.spec.op}: under XLA, all sizes must be known .* are empty"
        ):
            tf.function(lambda x: self.call()(tf.boolean_mask(tf.ones([4, 0]), x > 0.5)), jit_compile=True)(x)

    def test_takes_what_converts(self) -> None:
        inputs = self.random_inputs(self.same_shapes((3,)), tf.float32)
        expected = self.call()(*map(tf.constant, inputs)).numpy()
        self.assert_same(expected, self.call()(*inputs))
        self.assert_same(expected, self.call()(*(x.tolist() for x in inputs)))
        self.assert_same(expected, self.call()(*map(tf.Variable, inputs)))

    @parameterized.parameters(tf.int32, tf.string)
    def test_refuses_other_types(self, dtype: tf.DType) -> None:
        inputs = [tf.zeros([2], dtype) for _ in self.spec.inputs]
        message = rf"'T' of {dtype.name} .*allowed values: half, bfloat16, float, double(.|\n)*{self.spec.op}"
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
            self.call()(*inputs)
        message = rf"'{self.spec.inputs[0].name}' has DataType {dtype.name} not in list of allowed values: .*float16"
        with self.assertRaisesRegex(TypeError, message):
            tf.function(self.call())(*inputs)

    @parameterized.parameters(*op_test_case.MODES)
    def test_refuses_attributes(self, mode: str) -> None:
        inputs = [tf.constant(x) for x in self.random_inputs(self.same_shapes((3,)), tf.float32)]
        error = tf.errors.InvalidArgumentError if mode == "eager" else ValueError
        for attributes, message in self.spec.refused:
            with self.assertRaisesRegex(error, f"{self.spec.op}: {message}", msg=f"{attributes}"):
                self.in_mode(mode, self.call(attributes))(*inputs)

    def test_name(self) -> None:
        inputs = self.random_inputs(self.same_shapes((3,)), tf.float32)
        with tf.Graph().as_default():
            y = self.spec.function(*inputs, name="named")
            self.assertEqual((y.op.name, y.op.type), ("named", self.spec.op))

    def test_reuses_the_input_buffer(self) -> None:
        # Inputs of the op that are random numbers: from 0 to 1, which all ops take.
        self.assert_buffer_reused(self.call(), *self.same_shapes((1000,)))

    @parameterized.parameters(*op_test_case.MODES)
    def test_keeps_inputs_that_are_still_needed(self, mode: str) -> None:
        inputs = self.random_inputs(self.same_shapes((1000,)), tf.float32)

        def all_of_them(*tensors: tf.Tensor) -> tuple[list[tf.Tensor], tf.Tensor]:
            copies = [tf.reverse(x, [0]) for x in tensors]
            return copies, self.call()(*copies)

        copies, y = self.in_mode(mode, all_of_them)(*map(tf.constant, inputs))
        for x, copy in zip(inputs, copies, strict=True):
            np.testing.assert_array_equal(copy, x[::-1])
        self.assert_near(self.all_orders()[0], [x[::-1] for x in inputs], {}, y)

    def test_saved_model(self) -> None:
        attributes = self.spec.variants[-1]
        inputs = self.random_inputs(self.same_shapes((3, 5)), tf.float32)
        self.assert_saved_model_runs_elsewhere(self.call(attributes), *inputs)


class BroadcastingTestCase(ElementwiseTestCase):
    """Tests an elementwise op of several inputs, also of different shapes."""

    def cycled(self, pair: Sequence[T]) -> list[T]:
        """For all inputs, of which there may be more than two."""
        return list(itertools.islice(itertools.cycle(pair), len(self.spec.inputs)))

    @parameterized.product(shapes=BROADCASTS, mode=op_test_case.MODES)
    def test_broadcasts(self, shapes: tuple[Shape, Shape], mode: str) -> None:
        attributes = self.spec.variants[0]
        for ordered in (shapes, shapes[::-1]):
            inputs = self.random_inputs(self.cycled(ordered), tf.float32)
            for orders in self.all_orders():
                actual = self.in_mode(mode, self.derivative(orders, attributes))(*map(tf.constant, inputs))
                expected = self.expected(orders, inputs, attributes)
                # The input by which it is differentiated last, see `_differentiated`, gives the shape.
                last = next((x for x, order in zip(inputs, orders, strict=True) if order), expected)
                self.assertEqual(actual.shape, last.shape)
                np.testing.assert_allclose(actual, _summed(expected, last.shape), rtol=1e-5, atol=1e-5)

    def test_many_dimensions(self) -> None:
        inputs = self.random_inputs(self.cycled(((2, 1) * 5, (1, 2) * 5)), tf.float32)
        tensors = map(tf.constant, inputs)
        if op_test_case.DEVICE == "CPU":
            expected = self.expected(self.all_orders()[0], inputs, {})
            np.testing.assert_allclose(self.call()(*tensors), expected, rtol=1e-5, atol=1e-5)
            return
        message = f"{self.spec.op}: the shapes of the inputs differ in too many dimensions for a GPU: 10, and the most"
        with self.assertRaisesRegex(tf.errors.UnimplementedError, message):
            self.call()(*tensors)

    @parameterized.parameters(*op_test_case.MODES)
    def test_refuses_outputs_larger_than_any_tensor(self, mode: str) -> None:
        # Empty ones, but 2^80 is too much before the dimension of size 0.
        inputs = [tf.reshape(tf.constant([]), shape) for shape in self.cycled(((2**40, 1, 0), (1, 2**40, 0)))]
        with self.assertRaisesRegex(
            (tf.errors.InvalidArgumentError, ValueError),
            rf"{self.spec.op}: the output must have less than 2\^63 elements, but .* \[1099511627776,1099511627776,0\]",
        ):
            self.in_mode(mode, self.call())(*inputs)

    @parameterized.parameters(([3],), (None,))
    def test_computes_no_derivatives_that_nobody_uses(self, shape: Shape | None) -> None:
        if self.spec.order < 2:
            return

        def count(graph: tf.Graph) -> int:
            return sum(op.type == self.spec.op + "Grad" for op in graph.get_operations())

        signature = [tf.TensorSpec(shape, tf.float32)] * len(self.spec.inputs)
        twice = self.derivative((2, *[0] * (len(signature) - 1)), {})
        with self.subTest("by tapes: the first derivative, and that of it"):
            self.assertEqual(count(tf.function(twice, signature).get_concrete_function().graph), 2)
        with self.subTest("by tf.gradients: also that by the incoming gradient"), tf.Graph().as_default() as graph:
            inputs = [tf.compat.v1.placeholder(tf.float32, shape) for _ in signature]
            tf.gradients(tf.gradients(self.call()(*inputs), inputs[0]), inputs[0])
            self.assertEqual(count(graph), 3)

    @parameterized.parameters(*op_test_case.MODES)
    def test_second_derivatives_by_a_weight_that_is_zero(self, mode: str) -> None:
        """That a weight is zero everywhere, by chance, is no reason to leave out what it is multiplied by."""
        if self.spec.order < 2:
            return
        inputs = self.random_inputs(self.same_shapes((SIZE,)), tf.float64)
        count = len(inputs)

        def by_weight(*tensors: tf.Tensor, i: int, j: int) -> tf.Tensor:
            """The derivative by the weight of the second derivative by inputs i and j, times that weight."""
            weight = tf.zeros_like(tensors[0])
            with tf.GradientTape() as outermost:
                outermost.watch(weight)
                with tf.GradientTape() as outer:
                    outer.watch(tensors)
                    with tf.GradientTape() as inner:
                        inner.watch(tensors)
                        y = self.call(self.spec.variants[0])(*tensors)
                    first = inner.gradient(y, tensors)[i]
                second = outer.gradient(first, tensors[j], output_gradients=weight)
            return outermost.gradient(second, weight, unconnected_gradients="zero")

        for i, j in itertools.product(range(count), repeat=2):
            orders = tuple((k == i) + (k == j) for k in range(count))
            with self.subTest(i=i, j=j):
                call = self.in_mode(mode, functools.partial(by_weight, i=i, j=j))
                self.assert_near(orders, inputs, self.spec.variants[0], call(*map(tf.constant, inputs)))

    @parameterized.parameters(*BROADCASTS)
    def test_vectorized_map_of_one_input(self, *pair: Shape) -> None:
        """A stack of one input meets all of the other, whatever their shapes are."""
        shapes = self.cycled(pair)
        for stacked in range(len(shapes)):
            inputs = self.random_inputs(
                [(4, *shape) if i == stacked else shape for i, shape in enumerate(shapes)], tf.float32
            )
            tensors = [tf.constant(x) for x in inputs]

            def row(x: tf.Tensor, stacked: int = stacked, tensors: list[tf.Tensor] = tensors) -> tf.Tensor:
                return self.call()(*(x if i == stacked else other for i, other in enumerate(tensors)))

            rows = tf.vectorized_map(row, tensors[stacked], fallback_to_while_loop=False)
            self.assert_same(np.stack([row(x).numpy() for x in tensors[stacked]]), rows)

    @parameterized.parameters(
        ([None, 3], [2, None], [2, 3]),
        ([None], [None], [None]),
        ([2, 1], [None, 5], [2, 5]),
        (None, [2, None], None),
        ([], [4], [4]),
    )
    def test_static_shapes(
        self, a: list[int | None] | None, b: list[int | None] | None, expected: list[int | None] | None
    ) -> None:
        signature = [tf.TensorSpec(shape, tf.float32) for shape in self.cycled((a, b))]
        traced = tf.function(self.call(), input_signature=signature).get_concrete_function()
        result = traced.structured_outputs.shape
        self.assertEqual(None if result.rank is None else result.as_list(), expected)

    @parameterized.parameters(((2, 3), (2,)), ((4,), (3,)), ((0,), (2,)))
    def test_refuses_shapes(self, a_shape: Shape, b_shape: Shape) -> None:
        def text(shape: Shape) -> str:
            return r"\[" + ",".join(map(str, shape)) + r"\]"

        a, b = (x.name for x in self.spec.inputs[:2])
        message = (
            f"{self.spec.op}: {a} and {b} must have shapes that can be broadcast, "
            f"but {a} has {text(a_shape)} and {b} has {text(b_shape)}"
        )
        inputs = self.cycled((tf.zeros(a_shape), tf.zeros(b_shape)))
        with self.subTest("eager"), self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
            self.call()(*inputs)
        with self.subTest("while a graph is made"), self.assertRaisesRegex(ValueError, message):
            tf.function(self.call())(*inputs)
        unknown = [tf.TensorSpec(None, tf.float32)] * len(inputs)
        with (
            self.subTest("when a graph runs"),
            self.assertRaisesRegex(tf.errors.InvalidArgumentError, message),
        ):
            tf.function(self.call(), input_signature=unknown)(*inputs)

    @absltest.skipUnless(_build_info.XLA, "this build has no XLA kernels")
    def test_refuses_shapes_under_xla(self) -> None:
        with self.assertRaisesRegex((ValueError, tf.errors.InvalidArgumentError), f"{self.spec.op}: "):
            tf.function(self.call(), jit_compile=True)(*self.cycled((tf.zeros([2, 3]), tf.zeros([2]))))

    @absltest.skipUnless(_build_info.XLA, "this build has no XLA kernels")
    def test_refuses_sizes_that_xla_does_not_know(self) -> None:
        x = tf.constant([0.25, 0.75])
        function = tf.function(
            lambda x: self.call()(*self.cycled((tf.boolean_mask(x, x > 0.5), x[0]))), jit_compile=True
        )
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "under XLA, .* must have sizes that are known"):
            function(x)

    def test_refuses_two_types(self) -> None:
        inputs = self.cycled((tf.zeros([2], tf.float32), tf.zeros([2], tf.float64)))
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, rf"{self.spec.op}.*float.*double|double.*float"):
            self.call()(*inputs)
        with self.assertRaisesRegex(TypeError, f"of '{self.spec.op}' Op has type float64 .* float32"):
            tf.function(self.call())(*inputs)
