# SPDX-License-Identifier: Apache-2.0
"""Tests of TopKMask."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import hypothesis
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized
from hypothesis import strategies
from hypothesis.extra import numpy as hypothesis_numpy

import tensorflow_custom_ops as ops
from tensorflow_custom_ops import _build_info
from tensorflow_custom_ops.ops.top_k_mask import gen_top_k_mask
from tests import op_test_case

DTYPES = (tf.half, tf.bfloat16, tf.float32, tf.float64)

# How the mask can be computed: as in op_test_case.MODES, and by XLA for an input whose dimensions it does not know.
MODES = (*op_test_case.MODES, "dynamic") if _build_info.XLA else op_test_case.MODES

# All that have rows, and rows of many lengths.
SHAPES = (*(shape for shape in op_test_case.SHAPES if shape), (2, 100), (3, 1000), (0, 5))

# Of the numeric gradient: a difference quotient loses half of the type's digits.
GRADIENT_RTOL = {tf.float32: 1e-3, tf.float64: 1e-9}

SPECIAL_VALUES = (np.nan, np.inf, 1.0, 0.0, -0.0, -1.0, -np.inf, -np.nan)

_RUN_WITH_THREADS = """
import sys
import numpy as np
import tensorflow as tf
tf.config.threading.set_intra_op_parallelism_threads(int(sys.argv[1]))
import tensorflow_custom_ops as ops
x = tf.constant(np.load(sys.argv[2]))
for mode in sys.argv[4:]:
    function = tf.function(lambda x: ops.top_k_mask(x, 10), jit_compile=mode == "jit")
    np.save(f"{sys.argv[3]}_{mode}.npy", function(x).numpy())
