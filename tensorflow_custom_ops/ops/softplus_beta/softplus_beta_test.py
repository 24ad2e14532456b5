# SPDX-License-Identifier: Apache-2.0
"""Tests of SoftplusBeta."""

from __future__ import annotations

import math

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tensorflow_custom_ops as ops
from tests import elementwise_test_case, op_test_case
from tests.elementwise_test_case import Spec, Tolerance, sigmoid

# e^y has the error of |y| / 2 ulps that the rounding of y makes.
TOLERANCES = (
    Tolerance(float32=8, float64=8),
    Tolerance(float32=16, float64=16, scale=1e-6),
    Tolerance(float32=16, float64=16, scale=1e-6),
)

SMALLEST, LARGEST = np.float32(2.0**-126), np.float32(2.0**126)


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
        refused=tuple(
            ({"beta": beta}, f"beta must be from 2\\^-126 to 2\\^126, but beta is {found}")
            for beta, found in (
                (0.0, "0"),
                (-1.5, "-1.5"),
                (math.nan, "nan"),
                # Eager kernels may flush it to zero before they show it.
                (1e-40, r"(0|9\.99995e-41)"),
                (np.nextafter(LARGEST, np.float32(np.inf)).item(), r"8\.50706e\+37"),
                (math.inf, "inf"),
            )
        ),
    )

    @parameterized.product(beta=(SMALLEST, LARGEST), dtype=elementwise_test_case.DTYPES, mode=op_test_case.MODES)
    def test_takes_all_betas(self, beta: np.float32, dtype: tf.DType, mode: str) -> None:
        generator = np.random.default_rng(0)
        # From where beta * x is nearly 0 to where it is infinite, if beta is large.
        inputs = np.concatenate(
            [[0.0], generator.choice([-1.0, 1.0], 1000) * 2.0 ** generator.uniform(-120, 127, 1000)]
        )
        # The second derivative is beta times what may be denormal, and flushed to zero.
        for orders in ((0,), (1,)):
            self.check(orders, [inputs.astype(dtype.as_numpy_dtype)], {"beta": beta.item()}, mode)

    def test_is_tensorflows_softplus(self) -> None:
        x = tf.random.stateless_normal([1000], [1, 2])
        np.testing.assert_allclose(ops.softplus_beta(x), tf.nn.softplus(x), rtol=1e-6)


if __name__ == "__main__":
    absltest.main()
