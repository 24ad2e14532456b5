# SPDX-License-Identifier: Apache-2.0
"""The op that is moved as one from PyTorch would be computes what NumPy does, and op_check finds nothing."""

from __future__ import annotations

import pathlib

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

from tensorflow_custom_ops.testing import OpCheckTestCase
from tests import op_test_case
from tests.migrate.pytorch.row_distance import row_distance

LIBRARY = str(pathlib.Path(__file__).parent / "_row_distance.so")
tf.load_op_library(LIBRARY)

# The last is large enough for several threads.
SHAPES = ((0,), (1,), (7,), (0, 3), (3, 0), (2, 3), (5, 1, 33), (100_001, 3))


class RowDistanceTest(op_test_case.OpTestCase, OpCheckTestCase):
    @parameterized.product(mode=("eager", "graph"), dtype=(tf.float32, tf.float64), shape=SHAPES)
    def test_values(self, mode: str, dtype: tf.DType, shape: tuple[int, ...]) -> None:
        a, b = self.random(shape, dtype, seed=1), self.random(shape, dtype, seed=2)
        distance = self.in_mode(mode, row_distance)(tf.constant(a), tf.constant(b))
        self.assertEqual(distance.dtype, dtype)
        expected = np.sum((a.astype(np.float64) - b) ** 2, axis=-1)
        rtol = 1e-5 if dtype == tf.float32 else 1e-13
        np.testing.assert_allclose(distance.numpy().astype(np.float64), expected, rtol=rtol, strict=True)

    def test_gradients(self) -> None:
        a, b = (tf.constant(self.random((4, 5), tf.float64, seed=seed)) for seed in (1, 2))
        theoretical, numeric = tf.test.compute_gradient(row_distance, [a, b])
        for actual, expected in zip(theoretical, numeric, strict=True):
            np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-6)

    @parameterized.parameters(([2, 3], [2, 4]), ([2, 3], [3]), ([], []))
    def test_other_shapes_are_refused(self, a: list[int], b: list[int]) -> None:
        message = "RowDistance: a and b must have one shape, of one dimension or more, but a has "
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
            row_distance(tf.zeros(a), tf.zeros(b))
        with self.assertRaisesRegex(ValueError, message):
            tf.function(row_distance)(tf.zeros(a), tf.zeros(b))

    def test_op_check(self) -> None:
        inputs = [self.random((3, 5), tf.float32, seed=seed) for seed in (1, 2)]
        self.assert_op(
            row_distance,
            inputs,
            libraries=[LIBRARY],
            modules=["tests.migrate.pytorch.row_distance"],
            skip={"jit": "it has no XLA kernel"},
        )


if __name__ == "__main__":
    absltest.main()
