# SPDX-License-Identifier: Apache-2.0
"""SoftplusBeta: softplus of a given sharpness."""

from __future__ import annotations

import tensorflow as tf

from tensorflow_custom_ops.core import elementwise
from tensorflow_custom_ops.ops.softplus_beta import gen_softplus_beta

__all__ = ["softplus_beta"]


def softplus_beta(
    input: tf.types.experimental.TensorLike,
    beta: float = 1.0,
    name: str | None = None,
) -> tf.Tensor:
    """Computes `log(1 + exp(beta * x)) / beta` of each element `x`.

    With `beta` 1 it is `tf.nn.softplus`. The larger `beta`, the nearer it is to `max(x, 0)`. The value and the first
    derivative neither overflow nor underflow on the way.

    The gradient is `sigmoid(beta * x)`. It can be taken twice.

    Args:
      input: A tensor of any shape, or what converts to one. Its type is half, bfloat16, float32 or float64.
      beta: The sharpness, from 2**-126 to 2**126, rounded to float32.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `input`.

    Raises:
      tf.errors.InvalidArgumentError: in eager mode, `input` has another type, or `beta` is below 2**-126 or above
        2**126.
      ValueError: in a tf.function, `beta` is below 2**-126 or above 2**126.
      TypeError: in a tf.function, `input` has another type.
    """
    return gen_softplus_beta.softplus_beta(input, beta=beta, name=name)


elementwise.register("SoftplusBeta", gen_softplus_beta)
