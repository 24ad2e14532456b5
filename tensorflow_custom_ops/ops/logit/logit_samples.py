# SPDX-License-Identifier: Apache-2.0
"""The calls by which op_check checks Logit."""

import numpy as np

from tensorflow_custom_ops.testing.samples import Sample

# Probabilities, two of which are beyond what is clamped.
_P = np.array([[0.1, 0.25, 0.5, 0.7, 0.999], [0.02, 0.3, 1.5, -0.5, 0.9]], np.float32)

SAMPLES = {"probabilities": Sample((_P,), {"epsilon": 1e-2})}
