# SPDX-License-Identifier: Apache-2.0
"""Huber: a loss that is quadratic near 0."""

from __future__ import annotations

import tensorflow as tf

from tensorflow_custom_ops.core import elementwise
from tensorflow_custom_ops.ops.huber import gen_huber

__all__ = ["huber"]


def huber(
    input: tf.types.experimental.TensorLike,
    delta: float = 1.0,
    name: str | None = None,
) -> tf.Tensor:
    """Computes Huber's loss of each element: of an error, so of a label minus a prediction.

    It is `0.5 * x**2` where `abs(x) <= delta`, and `delta * (abs(x) - 0.5 * delta)` elsewhere. The mean of it is
    `tf.keras.losses.Huber`.

    Huber, "Robust Estimation of a Location Parameter", 1964.

    The gradient is `x` up to `delta`, and beyond it `delta` with the sign of `x`. It can be taken twice: the second
    derivative is 1 up to `delta`, itself included, and 0 beyond.

    Args:
      input: A tensor of any shape, or what converts to one. Its type is half, bfloat16, float32 or float64.
      delta: Where the loss changes from quadratic to linear, a positive number, rounded to float32.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `input`.

    Raises:
      tf.errors.InvalidArgumentError: in eager mode, `input` has another type, or `delta` is not positive.
      ValueError: in a tf.function, `delta` is not positive.
      TypeError: in a tf.function, `input` has another type.
    """
    return gen_huber.huber(input, delta=delta, name=name)


elementwise.register("Huber", gen_huber)
