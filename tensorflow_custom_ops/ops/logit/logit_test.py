# SPDX-License-Identifier: Apache-2.0
"""Tests of Logit."""

from __future__ import annotations

import math

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tensorflow_custom_ops as ops
from tests import elementwise_test_case
from tests.elementwise_test_case import Input, Spec, Tolerance

# Near 0.5 the difference of the logarithms has their error, and so have the derivatives.
TOLERANCES = (
    Tolerance(float32=4, float64=4, scale=1),
    Tolerance(float32=8, float64=8),
    Tolerance(float32=8, float64=8, scale=4),
)


def _bounded(x: np.ndarray, epsilon: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X and 1 - x between epsilon and 1 - epsilon, and where x is outside."""
    outside = (x < epsilon) | (1 - x < epsilon)
    return np.clip(x, epsilon, 1 - epsilon), np.clip(1 - x, epsilon, 1 - epsilon), outside


def _reference(x: np.ndarray, epsilon: float) -> np.ndarray:
    p, q, _ = _bounded(x, epsilon)
    return np.log(p) - np.log(q)


def _first(x: np.ndarray, epsilon: float) -> np.ndarray:
    p, q, outside = _bounded(x, epsilon)
    return np.where(outside, 0, 1 / (p * q))


def _second(x: np.ndarray, epsilon: float) -> np.ndarray:
    p, q, outside = _bounded(x, epsilon)
    return np.where(outside, 0, 1 / (q * q) - 1 / (p * p))


class LogitTest(elementwise_test_case.ElementwiseTestCase):
    spec = Spec(
        op="Logit",
        function=ops.logit,
        reference=_reference,
        derivatives={(1,): _first, (2,): _second},
        tolerances=TOLERANCES,
        inputs=(Input(low=0.05, high=0.95),),
        variants=({"epsilon": 1e-7}, {"epsilon": 0.125}, {"epsilon": 0.0}),
        refused=(
            ({"epsilon": 0.5}, "epsilon must be at least 0 and below 0.5, but epsilon is 0.5"),
            ({"epsilon": -0.25}, "epsilon must be at least 0 and below 0.5, but epsilon is -0.25"),
            ({"epsilon": math.nan}, "epsilon must be at least 0 and below 0.5, but epsilon is nan"),
        ),
    )

    def test_inverts_the_sigmoid(self) -> None:
        x = tf.constant(np.linspace(-12, 12, 101))
        np.testing.assert_allclose(ops.logit(tf.sigmoid(x)), x, rtol=1e-10, atol=1e-10)

    def test_the_default_is_that_of_keras(self) -> None:
        epsilon = tf.keras.backend.epsilon()
        np.testing.assert_allclose(ops.logit([0.0, 1.0]), [np.log(epsilon), -np.log(epsilon)], rtol=1e-6)

    @parameterized.parameters(0.0, 0.125)
    def test_gradient_at_the_bounds(self, epsilon: float) -> None:
        """As torch.logit has it: the bounds belong to what is inside."""
        x = tf.constant([epsilon - 1, epsilon, 1 - epsilon, 2 - epsilon])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = ops.logit(x, epsilon=epsilon)
        slope = 1 / (epsilon * (1 - epsilon)) if epsilon else np.inf
        np.testing.assert_allclose(tape.gradient(y, x), [0, slope, slope, 0], rtol=1e-6)


if __name__ == "__main__":
    absltest.main()
