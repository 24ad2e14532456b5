# SPDX-License-Identifier: Apache-2.0
"""The calls by which op_check checks TopKMask."""

import numpy as np

from tensorflow_custom_ops.testing.samples import Sample, normal

SAMPLES = {
    "int32": Sample((normal(3, 5), np.int32(2)), {"fill_value": -1.5}),
    "int64": Sample((normal(3, 5), np.int64(2)), {"fill_value": 0.5}, {"only": ["kernels", "dtypes", "eager", "jit"]}),
}
