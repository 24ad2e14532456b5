# SPDX-License-Identifier: Apache-2.0
"""Tests of SoftplusBeta."""

from __future__ import annotations

import math

import numpy as np
import tensorflow as tf
from absl.testing import absltest

import tensorflow_custom_ops as ops
from tests import elementwise_test_case
from tests.elementwise_test_case import Spec, Tolerance, sigmoid

# e^y has the error of |y| / 2 ulps that the rounding of y makes.
TOLERANCES = (
    Tolerance(float32=8, float64=8),
    Tolerance(float32=16, float64=16, scale=1e-6),
    Tolerance(float32=16, float64=16, scale=1e-6),
)


def _reference(x: np.ndarray, beta: float) -> np.ndarray:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(beta * x))) / beta


def _first(x: np.ndarray, beta: float) -> np.ndarray:
    return sigmoid(beta * x)


def _second(x: np.ndarray, beta: float) -> np.ndarray:
    return beta * (sigmoid(beta * x) * sigmoid(-beta * x))


class SoftplusBetaTest(elementwise_test_case.ElementwiseTestCase):
    spec = Spec(
        op="SoftplusBeta",
        function=ops.softplus_beta,
        reference=_reference,
        derivatives={(1,): _first, (2,): _second},
        tolerances=TOLERANCES,
        variants=({"beta": 1.0}, {"beta": 0.3}, {"beta": 8.0}),
        refused=(
            ({"beta": 0.0}, "beta must be positive, finite and no denormal, but it is 0"),
            ({"beta": -1.5}, "beta must be positive, finite and no denormal, but it is -1.5"),
            ({"beta": math.nan}, "beta must be positive, finite and no denormal, but it is nan"),
            # Eager kernels may flush it to zero before they show it.
            ({"beta": 1e-40}, r"beta must be positive, finite and no denormal, but it is (0|9\.99995e-41)"),
            ({"beta": math.inf}, "beta must be positive, finite and no denormal, but it is inf"),
        ),
    )

    def test_is_tensorflows_softplus(self) -> None:
        x = tf.random.stateless_normal([1000], [1, 2])
        np.testing.assert_allclose(ops.softplus_beta(x), tf.nn.softplus(x), rtol=1e-6)


if __name__ == "__main__":
    absltest.main()
