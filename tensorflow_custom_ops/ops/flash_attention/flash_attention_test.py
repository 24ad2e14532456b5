# SPDX-License-Identifier: Apache-2.0
"""Tests of FlashAttention."""

from __future__ import annotations

import dataclasses
import itertools
import os
import pathlib
import re
from collections.abc import Callable, Sequence
from unittest import mock

import keras
import ml_dtypes
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tensorflow_custom_ops as ops
from tensorflow_custom_ops import _build_info
from tensorflow_custom_ops.ops.flash_attention import gen_flash_attention
from tests import instruction_sets, op_test_case

DTYPES = (tf.half, tf.bfloat16, tf.float32, tf.float64)

# Errors of float32 and float64 arithmetic, for values of size 1, in units of the last place: of dot products, of
# exponentials of what those give, and of sums of what these give. A half type then is rounded.
ULPS = 64

# Steps of difference quotients: a quotient's error is some eps / step + step ** 2.
GRADIENT_STEP = {tf.float32: 2.0**-7, tf.float64: 2.0**-17}
GRADIENT_TOLERANCE = {tf.float32: 2e-3, tf.float64: 1e-8}


@dataclasses.dataclass(frozen=True)
class Case:
    """Arguments of flash_attention."""

    batch: int = 1
    q_length: int = 5
    kv_length: int = 7
    heads: int = 2
    kv_heads: int = 2
    head_dim: int = 8
    bias: tuple[int, ...] | None = None
    causal: bool = False
    scale: float | None = None
    window: int | None = None

    def inputs(self, dtype: tf.DType, seed: int = 0) -> list[np.ndarray]:
        """q, k, v and, if there is one, the bias."""
        generator = np.random.default_rng(seed)
        kv_shape = (self.batch, self.kv_length, self.kv_heads, self.head_dim)
        shapes: list[tuple[int, ...]] = [(self.batch, self.q_length, self.heads, self.head_dim), kv_shape, kv_shape]
        if self.bias is not None:
            shapes.append(self.bias)
        return [np.asarray(generator.standard_normal(shape)).astype(dtype.as_numpy_dtype) for shape in shapes]

    def output_grad(self, dtype: tf.DType) -> np.ndarray:
        generator = np.random.default_rng(99)
        shape = (self.batch, self.q_length, self.heads, self.head_dim)
        return generator.standard_normal(shape).astype(dtype.as_numpy_dtype)

    def __call__(self, q: tf.Tensor, k: tf.Tensor, v: tf.Tensor, bias: tf.Tensor | None = None) -> tf.Tensor:
        return ops.flash_attention(q, k, v, bias, self.causal, self.scale, self.window)


# Lengths of blocks and beside them, and of none; each way to have heads, and each kind of bias and mask.
CASES = {
    "plain": Case(batch=2),
    "one": Case(q_length=1, kv_length=1, heads=1, kv_heads=1, head_dim=1),
    "decoding": Case(batch=2, q_length=1, kv_length=40, heads=4, kv_heads=2, causal=True),
    "grouped": Case(batch=2, q_length=6, kv_length=6, heads=6, kv_heads=2, bias=(2, 6, 6, 6)),
    "multi_query": Case(q_length=33, kv_length=31, heads=3, kv_heads=1, head_dim=5),
    "wide_heads": Case(q_length=3, kv_length=4, head_dim=80),
    "widest_heads": Case(q_length=2, kv_length=3, heads=1, kv_heads=1, head_dim=256),
    "blocks": Case(q_length=64, kv_length=64, head_dim=16),
    "beside_blocks": Case(q_length=65, kv_length=66, heads=1, kv_heads=1, head_dim=17),
    "scale": Case(scale=-0.3),
    "causal": Case(q_length=20, kv_length=20, causal=True),
    "causal_more_keys": Case(q_length=9, kv_length=20, causal=True),
    "causal_more_queries": Case(q_length=20, kv_length=9, causal=True, heads=4),
    "window": Case(q_length=20, kv_length=20, window=3),
    "window_of_one": Case(q_length=6, kv_length=6, window=1),
    "window_more_queries": Case(q_length=40, kv_length=6, window=2),
    "causal_window": Case(q_length=20, kv_length=33, window=5, causal=True, heads=4),
    "bias_of_keys": Case(batch=2, bias=(7,)),
    "bias_of_batch": Case(batch=2, bias=(2, 1, 1, 7)),
    "bias_of_heads": Case(batch=2, bias=(2, 5, 7), causal=True),
    "bias_of_queries": Case(batch=2, heads=4, bias=(4, 5, 1)),
    "scalar_bias": Case(bias=()),
    "no_queries": Case(q_length=0, bias=(0, 7)),
    "no_keys": Case(kv_length=0, bias=(5, 0)),
    "no_batch": Case(batch=0),
    "no_heads": Case(heads=0),
}

# Of more than a block of keys, and of tasks; for the CPU's kernel.
LARGE_CASES = {
    "plain": Case(q_length=1000, kv_length=900, heads=1, kv_heads=1, head_dim=64),
    "causal": Case(q_length=900, kv_length=1000, heads=4, causal=True, bias=(1, 1000)),
    "causal_more_queries": Case(q_length=1000, kv_length=500, heads=1, kv_heads=1, causal=True),
    "window": Case(q_length=700, kv_length=800, heads=3, kv_heads=1, window=90, bias=(3, 1, 800)),
    "causal_window": Case(batch=2, q_length=800, kv_length=900, heads=1, kv_heads=1, window=400, causal=True),
    "wide_heads": Case(q_length=200, kv_length=400, head_dim=200, bias=(2, 200, 400)),
}

# Programs for other processes print what the test compares.
_PRINT_DIGESTS = """
import hashlib, sys
import numpy as np
import tensorflow as tf
tf.config.threading.set_intra_op_parallelism_threads(int(sys.argv[1]))
import tensorflow_custom_ops as ops
for dtype in (tf.half, tf.bfloat16, tf.float32, tf.float64):
    for length, heads, kv_heads in ((500, 2, 1), (150, 6, 3)):
        generator = np.random.default_rng(0)
        shapes = [(2, length, n, 16) for n in (heads, kv_heads, kv_heads)] + [(1, length)]
        inputs = [tf.cast(generator.standard_normal(shape), dtype) for shape in shapes]
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            y = ops.flash_attention(*inputs, causal=True)
        for tensor in [y, *tape.gradient(y, inputs)]:
            print(hashlib.sha256(tensor.numpy().tobytes()).hexdigest())
"""

_RUN = """
import sys
import numpy as np
import tensorflow as tf
import tensorflow_custom_ops as ops
inputs = [tf.constant(array) for array in np.load(sys.argv[1]).values()]
for dtype in (tf.half, tf.bfloat16, tf.float32, tf.float64):
    cast = [tf.cast(x, dtype) for x in inputs]
    with tf.GradientTape() as tape:
        tape.watch(cast)
        y = ops.flash_attention(*cast[:4], causal=True)
    results = [y, *tape.gradient(y, cast[:4], output_gradients=cast[4])]
    np.savez(f"{sys.argv[2]}/{dtype.name}.npz", *(tf.cast(result, tf.float64).numpy() for result in results))
"""

