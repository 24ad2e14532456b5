# SPDX-License-Identifier: Apache-2.0
"""Tests of SwiGluGate."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from absl.testing import absltest

import tensorflow_custom_ops as ops
from tests import elementwise_test_case
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
            (0, 1): lambda a, b: _silu(a) + 0 * b,
            (2, 0): lambda a, b: _silu_second(a) * b,
            (1, 1): lambda a, b: _silu_first(a) + 0 * b,
            (0, 2): lambda a, b: 0 * a * b,
        },
        tolerances=TOLERANCES,
        inputs=(Input("a"), Input("b")),
    )

    def test_is_that_of_tensorflow(self) -> None:
        a, b = tf.random.stateless_normal([2, 1000], [1, 2])
        np.testing.assert_allclose(ops.swi_glu_gate(a, b), tf.nn.silu(a) * b, rtol=1e-6)


if __name__ == "__main__":
    absltest.main()
