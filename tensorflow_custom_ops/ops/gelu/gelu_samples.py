# SPDX-License-Identifier: Apache-2.0
"""The calls by which op_check checks Gelu."""

from tensorflow_custom_ops.testing.samples import Sample, normal

SAMPLES = {name: Sample((normal(3, 5),), {"approximate": name == "tanh"}) for name in ("exact", "tanh")}
