# SPDX-License-Identifier: Apache-2.0
"""Tests of Mish."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from absl.testing import absltest

import tensorflow_custom_ops as ops
from tests import elementwise_test_case
from tests.elementwise_test_case import Spec, Tolerance, sigmoid, softplus

TOLERANCES = (
    Tolerance(float32=4, float64=8),
    Tolerance(float32=8, float64=8, scale=1),
    Tolerance(float32=8, float64=8, scale=1),
)


def _reference(x: np.ndarray) -> np.ndarray:
    return x * np.tanh(softplus(x))


def _parts(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """tanh(softplus(x)), 1 - tanh(softplus(x))**2 without cancellation, and sigmoid(x)."""
    e = np.exp(-2 * softplus(x))
    return np.tanh(softplus(x)), 4 * e / (1 + e) ** 2, sigmoid(x)


def _first(x: np.ndarray) -> np.ndarray:
    tanh, slope, s = _parts(x)
    return tanh + x * (slope * s)


def _second(x: np.ndarray) -> np.ndarray:
    tanh, slope, s = _parts(x)
    return 2 * slope * s + x * (slope * s * (sigmoid(-x) - 2 * tanh * s))


class MishTest(elementwise_test_case.ElementwiseTestCase):
    spec = Spec(
        op="Mish",
        function=ops.mish,
        reference=_reference,
        derivatives={(1,): _first, (2,): _second},
        tolerances=TOLERANCES,
    )

    def test_is_that_of_keras(self) -> None:
        x = tf.random.stateless_normal([1000], [1, 2])
        np.testing.assert_allclose(ops.mish(x), tf.keras.activations.mish(x), rtol=2e-6)


if __name__ == "__main__":
    absltest.main()
