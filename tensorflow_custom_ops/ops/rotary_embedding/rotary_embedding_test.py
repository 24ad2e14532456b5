# SPDX-License-Identifier: Apache-2.0
"""Tests of RotaryEmbedding."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import platform
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tensorflow_custom_ops as ops
from tensorflow_custom_ops import _build_info
from tensorflow_custom_ops.ops.rotary_embedding import gen_rotary_embedding
from tests import op_test_case

DTYPES = (tf.half, tf.bfloat16, tf.float32, tf.float64)

# Errors of cosine, sine, two products and a sum, in units of the last place of what is turned. A half type then is
# rounded.
ULPS = 4
# Of an angle: the power, the product with the position and the reduction, in units of the last place of the position.
ANGLE_ULPS = 4

# Of difference quotients: the op is linear, and its steps may be large.
GRADIENT_TOLERANCE = {tf.float32: 1e-4, tf.float64: 1e-9}

_RUN_WITH_THREADS = """
import sys
import numpy as np
import tensorflow as tf
tf.config.threading.set_intra_op_parallelism_threads(int(sys.argv[1]))
import tensorflow_custom_ops as ops
x = tf.constant(np.load(sys.argv[2]))
for mode in sys.argv[4:]:
    function = tf.function(ops.rotary_embedding, jit_compile=mode == "jit")
    np.save(f"{sys.argv[3]}_{mode}.npy", function(x).numpy())
"""

_RUN_ON_ISA = """
import sys
import numpy as np
import tensorflow as tf
import tensorflow_custom_ops as ops
with np.load(sys.argv[1]) as file:
    inputs = dict(file)
outputs = {}
for name in ("half", "bfloat16", "float32", "float64"):
    for interleaved in (False, True):
        y = ops.rotary_embedding(tf.cast(inputs["x"], name), inputs["positions"], interleaved=interleaved)
        outputs[f"{name} {interleaved}"] = tf.cast(y, tf.float64).numpy()