_PRINT_MEMORY = """
import resource
import tensorflow as tf
import tensorflow_custom_ops as ops
def run(length):
    q = tf.random.normal([1, length, 1, 16])
    with tf.GradientTape() as tape:
        tape.watch(q)
        y = ops.flash_attention(q, q, q, tf.zeros([length]))
    tape.gradient(y, q)
run(8)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
run(16384)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


def visible(case: Case) -> np.ndarray:
    """Which keys a query sees, of shape [q_length, kv_length]."""
    position = np.arange(case.q_length)[:, None] + case.kv_length - case.q_length
    distance = position - np.arange(case.kv_length)
    mask = np.ones(distance.shape, bool)
    if case.causal:
        mask &= distance >= 0
    if case.window is not None:
        mask &= abs(distance) < case.window
    return mask


def probabilities(case: Case, q: np.ndarray, k: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
    """The softmax, of shape [batch, heads, q_length, kv_length]; zeros where nothing is seen."""
    scale = 1 / np.sqrt(case.head_dim) if case.scale is None else case.scale
    scores = scale * np.einsum("bihd,bjhd->bhij", q, k)
    if bias is not None:
        scores = scores + bias
    scores = np.where(visible(case), scores, -np.inf)
    greatest = np.max(scores, axis=-1, keepdims=True, initial=-np.inf)
    p = np.exp(scores - np.where(greatest == -np.inf, 0, greatest))
    total = p.sum(-1, keepdims=True)
    return p / np.where(total == 0, 1, total)


def per_query_head(case: Case, array: np.ndarray) -> np.ndarray:
    """Keys or values with a head for each of the queries."""
    return np.repeat(array, case.heads // case.kv_heads, axis=2)


def reference(case: Case, *inputs: np.ndarray) -> np.ndarray:
    """The output, in float64."""
    q, k, v, bias = (*(array.astype(np.float64) for array in inputs), None)[:4]
    k, v = per_query_head(case, k), per_query_head(case, v)
    return np.einsum("bhij,bjhd->bihd", probabilities(case, q, k, bias), v)


def sum_to(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The sums over the dimensions along which an array of this shape was broadcast."""
    padded = (1,) * (array.ndim - len(shape)) + shape
    return array.sum(axis=tuple(i for i, size in enumerate(padded) if size == 1), keepdims=True).reshape(shape)


