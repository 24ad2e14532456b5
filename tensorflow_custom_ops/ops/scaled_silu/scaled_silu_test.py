# SPDX-License-Identifier: Apache-2.0
"""Tests of ScaledSilu."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from absl.testing import absltest

import tensorflow_custom_ops as ops
from tests import elementwise_test_case
from tests.elementwise_test_case import Spec, Tolerance, sigmoid

# Derivatives are computed from 1 - sigmoid, which where it is near 0 has the error of one ulp of 1, and is multiplied
# by alpha * x.
TOLERANCES = (
    Tolerance(float32=4, float64=8),
    Tolerance(float32=16, float64=32, scale=1),
    Tolerance(float32=32, float64=32, scale=1),
    Tolerance(float32=32, float64=32, scale=1),
    Tolerance(float32=32, float64=32, scale=1),
)


def _reference(x: np.ndarray, alpha: float) -> np.ndarray:
    return alpha * (x * sigmoid(x))


def _parts(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """sigmoid, its derivative d, and u = 1 - 2 * sigmoid: d' is d * u, and u' is -2 * d."""
    s, t = sigmoid(x), sigmoid(-x)
    return s, s * t, t - s


def _first(x: np.ndarray, alpha: float) -> np.ndarray:
    s, d, _ = _parts(x)
    return alpha * (s + x * d)


def _second(x: np.ndarray, alpha: float) -> np.ndarray:
    _, d, u = _parts(x)
    return alpha * (2 * d + x * (d * u))


def _third(x: np.ndarray, alpha: float) -> np.ndarray:
    _, d, u = _parts(x)
    return alpha * (3 * d * u + x * (d * u**2 - 2 * d**2))


def _fourth(x: np.ndarray, alpha: float) -> np.ndarray:
    _, d, u = _parts(x)
    return alpha * (4 * (d * u**2 - 2 * d**2) + x * (d * u**3 - 8 * d**2 * u))


class ScaledSiluTest(elementwise_test_case.ElementwiseTestCase):
    spec = Spec(
        op="ScaledSilu",
        function=ops.scaled_silu,
        reference=_reference,
        derivatives={(1,): _first, (2,): _second, (3,): _third, (4,): _fourth},
        tolerances=TOLERANCES,
        variants=({"alpha": 1.0}, {"alpha": 0.1}, {"alpha": -2.5}),
        order=4,
    )

    def test_is_tensorflows_silu(self) -> None:
        x = tf.random.stateless_normal([1000], [1, 2])
        np.testing.assert_allclose(ops.scaled_silu(x), tf.nn.silu(x), rtol=1e-6)


if __name__ == "__main__":
    absltest.main()