np.savez(sys.argv[2], **outputs)
"""


def reference(
    x: np.ndarray,
    positions: np.ndarray | None = None,
    *,
    base: float = 10000.0,
    rotary_dim: int | None = None,
    interleaved: bool = False,
    inverse: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """In float64: what is expected, and what it may differ by."""
    wide = x.astype(np.float64)
    dim = x.shape[-1] if rotary_dim is None else rotary_dim
    if positions is None:
        positions = np.arange(x.shape[-3])
    frequencies = np.float64(np.float32(base)) ** (-2.0 * np.arange(dim // 2) / max(dim, 1))
    # For all heads.
    angles = (positions[..., np.newaxis].astype(np.float64) * frequencies)[..., np.newaxis, :]
    cosine, sine = np.cos(angles), np.sin(-angles if inverse else angles)
    first, second = np.s_[..., 0:dim:2], np.s_[..., 1:dim:2]
    if not interleaved:
        first, second = np.s_[..., : dim // 2], np.s_[..., dim // 2 : dim]
    expected, error = wide.copy(), np.zeros_like(wide)
    expected[first] = wide[first] * cosine - wide[second] * sine
    expected[second] = wide[second] * cosine + wide[first] * sine
    unit = np.finfo(np.float64 if x.dtype == np.float64 else np.float32).eps
    size = np.abs(wide[first]) + np.abs(wide[second])
    error[first] = error[second] = size * (
        ULPS * unit + ANGLE_ULPS * np.finfo(np.float64).eps * np.abs(angles).max(initial=1)
    )
    if x.dtype.itemsize < 4:
        error += (np.abs(expected) + error) * float(ml_dtypes.finfo(x.dtype).eps)
        error += float(ml_dtypes.finfo(x.dtype).smallest_subnormal)
    # What does not turn is the same.
    error[..., dim:] = 0
    return expected, error


@dataclasses.dataclass(frozen=True)
class Case:
    """Arguments of rotary_embedding."""

    shape: tuple[int, ...]
    positions: tuple[int, ...] | None = None
    rotary_dim: int | None = None
    base: float = 10000.0

    def x(self, dtype: tf.DType) -> np.ndarray:
        return np.asarray(np.random.default_rng(0).standard_normal(self.shape)).astype(dtype.as_numpy_dtype)

    def positions_of(self, dtype: type[np.generic] = np.int32) -> np.ndarray | None:
        """Random ones, of which some are negative."""
        if self.positions is None:
            return None
        return np.random.default_rng(1).integers(-100, 5000, self.positions, dtype)


# Of each kind of positions, with sizes of vectors and beside them, and of none.
CASES = {
    "one": Case((1, 1, 1, 2)),
    "implied": Case((2, 7, 3, 16)),
    "no_batch": Case((5, 2, 8)),
    "many_dimensions": Case((2, 1, 3, 4, 1, 6)),
    "of_a_sequence": Case((3, 5, 2, 32), (5,)),
    "of_a_batch": Case((3, 5, 2, 32), (3, 5)),
    "of_some_dimensions": Case((2, 3, 5, 2, 4), (3, 5)),
    "of_all_dimensions": Case((2, 3, 5, 2, 4), (2, 3, 5)),
    "decoding": Case((4, 1, 8, 64), (4, 1)),
    "partial": Case((2, 5, 3, 16), rotary_dim=8),
    "partial_odd_head": Case((2, 5, 3, 13), (5,), rotary_dim=6),
    "partial_vectors": Case((2, 5, 3, 80), (2, 5), rotary_dim=32),
    "nothing": Case((2, 5, 3, 7), rotary_dim=0),
    "beside_vectors": Case((2, 3, 2, 46)),
    "wide": Case((1, 3, 2, 1030)),
    "many_heads": Case((2, 3, 40, 8)),
    "base": Case((1, 9, 2, 8), base=500000.0),
    "small_base": Case((1, 9, 2, 8), (9,), base=0.25),
    "empty_sequence": Case((2, 0, 3, 4), (0,)),
    "empty_batch": Case((0, 5, 3, 4), (0, 5)),
    "no_heads": Case((2, 5, 0, 4)),
    "no_elements": Case((2, 5, 3, 0), (5,)),
}


class RotaryEmbeddingTestCase(op_test_case.OpTestCase):
    def assert_near(self, x: np.ndarray, actual: tf.Tensor, **arguments: Any) -> None:  # noqa: ANN401
        """Checks an output for the input x against the reference."""
        expected, error = reference(x, **arguments)
        values = actual.numpy()
        self.assertEqual((values.dtype, values.shape), (x.dtype, x.shape))
        excess = np.abs(values.astype(np.float64) - expected) - error
        self.assertLessEqual(excess.max(initial=0), 0, f"{np.abs(values.astype(np.float64) - expected).max(initial=0)}")


class RotaryEmbeddingTest(RotaryEmbeddingTestCase):
    @parameterized.product(dtype=DTYPES, mode=op_test_case.MODES, name=list(CASES))
    def test_as_reference(self, dtype: tf.DType, mode: str, name: str) -> None:
        case = CASES[name]
        x, positions = case.x(dtype), case.positions_of()
        arguments = [
            {"base": case.base, "rotary_dim": case.rotary_dim, "interleaved": interleaved, "inverse": inverse}
            for interleaved in (False, True)
            for inverse in (False, True)
        ]
        function = self.in_mode(
            mode, lambda x: [ops.rotary_embedding(x, positions, **keywords) for keywords in arguments]
        )
        for keywords, y in zip(arguments, function(tf.constant(x)), strict=True):
            with self.subTest(**keywords):
                self.assert_near(x, y, positions=positions, **keywords)

    @parameterized.product(dtype=DTYPES, mode=op_test_case.MODES)
    def test_types_of_positions(self, dtype: tf.DType, mode: str) -> None:
        case = CASES["of_a_batch"]
        x = case.x(dtype)
        for positions_type in (np.int32, np.int64):
            positions = case.positions_of(positions_type)
            y = self.in_mode(mode, ops.rotary_embedding)(tf.constant(x), tf.constant(positions))
            self.assert_near(x, y, positions=positions)

    @parameterized.product(dtype=DTYPES, mode=op_test_case.MODES, interleaved=(False, True))
    def test_large_positions(self, dtype: tf.DType, mode: str, interleaved: bool) -> None:
        # Where angles in float32 would be wrong by a tenth; and beyond what is reduced by vectors.
        positions = np.array(
            [2**20, 2**20 - 1, 1_048_573, -(2**20), 1_599_999, 1_600_001, 2**24 + 1, 2**31 - 1, -(2**31)]
        )
        x = Case((len(positions), 2, 64)).x(dtype)
        y = self.in_mode(mode, lambda x: ops.rotary_embedding(x, positions, interleaved=interleaved))(tf.constant(x))
        self.assert_near(x, y, positions=positions, interleaved=interleaved)

    @parameterized.parameters(*op_test_case.MODES)
    def test_largest_positions(self, mode: str) -> None:
        # The angles are what float64 makes of them, but cosine and sine are those of one angle.
        positions = np.array([2**52 + 1, 2**53, 2**62 + 2**20, 2**63 - 1, -(2**63)])
        x = Case((len(positions), 1, 32)).x(tf.float64)
        y = self.in_mode(mode, lambda x: ops.rotary_embedding(x, positions))(tf.constant(x)).numpy()
        halves = np.reshape(x, (-1, 2, 16)), np.reshape(y, (-1, 2, 16))
        np.testing.assert_allclose(*[(half**2).sum(1) for half in halves], rtol=1e-12)

    @parameterized.product(mode=op_test_case.MODES, interleaved=(False, True))
    def test_large(self, mode: str, interleaved: bool) -> None:
        x = self.random((3, 701, 12, 80), tf.float32)
        y = self.in_mode(mode, lambda x: ops.rotary_embedding(x, interleaved=interleaved, rotary_dim=64))(
            tf.constant(x)
        )
        self.assert_near(x, y, interleaved=interleaved, rotary_dim=64)

    def test_turns_by_hand(self) -> None:
        x = tf.constant([1.0, 2.0, 3.0, 4.0], shape=[1, 1, 4])
        # The second pair turns a hundredth as fast.
        np.testing.assert_array_equal(ops.rotary_embedding(x), x)
        t, u = 1.0, 0.01
        expected = [np.cos(t) - 3 * np.sin(t), 2 * np.cos(u) - 4 * np.sin(u)]
        expected += [3 * np.cos(t) + np.sin(t), 4 * np.cos(u) + 2 * np.sin(u)]
        np.testing.assert_allclose(ops.rotary_embedding(x, [1])[0, 0], expected, rtol=1e-6)
        expected = [np.cos(t) - 2 * np.sin(t), 2 * np.cos(t) + np.sin(t)]
        expected += [3 * np.cos(u) - 4 * np.sin(u), 4 * np.cos(u) + 3 * np.sin(u)]
        np.testing.assert_allclose(ops.rotary_embedding(x, [1], interleaved=True)[0, 0], expected, rtol=1e-6)

    @parameterized.product(mode=op_test_case.MODES, interleaved=(False, True))
    def test_products_depend_on_distances(self, mode: str, interleaved: bool) -> None:
        q, k = (tf.constant(self.random((1, 1, 64), tf.float64, seed)) for seed in (1, 2))

        def product(m: int, n: int) -> tf.Tensor:
            turned = [ops.rotary_embedding(x, [p], interleaved=interleaved) for x, p in ((q, m), (k, n))]
            return tf.reduce_sum(turned[0] * turned[1])

        products = self.in_mode(mode, lambda: [product(m + 7, m) for m in (0, 1, 1000, 2**20)])()
        np.testing.assert_allclose(products, [products[0]] * 4, rtol=1e-8)

    @parameterized.product(dtype=DTYPES, interleaved=(False, True))
    def test_nan_and_infinity_stay_in_their_pair(self, dtype: tf.DType, interleaved: bool) -> None:
        for size in (6, 64):
            x = self.random((1, 1, size), dtype)
            for index, value in ((0, np.nan), (size - 1, np.inf)):
                spoiled = x.copy()
                spoiled[..., index] = value
                clean, y = (ops.rotary_embedding(z, [3], interleaved=interleaved).numpy()[0, 0] for z in (x, spoiled))
                other = index ^ 1 if interleaved else (index + size // 2) % size
                self.assertFalse(np.isfinite(y[[index, other]].astype(np.float64)).any())
                rest = [i for i in range(size) if i not in (index, other)]
                np.testing.assert_array_equal(y[rest].astype(np.float64), clean[rest].astype(np.float64))

    @parameterized.product(dtype=(tf.float32, tf.float64), name=("partial", "of_a_batch", "beside_vectors", "no_heads"))
    def test_gradient(self, dtype: tf.DType, name: str) -> None:
        case = CASES[name]
        x = tf.constant(case.x(dtype))
        for interleaved in (False, True):
            function = lambda x, interleaved=interleaved: ops.rotary_embedding(  # noqa: E731
                x, case.positions_of(), rotary_dim=case.rotary_dim, interleaved=interleaved
            )
            (analytic,), (numeric,) = tf.test.compute_gradient(function, [x], delta=1.0)
            np.testing.assert_allclose(analytic, numeric, rtol=0, atol=GRADIENT_TOLERANCE[dtype])

    @parameterized.product(dtype=DTYPES, mode=op_test_case.MODES, interleaved=(False, True))
    def test_gradients_of_every_order(self, dtype: tf.DType, mode: str, interleaved: bool) -> None:
        arguments = {"positions": np.array([0, 3, -7], np.int64), "rotary_dim": 6, "interleaved": interleaved}

        def gradients(x: tf.Tensor, weight: tf.Tensor) -> list[tf.Tensor]:
            with tf.GradientTape(persistent=True) as outer:
                outer.watch([x, weight])
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    y = ops.rotary_embedding(x, **arguments)
                first = inner.gradient(y, x, output_gradients=weight)
            # The first gradient is linear in the weight, and does not depend on x.
            return [first, outer.gradient(first, weight, output_gradients=x), outer.gradient(first, x)]

        x, weight = (self.random((2, 3, 2, 10), dtype, seed) for seed in (1, 2))
        first, by_weight, by_x = self.in_mode(mode, gradients)(tf.constant(x), tf.constant(weight))
        self.assert_near(weight, first, inverse=True, **arguments)
        self.assert_near(x, by_weight, **arguments)
        self.assertIsNone(by_x)

    @parameterized.parameters(*op_test_case.MODES)
    def test_second_gradient_of_a_function_of_it(self, mode: str) -> None:
        def hessian_product(x: tf.Tensor, v: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    y = tf.reduce_sum(ops.rotary_embedding(x) ** 3)
                first = inner.gradient(y, x)
            return outer.gradient(first, x, output_gradients=v)

        x, v = (self.random((4, 2, 6), tf.float64, seed) for seed in (1, 2))
        expected = reference(6 * reference(x)[0] * reference(v)[0], inverse=True)[0]
        actual = self.in_mode(mode, hessian_product)(tf.constant(x), tf.constant(v))
        np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-12)

    def test_positions_have_no_gradient(self) -> None:
        x, positions = tf.ones([3, 1, 2]), tf.constant([1, 2, 3])
        with tf.GradientTape() as tape:
            tape.watch([x, positions])
            y = ops.rotary_embedding(x, positions)
        self.assertIsNone(tape.gradient(y, positions))

    def test_forward_mode(self) -> None:
        x, tangent = (tf.constant(self.random((4, 2, 6), tf.float64, seed)) for seed in (1, 2))
        with tf.autodiff.ForwardAccumulator(x, tangent) as accumulator:
            y = ops.rotary_embedding(x)
        np.testing.assert_allclose(accumulator.jvp(y), ops.rotary_embedding(tangent), rtol=1e-12)

    @parameterized.product(
        mode=op_test_case.MODES,
        case=(
            ((2, 3), None, {}, r"input must have shape \[..., sequence, heads, head_dim\], .* has shape \[2,3\]"),
            ((), None, {}, r"input must have shape .* has shape \[\]"),
            ((1, 2, 3), None, {}, "last dimension of input must be even where no rotary_dim is given, but is 3"),
            ((1, 2, 4), None, {"rotary_dim": 3}, "rotary_dim must be even, but is 3"),
            ((1, 2, 4), None, {"rotary_dim": 6}, "rotary_dim must be at most the last dimension of input, 4, but is 6"),
            ((1, 2, 4), None, {"base": 0.0}, "base must be a positive number, but is 0"),
            ((1, 2, 4), None, {"base": -2.5}, "base must be a positive number, but is -2.5"),
            ((1, 2, 4), None, {"base": np.inf}, "base must be a positive number, but is inf"),
            ((1, 2, 4), None, {"base": np.nan}, "base must be a positive number, but is nan"),
            ((3, 2, 4), 0, {}, "positions must have shape .*, but it is a scalar"),
            ((3, 2, 4), [0, 1], {}, r"positions must have shape .* input has shape \[3,2,4\] and .* has shape \[2\]"),
            ((3, 2, 4), [[0, 1, 2]], {}, r"input has shape \[3,2,4\] and positions has shape \[1,3\]"),
            ((2, 3, 2, 4), [[0, 1, 2]], {}, r"input has shape \[2,3,2,4\] and positions has shape \[1,3\]"),
            ((2, 3, 2, 4), [[0], [1]], {}, r"input has shape \[2,3,2,4\] and positions has shape \[2,1\]"),
        ),
    )
    def test_refuses_bad_input(self, mode: str, case: tuple[Any, ...]) -> None:
        shape, positions, arguments, message = case
        x = tf.zeros(shape)
        message = "RotaryEmbedding: .*" + message
        if mode == "eager":
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
                ops.rotary_embedding(x, positions, **arguments)
            return
        with self.subTest("while a graph is made"), self.assertRaisesRegex(ValueError, message):
            self.in_mode(mode, lambda x: ops.rotary_embedding(x, positions, **arguments))(x)
        if "base" in arguments or arguments.get("rotary_dim", 0) % 2 == 1:
            # Known for any shape.
            return
        inputs = [x] if positions is None else [x, tf.constant(positions)]
        function = tf.function(
            lambda *xs: ops.rotary_embedding(*xs, **arguments),
            input_signature=[tf.TensorSpec(None, tensor.dtype) for tensor in inputs],
            jit_compile=mode == "jit",
        )
        with (
            self.subTest("when a graph runs"),
            self.assertRaisesRegex(tf.errors.InvalidArgumentError, message),
        ):
            function(*inputs)

    def test_claims_of_shapes_that_no_tensor_has(self) -> None:
        with tf.Graph().as_default():
            x = tf.compat.v1.placeholder(tf.float32)
            x.set_shape([2**40, 2**40, 2, 4])
            self.assertEqual(ops.rotary_embedding(x).shape, x.shape)
            with self.assertRaisesRegex(ValueError, "RotaryEmbedding: rotary_dim must be at most .*, 4, but is 6"):
                ops.rotary_embedding(x, rotary_dim=6)

    @parameterized.parameters(*op_test_case.MODES)
    def test_empty_with_dimensions_whose_product_is_too_large(self, mode: str) -> None:
        # The positions would be for 2^80 places of each of no batches.
        x = tf.reshape(tf.constant([]), [0, 2**40, 2**40, 1, 2])
        with self.assertRaisesRegex(
            (tf.errors.InvalidArgumentError, ValueError),
            r"RotaryEmbedding: positions must have shape .* and positions has shape \[2,2\]",
        ):
            self.in_mode(mode, lambda x: ops.rotary_embedding(x, [[0, 1], [2, 3]]))(x)

    def test_refuses_two_positions(self) -> None:
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "positions must be one tensor or none, .* are 2"):
            gen_rotary_embedding.rotary_embedding(tf.ones([1, 1, 2]), [[0], [0]])

    @parameterized.parameters(
        ({"base": "2"}, TypeError, "base must be a number, but is '2'"),
        ({"base": True}, TypeError, "base must be a number, but is True"),
        ({"base": None}, TypeError, "base must be a number, but is None"),
        ({"rotary_dim": 2.0}, TypeError, "rotary_dim must be an int or None, but is 2.0"),
        ({"rotary_dim": True}, TypeError, "rotary_dim must be an int or None, but is True"),
        ({"rotary_dim": -1}, ValueError, "rotary_dim must not be negative, but is -1"),
        ({"interleaved": 1}, TypeError, "interleaved must be a bool, but is 1"),
        ({"inverse": None}, TypeError, "inverse must be a bool, but is None"),
    )
    def test_refuses_arguments(self, arguments: dict[str, Any], error: type[Exception], message: str) -> None:
        with self.assertRaisesRegex(error, "rotary_embedding: " + message):
            ops.rotary_embedding(tf.ones([1, 1, 2]), **arguments)

    @parameterized.parameters(tf.int32, tf.string, tf.complex64, tf.bool)
    def test_refuses_other_types(self, dtype: tf.DType) -> None:
        x = tf.zeros([1, 1, 2], dtype)
        with self.assertRaisesRegex(
            tf.errors.InvalidArgumentError, rf"'T' of {dtype.name} .*allowed values: half, bfloat16, float, double"
        ):
            ops.rotary_embedding(x)
        with self.assertRaisesRegex(TypeError, rf"'input' has DataType {dtype.name} not in list of allowed values"):
            tf.function(ops.rotary_embedding)(x)

    @parameterized.parameters(np.float32(1.5), "1", True)
    def test_refuses_other_types_of_positions(self, value: Any) -> None:  # noqa: ANN401
        for function in (ops.rotary_embedding, tf.function(ops.rotary_embedding)):
            with self.assertRaisesRegex((tf.errors.InvalidArgumentError, TypeError), "Tpositions|'positions'"):
                function(tf.ones([1, 1, 2]), tf.constant([value]))

    @parameterized.product(mode=[mode for mode in op_test_case.MODES if mode != "eager"])
    def test_unknown_shapes(self, mode: str) -> None:
        unknown: Sequence[Sequence[Any]] = (
            [[None, None, 2, 8], [None]],
            [[None, None, None, None], [None, None]],
            [None, None],
        )
        for shapes in unknown:
            function = tf.function(
                ops.rotary_embedding,
                input_signature=[tf.TensorSpec(shapes[0], tf.float32), tf.TensorSpec(shapes[1], tf.int32)],
                jit_compile=mode == "jit",
            )
            by_rank = {1: [(3,)], 2: [(2, 3)]}.get(len(shapes[1] or ()), [(3,), (2, 3)])
            for positions_shape in by_rank:
                case = Case((2, 3, 2, 8), positions_shape)
                x, positions = case.x(tf.float32), case.positions_of()
                self.assert_near(x, function(tf.constant(x), tf.constant(positions)), positions=positions)

    @parameterized.parameters(([None, 3, 2, 4], [None, 3, 2, 4]), ([3, 2, None], [3, 2, None]), (None, None))
    def test_static_shape(self, shape: list[int | None] | None, expected: list[int | None] | None) -> None:
        function = tf.function(ops.rotary_embedding, input_signature=[tf.TensorSpec(shape, tf.float32)])
        output = function.get_concrete_function().structured_outputs
        self.assertEqual(None if output.shape.rank is None else output.shape.as_list(), expected)

    def test_takes_what_converts(self) -> None:
        expected = ops.rotary_embedding(tf.ones([1, 1, 2]), tf.constant([1]))
        for x in ([[[1.0, 1.0]]], np.ones([1, 1, 2], np.float32), tf.Variable(tf.ones([1, 1, 2]))):
            for positions in ([1], np.array([1]), tf.Variable([1])):
                np.testing.assert_array_equal(ops.rotary_embedding(x, positions, base=10000), expected)

    @parameterized.product(
        mode=op_test_case.MODES,
        case=(
            # What there is one of each: the shapes of x and of positions, without the stack's dimension.
            ("x", (3, 2, 4), None),
            ("x", (2, 3, 2, 4), (3,)),
            ("x", (2, 3, 2, 4), (2, 3)),
            ("both", (3, 2, 4), (3,)),
            ("both", (2, 3, 2, 4), (3,)),
            ("both", (2, 3, 2, 4), (2, 3)),
            ("positions", (3, 2, 4), (3,)),
            ("positions", (2, 3, 2, 4), (3,)),
        ),
    )
    def test_vectorized_map(self, mode: str, case: tuple[str, tuple[int, ...], tuple[int, ...] | None]) -> None:
        which, shape, positions_shape = case
        x = self.random((5, *shape), tf.float32)
        positions = [None] * 5
        if positions_shape is not None:
            positions = list(np.random.default_rng(1).integers(-9, 99, (5, *positions_shape), np.int32))
        if which == "x":
            positions = [positions[0]] * 5
            function = lambda: tf.vectorized_map(lambda x: ops.rotary_embedding(x, positions[0]), x)  # noqa: E731
        elif which == "both":
            function = lambda: tf.vectorized_map(  # noqa: E731
                lambda pair: ops.rotary_embedding(*pair), (x, np.stack(positions))
            )
        else:
            x = np.stack([x[0]] * 5)
            function = lambda: tf.vectorized_map(  # noqa: E731
                lambda p: ops.rotary_embedding(x[0], p), np.stack(positions)
            )
        actual = self.in_mode(mode, function)()
        for one, of_one, output in zip(x, positions, actual, strict=True):
            self.assert_near(one, output, positions=of_one)
        types = {node.type for node in tf.function(function).get_concrete_function().graph.get_operations()}
        self.assertNoCommonElements({"While", "StatelessWhile"}, types)

    @parameterized.parameters(*op_test_case.MODES)
    def test_nested_vectorized_map_and_gradients(self, mode: str) -> None:
        x, positions = self.random((4, 3, 5, 2, 6), tf.float32), np.arange(60, dtype=np.int64).reshape(4, 3, 5) * 7 - 99

        def value_and_gradient(x: tf.Tensor, positions: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = ops.rotary_embedding(x, positions)
            return y, tape.gradient(y, x, output_gradients=x)

        def twice(x: tf.Tensor, positions: tf.Tensor) -> Any:  # noqa: ANN401 - the same
            return tf.vectorized_map(
                lambda outer: tf.vectorized_map(lambda inner: value_and_gradient(*inner), outer), (x, positions)
            )

        y, gradient = self.in_mode(mode, twice)(tf.constant(x), tf.constant(positions))
        self.assert_near(x, y, positions=positions)
        self.assert_near(x, gradient, positions=positions, inverse=True)

    def test_vectorized_map_of_too_few_dimensions_is_refused(self) -> None:
        for signature in ([tf.TensorSpec([3, 4, 2])], [tf.TensorSpec(None)]):
            function = tf.function(lambda x: tf.vectorized_map(ops.rotary_embedding, x), input_signature=signature)
            with self.assertRaisesRegex((ValueError, tf.errors.InvalidArgumentError), "input must have shape"):
                function(tf.ones([3, 4, 2]))

    def test_jacobian(self) -> None:
        x = tf.constant(self.random((2, 1, 4), tf.float64))
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = ops.rotary_embedding(x, [1, 5])
        jacobian = tf.reshape(tape.jacobian(y, x), [8, 8])
        # A rotation.
        np.testing.assert_allclose(tf.matmul(jacobian, jacobian, transpose_b=True), np.eye(8), atol=1e-14)
        np.testing.assert_allclose(tf.linalg.matvec(jacobian, tf.reshape(x, [8])), tf.reshape(y, [8]), atol=1e-14)

    def test_reuses_the_input_buffer(self) -> None:
        self.assert_buffer_reused(ops.rotary_embedding, (10, 4, 8))

    @parameterized.parameters(*op_test_case.MODES)
    def test_keeps_an_input_that_is_still_needed(self, mode: str) -> None:
        def both(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            x = x + 1.0
            return x, ops.rotary_embedding(x)

        x = self.random((10, 4, 8), tf.float32)
        shifted, y = self.in_mode(mode, both)(tf.constant(x))
        self.assert_same(x + 1, shifted)
        self.assert_near(x + 1, y)

    def test_does_not_depend_on_the_number_of_threads(self) -> None:
        directory = self.create_tempdir().full_path
        np.save(f"{directory}/x.npy", self.random((3, 100, 5, 46), tf.float32))
        modes = [mode for mode in op_test_case.MODES if mode != "eager"]
        for threads in ("1", "2", "5"):
            self.run_python(_RUN_WITH_THREADS, threads, f"{directory}/x.npy", f"{directory}/{threads}", *modes)
        for mode in modes:
            outputs = [np.load(f"{directory}/{threads}_{mode}.npy") for threads in ("1", "2", "5")]
            np.testing.assert_array_equal(outputs[1], outputs[0])
            np.testing.assert_array_equal(outputs[2], outputs[0])

    @op_test_case.cpu_only
    @absltest.skipIf(platform.machine() != "x86_64", "other processors have one instruction set")
    def test_every_instruction_set(self) -> None:
        x, positions = self.random((9, 2, 46), tf.float64), np.array([0, 1, 2, 3, -5, 1000, 2**20, 2**21, 2**31])
        directory = self.create_tempdir().full_path
        np.savez(f"{directory}/inputs.npz", x=x, positions=positions)
        flags = pathlib.Path("/proc/cpuinfo").read_text().split()
        for isa, flag in (("baseline", "sse2"), ("avx2", "avx2"), ("avx512", "avx512f")):
            if flag not in flags:
                continue
            os.environ["TF_CUSTOM_OPS_ISA"] = isa
            self.addCleanup(os.environ.pop, "TF_CUSTOM_OPS_ISA", None)
            self.run_python(_RUN_ON_ISA, f"{directory}/inputs.npz", f"{directory}/outputs.npz")
            with np.load(f"{directory}/outputs.npz") as outputs:
                for name, y in outputs.items():
                    dtype, interleaved = name.split()
                    rounded = x.astype(tf.as_dtype(dtype).as_numpy_dtype)
                    actual = tf.constant(y.astype(rounded.dtype))
                    with self.subTest(isa=isa, name=name):
                        self.assert_near(rounded, actual, positions=positions, interleaved=interleaved == "True")

    def test_saved_model(self) -> None:
        positions = np.arange(5, dtype=np.int32)
        self.assert_saved_model_runs_elsewhere(ops.rotary_embedding, self.random((3, 5, 2, 4), tf.float32), positions)

    def test_name(self) -> None:
        with tf.Graph().as_default():
            y = ops.rotary_embedding([[[1.0, 2.0]]], name="turn")
            self.assertEqual((y.op.name, y.op.type), ("turn", "RotaryEmbedding"))

    def test_documentation(self) -> None:
        self.assertIn("the elements that follow stay as they are", gen_rotary_embedding.rotary_embedding.__doc__)


@absltest.skipUnless(_build_info.XLA, "this build has no XLA kernels")
class RotaryEmbeddingXlaTest(RotaryEmbeddingTestCase):
    def test_calls_the_kernel(self) -> None:
        # The interface for custom calls is in TensorFlow's wheel since 2.20.
        custom_calls = tuple(map(int, tf.__version__.split(".")[:2])) >= (2, 20)
        # get_compiler_ir takes no defaults.
        function = tf.function(lambda x: ops.rotary_embedding(x), jit_compile=True)  # noqa: PLW0108
        hlo = function.experimental_get_compiler_ir(tf.ones([2, 3, 4]))(stage="optimized_hlo")
        self.assertEqual('custom_call_target="tensorflow_custom_ops.RotaryEmbedding"' in hlo, custom_calls)

    @parameterized.product(dtype=DTYPES, interleaved=(False, True), positions=(None, (3,)), size=(1, 2, 4))
    def test_dynamic_batch(
        self, dtype: tf.DType, interleaved: bool, positions: tuple[int, ...] | None, size: int
    ) -> None:
        case = Case((4, 3, 2, 10), positions)
        arguments = {"positions": case.positions_of(), "interleaved": interleaved, "rotary_dim": 8}
        x, selected = case.x(dtype), np.arange(4) < size
        for inverse in (False, True):
            function = tf.function(
                lambda x, selected, inverse=inverse: ops.rotary_embedding(
                    tf.boolean_mask(x, selected), **arguments, inverse=inverse
                ),
                jit_compile=True,
            )
            self.assert_near(x[selected], function(tf.constant(x), tf.constant(selected)), **arguments, inverse=inverse)

    def test_dynamic_sequence(self) -> None:
        x, selected = self.random((6, 2, 8), tf.float32), np.array([1, 0, 1, 1, 0, 0], bool)
        function = tf.function(lambda x, s: ops.rotary_embedding(tf.boolean_mask(x, s)), jit_compile=True)
        self.assert_near(x[selected], function(tf.constant(x), tf.constant(selected)))

    def test_refuses_empty_arrays_of_a_batch_that_xla_does_not_know(self) -> None:
        for shape in ([3, 0, 2, 4], [3, 4, 0, 4], [3, 4, 2, 0]):
            with self.assertRaisesRegex(
                tf.errors.InvalidArgumentError,
                "RotaryEmbedding: under XLA, all sizes must be known .* where arrays are empty, but input has f32",
            ):
                tf.function(lambda x, s: ops.rotary_embedding(tf.boolean_mask(x, s)), jit_compile=True)(
                    tf.ones(shape), tf.constant([True, False, True])
                )

    def test_refuses_sizes_that_xla_does_not_know(self) -> None:
        selected = tf.constant([True, False])
        cases = (
            lambda s: ops.rotary_embedding(tf.boolean_mask(tf.ones([3, 1, 2]), s, axis=2)),
            lambda s: ops.rotary_embedding(tf.boolean_mask(tf.ones([2, 1, 2]), s), [0, 1]),
            lambda s: ops.rotary_embedding(tf.ones([2, 1, 2]), tf.boolean_mask([0, 1], s)),
        )
        for case in cases:
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "RotaryEmbedding: under XLA, .* must be known"):
                tf.function(case, jit_compile=True)(selected)


if __name__ == "__main__":
    absltest.main()
