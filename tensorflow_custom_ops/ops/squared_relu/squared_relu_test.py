# SPDX-License-Identifier: Apache-2.0
"""Tests of SquaredRelu."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from absl.testing import absltest

import tensorflow_custom_ops as ops
from tests import elementwise_test_case
from tests.elementwise_test_case import Spec, Tolerance

TOLERANCES = (Tolerance(float32=0.5, float64=0.5), Tolerance(float32=0, float64=0), Tolerance(float32=0, float64=0))


def _reference(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0) ** 2


def _first(x: np.ndarray) -> np.ndarray:
    return 2 * np.maximum(x, 0)


def _second(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0, 2.0, 0.0)


class SquaredReluTest(elementwise_test_case.ElementwiseTestCase):
    spec = Spec(
        op="SquaredRelu",
        function=ops.squared_relu,
        reference=_reference,
        derivatives={(1,): _first, (2,): _second},
        tolerances=TOLERANCES,
    )

    def test_kink(self) -> None:
        """As TensorFlow has it of tf.square(tf.nn.relu(x))."""
        x = tf.constant([-1.0, -0.0, 0.0, 1.0])
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = ops.squared_relu(x)
            first = inner.gradient(y, x)
        np.testing.assert_array_equal(first, [0, 0, 0, 2])
        np.testing.assert_array_equal(outer.gradient(first, x), [0, 0, 0, 2])


if __name__ == "__main__":
    absltest.main()