def reference_gradients(case: Case, output_grad: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
    """The gradients with respect to the inputs, in float64."""
    q, k, v, bias = (*(array.astype(np.float64) for array in inputs), None)[:4]
    output_grad = output_grad.astype(np.float64)
    kv_shape = (case.batch, case.kv_length, case.kv_heads, case.heads // case.kv_heads, case.head_dim)
    k, v = per_query_head(case, k), per_query_head(case, v)
    scale = 1 / np.sqrt(case.head_dim) if case.scale is None else case.scale
    p = probabilities(case, q, k, bias)
    p_grad = np.einsum("bihd,bjhd->bhij", output_grad, v)
    score_grad = p * (p_grad - np.sum(p * p_grad, axis=-1, keepdims=True))
    grads = [
        scale * np.einsum("bhij,bjhd->bihd", score_grad, k),
        (scale * np.einsum("bhij,bihd->bjhd", score_grad, q)).reshape(kv_shape).sum(3),
        np.einsum("bhij,bihd->bjhd", p, output_grad).reshape(kv_shape).sum(3),
    ]
    return grads if bias is None else [*grads, sum_to(score_grad, bias.shape)]


def bias_gradient_error(case: Case, dtype: tf.DType, output_grad: np.ndarray, *inputs: np.ndarray) -> np.ndarray:
    """What the gradient of the bias is wrong by because it is made of an output that is rounded to `dtype`.

    Nothing of it cancels, where the gradients of scores themselves do.
    """
    q, k, _, bias = (array.astype(np.float64) for array in inputs)
    k = per_query_head(case, k)
    eps = float(ml_dtypes.finfo(dtype.as_numpy_dtype).eps)
    delta_error = eps * np.sum(np.abs(reference(case, *inputs) * output_grad.astype(np.float64)), axis=-1)
    scores_error = probabilities(case, q, k, bias) * np.swapaxes(delta_error, 1, 2)[..., None]
    return sum_to(scores_error, bias.shape)


def gradients(case: Case, inputs: list[tf.Tensor], output_grad: tf.Tensor) -> list[tf.Tensor]:
    """The gradients of the output with respect to the inputs."""
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        y = case(*inputs)
    result: list[tf.Tensor] = tape.gradient(y, inputs, output_gradients=output_grad)
    return result


class AttentionTestCase(op_test_case.OpTestCase):
    def assert_near(
        self, expected: np.ndarray, actual: np.ndarray, dtype: tf.DType, more: np.ndarray | float = 0.0
    ) -> None:
        """Checks values that are sums of products of numbers of size 1; more terms are larger values.

        `more` is what else a value of a half type may be wrong by.
        """
        self.assertEqual(actual.shape, expected.shape)
        unit = np.finfo(np.float64 if dtype == tf.float64 else np.float32).eps
        # Values are of the size of the largest, or smaller because their terms cancel.
        error = ULPS * unit * max(1.0, np.max(np.abs(expected), initial=0))
        if dtype in (tf.half, tf.bfloat16):
            # A gradient is made of the output, too, which is rounded. So are probabilities and gradients of scores
            # where bfloat16 are multiplied: each by eps / 4 of itself at most, which is as much of a mean of values.
            error = error + float(ml_dtypes.finfo(dtype.as_numpy_dtype).eps) * (1 + np.abs(expected)) + more
        np.testing.assert_array_less(np.abs(actual.astype(np.float64) - expected), error + 1e-300)

    def assert_gradients_near(
        self,
        case: Case,
        inputs: Sequence[np.ndarray],
        output_grad: np.ndarray,
        actual: Sequence[np.ndarray],
        dtype: tf.DType,
    ) -> None:
        """Checks gradients with respect to the inputs."""
        expected = reference_gradients(case, output_grad, *inputs)
        for i, (one, other) in enumerate(zip(expected, actual, strict=True)):
            more = bias_gradient_error(case, dtype, output_grad, *inputs) if i == 3 else 0.0
            self.assert_near(one, other, dtype, more)


class FlashAttentionTest(AttentionTestCase):
    @parameterized.product(dtype=DTYPES, name=tuple(CASES), mode=op_test_case.MODES)
    def test_value(self, dtype: tf.DType, name: str, mode: str) -> None:
        case = CASES[name]
        inputs = case.inputs(dtype)
        y = self.in_mode(mode, case)(*map(tf.constant, inputs))
        self.assertEqual(y.dtype, dtype)
        self.assert_near(reference(case, *inputs), y.numpy(), dtype)

    @parameterized.product(dtype=DTYPES, name=tuple(CASES), mode=op_test_case.MODES)
    def test_gradient(self, dtype: tf.DType, name: str, mode: str) -> None:
        case = CASES[name]
        inputs = case.inputs(dtype)
        output_grad = case.output_grad(dtype)
        function = self.in_mode(mode, lambda *xs: gradients(case, list(xs[:-1]), xs[-1]))
        actual = function(*map(tf.constant, inputs), tf.constant(output_grad))
        self.assertEqual([grad.dtype for grad in actual], [dtype] * len(inputs))
        self.assert_gradients_near(case, inputs, output_grad, [grad.numpy() for grad in actual], dtype)

    @op_test_case.cpu_only
    @parameterized.product(dtype=DTYPES, name=tuple(LARGE_CASES))
    def test_large(self, dtype: tf.DType, name: str) -> None:
        case = LARGE_CASES[name]
        inputs = case.inputs(dtype)
        tensors = [tf.constant(array) for array in inputs]
        self.assert_near(reference(case, *inputs), case(*tensors).numpy(), dtype)
        output_grad = case.output_grad(dtype)
        actual = [grad.numpy() for grad in gradients(case, tensors, tf.constant(output_grad))]
        self.assert_gradients_near(case, inputs, output_grad, actual, dtype)

    @parameterized.product(
        bias=[
            shape for rank in range(5) for shape in itertools.product(*((1, size) for size in (2, 4, 3, 5)[4 - rank :]))
        ]
    )
    def test_gradient_of_every_bias(self, bias: tuple[int, ...]) -> None:
        case = Case(batch=2, heads=4, q_length=3, kv_length=5, bias=bias)
        for dtype in (tf.half, tf.float32):
            inputs = case.inputs(dtype)
            output_grad = case.output_grad(dtype)
            actual = gradients(case, [tf.constant(array) for array in inputs], tf.constant(output_grad))
            self.assert_gradients_near(case, inputs, output_grad, [grad.numpy() for grad in actual], dtype)

    @parameterized.product(dtype=tuple(GRADIENT_TOLERANCE), name=["grouped", "causal_more_queries"])
    def test_numeric_gradient(self, dtype: tf.DType, name: str) -> None:
        case = dataclasses.replace(CASES[name], q_length=4, kv_length=3, batch=1, head_dim=2, bias=(4, 3))
        inputs = [tf.constant(array) for array in case.inputs(dtype)]
        analytic, numeric = tf.test.compute_gradient(case, inputs, delta=GRADIENT_STEP[dtype])
        for one, other in zip(analytic, numeric, strict=True):
            np.testing.assert_allclose(one, other, rtol=GRADIENT_TOLERANCE[dtype], atol=GRADIENT_TOLERANCE[dtype])

    @parameterized.product(
        case=[
            Case(q_length=3, kv_length=2, heads=4, head_dim=2, bias=(4, 1, 2)),
            Case(q_length=4, kv_length=3, heads=1, kv_heads=1, head_dim=2, causal=True, window=2),
            Case(q_length=2, kv_length=2, head_dim=3, scale=0.7),
        ],
        mode=op_test_case.MODES,
    )
    def test_second_gradient(self, case: Case, mode: str) -> None:
        inputs = [tf.constant(array) for array in case.inputs(tf.float64)]

        def first(*inputs: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                tape.watch(inputs)
                y = tf.reduce_sum(case(*inputs) ** 3)
            return tf.concat([tf.reshape(g, [-1]) for g in tape.gradient(y, inputs)], axis=0)

        analytic, numeric = tf.test.compute_gradient(self.in_mode(mode, first), inputs, delta=GRADIENT_STEP[tf.float64])
        for one, other in zip(analytic, numeric, strict=True):
            np.testing.assert_allclose(
                one, other, rtol=GRADIENT_TOLERANCE[tf.float64], atol=GRADIENT_TOLERANCE[tf.float64]
            )

    @parameterized.parameters(*DTYPES)
    def test_second_gradient_of_every_type(self, dtype: tf.DType) -> None:
        case = Case(q_length=4, kv_length=4, causal=True, bias=(4, 4))
        inputs = case.inputs(dtype)

        def second(inputs: list[tf.Tensor]) -> list[tf.Tensor]:
            with tf.GradientTape() as tape:
                tape.watch(inputs)
                first = gradients(case, inputs, tf.ones_like(inputs[0]))
                total = tf.add_n([tf.reduce_sum(grad**2) for grad in first])
            result: list[tf.Tensor] = tape.gradient(total, inputs)
            return result

        exact = second([tf.constant(array.astype(np.float64)) for array in inputs])
        # First gradients are rounded, and twice as large as their products with others.
        tolerance = 32 * float(ml_dtypes.finfo(dtype.as_numpy_dtype).eps)
        for one, other in zip(second([tf.constant(array) for array in inputs]), exact, strict=True):
            self.assertEqual(one.dtype, dtype)
            np.testing.assert_allclose(one.numpy().astype(np.float64), other, rtol=tolerance, atol=tolerance)

    def test_third_gradient(self) -> None:
        x = tf.constant([[[[0.3]], [[-0.5]]]], tf.float64)

        def second(x: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    y = tf.reduce_sum(ops.flash_attention(x, x, x) ** 2)
                first = inner.gradient(y, x)
            return outer.gradient(first, x)

        (analytic,), (numeric,) = tf.test.compute_gradient(second, [x], delta=GRADIENT_STEP[tf.float64])
        np.testing.assert_allclose(analytic, numeric, rtol=1e-7, atol=1e-7)

    def test_gradient_of_one_input(self) -> None:
        case = Case(bias=(5, 7))
        inputs = [tf.constant(array) for array in case.inputs(tf.float32)]
        expected = gradients(case, inputs, tf.ones_like(inputs[0]))
        for i, one in enumerate(expected):
            with tf.GradientTape() as tape:
                tape.watch(inputs[i])
                y = case(*inputs)
            np.testing.assert_array_equal(tape.gradient(y, inputs[i]), one)

    def test_makes_no_gradient_of_the_bias_that_is_not_wanted(self) -> None:
        case = Case(bias=(5, 7))
        inputs = [tf.constant(array) for array in case.inputs(tf.float32)]

        @tf.function
        def query_grad(*inputs: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                tape.watch(inputs[0])
                y = case(*inputs)
            return tape.gradient(y, inputs[0])

        graph = query_grad.get_concrete_function(*inputs).graph
        (node,) = (op for op in graph.get_operations() if op.type == "FlashAttentionGrad")
        self.assertEqual(node.get_attr("num_bias_grad"), 0)

    @parameterized.product(dtype=DTYPES, mode=op_test_case.MODES, causal=[False, True])
    def test_queries_that_see_nothing(self, dtype: tf.DType, mode: str, causal: bool) -> None:
        case = Case(q_length=6, kv_length=6, bias=(6, 6), causal=causal)
        *arrays, bias = case.inputs(dtype)
        bias[[0, 3]] = -np.inf
        bias[4, 2:] = -np.inf
        inputs = [*arrays, bias]
        output_grad = case.output_grad(dtype)
        y, *grads = self.in_mode(mode, lambda *xs: (case(*xs[:4]), *gradients(case, list(xs[:4]), xs[4])))(
            *map(tf.constant, [*inputs, output_grad])
        )
        self.assert_near(reference(case, *inputs), y.numpy(), dtype)
        self.assert_gradients_near(case, inputs, output_grad, [grad.numpy() for grad in grads], dtype)
        for tensor in (y, grads[0]):
            np.testing.assert_array_equal(tensor.numpy()[:, [0, 3]].astype(np.float32), 0)
        np.testing.assert_array_equal(grads[3].numpy()[[0, 3]].astype(np.float32), 0)

    @parameterized.parameters(*op_test_case.MODES)
    def test_no_query_sees_anything(self, mode: str) -> None:
        case = Case(bias=(1, 1))
        *arrays, bias = case.inputs(tf.float32)
        inputs = [*arrays, np.full_like(bias, -np.inf)]
        y, *grads = self.in_mode(mode, lambda *xs: (case(*xs), *gradients(case, list(xs), tf.ones_like(xs[0]))))(
            *map(tf.constant, inputs)
        )
        for tensor in (y, *grads):
            np.testing.assert_array_equal(tensor, np.zeros(tensor.shape))

    @parameterized.product(dtype=DTYPES, mode=op_test_case.MODES)
    def test_large_logits(self, dtype: tf.DType, mode: str) -> None:
        # Scores of 10,000 and more.
        case = Case(q_length=20, kv_length=30, scale=1.0)
        q, k, v = case.inputs(dtype)
        q, k = np.asarray(q * 50).astype(q.dtype), np.asarray(k * 50).astype(k.dtype)
        inputs = [q, k, v]
        output_grad = case.output_grad(dtype)
        y, *grads = self.in_mode(mode, lambda *xs: (case(*xs[:3]), *gradients(case, list(xs[:3]), xs[3])))(
            *map(tf.constant, [*inputs, output_grad])
        )
        scores = np.abs(np.einsum("bihd,bjhd->bhij", np.abs(q.astype(np.float64)), np.abs(k.astype(np.float64))))
        self.assertGreater(scores.max(), 1e4)
        # A score has the error of a sum of that size, and an exponential has the same relative error.
        unit = np.finfo(np.float64 if dtype == tf.float64 else np.float32).eps
        relative = 4 * unit * scores.max()
        if dtype in (tf.half, tf.bfloat16):
            relative += 2 * float(ml_dtypes.finfo(dtype.as_numpy_dtype).eps)
        np.testing.assert_allclose(y.numpy().astype(np.float64), reference(case, *inputs), rtol=relative, atol=relative)
        for one, other in zip(reference_gradients(case, output_grad, *inputs), grads, strict=True):
            size = np.max(np.abs(one)) + np.max(np.abs(q.astype(np.float64)))
            np.testing.assert_allclose(other.numpy().astype(np.float64), one, atol=relative * size)

    @parameterized.product(dtype=DTYPES, value=[np.nan, np.inf, -np.inf])
    def test_non_finite_query(self, dtype: tf.DType, value: float) -> None:
        case = Case(q_length=20, kv_length=20, causal=True)
        inputs = case.inputs(dtype)
        expected = reference(case, *inputs)
        inputs[0][0, 3, 1, 2] = value
        y = case(*map(tf.constant, inputs)).numpy().astype(np.float64)
        if np.isnan(value):
            self.assertTrue(np.all(np.isnan(y[0, 3, 1])))
        else:
            # Scores of inf and -inf: inf - inf is in the softmax, unless all are -inf.
            self.assertTrue(np.all(np.isnan(y[0, 3, 1]) | (y[0, 3, 1] == 0)))
        y[0, 3, 1] = expected[0, 3, 1]
        self.assert_near(expected, y, dtype)

    @parameterized.parameters(*DTYPES)
    def test_non_finite_key_and_value(self, dtype: tf.DType) -> None:
        case = Case(q_length=20, kv_length=20, causal=True)
        for i in (1, 2):
            inputs = case.inputs(dtype)
            expected = reference(case, *inputs)
            inputs[i][0, 7, 1, 2] = np.nan
            y = case(*map(tf.constant, inputs)).numpy().astype(np.float64)
            # Those that see it: in all dimensions, where it is a key's.
            self.assertTrue(np.all(np.isnan(y[0, 7:, 1, 2])))
            if i == 1:
                self.assertTrue(np.all(np.isnan(y[0, 7:, 1])))
                self.assert_near(expected[:, :7], y[:, :7], dtype)
            self.assert_near(expected[:, :, 0], y[:, :, 0], dtype)

    def test_bias_of_infinity_is_nan(self) -> None:
        case = Case(bias=(5, 7))
        inputs = case.inputs(tf.float32)
        inputs[3][2, 3] = np.inf
        y = case(*map(tf.constant, inputs)).numpy()
        self.assertTrue(np.all(np.isnan(y[:, 2])))
        self.assertTrue(np.all(np.isfinite(y[:, [0, 1, 3, 4]])))

    @parameterized.product(causal=[False, True])
    def test_as_keras(self, causal: bool) -> None:
        case = Case(batch=2, q_length=30, kv_length=30, heads=4, kv_heads=2, bias=(2, 4, 30, 30), causal=causal)
        q, k, v, bias = map(tf.constant, case.inputs(tf.float32))
        expected = keras.ops.dot_product_attention(
            q, tf.repeat(k, 2, axis=2), tf.repeat(v, 2, axis=2), bias=bias, is_causal=causal
        )
        np.testing.assert_allclose(case(q, k, v, bias), expected, rtol=1e-5, atol=1e-5)

    def test_scale_of_float64_is_exact(self) -> None:
        case = Case(scale=0.1)
        inputs = case.inputs(tf.float64)
        self.assert_near(reference(case, *inputs), case(*map(tf.constant, inputs)).numpy(), tf.float64)

    @op_test_case.cpu_only
    def test_memory_is_linear(self) -> None:
        # All scores would be 1 GiB, and are needed twice.
        self.assertLess(int(self.run_python(_PRINT_MEMORY).stdout), 100 << 20)

    @op_test_case.cpu_only
    def test_does_not_depend_on_the_number_of_threads(self) -> None:
        digests = {self.run_python(_PRINT_DIGESTS, str(threads)).stdout for threads in (1, 2, 5)}
        self.assertLen(digests, 1)
        self.assertLen(digests.pop().split(), 40)

    @op_test_case.cpu_only
    @parameterized.product(isa=instruction_sets.of_processor(more=True))
    def test_instruction_set(self, isa: str) -> None:
        directory = pathlib.Path(self.create_tempdir().full_path)
        case = Case(q_length=430, kv_length=410, heads=4, head_dim=37, causal=True, bias=(4, 430, 410))
        arrays = [*case.inputs(tf.float64), case.output_grad(tf.float64)]
        np.savez(directory / "inputs.npz", *arrays)
        log = {"TF_CPP_VMODULE": "flash_attention_cpu=1", "TF_CPP_MIN_LOG_LEVEL": "0"}
        with mock.patch.dict(os.environ, {"TF_CUSTOM_OPS_ISA": isa, **log}):
            result = self.run_python(_RUN, str(directory / "inputs.npz"), str(directory))
        # Only bfloat16 has code for the best one.
        expected = ["avx512" if isa == "avx512_bf16" and dtype != tf.bfloat16 else isa for dtype in DTYPES]
        for op in ("FlashAttention", "FlashAttentionGrad"):
            self.assertEqual(re.findall(rf"{op}: the code for (\w+)\n", result.stderr), expected)
        for dtype in DTYPES:
            with self.subTest(dtype=dtype.name):
                # By TensorFlow, as in the program, for NumPy's bfloat16 may round a float64 twice.
                *inputs, output_grad = [tf.cast(array, dtype).numpy() for array in arrays]
                y, *grads = np.load(directory / f"{dtype.name}.npz").values()
                self.assert_near(reference(case, *inputs), y, dtype)
                self.assert_gradients_near(case, inputs, output_grad, grads, dtype)

    @op_test_case.cpu_only
    def test_chooses_the_best_instruction_set(self) -> None:
        log = {"TF_CPP_VMODULE": "flash_attention_cpu=1", "TF_CPP_MIN_LOG_LEVEL": "0"}
        environment = {name: value for name, value in os.environ.items() if name != "TF_CUSTOM_OPS_ISA"}
        with mock.patch.dict(os.environ, {**environment, **log}, clear=True):
            result = self.run_python(
                "import tensorflow as tf; import tensorflow_custom_ops as ops; x = tf.ones([1, 1, 1, 1], tf.bfloat16);"
                "ops.flash_attention(x, x, x)"
            )
        best = instruction_sets.of_processor(more=True)[-1]
        self.assertRegex(result.stderr, rf"FlashAttention: the code for {best}\n")

    @op_test_case.cpu_only
    def test_refuses_an_instruction_set_that_there_is_not(self) -> None:
        with mock.patch.dict(os.environ, {"TF_CUSTOM_OPS_ISA": "avx1024"}):
            result = self.run_python(
                "import tensorflow_custom_ops as ops; x = [[[[1.0]]]]; ops.flash_attention(x, x, x)", check=False
            )
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, "InvalidArgumentError: .*TF_CUSTOM_OPS_ISA is 'avx1024'")

    @parameterized.parameters(
        ([2, 5, 4, 8], [2, 7, 2, 8], [2, 7, 2, 8], [4, 5, 7]),
        ([None, None, 4, 8], [None, None, 2, 8], [None, 7, None, 8], [4, None, 7]),
        ([2, 5, 4, None], None, [2, 7, 2, 8], None),
        (None, [2, 7, 2, 8], None, [1, 4, 5, 7]),
        (None, None, None, None),
    )
    def test_static_shape(self, *shapes: list[int | None] | None) -> None:
        signature = [tf.TensorSpec(shape, tf.float32) for shape in shapes]

        @tf.function(input_signature=signature, autograph=False)
        def function(*inputs: tf.Tensor) -> tuple[tf.Tensor, list[tf.Tensor]]:
            with tf.GradientTape() as tape:
                tape.watch(inputs)
                y = ops.flash_attention(*inputs)
            return y, tape.gradient(y, inputs)

        y, grads = function.get_concrete_function().structured_outputs
        for tensor, shape in zip((y, *grads), (shapes[0], *shapes), strict=True):
            self.assertEqual(None if tensor.shape.rank is None else tensor.shape.as_list(), shape)

    @parameterized.product(mode=[mode for mode in op_test_case.MODES if mode != "eager"])
    def test_unknown_shapes(self, mode: str) -> None:
        for shape in ([None, None, 2, 8], [None, None, None, None], None):
            signature = [*[tf.TensorSpec(shape, tf.float32)] * 4, tf.TensorSpec(None, tf.float32)]

            def both(q: tf.Tensor, k: tf.Tensor, v: tf.Tensor, grad: tf.Tensor, bias: tf.Tensor) -> list[tf.Tensor]:
                case = Case(causal=True)
                return [case(q, k, v, bias), *gradients(case, [q, k, v, bias], grad)]

            function = tf.function(both, input_signature=signature, autograph=False, jit_compile=mode == "jit")
            for batch, length in ((2, 5), (1, 3)):
                case = Case(batch=batch, q_length=length, bias=(length, 7), causal=True)
                inputs = case.inputs(tf.float32)
                output_grad = case.output_grad(tf.float32)
                actual = function(*map(tf.constant, (*inputs[:3], output_grad, inputs[3])))
                expected = [reference(case, *inputs), *reference_gradients(case, output_grad, *inputs)]
                for one, other in zip(expected, actual, strict=True):
                    self.assert_near(one, other.numpy(), tf.float32)

    @parameterized.product(
        case=[
            ((5, 4, 8), (2, 7, 2, 8), (2, 7, 2, 8), (), r"query must have .*head_dim\], but it has shape \[5,4,8\]"),
            ((2, 5, 4, 8), (2, 7, 16), (2, 7, 2, 8), (), r"key must have .*head_dim\], but it has shape \[2,7,16\]"),
            ((2, 5, 4, 8), (2, 7, 2, 8), (2, 7), (), r"value must have .*head_dim\], but it has shape \[2,7\]"),
            (
                (2, 5, 4, 8),
                (3, 7, 2, 8),
                (3, 7, 2, 8),
                (),
                r"key must have the batch size of query, 2, "
                r"but query has shape \[2,5,4,8\] and key has shape \[3,7,2,8\]",
            ),
            (
                (2, 5, 4, 8),
                (2, 7, 2, 8),
                (2, 7, 2, 9),
                (),
                r"value must have the head dimension of query, 8, "
                r"but query has shape \[2,5,4,8\] and value has shape \[2,7,2,9\]",
            ),
            (
                (2, 5, 4, 8),
                (2, 7, 2, 8),
                (2, 6, 2, 8),
                (),
                r"value must have the shape of key, \[2,7,2,8\], but it has shape \[2,6,2,8\]",
            ),
            (
                (2, 5, 4, 8),
                (2, 7, 2, 8),
                (2, 7, 1, 8),
                (),
                r"value must have the shape of key, \[2,7,2,8\], but it has shape \[2,7,1,8\]",
            ),
            (
                (2, 5, 4, 8),
                (2, 7, 3, 8),
                (2, 7, 3, 8),
                (),
                r"the number of heads of query must be a multiple of that of key and value, 3, but is 4",
            ),
            ((2, 5, 4, 8), (2, 7, 0, 8), (2, 7, 0, 8), (), r"key must have at least one head, .* \[2,7,0,8\]"),
            ((2, 5, 4, 0), (2, 7, 2, 0), (2, 7, 2, 0), (), r"key must have at least one element in each head, "),
            (
                (2, 5, 4, 8),
                (2, 7, 2, 8),
                (2, 7, 2, 8),
                (2, 5, 7),
                r"bias must have a shape that broadcasts to \[batch, heads, q_length, kv_length\], \[2,4,5,7\], "
                r"but it has shape \[2,5,7\]",
            ),
            ((2, 5, 4, 8), (2, 7, 2, 8), (2, 7, 2, 8), (1, 1, 1, 1, 7), r"bias must have .* shape \[1,1,1,1,7\]"),
        ]
    )
    def test_refuses_shapes(
        self, case: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...], str]
    ) -> None:
        *shapes, message = case
        inputs = [tf.zeros(shape) for shape in shapes]
        message = "FlashAttention: " + message
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
            ops.flash_attention(*inputs)
        for mode in set(op_test_case.MODES) - {"eager"}:
            # While it is traced, where shapes are known.
            with self.assertRaisesRegex(ValueError, message):
                self.in_mode(mode, ops.flash_attention)(*inputs)
            unknown = tf.function(
                lambda *xs: ops.flash_attention(*xs),  # noqa: PLW0108 - no parameters with defaults
                input_signature=[tf.TensorSpec(None)] * 4,
                jit_compile=mode == "jit",
            )
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
                unknown(*inputs)

    def test_gradient_op_refuses_shapes(self) -> None:
        q, k = tf.zeros([1, 5, 2, 8]), tf.zeros([1, 7, 2, 8])
        lse = tf.zeros([1, 2, 5])
        good = {"query": q, "key": k, "value": k, "bias": [], "output": q, "log_sum_exp": lse, "output_grad": q}
        gen_flash_attention.flash_attention_grad(**good, num_bias_grad=0)
        for name, wrong, message in (
            ("output", k, r"FlashAttentionGrad: output must have shape \[1,5,2,8\], but it has shape \[1,7,2,8\]"),
            (
                "log_sum_exp",
                q,
                r"FlashAttentionGrad: log_sum_exp must have shape \[1,2,5\], but it has shape \[1,5,2,8\]",
            ),
            (
                "output_grad",
                k,
                r"FlashAttentionGrad: output_grad must have shape \[1,5,2,8\], but it has shape \[1,7,2,8\]",
            ),
        ):
            inputs = {**good, name: wrong}
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
                gen_flash_attention.flash_attention_grad(**inputs, num_bias_grad=0)
            with tf.Graph().as_default(), self.assertRaisesRegex(ValueError, message):
                gen_flash_attention.flash_attention_grad(
                    **{key: value if key == "bias" else tf.zeros(value.shape) for key, value in inputs.items()},
                    num_bias_grad=0,
                )
        with self.assertRaisesRegex(
            tf.errors.InvalidArgumentError,
            "FlashAttentionGrad: num_bias_grad must be at most the number of biases, 0, but is 1",
        ):
            gen_flash_attention.flash_attention_grad(**good, num_bias_grad=1)

    @parameterized.parameters(*op_test_case.MODES)
    def test_refuses_other_types_of_sums(self, mode: str) -> None:
        for dtype, wrong in ((tf.float32, tf.float64), (tf.float64, tf.float32), (tf.half, tf.float64)):
            x, lse = tf.zeros([1, 1, 1, 1], dtype), tf.zeros([1, 1, 1], wrong)
            for op, function in (
                ("FlashAttention", lambda: gen_flash_attention.flash_attention(x, x, x, [], Tsum=wrong)),  # noqa: B023
                ("FlashAttentionGrad", lambda: gen_flash_attention.flash_attention_grad(x, x, x, [], x, lse, x, 0)),  # noqa: B023
            ):
                message = f"{op}: Tsum must be (float|double) where T is .*, but is (float|double)"
                with self.assertRaisesRegex((tf.errors.InvalidArgumentError, ValueError), message):
                    self.in_mode(mode, function)()

    def test_gradient_refuses_a_query_of_another_rank(self) -> None:
        for query in (tf.zeros([]), tf.zeros([1, 1, 1])):
            x, lse = tf.zeros([1, 1, 1, 1]), tf.zeros([1, 1, 1])
            with self.assertRaisesRegex(
                tf.errors.InvalidArgumentError, "FlashAttentionGrad: query must have shape .*, but it has shape"
            ):
                gen_flash_attention.flash_attention_grad(query, x, x, [], x, lse, x, 0)

    @parameterized.parameters(*op_test_case.MODES)
    def test_scalars_of_unknown_shape(self, mode: str) -> None:
        unknown = [tf.TensorSpec(None)] * 3
        function = tf.function(ops.flash_attention, unknown, jit_compile=mode == "jit")
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "FlashAttention: query must have shape .*, but"):
            (ops.flash_attention if mode == "eager" else function)(*[tf.zeros([])] * 3)

    @parameterized.parameters(*op_test_case.MODES)
    def test_refuses_outputs_larger_than_any_tensor(self, mode: str) -> None:
        # query and key are empty, and log_sum_exp would have 2^80 elements before the dimension of size 0.
        q, k = (tf.reshape(tf.constant([]), shape) for shape in ((2**40, 0, 2**40, 1), (2**40, 0, 1, 1)))
        with self.assertRaisesRegex(
            (tf.errors.InvalidArgumentError, ValueError),
            r"FlashAttention: log_sum_exp must have less than 2\^63 elements, but .* \[1099511627776,1099511627776,0\]",
        ):
            self.in_mode(mode, ops.flash_attention)(q, k, k)

    @parameterized.parameters(*op_test_case.MODES)
    def test_gradient_of_no_queries_of_many_heads(self, mode: str) -> None:
        for kv_shape in ((1, 0, 2**40, 2), (1, 3, 1, 2)):
            q = tf.reshape(tf.constant([]), [1, 0, 2**40, 2])
            lse = tf.reshape(tf.constant([]), [1, 2**40, 0])
            k = tf.reshape(tf.constant([]), kv_shape) if 0 in kv_shape else tf.ones(kv_shape)

            def gradients() -> tuple[tf.Tensor, ...]:
                grads = gen_flash_attention.flash_attention_grad(q, k, k, [], q, lse, q, num_bias_grad=0)  # noqa: B023
                return tuple(grads[:3])

            query_grad, *kv_grads = self.in_mode(mode, gradients)()
            self.assertEqual(query_grad.shape, q.shape)
            for grad in kv_grads:
                self.assertEqual(grad.shape, kv_shape)
                if 0 not in kv_shape:
                    np.testing.assert_array_equal(grad.numpy(), np.zeros(kv_shape, np.float32))

    def test_refuses_two_biases(self) -> None:
        x = tf.zeros([1, 1, 1, 1])
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "there must be at most one bias, but there are 2"):
            gen_flash_attention.flash_attention(x, x, x, [x, x])

    def test_refuses_other_types(self) -> None:
        x = tf.zeros([1, 1, 1, 1], tf.int32)
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "'T' of int32 .*allowed values: half, .*double"):
            ops.flash_attention(x, x, x)
        with self.assertRaisesRegex(TypeError, "'query' has DataType int32 not in list of allowed values"):
            tf.function(ops.flash_attention)(x, x, x)

    @parameterized.parameters(
        ({"causal": 1}, TypeError, "causal must be a bool, but is 1"),
        ({"causal": None}, TypeError, "causal must be a bool, but is None"),
        ({"scale": "1"}, TypeError, "scale must be a number or None, but is '1'"),
        ({"scale": True}, TypeError, "scale must be a number or None, but is True"),
        ({"scale": 0}, ValueError, "scale must be finite and not 0, .* but is 0"),
        ({"scale": float("nan")}, ValueError, "scale must be finite and not 0, .* but is nan"),
        ({"scale": float("-inf")}, ValueError, "scale must be finite and not 0, .* but is -inf"),
        # 0, a denormal number and infinity in float32.
        ({"scale": 1e-50}, ValueError, "scale must .* 3.40282e.38 where scores are float32, but is 1e-50"),
        ({"scale": -1e-40}, ValueError, "scale must be finite and not 0, .* but is -1e-40"),
        ({"scale": 1e39}, ValueError, r"scale must be finite and not 0, .* but is 1e\+39"),
        ({"scale": 10**400}, ValueError, "scale must be finite and not 0, .* but is 10000"),
        ({"window": 2.0}, TypeError, "window must be an int or None, but is 2.0"),
        ({"window": True}, TypeError, "window must be an int or None, but is True"),
        ({"window": 0}, ValueError, "window must be positive, but is 0"),
    )
    def test_refuses_arguments(self, arguments: dict[str, object], error: type[Exception], message: str) -> None:
        x = tf.zeros([1, 1, 1, 1])
        with self.assertRaisesRegex(error, "flash_attention: " + message):
            ops.flash_attention(x, x, x, **arguments)

    @parameterized.parameters(*op_test_case.MODES)
    def test_scale_of_float64_is_not_rounded(self, mode: str) -> None:
        case = Case(scale=1e-60)
        q, k, v = case.inputs(tf.float64)
        y = self.in_mode(mode, case)(tf.constant(q * 1e60), tf.constant(k), tf.constant(v)).numpy()
        self.assert_near(reference(Case(scale=1.0), q, k, v), y, tf.float64)
        for scale in (5e-324, float("inf")):
            with self.assertRaisesRegex(ValueError, "scale must be finite and not 0, .* where scores are float64"):
                ops.flash_attention(q, k, v, scale=scale)

    @parameterized.parameters(*op_test_case.MODES)
    def test_ops_refuse_scales(self, mode: str) -> None:
        x, lse = tf.zeros([1, 1, 1, 1]), tf.zeros([1, 1, 1])
        for scale in (float("nan"), float("inf"), 1e39, 1e-45):
            for op, function in (
                ("FlashAttention", lambda: gen_flash_attention.flash_attention(x, x, x, [], scale=scale)),  # noqa: B023
                (
                    "FlashAttentionGrad",
                    lambda: gen_flash_attention.flash_attention_grad(x, x, x, [], x, lse, x, 0, scale=scale),  # noqa: B023
                ),
            ):
                message = f"{op}: scale must be finite and no denormal number, but is (nan|inf|1.4013e-45|0)"
                with self.assertRaisesRegex((tf.errors.InvalidArgumentError, ValueError), message):
                    self.in_mode(mode, function)()

    @parameterized.product(mode=op_test_case.MODES, window=(2**31, 2**63 - 1, 2**70), causal=(False, True))
    def test_window_of_any_size(self, mode: str, window: int, causal: bool) -> None:
        inputs = [tf.constant(array) for array in Case(q_length=9).inputs(tf.float64)]

        def results(window: int | None) -> list[tf.Tensor]:
            case = Case(q_length=9, causal=causal, window=window)
            with tf.GradientTape() as tape:
                tape.watch(inputs)
                first = gradients(case, inputs, tf.ones_like(inputs[0]))
                total = tf.add_n([tf.reduce_sum(grad**2) for grad in first])
            return [case(*inputs), *first, *tape.gradient(total, inputs)]

        for one, other in zip(*[self.in_mode(mode, results)(size) for size in (window, None)], strict=True):
            np.testing.assert_array_equal(one, other)

    @parameterized.product(
        mode=op_test_case.MODES,
        # What there is one of for each element of the stack.
        stacked=("q", "kv", "qkvb", "b"),
        bias=(None, (7,), (4, 1, 7), (1, 4, 5, 7), (2, 1, 5, 7)),
    )
    def test_vectorized_map(self, mode: str, stacked: str, bias: tuple[int, ...] | None) -> None:
        names = "qkv" if bias is None else "qkvb"
        stacked = "".join(name for name in stacked if name in names) or "v"
        case = Case(batch=2, heads=4, bias=bias, causal=True)
        stack = [dict(zip(names, case.inputs(tf.float32, seed), strict=True)) for seed in range(3)]
        for name in set(names) - set(stacked):
            for inputs in stack:
                inputs[name] = stack[0][name]
        output_grad = case.output_grad(tf.float32)

        def compute(mapped: dict[str, tf.Tensor]) -> list[tf.Tensor]:
            inputs = [mapped.get(name, tf.constant(stack[0][name])) for name in names]
            with tf.GradientTape() as tape:
                tape.watch(inputs[:3])
                y = case(*inputs)
            return [y, *tape.gradient(y, inputs[:3], output_gradients=tf.constant(output_grad))]

        mapped = {name: tf.constant(np.stack([inputs[name] for inputs in stack])) for name in stacked}
        function = self.in_mode(mode, lambda mapped: tf.vectorized_map(compute, mapped))
        y, *grads = (tensor.numpy() for tensor in function(mapped))
        for i, inputs in enumerate(stack):
            arrays = list(inputs.values())
            self.assert_near(reference(case, *arrays), y[i], tf.float32)
            for one, other in zip(reference_gradients(case, output_grad, *arrays)[:3], grads, strict=True):
                self.assert_near(one, other[i], tf.float32)
        if mode == "graph":
            types = {op.type for op in function.get_concrete_function(mapped).graph.get_operations()}
            self.assertContainsSubset({"FlashAttention", "FlashAttentionGrad"}, types)
            self.assertNoCommonElements({"While", "StatelessWhile"}, types)

    @parameterized.product(dtype=DTYPES, name=("no_batch", "no_keys", "no_heads"))
    def test_vectorized_map_of_empty_arrays(self, dtype: tf.DType, name: str) -> None:
        case = dataclasses.replace(CASES[name], bias=None)
        q, k, v = (tf.constant(np.stack([array] * 3)) for array in case.inputs(dtype))
        y = tf.vectorized_map(lambda qkv: case(*qkv), (q, k, v))
        self.assertEqual((y.dtype, y.shape), (q.dtype, q.shape))
        np.testing.assert_array_equal(tf.cast(y, tf.float32), np.zeros(q.shape))

    @parameterized.parameters(*op_test_case.MODES)
    def test_jacobian_with_a_bias(self, mode: str) -> None:
        case = Case(q_length=2, kv_length=3, head_dim=2, bias=(2, 3))
        inputs = [tf.constant(array) for array in case.inputs(tf.float64)]

        def jacobians(*inputs: tf.Tensor) -> list[tf.Tensor]:
            with tf.GradientTape() as tape:
                tape.watch(inputs)
                y = case(*inputs)
            result: list[tf.Tensor] = tape.jacobian(y, inputs)
            return result

        size = inputs[0].shape.num_elements()
        actual = self.in_mode(mode, jacobians)(*inputs)
        for i in range(size):
            one_hot = np.reshape(np.eye(size)[i], inputs[0].shape)
            arrays = [tensor.numpy() for tensor in inputs]
            for expected, jacobian in zip(reference_gradients(case, one_hot, *arrays), actual, strict=True):
                self.assert_near(expected, jacobian.numpy().reshape(size, *expected.shape)[i], tf.float64)

    @parameterized.parameters(*op_test_case.MODES)
    def test_in_control_flow(self, mode: str) -> None:
        case = Case(kv_length=5, causal=True)
        q, k, v = case.inputs(tf.float32)

        def loop(q: tf.Tensor) -> tf.Tensor:
            return tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, case(y, k, v)), (0, q))[1]

        def branch(q: tf.Tensor) -> tf.Tensor:
            return tf.cond(tf.reduce_sum(q) > 1e6, lambda: q, lambda: case(q, k, v))

        looped = q
        for _ in range(3):
            looped = reference(case, looped, k, v)
        for function, expected in ((loop, looped), (branch, reference(case, q, k, v))):
            with self.subTest(function.__name__):
                self.assert_near(expected, self.in_mode(mode, function)(tf.constant(q)).numpy(), tf.float32)

    def test_saved_model(self) -> None:
        case = Case(causal=True, window=3)
        self.assert_saved_model_runs_elsewhere(case, *case.inputs(tf.float32))

    def test_name(self) -> None:
        with tf.Graph().as_default():
            y = ops.flash_attention(*[tf.zeros([1, 1, 1, 1])] * 3, name="attention")
            self.assertEqual((y.op.name, y.op.type), ("attention", "FlashAttention"))

    def test_documentation(self) -> None:
        self.assertIn(
            "A tensor of shape [batch, q_length, heads, head_dim].", gen_flash_attention.flash_attention.__doc__
        )


