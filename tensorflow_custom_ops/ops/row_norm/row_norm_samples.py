# SPDX-License-Identifier: Apache-2.0
"""The calls by which op_check checks row_norm."""

from tensorflow_custom_ops.testing.samples import Sample, normal

SAMPLES = {
    "rows": Sample(
        (normal(3, 5),), options={"skip": {"alignment": "TensorFlow's kernels check that inputs are aligned"}}
    ),
}
