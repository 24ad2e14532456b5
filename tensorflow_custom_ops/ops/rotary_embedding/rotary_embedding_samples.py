# SPDX-License-Identifier: Apache-2.0
"""The calls by which op_check checks RotaryEmbedding."""

import numpy as np

from tensorflow_custom_ops.testing.samples import Sample, normal

# Of a batch, a sequence, heads, and a head's features.
_X = normal(2, 5, 3, 8)

SAMPLES = {
    "positions": Sample((_X, np.arange(5)), {"base": 100.0, "rotary_dim": 6}),
    "interleaved": Sample((_X,), {"interleaved": True}),
}
