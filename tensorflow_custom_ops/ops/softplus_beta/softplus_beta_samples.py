# SPDX-License-Identifier: Apache-2.0
"""The calls by which op_check checks SoftplusBeta."""

from tensorflow_custom_ops.testing.samples import Sample, normal

SAMPLES = {"beta": Sample((normal(3, 5),), {"beta": 2.0})}
