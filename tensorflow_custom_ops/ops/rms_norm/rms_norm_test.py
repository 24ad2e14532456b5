# SPDX-License-Identifier: Apache-2.0
"""Tests of RmsNorm."""

from __future__ import annotations

import keras
from absl.testing import absltest

import tensorflow_custom_ops as ops
from tensorflow_custom_ops.ops.rms_norm import gen_rms_norm
from tests import normalization_test_case


class RmsNormTest(normalization_test_case.NormalizationTestCase):
    spec = normalization_test_case.Spec(
        op="RmsNorm",
        function=ops.rms_norm,
        epsilon=1e-6,
        keras=lambda x, scale: keras.ops.rms_normalization(x, scale, epsilon=1e-6),
    )

    def test_documentation(self) -> None:
        self.assertIn("by its root mean square", gen_rms_norm.rms_norm.__doc__)


if __name__ == "__main__":
    absltest.main()
