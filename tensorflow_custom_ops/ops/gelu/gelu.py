# SPDX-License-Identifier: Apache-2.0
"""Gelu: the Gaussian error linear unit."""

from __future__ import annotations

import tensorflow as tf

from tensorflow_custom_ops.core import elementwise
from tensorflow_custom_ops.ops.gelu import gen_gelu

__all__ = ["gelu"]


def gelu(
    input: tf.types.experimental.TensorLike,
    approximate: bool = False,
    name: str | None = None,
) -> tf.Tensor:
    """Computes `x * P(X <= x)` of each element `x`, for a standard normal `X`.

    It is `0.5 * x * erfc(-x / sqrt(2))`, or with `approximate`
    `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))`: what `tf.nn.gelu` is, but with as many digits where
    it is near 0, for negative `x`, as elsewhere. For minus infinity it is -0.

    Hendrycks and Gimpel, "Gaussian Error Linear Units (GELUs)", 2016.

    The gradient is that of the formula. It can be taken twice.

    Args:
      input: A tensor of any shape, or what converts to one. Its type is half, bfloat16, float32 or float64.
      approximate: Whether to compute the formula with `tanh`.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `input`.

    Raises:
      tf.errors.InvalidArgumentError: in eager mode, `input` has another type.
      TypeError: in a tf.function, `input` has another type.
    """
    return gen_gelu.gelu(input, approximate=approximate, name=name)


elementwise.register("Gelu", gen_gelu)
