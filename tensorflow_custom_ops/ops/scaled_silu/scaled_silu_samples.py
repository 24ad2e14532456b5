# SPDX-License-Identifier: Apache-2.0
"""The calls by which op_check checks ScaledSilu."""

from tensorflow_custom_ops.testing.samples import Sample, normal

SAMPLES = {"alpha": Sample((normal(3, 5),), {"alpha": 1.5})}
