# SPDX-License-Identifier: Apache-2.0
"""Tests of Gelu."""

from __future__ import annotations

import math

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tensorflow_custom_ops as ops
from tests import elementwise_test_case, op_test_case
from tests.elementwise_test_case import Spec, Tolerance, sigmoid

# In the tail the distribution has the error of the rounding of x**2 / 2; see test_tail.
TOLERANCES = (
    Tolerance(float32=4, float64=4, scale=1),
    Tolerance(float32=4, float64=4, scale=1),
    Tolerance(float32=4, float64=4, scale=1),
)

SLOPE = 2 * math.sqrt(2 / math.pi)
CUBIC = 0.044715

_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def _reference(x: np.ndarray, approximate: bool) -> np.ndarray:
    # From here on it is 0, and not NaN for minus infinity.
    x = np.maximum(x, -40)
    return x * (_approximate(x)[0] if approximate else _exact(x)[0])


def _first(x: np.ndarray, approximate: bool) -> np.ndarray:
    if approximate:
        value, slope, _ = _approximate(x)
    else:
        value, slope = _exact(x)
    return value + x * slope


def _second(x: np.ndarray, approximate: bool) -> np.ndarray:
    if approximate:
        _, slope, curvature = _approximate(x)
        return 2 * slope + x * curvature
    density = _exact(x)[1]
    return 2 * density - x * (x * density)


def _exact(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The normal distribution and its density."""
    return 0.5 * _erfc(-x / math.sqrt(2)), np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _approximate(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """0.5 * (1 + tanh), as sigmoid(z), and two derivatives. All is 0 or 1 from 50 on."""
    x = np.clip(x, -50, 50)
    z, dz, ddz = SLOPE * (x + CUBIC * x**3), SLOPE * (1 + 3 * CUBIC * x**2), SLOPE * 6 * CUBIC * x
    s, t = sigmoid(z), sigmoid(-z)
    return s, s * t * dz, s * t * ((t - s) * dz**2 + ddz)


class GeluTest(elementwise_test_case.ElementwiseTestCase):
    spec = Spec(
        op="Gelu",
        function=ops.gelu,
        reference=_reference,
        derivatives={(1,): _first, (2,): _second},
        tolerances=TOLERANCES,
        variants=({"approximate": False}, {"approximate": True}),
    )

    @parameterized.product(
        (
            {"dtype": tf.float32, "approximate": False, "low": -12.0},
            {"dtype": tf.float64, "approximate": False, "low": -25.0},
            {"dtype": tf.float32, "approximate": True, "low": -9.0},
            {"dtype": tf.float64, "approximate": True, "low": -15.0},
        ),
        mode=op_test_case.MODES,
    )
    def test_tail(self, dtype: tf.DType, approximate: bool, low: float, mode: str) -> None:
        # Here no derivative has a zero.
        x = np.linspace(low, -2.5, 20_001).astype(dtype.as_numpy_dtype)
        for orders, formula in (((0,), _reference), ((1,), _first), ((2,), _second)):
            y = self.in_mode(mode, self.derivative(orders, {"approximate": approximate}))(tf.constant(x))
            expected = formula(x.astype(np.float64), approximate)
            np.testing.assert_allclose(y, expected, rtol=2e-5 if dtype == tf.float32 else 2e-13, err_msg=f"{orders}")

    @parameterized.product(dtype=elementwise_test_case.DTYPES, approximate=(False, True), mode=op_test_case.MODES)
    def test_infinity(self, dtype: tf.DType, approximate: bool, mode: str) -> None:
        y = self.in_mode(mode, self.call({"approximate": approximate}))(tf.constant([-np.inf, np.inf], dtype))
        self.assertEqual(list(map(str, y.numpy().astype(np.float64))), ["-0.0", "inf"])

    @parameterized.parameters(False, True)
    def test_is_that_of_tensorflow_and_keras(self, approximate: bool) -> None:
        x = tf.random.stateless_normal([1000], [1, 2])
        y = ops.gelu(x, approximate=approximate)
        np.testing.assert_allclose(y, tf.nn.gelu(x, approximate=approximate), rtol=1e-6, atol=5e-7)
        np.testing.assert_allclose(y, tf.keras.activations.gelu(x, approximate=approximate), rtol=1e-6, atol=5e-7)


if __name__ == "__main__":
    absltest.main()
