# SPDX-License-Identifier: Apache-2.0
"""SquaredRelu: the square of the rectifier."""

from __future__ import annotations

import tensorflow as tf

from tensorflow_custom_ops.core import elementwise
from tensorflow_custom_ops.ops.squared_relu import gen_squared_relu

__all__ = ["squared_relu"]


def squared_relu(input: tf.types.experimental.TensorLike, name: str | None = None) -> tf.Tensor:
    """Computes `max(x, 0)**2` of each element `x`.

    So et al., "Primer: Searching for Efficient Transformers for Language Modeling", 2021.

    The gradient is `2 * max(x, 0)`. It can be taken twice: the second derivative is 2 above 0, and 0 at 0 and below.

    Args:
      input: A tensor of any shape, or what converts to one. Its type is half, bfloat16, float32 or float64.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `input`.

    Raises:
      tf.errors.InvalidArgumentError: in eager mode, `input` has another type.
      TypeError: in a tf.function, `input` has another type.
    """
    return gen_squared_relu.squared_relu(input, name=name)


elementwise.register("SquaredRelu", gen_squared_relu)
