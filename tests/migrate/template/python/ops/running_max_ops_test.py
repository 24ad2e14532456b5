# SPDX-License-Identifier: Apache-2.0
"""The op that came from TensorFlow's template for custom ops computes what NumPy does."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

from tests.migrate.template.python.ops.running_max_ops import running_max


class RunningMaxTest(parameterized.TestCase):
    @parameterized.product(dtype=(np.float32, np.float64), size=(0, 1, 1001))
    def test_values(self, dtype: type[np.generic], size: int) -> None:
        values = np.random.default_rng(0).standard_normal(size).astype(dtype)
        for function in (running_max, tf.function(running_max)):
            np.testing.assert_array_equal(function(values), np.maximum.accumulate(values), strict=True)

    def test_other_shapes_are_refused(self) -> None:
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, r"RunningMax: .* one dimension, .* \[2,3\]"):
            running_max(np.zeros([2, 3], np.float32))
        with self.assertRaisesRegex(ValueError, "must be rank 1"):
            tf.function(running_max)(np.zeros([2, 3], np.float32))


if __name__ == "__main__":
    absltest.main()
