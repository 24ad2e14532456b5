# SPDX-License-Identifier: Apache-2.0
"""The calls by which op_check checks FusedDense."""

from tensorflow_custom_ops.testing.samples import Sample, normal

_UNALIGNED = "XLA's own product of matrices ends the process on some processors where inputs are not aligned"

SAMPLES = {
    activation: Sample(
        (normal(3, 5), normal(5, 7, seed=1), normal(7, seed=2)),
        {"activation": activation},
        {"skip": {"alignment": _UNALIGNED}},
    )
    for activation in ("linear", "tanh")
}
