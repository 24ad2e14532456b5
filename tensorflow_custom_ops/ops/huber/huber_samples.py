# SPDX-License-Identifier: Apache-2.0
"""The calls by which op_check checks Huber."""

from tensorflow_custom_ops.testing.samples import Sample, normal

SAMPLES = {"delta": Sample((normal(3, 5),), {"delta": 0.5})}
