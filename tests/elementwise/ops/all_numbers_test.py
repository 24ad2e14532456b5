# SPDX-License-Identifier: Apache-2.0
"""An elementwise op may be of integers and complex numbers, with literals and attributes."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

from tests import op_test_case
from tests.elementwise.ops import all_numbers, products

TYPES = (tf.half, tf.bfloat16, tf.float32, tf.float64, tf.int32, tf.int64, tf.complex64, tf.complex128)


def _values(size: int, dtype: tf.DType, seed: int) -> np.ndarray:
    """Small integers, of which every type computes exactly; of both parts of complex numbers."""
    generator = np.random.default_rng(seed)
    values: np.ndarray = generator.integers(-4, 5, size)
    if dtype.is_complex:
        values = values + 1j * generator.integers(-4, 5, size)
    return values.astype(dtype.as_numpy_dtype)


def _expected(a: np.ndarray, b: np.ndarray, offset: int) -> np.ndarray:
    one = np.ones((), a.dtype)
    return np.asarray(np.where(a == b, one * -3, (one * 2) * a * b - a + one * offset)).astype(a.dtype)


class AllNumbersTest(op_test_case.OpTestCase):
    libraries = (products.LIBRARY,)

    @parameterized.product(dtype=TYPES, mode=op_test_case.MODES, offset=(5, -7))
    def test_values(self, dtype: tf.DType, mode: str, offset: int) -> None:
        a, b = _values(131, dtype, 0), _values(131, dtype, 1)
        self.assertNotEmpty(a[a == b])
        function = self.in_mode(mode, lambda a, b: all_numbers.all_numbers(a, b, offset=offset))
        self.assert_same(_expected(a, b, offset), function(tf.constant(a), tf.constant(b)))
        with self.subTest("broadcast"):
            self.assert_same(_expected(a, b[:1], offset), function(tf.constant(a), tf.constant(b[0])))

    @parameterized.product(dtype=(tf.int32, tf.int64), mode=op_test_case.MODES)
    def test_integers_wrap_around(self, dtype: tf.DType, mode: str) -> None:
        a, b = self.random((1003,), dtype, seed=0), self.random((1003,), dtype, seed=1)
        function = self.in_mode(mode, all_numbers.all_numbers)
        self.assert_same(_expected(a, b, 5), function(tf.constant(a), tf.constant(b)))


if __name__ == "__main__":
    absltest.main()
