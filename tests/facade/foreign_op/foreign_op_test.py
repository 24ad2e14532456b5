# SPDX-License-Identifier: Apache-2.0
"""An op written for TensorFlow's source tree builds and runs over the wheel."""

from __future__ import annotations

import pathlib

import numpy as np
import tensorflow as tf
from absl.testing import absltest

from tests.facade.foreign_op import gen_sign_split_hidden, gen_sign_split_only
from tests.facade.foreign_op.ops import gen_sign_split

tf.load_op_library(str(pathlib.Path(__file__).parent / "_sign_split.so"))

VALUES = np.array([1.5, -2.0, 0.0, 3.0], np.float32)


class ForeignOpTest(absltest.TestCase):
    def check_parts(self, positive: tf.Tensor, negative: tf.Tensor) -> None:
        np.testing.assert_array_equal(positive, np.maximum(VALUES, 0))
        np.testing.assert_array_equal(negative, np.minimum(VALUES, 0))

    def test_cpu_kernel(self) -> None:
        outputs = gen_sign_split.sign_split(VALUES)
        self.check_parts(outputs.positive, outputs.negative)

    def test_sharded_kernel(self) -> None:
        values = np.resize(VALUES, 100_003)
        self.assertEqual(gen_sign_split.sign_split_count(values).numpy(), np.count_nonzero(values > 0))
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "no values of float"):
            gen_sign_split.sign_split_count([])

    def test_hidden_ops_have_an_underscore(self) -> None:
        self.check_parts(*gen_sign_split_hidden._sign_split(VALUES))
        self.check_parts(*tf.function(gen_sign_split_hidden._sign_split)(VALUES))
        self.assertFalse(hasattr(gen_sign_split_hidden, "sign_split"))
        self.assertEqual(gen_sign_split_hidden.sign_split_count(VALUES).numpy(), 2)

    def test_only_allowed_ops_are_wrapped(self) -> None:
        self.check_parts(*gen_sign_split_only.sign_split(VALUES))
        self.assertFalse(hasattr(gen_sign_split_only, "sign_split_count"))


if __name__ == "__main__":
    absltest.main()
