# SPDX-License-Identifier: Apache-2.0
"""The calls by which op_check checks FlashAttention."""

from tensorflow_custom_ops.testing.samples import Sample, normal

# Of a batch, a sequence, heads, and a head's features; queries and keys differ in length.
_QUERY, _KEY, _VALUE = (normal(2, length, 3, 8, seed=length) for length in (5, 7, 7))

SAMPLES = {
    "bias": Sample((_QUERY, _KEY, _VALUE, normal(2, 3, 5, 7, seed=1))),
    "causal": Sample((_QUERY, _KEY, _VALUE), {"causal": True, "window": 4, "scale": 0.5}),
}
