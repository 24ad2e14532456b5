# SPDX-License-Identifier: Apache-2.0
"""The op of libcube.so, with its gradient."""

import pathlib

import tensorflow as tf

from tensorflow_custom_ops import jit

# As built by setup.py, beside this file.
_ops = jit.load_library(pathlib.Path(__file__).with_name("libcube.so"))


@tf.RegisterGradient("Cube")
def _cube_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    return 3 * op.inputs[0] ** 2 * grad


cube = _ops.cube
