# SPDX-License-Identifier: Apache-2.0
"""Mish: a smooth activation."""

from __future__ import annotations

import tensorflow as tf

from tensorflow_custom_ops.core import elementwise
from tensorflow_custom_ops.ops.mish import gen_mish

__all__ = ["mish"]


def mish(input: tf.types.experimental.TensorLike, name: str | None = None) -> tf.Tensor:
    """Computes `x * tanh(softplus(x))` of each element `x`.

    For minus infinity it is NaN, as in Keras.

    Misra, "Mish: A Self Regularized Non-Monotonic Activation Function", 2019.

    The gradient is that of the formula. It can be taken twice.

    Args:
      input: A tensor of any shape, or what converts to one. Its type is half, bfloat16, float32 or float64.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `input`.

    Raises:
      tf.errors.InvalidArgumentError: in eager mode, `input` has another type.
      TypeError: in a tf.function, `input` has another type.
    """
    return gen_mish.mish(input, name=name)


elementwise.register("Mish", gen_mish)
