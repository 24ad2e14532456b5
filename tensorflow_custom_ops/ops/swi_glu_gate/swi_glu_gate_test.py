# SPDX-License-Identifier: Apache-2.0
"""Tests of SwiGluGate."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tensorflow_custom_ops as ops
from tensorflow_custom_ops.ops.swi_glu_gate import gen_swi_glu_gate
from tests import elementwise_test_case, op_test_case
from tests.elementwise_test_case import Input, Spec, Tolerance, sigmoid


def scale(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of what the error of 1 - sigmoid(a), one ulp of 1, is multiplied by."""
    return np.maximum(np.abs(b), 1) * np.ones_like(a)


TOLERANCES = (
    Tolerance(float32=4, float64=8),
    Tolerance(float32=16, float64=32, scale=scale),
    Tolerance(float32=16, float64=32, scale=scale),
)


def _silu(a: np.ndarray) -> np.ndarray:
    return a * sigmoid(a)


def _silu_first(a: np.ndarray) -> np.ndarray:
    return sigmoid(a) + a * (sigmoid(a) * sigmoid(-a))


def _silu_second(a: np.ndarray) -> np.ndarray:
    slope = sigmoid(a) * sigmoid(-a)
    return 2 * slope + a * (slope * (sigmoid(-a) - sigmoid(a)))


class SwiGluGateTest(elementwise_test_case.BroadcastingTestCase):
    spec = Spec(
        op="SwiGluGate",
        function=ops.swi_glu_gate,
        reference=lambda a, b: _silu(a) * b,
        derivatives={
            (1, 0): lambda a, b: _silu_first(a) * b,
            (0, 1): lambda a, b: _silu(a) * np.ones_like(b),
            (2, 0): lambda a, b: _silu_second(a) * b,
            (1, 1): lambda a, b: _silu_first(a) * np.ones_like(b),
            (0, 2): lambda a, b: np.zeros_like(a) * np.ones_like(b),
        },
        tolerances=TOLERANCES,
        inputs=(Input("a"), Input("b")),
    )

    @parameterized.product(dtype=elementwise_test_case.DTYPES, mode=op_test_case.MODES)
    def test_derivatives_where_b_is_infinite(self, dtype: tf.DType, mode: str) -> None:
        """No derivative that is infinite there, or NaN, becomes a term of another."""
        a, b = (x.ravel() for x in np.meshgrid([-3.0, -0.5, 0.25, 2.0], [np.inf, -np.inf, np.nan, 1.0]))
        for orders in self.spec.derivatives:
            self.check(orders, [x.astype(dtype.as_numpy_dtype) for x in (a, b)], {}, mode)

    @parameterized.parameters(("a", [3]), ("b", []))
    def test_gradient_refuses_shapes(self, name: str, a_shape: list[int]) -> None:
        message = (
            f"SwiGluGateGrad: {name} and grad must have shapes that can be broadcast, "
            rf"but {name} has \[3\] and grad has \[2\]"
        )
        inputs = tf.zeros(a_shape), tf.zeros([3]), tf.zeros([2])

        def gradient(*inputs: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            return tuple(gen_swi_glu_gate.swi_glu_gate_grad(*inputs, orders=[0, 0]))

        with self.subTest("eager"), self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
            gradient(*inputs)
        with self.subTest("while a graph is made"), self.assertRaisesRegex(ValueError, message):
            tf.function(gradient)(*inputs)

    def test_is_that_of_tensorflow(self) -> None:
        a, b = tf.random.stateless_normal([2, 1000], [1, 2])
        np.testing.assert_allclose(ops.swi_glu_gate(a, b), tf.nn.silu(a) * b, rtol=1e-6)


if __name__ == "__main__":
    absltest.main()