@absltest.skipUnless(_build_info.XLA, "this build has no XLA kernels")
class FlashAttentionXlaTest(AttentionTestCase):
    def hlo(self, function: Callable[..., object], *inputs: tf.Tensor) -> str:
        text: str = tf.function(function, jit_compile=True).experimental_get_compiler_ir(*inputs)(stage="hlo")
        return text

    def test_calls_the_kernels(self) -> None:
        case = Case(bias=(5, 7))
        inputs = [tf.constant(array) for array in case.inputs(tf.float32)]
        hlo = self.hlo(lambda *xs: gradients(case, list(xs), tf.ones_like(xs[0])), *inputs)
        # The interface for custom calls is in TensorFlow's wheel since 2.20.
        custom_calls = tuple(map(int, tf.__version__.split(".")[:2])) >= (2, 20)
        for op in ("FlashAttention", "FlashAttentionGrad"):
            self.assertEqual(f'custom_call_target="tensorflow_custom_ops.{op}"' in hlo, custom_calls)
        self.assertEqual(" dot(" in hlo, not custom_calls)

    @parameterized.product(
        dtype=DTYPES,
        name=["plain", "grouped", "multi_query", "causal_more_queries", "causal_window", "bias_of_heads"],
        batch=[0, 1, 3],
    )
    def test_dynamic_batch(self, dtype: tf.DType, name: str, batch: int) -> None:
        # XLA cannot pass such arrays to the kernel, and gets HLO.
        case = dataclasses.replace(CASES[name], batch=3)
        if name == "grouped":
            case = dataclasses.replace(case, bias=(3, 6, 6, 6))
        inputs = case.inputs(dtype)
        output_grad = case.output_grad(dtype)
        # What is beyond the batch must not be seen.
        selected = np.arange(3) >= 3 - batch

        def function(selected: tf.Tensor, *arrays: tf.Tensor) -> list[tf.Tensor]:
            batched = [tf.boolean_mask(x, selected) if len(x.shape) == 4 else x for x in arrays]
            return [case(*batched[:-1]), *gradients(case, batched[:-1], batched[-1])]

        actual = tf.function(function, jit_compile=True)(selected, *map(tf.constant, [*inputs, output_grad]))
        small = dataclasses.replace(case, batch=batch)
        *inputs, output_grad = [x[selected] if x.ndim == 4 else x for x in (*inputs, output_grad)]
        self.assertEqual([tensor.dtype for tensor in actual], [dtype] * (len(inputs) + 1))
        y, *grads = [tensor.numpy() for tensor in actual]
        self.assert_near(reference(small, *inputs), y, dtype)
        self.assert_gradients_near(small, inputs, output_grad, grads, dtype)

    def test_refuses_empty_arrays_of_a_batch_that_xla_does_not_know(self) -> None:
        def function(x: tf.Tensor, keys: tf.Tensor) -> tf.Tensor:
            x, keys = (tf.boolean_mask(tensor, x[:, 0, 0, 0] > 0) for tensor in (x, keys))
            return ops.flash_attention(x, keys, keys)

        with self.assertRaisesRegex(
            tf.errors.InvalidArgumentError,
            "FlashAttention: under XLA, all sizes must be known while it compiles where arrays are empty, "
            "but key has f32",
        ):
            tf.function(function, jit_compile=True)(tf.ones([3, 4, 2, 1]), tf.ones([3, 0, 2, 1]))

    @parameterized.parameters(
        ((0,), "key and query"), ((1, 2), "key and query"), ((0, 1, 3), "value and query"), ((3,), "bias and query")
    )
    def test_refuses_batches_of_which_xla_does_not_know_some(self, dynamic: tuple[int, ...], names: str) -> None:
        def function(selected: tf.Tensor, *inputs: tf.Tensor) -> tf.Tensor:
            return ops.flash_attention(
                *[tf.boolean_mask(x, selected) if i in dynamic else x for i, x in enumerate(inputs)]
            )

        inputs = [tf.ones(shape) for shape in ([3, 4, 2, 1], [3, 5, 2, 1], [3, 5, 2, 1], [3, 1, 4, 5])]
        with self.assertRaisesRegex(
            tf.errors.InvalidArgumentError,
            f"FlashAttention: under XLA, dimension 0 of {names} must be known while it compiles for both or for "
            "neither, but ",
        ):
            tf.function(function, jit_compile=True)(tf.constant([True, False, True]), *inputs)

    def test_refuses_lengths_that_xla_does_not_know(self) -> None:
        def function(x: tf.Tensor) -> tf.Tensor:
            selected = tf.boolean_mask(x, x[0, :, 0, 0] > 0, axis=1)
            return ops.flash_attention(x, selected, selected)

        with self.assertRaisesRegex(
            tf.errors.InvalidArgumentError,
            "FlashAttention: under XLA, all sizes but the batch's must be known while it compiles, but key has f32",
        ):
            tf.function(function, jit_compile=True)(tf.ones([1, 4, 2, 1]))


if __name__ == "__main__":
    absltest.main()
