# SPDX-License-Identifier: Apache-2.0
"""Tests of FocalLogits."""

from __future__ import annotations

import math
import sys

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tensorflow_custom_ops as ops
from tests import elementwise_test_case
from tests.elementwise_test_case import Input, Spec, Tolerance, sigmoid, softplus


def scale(logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Of the terms of a derivative: the cross entropy is up to |logits|."""
    return 1 + np.abs(logits) + 0 * labels


TOLERANCES = (
    Tolerance(float32=32, float64=32),
    Tolerance(float32=16, float64=16, scale=scale),
    Tolerance(float32=32, float64=32, scale=scale),
)


class Terms:
    """The loss is weight * power * entropy. `_x` and `_y` are derivatives by logits and labels."""

    def __init__(self, x: np.ndarray, y: np.ndarray, alpha: float, gamma: float) -> None:
        p, q = sigmoid(x), sigmoid(-x)
        self.weight, self.weight_y = y * alpha + (1 - y) * (1 - alpha), 2 * alpha - 1
        self.entropy = y * softplus(-x) + (1 - y) * softplus(x)
        self.entropy_x, self.entropy_y = p - y, -x
        self.entropy_xx, self.entropy_xy = p * q, -1.0

        miss, miss_x, miss_y = y * q + (1 - y) * p, p * q * (1 - 2 * y), q - p
        miss_xx, miss_xy = p * q * (q - p) * (1 - 2 * y), -2 * p * q
        once, twice = _power(miss, gamma, 1), _power(miss, gamma, 2)
        self.power = _power(miss, gamma, 0)
        self.power_x, self.power_y = once * miss_x, once * miss_y
        self.power_xx = twice * miss_x**2 + once * miss_xx
        self.power_xy = twice * miss_x * miss_y + once * miss_xy
        self.power_yy = twice * miss_y**2


def _power(miss: np.ndarray, gamma: float, order: int) -> np.ndarray:
    """A derivative of miss**gamma; 0 where it is infinite, for its factors are smaller there."""
    factor = math.prod(gamma - i for i in range(order))
    if factor == 0:
        return np.zeros_like(miss)
    return np.where((miss == 0) & (gamma < order), 0, factor * miss ** (gamma - order))


def _reference(x: np.ndarray, y: np.ndarray, alpha: float, gamma: float) -> np.ndarray:
    t = Terms(x, y, alpha, gamma)
    return t.weight * t.power * t.entropy


def _by_logits(x: np.ndarray, y: np.ndarray, alpha: float, gamma: float) -> np.ndarray:
    t = Terms(x, y, alpha, gamma)
    return t.weight * (t.power_x * t.entropy + t.power * t.entropy_x)


def _by_labels(x: np.ndarray, y: np.ndarray, alpha: float, gamma: float) -> np.ndarray:
    t = Terms(x, y, alpha, gamma)
    return t.weight_y * t.power * t.entropy + t.weight * (t.power_y * t.entropy + t.power * t.entropy_y)


def _by_logits_twice(x: np.ndarray, y: np.ndarray, alpha: float, gamma: float) -> np.ndarray:
    t = Terms(x, y, alpha, gamma)
    return t.weight * (t.power_xx * t.entropy + 2 * t.power_x * t.entropy_x + t.power * t.entropy_xx)


def _by_both(x: np.ndarray, y: np.ndarray, alpha: float, gamma: float) -> np.ndarray:
    t = Terms(x, y, alpha, gamma)
    return t.weight_y * (t.power_x * t.entropy + t.power * t.entropy_x) + t.weight * (
        t.power_xy * t.entropy + t.power_x * t.entropy_y + t.power_y * t.entropy_x + t.power * t.entropy_xy
    )


def _by_labels_twice(x: np.ndarray, y: np.ndarray, alpha: float, gamma: float) -> np.ndarray:
    t = Terms(x, y, alpha, gamma)
    return 2 * t.weight_y * (t.power_y * t.entropy + t.power * t.entropy_y) + t.weight * (
        t.power_yy * t.entropy + 2 * t.power_y * t.entropy_y
    )


class FocalLogitsTest(elementwise_test_case.BroadcastingTestCase):
    spec = Spec(
        op="FocalLogits",
        function=ops.focal_logits,
        reference=_reference,
        derivatives={
            (1, 0): _by_logits,
            (0, 1): _by_labels,
            (2, 0): _by_logits_twice,
            (1, 1): _by_both,
            (0, 2): _by_labels_twice,
        },
        tolerances=TOLERANCES,
        inputs=(
            Input("logits", limits=(-sys.float_info.max, sys.float_info.max), extreme=1 / 16),
            Input("labels", low=0.0, high=1.0, limits=(0.0, 1.0)),
        ),
        variants=(
            {"alpha": 0.25, "gamma": 2.0},
            {"alpha": 0.5, "gamma": 0.0},
            {"alpha": 1.0, "gamma": 1.0},
            {"alpha": 0.3, "gamma": 1.5},
            {"alpha": 0.75, "gamma": 3.5},
        ),
        refused=(
            ({"alpha": -0.5}, "alpha must be from 0 to 1, but alpha is -0.5 and gamma is 2"),
            ({"alpha": 1.5}, "alpha must be from 0 to 1, but alpha is 1.5 and gamma is 2"),
            ({"gamma": -1.0}, "gamma must be at least 0 and finite, but alpha is 0.25 and gamma is -1"),
            ({"gamma": math.inf}, "gamma must be at least 0 and finite, but alpha is 0.25 and gamma is inf"),
            ({"gamma": math.nan}, "gamma must be at least 0 and finite, but alpha is 0.25 and gamma is nan"),
        ),
    )

    @parameterized.parameters((0.25, 2.0), (0.6, 1.5), (0.5, 0.0))
    def test_mean_is_the_loss_of_keras(self, alpha: float, gamma: float) -> None:
        logits = tf.random.stateless_normal([1000], [1, 2], stddev=3.0)
        for labels in (
            tf.round(tf.random.stateless_uniform([1000], [3, 4])),
            tf.random.stateless_uniform([1000], [5, 6]),
        ):
            keras = tf.keras.losses.BinaryFocalCrossentropy(
                apply_class_balancing=True, from_logits=True, alpha=alpha, gamma=gamma
            )
            loss = tf.reduce_mean(ops.focal_logits(logits, labels, alpha=alpha, gamma=gamma))
            np.testing.assert_allclose(loss, keras(labels, logits), rtol=2e-6)

    @parameterized.product(gamma=(0.01, 0.5, 1.001, 1.9), dtype=elementwise_test_case.DTYPES)
    def test_fractional_gamma(self, gamma: float, dtype: tf.DType) -> None:
        """The power's derivatives are infinite at 0, which large logits reach. The loss's are finite."""
        logits = tf.constant([-1e3, -200.0, -90.0, -42.0, 42.0, 90.0, 200.0, 1e3], dtype)
        for label in (0.0, 0.5, 1.0):
            labels = tf.fill(logits.shape, tf.cast(label, dtype))
            for orders in self.all_orders():
                y = self.derivative(orders, {"gamma": gamma})(logits, labels)
                self.assertTrue(np.all(np.isfinite(y.numpy().astype(np.float64))), f"{orders}, {label}: {y}")


if __name__ == "__main__":
    absltest.main()