"""

# TensorFlow has made its XLA kernels when the library is loaded.
_RUN_LATE = """
import numpy as np
import tensorflow as tf
x = tf.function(lambda x: x + 1.0, jit_compile=True)(tf.constant([1.0, 3.0, 2.0]))
import tensorflow_custom_ops as ops
np.testing.assert_array_equal(tf.function(lambda x: ops.top_k_mask(x, 1), jit_compile=True)(x), [0, 4, 0])
np.testing.assert_array_equal(tf.function(ops.top_k_mask, jit_compile=True)(x, tf.constant(2)), [0, 4, 3])
"""


def choices(n: int) -> list[int]:
    """Values of k for rows of n elements."""
    return sorted({0, min(1, n), n // 10, n // 2, max(0, n - 1), n})


def reference_mask(x: np.ndarray, k: int) -> np.ndarray:
    """By a stable sort of the rows in float64: NaN first, then descending."""
    wide = x.astype(np.float64)
    order = np.lexsort((-wide, ~np.isnan(wide)), axis=-1)
    mask = np.zeros(x.shape, bool)
    np.put_along_axis(mask, order[..., :k], True, axis=-1)
    return mask


def reference(x: np.ndarray, k: int, fill_value: float = 0.0) -> np.ndarray:
    """The kept elements, and the fill value, which is a float32, in the type of x."""
    return np.where(reference_mask(x, k), x, np.array(fill_value, np.float32).astype(x.dtype))


class TopKMaskTest(op_test_case.OpTestCase):
    def assert_as_reference(self, mode: str, x: np.ndarray, ks: Iterable[int], fill_value: float = 0.0) -> None:
        """Checks the op's output in one of MODES for several k, in one function: XLA compiles slowly."""
        ks = tuple(ks)

        def function(x: tf.Tensor) -> list[tf.Tensor]:
            return [ops.top_k_mask(x, k, fill_value) for k in ks]

        def dynamic(x: tf.Tensor, selected: tf.Tensor) -> list[tf.Tensor]:
            # For XLA, a number of rows that it does not know.
            return function(tf.boolean_mask(x, selected))

        if mode == "dynamic":
            outputs = self.in_mode("jit", dynamic)(tf.constant(x), tf.ones(x.shape[:1], tf.bool))
        else:
            outputs = self.in_mode(mode, function)(tf.constant(x))
        for k, output in zip(ks, outputs, strict=True):
            with self.subTest(k=k):
                expected = reference(x, k, fill_value)
                self.assert_same(expected, output)
                # That takes 0 for -0, and denormal numbers for 0 where a thread flushes them.
                signs = [np.signbit(array.astype(np.float64)) for array in (expected, output.numpy())]
                comparable = ~np.isnan(expected)
                np.testing.assert_array_equal(signs[0][comparable], signs[1][comparable])

    @parameterized.product(
        dtype=DTYPES,
        # XLA itself, as of TensorFlow 2.21, gives empty results of tf.boolean_mask random sizes.
        case=[(mode, shape) for mode in MODES for shape in SHAPES if mode != "dynamic" or 0 not in shape],
    )
    def test_keeps_the_largest(self, dtype: tf.DType, case: tuple[str, tuple[int, ...]]) -> None:
        mode, shape = case
        x = self.random(shape, dtype)
        self.assert_as_reference(mode, x, choices(shape[-1]))

    @parameterized.product(dtype=DTYPES, mode=MODES)
    def test_keeps_the_first_of_equal_elements(self, dtype: tf.DType, mode: str) -> None:
        x = np.random.default_rng(0).integers(-2, 3, (5, 200)).astype(dtype.as_numpy_dtype)
        self.assert_as_reference(mode, x, choices(200), -7.0)

    @parameterized.product(dtype=DTYPES, mode=MODES)
    def test_special_values(self, dtype: tf.DType, mode: str) -> None:
        rng = np.random.default_rng(0)
        x = np.array([rng.permuted(SPECIAL_VALUES * 2) for _ in range(20)]).astype(dtype.as_numpy_dtype)
        self.assert_as_reference(mode, x, range(0, 17, 2), 5.0)

    @parameterized.parameters(*MODES)
    def test_tells_denormal_numbers_apart(self, mode: str) -> None:
        tiny = np.finfo(np.float32).smallest_subnormal
        x = np.array([[0.0, tiny, 3 * tiny, 2 * tiny, -tiny]], np.float32)
        self.assert_as_reference(mode, x, [3], -1.0)

    @parameterized.product(dtype=DTYPES, mode=MODES, fill_value=(0.0, -np.inf, 0.1, 1e30))
    def test_fill_value(self, dtype: tf.DType, mode: str, fill_value: float) -> None:
        x = self.random((3, 10), dtype)
        with np.errstate(over="ignore"):
            self.assert_as_reference(mode, x, [3], fill_value)

    @hypothesis.settings(deadline=None, derandomize=True, database=None, max_examples=200)
    @hypothesis.given(
        hypothesis_numpy.arrays(
            np.float32,
            hypothesis_numpy.array_shapes(min_dims=1, max_dims=8, min_side=0, max_side=9),
            elements=strategies.floats(width=32) | strategies.sampled_from(SPECIAL_VALUES),
        ),
        strategies.floats(0, 1),
    )
    def test_any_array(self, x: np.ndarray, part: float) -> None:
        k = round(part * x.shape[-1])
        output, mask = gen_top_k_mask.top_k_mask(x, k)
        np.testing.assert_array_equal(mask, reference_mask(x, k))
        # By the bits: comparisons may take denormal numbers for zero.
        np.testing.assert_array_equal(output.numpy().view(np.uint32), reference(x, k).view(np.uint32))

    @parameterized.product(
        mode=MODES,
        order=(np.sort, lambda x: -np.sort(-x), lambda x: x),
        shape=((200, 1000), (3, 50_000)),
    )
    def test_many_elements_in_any_order(
        self, mode: str, order: Callable[[np.ndarray], np.ndarray], shape: tuple[int, ...]
    ) -> None:
        x = order(self.random(shape, tf.float32))
        self.assert_as_reference(mode, x, (1, 10, 999))

    def test_mask(self) -> None:
        x = self.random((4, 9), tf.float32)
        for mode in op_test_case.MODES:
            with self.subTest(mode=mode):
                output, mask = self.in_mode(mode, lambda x: gen_top_k_mask.top_k_mask(x, 4))(tf.constant(x))
                self.assert_same(reference_mask(x, 4), mask)
                self.assert_same(reference(x, 4), output)

    @parameterized.parameters(*op_test_case.MODES)
    def test_k_may_be_a_tensor(self, mode: str) -> None:
        # As an argument of a compiled function it is known when that is compiled, once for each value.
        x = self.random((3, 7), tf.float32)
        function = self.in_mode(mode, ops.top_k_mask)
        for k in (2, 5):
            self.assert_same(reference(x, k), function(tf.constant(x), tf.constant(k)))

    def test_takes_what_converts(self) -> None:
        for x in ([1.5, 2.0], np.array([[1.5, 3.0]]), tf.Variable([1.5, 2.0])):
            np.testing.assert_array_equal(ops.top_k_mask(x, 1), reference(np.asarray(x), 1))
        np.testing.assert_array_equal(ops.top_k_mask([1.0, 2.0], np.int32(1)), [0.0, 2.0])

    @parameterized.parameters(([None], [None]), ([None, 3], [None, 3]), ([2, 3], [2, 3]), (None, None))
    def test_static_shape(self, input_shape: list[int | None] | None, output_shape: list[int | None] | None) -> None:
        signature = [tf.TensorSpec(input_shape, tf.float32), tf.TensorSpec(None, tf.int32)]
        function = tf.function(gen_top_k_mask.top_k_mask, input_signature=signature)
        output, mask = function.get_concrete_function().structured_outputs
        for shape in (output.shape, mask.shape):
            self.assertEqual(None if shape.rank is None else shape.as_list(), output_shape)

    @parameterized.product(mode=[mode for mode in op_test_case.MODES if mode != "eager"])
    def test_unknown_rank_runs(self, mode: str) -> None:
        signature = [tf.TensorSpec(None, tf.float32)]
        function = tf.function(lambda x: ops.top_k_mask(x, 2), input_signature=signature, jit_compile=mode == "jit")
        for shape in ((3,), (4, 2), (2, 0, 5)):
            x = self.random(shape, tf.float32)
            self.assert_same(reference(x, 2), function(tf.constant(x)))

    @parameterized.product(
        mode=op_test_case.MODES,
        case=(
            ((), 0, "input must have at least one dimension, but is a scalar"),
            ((3,), [1], "k must be a scalar, but has rank 1"),
            ((3,), -1, "k must not be negative, but is -1"),
            ((2, 3), 4, "k must be at most the size of the last dimension of input, 3, but is 4"),
            ((2, 0), 1, "k must be at most the size of the last dimension of input, 0, but is 1"),
        ),
    )
    def test_refuses_bad_input(self, mode: str, case: tuple[tuple[int, ...], int | list[int], str]) -> None:
        shape, k, message = case
        x = tf.zeros(shape)
        message = "TopKMask: " + message
        if mode == "eager":
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
                ops.top_k_mask(x, k)
            return
        with self.subTest("while a graph is made"), self.assertRaisesRegex(ValueError, message):
            self.in_mode(mode, lambda x: ops.top_k_mask(x, k))(x)
        signature = [tf.TensorSpec(None, tf.float32), tf.TensorSpec(None, tf.int32)]
        function = tf.function(ops.top_k_mask, input_signature=signature, jit_compile=mode == "jit")
        with (
            self.subTest("when a graph runs"),
            self.assertRaisesRegex(tf.errors.InvalidArgumentError, message),
        ):
            function(x, tf.constant(k))

    def test_refuses_a_k_that_turns_out_to_be_a_vector(self) -> None:
        # Its value is known while the graph is made, and its shape is not.
        serialized = tf.io.serialize_tensor(tf.constant([1, 2])).numpy()
        function = tf.function(lambda x: ops.top_k_mask(x, tf.io.parse_tensor(serialized, tf.int32)))
        with self.assertRaisesRegex((ValueError, tf.errors.InvalidArgumentError), "k must be a scalar, but has rank 1"):
            function(tf.ones([3]))

    @parameterized.parameters(2**31, 2**40, 2**32 + 1)
    def test_refuses_a_k_beyond_int32(self, k: int) -> None:
        message = f"k must be at most the size of the last dimension of input, 3, but is {k}"
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
            ops.top_k_mask([1.0, 2.0, 3.0], k)
        with self.assertRaisesRegex(ValueError, message):
            tf.function(lambda x: ops.top_k_mask(x, k))([1.0, 2.0, 3.0])

    @parameterized.parameters(2.0, np.float32(2.7), True, np.bool_(True), "2")
    def test_refuses_a_k_that_is_no_integer(self, k: Any) -> None:  # noqa: ANN401
        with self.assertRaisesRegex((tf.errors.InvalidArgumentError, TypeError), "Tk|'k'"):
            ops.top_k_mask([1.0, 2.0, 3.0], k)

    @parameterized.parameters(tf.int32, tf.int64)
    def test_types_of_k(self, dtype: tf.DType) -> None:
        for mode in op_test_case.MODES:
            function = self.in_mode(mode, lambda x: ops.top_k_mask(x, tf.constant(1, dtype)))
            np.testing.assert_array_equal(function(tf.constant([1.0, 3.0, 2.0])), [0.0, 3.0, 0.0])

    @parameterized.parameters(None, True, "0", 1j)
    def test_refuses_a_fill_value_that_is_no_number(self, fill_value: Any) -> None:  # noqa: ANN401
        with self.assertRaisesRegex(TypeError, "top_k_mask: fill_value must be a number, but is "):
            ops.top_k_mask([1.0, 2.0], 1, fill_value)

    def test_vectorized_map_over_scalars_is_refused(self) -> None:
        for signature in ([tf.TensorSpec([3])], [tf.TensorSpec(None)]):
            function = tf.function(
                lambda x: tf.vectorized_map(lambda s: ops.top_k_mask(s, 1), x), input_signature=signature
            )
            with self.assertRaisesRegex((ValueError, tf.errors.InvalidArgumentError), "but is a scalar"):
                function(tf.ones([3]))

    def test_refuses_a_negative_k_for_any_shape(self) -> None:
        function = tf.function(lambda x: ops.top_k_mask(x, -1), input_signature=[tf.TensorSpec(None, tf.float32)])
        with self.assertRaisesRegex(ValueError, "TopKMask: k must not be negative, but is -1"):
            function.get_concrete_function()

    @parameterized.parameters(tf.int32, tf.string, tf.complex64, tf.bool)
    def test_refuses_other_types(self, dtype: tf.DType) -> None:
        x = tf.zeros([2], dtype)
        with self.assertRaisesRegex(
            tf.errors.InvalidArgumentError,
            rf"'T' of {dtype.name} .*allowed values: half, bfloat16, float, double(.|\n)*TopKMask",
        ):
            ops.top_k_mask(x, 1)
        with self.assertRaisesRegex(
            TypeError, rf"'input' has DataType {dtype.name} not in list of allowed values: .*float16"
        ):
            tf.function(ops.top_k_mask)(x, 1)

    @parameterized.product(dtype=(tf.float32, tf.float64), shape=[(0,), (5,), (4, 3)])
    def test_gradient(self, dtype: tf.DType, shape: tuple[int, ...]) -> None:
        # Further apart than the difference quotient's step.
        x = tf.constant(np.random.default_rng(0).permutation(np.prod(shape)).reshape(shape), dtype)
        k = shape[-1] // 2
        (analytic,), (numeric,) = tf.test.compute_gradient(lambda x: ops.top_k_mask(x, k), [x])
        np.testing.assert_allclose(analytic, numeric, rtol=GRADIENT_RTOL[dtype], atol=GRADIENT_RTOL[dtype])

    @parameterized.product(dtype=DTYPES, mode=op_test_case.MODES)
    def test_gradients_of_every_type(self, dtype: tf.DType, mode: str) -> None:
        def first_and_second(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    y = ops.top_k_mask(x, 2, fill_value=9.0) ** 2
                first = inner.gradient(y, x)
            return first, outer.gradient(first, x)

        # Also where the replaced element is not finite.
        x = np.array([[1.0, 3.0, 2.0], [-np.inf, 0.5, 0.5]]).astype(dtype.as_numpy_dtype)
        mask = reference_mask(x, 2)
        first, second = self.in_mode(mode, first_and_second)(tf.constant(x))
        self.assert_same(np.where(mask, 2 * x, 0).astype(x.dtype), first)
        self.assert_same(np.where(mask, 2, 0).astype(x.dtype), second)

    @parameterized.parameters(*op_test_case.MODES)
    def test_second_gradient_of_the_op_alone_is_zero(self, mode: str) -> None:
        def second(x: tf.Tensor, weight: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            with tf.GradientTape() as outer:
                outer.watch([x, weight])
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    y = ops.top_k_mask(x, 2) * weight
                first = inner.gradient(y, x)
            zero = tf.UnconnectedGradients.ZERO
            by_x, by_weight = outer.gradient(first, [x, weight], unconnected_gradients=zero)
            return by_x, by_weight

        x = np.array([[1.0, 3.0, 2.0]], np.float32)
        by_x, by_weight = self.in_mode(mode, second)(tf.constant(x), tf.ones_like(x))
        self.assert_same(np.zeros_like(x), by_x)
        self.assert_same(reference_mask(x, 2).astype(np.float32), by_weight)

    @parameterized.parameters(*op_test_case.MODES)
    def test_in_control_flow(self, mode: str) -> None:
        def loop(x: tf.Tensor) -> tf.Tensor:
            # Keeps the largest 8, negates them, keeps the largest 7 of all, and so on.
            return tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, -ops.top_k_mask(y, 8, -1.0)), (0, x))[1]

        def branch(x: tf.Tensor) -> tf.Tensor:
            return tf.cond(tf.reduce_sum(x) > 1e6, lambda: ops.top_k_mask(x, 1), lambda: ops.top_k_mask(x, 2))

        def rows(x: tf.Tensor) -> tf.Tensor:
            return tf.map_fn(lambda row: ops.top_k_mask(row, 3), x)

        x = self.random((5, 10), tf.float32)
        looped = x
        for _ in range(3):
            looped = -reference(looped, 8, -1.0)
        for function, expected in ((loop, looped), (branch, reference(x, 2)), (rows, reference(x, 3))):
            with self.subTest(function.__name__):
                self.assert_same(expected, self.in_mode(mode, function)(tf.constant(x)))

    def test_vectorized_map_makes_no_loop(self) -> None:
        x = self.random((5, 4, 10), tf.float32)
        function = tf.function(lambda x: tf.vectorized_map(lambda rows: ops.top_k_mask(rows, 3, -1.0), x))
        self.assert_same(reference(x, 3, -1.0), function(tf.constant(x)))
        nodes = function.get_concrete_function(tf.TensorSpec(x.shape)).graph.get_operations()
        self.assertNoCommonElements({"While", "StatelessWhile"}, {node.type for node in nodes})
        # A k for each row is a loop.
        k = [1, 2, 3, 4, 0]
        varied = tf.vectorized_map(lambda both: ops.top_k_mask(both[0], both[1]), (x, tf.constant(k)))
        self.assert_same(np.stack([reference(*both) for both in zip(x, k, strict=True)]), varied)

    def test_name(self) -> None:
        with tf.Graph().as_default():
            output = ops.top_k_mask([1.0, 2.0], 1, name="gate")
            self.assertEqual((output.op.name, output.op.type), ("gate", "TopKMask"))

    def test_reuses_the_input_buffer(self) -> None:
        self.assert_buffer_reused(lambda x: ops.top_k_mask(x, 10), (1000,))

    @parameterized.parameters(*op_test_case.MODES)
    def test_keeps_an_input_that_is_still_needed(self, mode: str) -> None:
        def both(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            x = x + 1.0
            return x, ops.top_k_mask(x, 10)

        x = self.random((1000,), tf.float32)
        shifted, y = self.in_mode(mode, both)(tf.constant(x))
        self.assert_same(x + 1, shifted)
        self.assert_same(reference(x + 1, 10), y)

    def test_does_not_depend_on_the_number_of_threads(self) -> None:
        directory = self.create_tempdir().full_path
        x = self.random((300, 1000), tf.float32)
        np.save(f"{directory}/x.npy", x)
        modes = ("graph", "jit") if _build_info.XLA else ("graph",)
        for threads in ("1", "2", "5"):
            self.run_python(_RUN_WITH_THREADS, threads, f"{directory}/x.npy", f"{directory}/{threads}", *modes)
            for mode in modes:
                y = np.load(f"{directory}/{threads}_{mode}.npy")
                np.testing.assert_array_equal(y, reference(x, 10))

    def test_saved_model(self) -> None:
        def function(x: tf.Tensor) -> tf.Tensor:
            return ops.top_k_mask(x, 2)

        self.assert_saved_model_runs_elsewhere(function, self.random((3, 5), tf.float32))
        if _build_info.XLA:
            compiled = tf.function(function, jit_compile=True)
            self.assert_saved_model_runs_elsewhere(compiled, self.random((3, 5), tf.float32))

    def test_documentation(self) -> None:
        self.assertIn("Of equal elements the first are kept", gen_top_k_mask.top_k_mask.__doc__)
        self.assertIn("from none to all", gen_top_k_mask.top_k_mask.__doc__)


@absltest.skipUnless(_build_info.XLA, "this build has no XLA kernels")
class TopKMaskXlaTest(op_test_case.OpTestCase):
    def test_calls_the_kernel(self) -> None:
        # The interface for custom calls is in TensorFlow's wheel since 2.20.
        custom_calls = tuple(map(int, tf.__version__.split(".")[:2])) >= (2, 20)
        function = tf.function(lambda x: ops.top_k_mask(x, 2), jit_compile=True)
        hlo = function.experimental_get_compiler_ir(tf.ones([2, 3]))(stage="optimized_hlo")
        self.assertEqual('custom_call_target="tensorflow_custom_ops.TopKMask"' in hlo, custom_calls)
        self.assertEqual(" sort(" in hlo, not custom_calls)

    @parameterized.product(dtype=DTYPES, size=(0, 1, 2, 5, 8))
    def test_dynamic_rows(self, dtype: tf.DType, size: int) -> None:
        x = self.random((8, 6), dtype)
        selected = np.arange(8) < size
        function = tf.function(lambda x, selected: ops.top_k_mask(tf.boolean_mask(x, selected), 2), jit_compile=True)
        self.assert_same(reference(x[selected], 2), function(tf.constant(x), tf.constant(selected)))

    @parameterized.product(dtype=DTYPES, k=(0, 1, 4, 8))
    def test_dynamic_row_size(self, dtype: tf.DType, k: int) -> None:
        x = self.random((8,), dtype)
        x[3] = -np.inf
        function = tf.function(
            lambda x, selected: ops.top_k_mask(tf.boolean_mask(x, selected), k, fill_value=-7.0), jit_compile=True
        )
        for size in range(9):
            # A row that turns out to be shorter than k is kept whole.
            selected = np.roll(np.arange(8) < size, 2)
            self.assert_same(
                reference(x[selected], min(k, size), -7.0), function(tf.constant(x), tf.constant(selected))
            )

    def test_refuses_k_beyond_the_bound_of_a_dynamic_row(self) -> None:
        function = tf.function(lambda x: ops.top_k_mask(tf.boolean_mask(x, x > 0.0), 4), jit_compile=True)
        with self.assertRaisesRegex(
            tf.errors.InvalidArgumentError,
            "TopKMask: k must be at most the size of the last dimension of input, 3, but is 4",
        ):
            function(tf.ones([3]))

    def test_refuses_empty_arrays_of_a_batch_that_xla_does_not_know(self) -> None:
        for shape in ([3, 0, 5], [3, 2, 0]):
            with self.assertRaisesRegex(
                tf.errors.InvalidArgumentError,
                "TopKMask: under XLA, all sizes must be known .* where arrays are empty, but input has f32",
            ):
                tf.function(lambda x, s: ops.top_k_mask(tf.boolean_mask(x, s), 0), jit_compile=True)(
                    tf.ones(shape), tf.constant([True, False, True])
                )

    def test_refuses_a_runtime_k(self) -> None:
        def counted(x: tf.Tensor) -> tf.Tensor:
            return ops.top_k_mask(x, tf.size(tf.boolean_mask(x, x > 1.0)))

        def loop(x: tf.Tensor) -> tf.Tensor:
            return tf.while_loop(lambda i, _: i < 2, lambda i, y: (i + 1, ops.top_k_mask(y, i)), (0, x))[1]

        for function in (counted, loop):
            with (
                self.subTest(function.__name__),
                self.assertRaisesRegex(
                    tf.errors.InvalidArgumentError,
                    "Input 1 to node `.*TopKMask` with op TopKMask must be a compile-time constant",
                ),
            ):
                self.in_mode("jit", function)(tf.constant([1.0, 2.0]))

    def test_late_load(self) -> None:
        self.run_python(_RUN_LATE)


if __name__ == "__main__":
    absltest.main()
