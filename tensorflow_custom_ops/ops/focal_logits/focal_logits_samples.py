# SPDX-License-Identifier: Apache-2.0
"""The calls by which op_check checks FocalLogits."""

import numpy as np

from tensorflow_custom_ops.testing.samples import Sample, normal

_LABELS = np.random.default_rng(1).uniform(size=(3, 5)).astype(np.float32)

SAMPLES = {"soft labels": Sample((normal(3, 5), _LABELS), {"alpha": 0.3, "gamma": 1.5})}
