# SPDX-License-Identifier: Apache-2.0
"""A functor in a string becomes an op with kernels, gradients and XLA."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

from tensorflow_custom_ops import jit
from tests import op_test_case
from tests.jit import jit_test_case

SWISH = """
// A comment with struct Wrong : Elementwise<1> {};
struct JitSwish : Elementwise</*inputs=*/1, /*attributes=*/2> {
  static const char* Check(fn::Constant beta, fn::Constant) {
    return beta.value > 0 ? nullptr : "beta must be positive";
  }
  template <typename V>
  static FN_INLINE auto Apply(const V& x, fn::Constant beta, fn::Constant doubled) {
    const fn::Constant factor{doubled.value != 0 ? 2.0 : 1.0};
    return factor * (x * fn::sigmoid(beta * x));
  }
};
"""
# With a helper, names of inputs that are given, and an input that is broadcast.
BLEND = """
template <typename V>
FN_INLINE auto Cube(const V& x) {
  return x * x * x;
}
struct JitBlend : Elementwise<2> {
  template <typename A, typename B>
  static FN_INLINE auto Apply(const A& a, const B& b) {
    return Cube(a) * fn::sin(b);
  }
};
"""
# Without gradient, of integers.
PLUS = """
struct JitPlus : Elementwise<2> {
  static constexpr int kOrder = 0;
  static constexpr elementwise::TypeSet kTypes = elementwise::kNumberTypes;
  template <typename A, typename B>
  static FN_INLINE auto Apply(const A& a, const B& b) {
    return a + b;
  }
};
"""


def sigmoid(x: np.ndarray) -> np.ndarray:
    """In the type of x."""
    return 1 / (1 + np.exp(-x))


def swish(x: np.ndarray, beta: float) -> np.ndarray:
    """The function that the functor computes."""
    return x * sigmoid(beta * x)


def first(x: np.ndarray, beta: float) -> np.ndarray:
    """Its derivative."""
    s = sigmoid(beta * x)
    return s + beta * x * s * (1 - s)


def second(x: np.ndarray, beta: float) -> np.ndarray:
    """Its second derivative."""
    s = sigmoid(beta * x)
    slope = beta * s * (1 - s)
    return 2 * slope + beta * x * slope * (1 - 2 * s)


def derivatives(function: Callable[[tf.Tensor], tf.Tensor], x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """The value, and the first two derivatives."""
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = function(x)
        gradient = inner.gradient(y, x)
    return y, gradient, outer.gradient(gradient, x)


class FunctorTest(jit_test_case.JitTestCase):
    def swish(self) -> Callable[..., tf.Tensor]:
        """The op."""
        module = jit.load_inline("jit_swish", functor=SWISH, attributes={"beta": 1.5, "doubled": False}, doc="A swish.")
        function: Callable[..., tf.Tensor] = module.jit_swish
        return function

    @parameterized.product(
        mode=op_test_case.MODES,
        dtype_and_tolerance=((tf.float64, 1e-14), (tf.float32, 2e-6), (tf.bfloat16, 1e-2), (tf.half, 2e-3)),
    )
    def test_values_and_derivatives(self, mode: str, dtype_and_tolerance: tuple[tf.DType, float]) -> None:
        dtype, tolerance = dtype_and_tolerance
        function = self.swish()
        x = self.random((3, 37), dtype)
        results = self.in_mode(mode, lambda x: derivatives(lambda x: function(x, beta=0.5), x))(tf.constant(x))
        exact = x.astype(np.float64)
        for result, wanted in zip(results, (swish, first, second), strict=True):
            self.assertEqual(result.dtype, dtype)
            np.testing.assert_allclose(
                tf.cast(result, tf.float64), wanted(exact, 0.5), rtol=tolerance, atol=tolerance, err_msg=str(wanted)
            )

    def test_attributes(self) -> None:
        x = self.random((5,), tf.float64)
        np.testing.assert_allclose(self.swish()(x), swish(x, 1.5), rtol=1e-14)
        np.testing.assert_allclose(self.swish()(x, doubled=True), 2 * swish(x, 1.5), rtol=1e-14)
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "JitSwish: beta must be positive.*beta is -1"):
            self.swish()(x, beta=-1.0)

    def test_vectorized_map(self) -> None:
        function = self.swish()
        x = self.random((4, 5), tf.float64)
        np.testing.assert_array_equal(tf.vectorized_map(function, tf.constant(x)), function(x))

    def test_documentation(self) -> None:
        self.assertStartsWith(self.swish().__doc__, "A swish.")

    def test_two_inputs(self) -> None:
        module = jit.load_inline("jit_blend", functor=BLEND, inputs=["left", "right"])
        a, b = self.random((4, 1), tf.float64), self.random((3,), tf.float64, seed=1)
        for mode in op_test_case.MODES:
            left, right = tf.constant(a), tf.constant(b)
            with tf.GradientTape() as tape:
                tape.watch([left, right])
                y = self.in_mode(mode, lambda left, right: module.jit_blend(left=left, right=right))(left, right)
            by_left, by_right = tape.gradient(y, [left, right])
            np.testing.assert_allclose(y, a**3 * np.sin(b), rtol=1e-14)
            np.testing.assert_allclose(by_left, np.sum(3 * a**2 * np.sin(b), 1, keepdims=True), rtol=1e-13)
            np.testing.assert_allclose(by_right, np.sum(a**3 * np.cos(b), 0), rtol=1e-13)

    def test_without_gradient(self) -> None:
        module = jit.load_inline("jit_plus", functor=PLUS)
        a, b = self.random((4, 3), tf.int32), self.random((4, 3), tf.int32, seed=1)
        self.assert_same(a + b, module.jit_plus(a, b))
        self.assert_same(a + b, tf.vectorized_map(lambda pair: module.jit_plus(*pair), (a, b)))

    def test_again_is_the_same_module_at_once(self) -> None:
        module = self.swish()
        start = time.perf_counter()
        self.assertIs(self.swish(), module)
        self.assertLess(time.perf_counter() - start, 1)


if __name__ == "__main__":
    absltest.main()
