# SPDX-License-Identifier: Apache-2.0
"""ThreeInputs: an op of three inputs that can be differentiated once."""

from __future__ import annotations

import tensorflow as tf

from tensorflow_custom_ops.core import elementwise
from tests.elementwise.ops import gen_three_inputs

__all__ = ["three_inputs"]


def three_inputs(
    a: tf.types.experimental.TensorLike,
    b: tf.types.experimental.TensorLike,
    c: tf.types.experimental.TensorLike,
    name: str | None = None,
) -> tf.Tensor:
    """Computes `sigmoid(a) * tanh(b) * sin(c)`."""
    return gen_three_inputs.three_inputs(a, b, c, name=name)


elementwise.register("ThreeInputs", gen_three_inputs)
