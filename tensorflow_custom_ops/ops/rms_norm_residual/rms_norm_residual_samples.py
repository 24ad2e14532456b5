# SPDX-License-Identifier: Apache-2.0
"""The calls by which op_check checks RmsNormResidual."""

from tensorflow_custom_ops.testing.samples import Sample, normal

SAMPLES = {
    "last axis": Sample((normal(3, 5), normal(3, 5, seed=1), normal(5, seed=2)), {"epsilon": 1e-3}),
}
