# SPDX-License-Identifier: Apache-2.0
"""Runs op_check on ops of TensorFlow's, and prints what it finds: docs/testing.md has the table.

bazel run //tests/testing:tensorflow_ops -- [NAME]...
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from tensorflow_custom_ops.testing import op_check
from tensorflow_custom_ops.testing.samples import normal

OPS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = {
    "relu": (tf.nn.relu, (normal(3, 5),), {}),
    "softplus": (tf.nn.softplus, (normal(3, 5),), {}),
    "softmax": (tf.nn.softmax, (normal(3, 5),), {}),
    "matmul": (tf.linalg.matmul, (normal(3, 5), normal(5, 7, seed=1)), {}),
    "bias_add": (tf.nn.bias_add, (normal(3, 5), normal(5, seed=1)), {}),
    "l2_loss": (tf.nn.l2_loss, (normal(3, 5),), {}),
    "reduce_sum": (tf.reduce_sum, (normal(3, 5),), {"axis": 1}),
    "gather": (tf.gather, (normal(3, 5), np.array([2, 0, 1, 1, 0, 2, 1])), {}),
    "segment_sum": (tf.math.segment_sum, (normal(3, 5), np.array([0, 0, 1])), {}),
    "cumsum": (tf.cumsum, (normal(3, 5),), {"axis": 0}),
    "top_k": (tf.math.top_k, (normal(3, 5),), {"k": 2}),
    "cholesky": (tf.linalg.cholesky, (np.eye(5, dtype=np.float32) * 4 + 1,), {}),
    "unique": (lambda x: tf.unique(x)[0], (np.array([3.0, 1.0, 3.0, 2.0, 1.0], np.float32),), {}),
}


def main(names: list[str]) -> None:
    """Prints a report for each of the ops."""
    for name in names or OPS:
        function, args, kwargs = OPS[name]
        print(f"tf {name}: {op_check(function, args, kwargs)}\n", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
