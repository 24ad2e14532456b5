# SPDX-License-Identifier: Apache-2.0
"""Runs each op on more than 2^31 elements, and looks at the first and the last.

Takes some 20 GB of the device's memory; where there is less, it says so and checks nothing.
"""

from __future__ import annotations

import os
import sys

# Before TensorFlow is imported, for it prints.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

import tensorflow_custom_ops as ops

ROW = 4096
ROWS = 2**31 // ROW + 1


def expect(name: str, output: tf.Tensor, first: np.ndarray, last: np.ndarray) -> None:
    """Compares the first and the last row.

    Raises:
      AssertionError: they differ.
    """
    rows = tf.reshape(output, [ROWS, ROW])
    for index, expected in ((0, first), (ROWS - 1, last)):
        np.testing.assert_array_equal(rows[index].numpy(), expected, err_msg=f"{name}, row {index}")
    print(f"{name}: {ROWS * ROW} elements on {output.device}")


def main() -> None:
    """Runs the ops on the device that TensorFlow prefers."""
    zeros, ones = np.zeros(ROW, np.float16), np.ones(ROW, np.float16)
    # Zeros, and ones in the last row.
    x = tf.concat([tf.zeros([(ROWS - 1) * ROW], tf.half), ones], axis=0)
    expect("MyOp", ops.my_op(x), zeros, 2 * ones)
    # >>> only with simple_add
    expect("SimpleAdd", ops.simple_add(x, x), zeros, 2 * ones)
    # <<<
    # >>> only with top_k_mask
    one = np.eye(1, ROW, dtype=np.float16)[0]
    expect("TopKMask", ops.top_k_mask(tf.reshape(x, [ROWS, ROW]), 1, fill_value=3.0), 3 - 3 * one, 3 - 2 * one)
    # <<<
    # >>> only with fused_dense
    inputs = tf.zeros([ROWS, 0], tf.half), tf.zeros([0, ROW], tf.half), tf.constant(np.arange(ROW) % 9, tf.half)
    expect("FusedDense", ops.fused_dense(*inputs), inputs[2].numpy(), inputs[2].numpy())
    # <<<


if __name__ == "__main__":
    try:
        main()
    except tf.errors.ResourceExhaustedError as error:
        print(f"left out, for the device has too little memory: {str(error).splitlines()[0]}")
        sys.exit()
