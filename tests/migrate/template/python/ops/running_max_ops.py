# SPDX-License-Identifier: Apache-2.0
"""The op RunningMax, from its library."""

import pathlib

import tensorflow as tf

_ops = tf.load_op_library(str(pathlib.Path(__file__).parent / "_running_max_ops.so"))

running_max = _ops.running_max
