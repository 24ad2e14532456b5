# SPDX-License-Identifier: Apache-2.0
"""Tests of Huber."""

from __future__ import annotations

import math

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tensorflow_custom_ops as ops
from tensorflow_custom_ops.ops.huber import gen_huber
from tests import elementwise_test_case, op_test_case
from tests.elementwise_test_case import Spec, Tolerance

TOLERANCES = (Tolerance(float32=2, float64=2), Tolerance(float32=0, float64=0), Tolerance(float32=0, float64=0))


def _reference(x: np.ndarray, delta: float) -> np.ndarray:
    size = np.abs(x)
    return np.where(size <= delta, 0.5 * x * x, delta * (size - 0.5 * delta))


def _first(x: np.ndarray, delta: float) -> np.ndarray:
    return np.where(np.abs(x) <= delta, x, delta * np.sign(x))


def _second(x: np.ndarray, delta: float) -> np.ndarray:
    return np.where(np.abs(x) <= delta, 1.0, 0.0)


class HuberTest(elementwise_test_case.ElementwiseTestCase):
    spec = Spec(
        op="Huber",
        function=ops.huber,
        reference=_reference,
        derivatives={(1,): _first, (2,): _second},
        tolerances=TOLERANCES,
        # 12 itself is where one of them changes.
        variants=({"delta": 1.0}, {"delta": 0.3}, {"delta": 12.0}),
        refused=(
            ({"delta": 0.0}, "delta must be positive, but delta is 0"),
            ({"delta": -1.5}, "delta must be positive, but delta is -1.5"),
            ({"delta": math.nan}, "delta must be positive, but delta is nan"),
        ),
    )

    def test_mean_is_the_loss_of_keras(self) -> None:
        labels, predictions = tf.random.stateless_normal([2, 1000], [1, 2], stddev=2.0)
        loss = tf.reduce_mean(ops.huber(labels - predictions, delta=1.5))
        np.testing.assert_allclose(loss, tf.keras.losses.Huber(delta=1.5)(labels, predictions), rtol=1e-6)

    def test_infinite_delta(self) -> None:
        np.testing.assert_array_equal(ops.huber([-4.0, np.inf], delta=math.inf), [8.0, np.inf])

    @parameterized.parameters(*op_test_case.MODES)
    def test_denormal_delta_is_zero_in_all_modes(self, mode: str) -> None:
        with self.assertRaisesRegex((tf.errors.InvalidArgumentError, ValueError), "Huber: delta must be positive, but"):
            self.in_mode(mode, lambda x: gen_huber.huber(x, delta=1e-45))(tf.ones([3]))


if __name__ == "__main__":
    absltest.main()
