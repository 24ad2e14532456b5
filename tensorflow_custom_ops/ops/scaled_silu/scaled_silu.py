# SPDX-License-Identifier: Apache-2.0
"""ScaledSilu: the scaled sigmoid linear unit."""

from __future__ import annotations

import tensorflow as tf

from tensorflow_custom_ops.core import elementwise
from tensorflow_custom_ops.ops.scaled_silu import gen_scaled_silu

__all__ = ["scaled_silu"]


def scaled_silu(
    input: tf.types.experimental.TensorLike,
    alpha: float = 1.0,
    name: str | None = None,
) -> tf.Tensor:
    """Computes `alpha * x * sigmoid(x)` of each element `x`.

    With `alpha` 1 it is `tf.nn.silu`, also called Swish. For minus infinity it is NaN, as that is.

    Elfwing, Uchibe and Doya, "Sigmoid-Weighted Linear Units for Neural Network Function Approximation in Reinforcement
    Learning", 2018; Ramachandran, Zoph and Le, "Searching for Activation Functions", 2017.

    The gradient is that of the formula. It can be taken up to four times.

    Args:
      input: A tensor of any shape, or what converts to one. Its type is half, bfloat16, float32 or float64.
      alpha: The factor, rounded to float32.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `input`.

    Raises:
      tf.errors.InvalidArgumentError: in eager mode, `input` has another type.
      TypeError: in a tf.function, `input` has another type.
    """
    return gen_scaled_silu.scaled_silu(input, alpha=alpha, name=name)


elementwise.register("ScaledSilu", gen_scaled_silu)
