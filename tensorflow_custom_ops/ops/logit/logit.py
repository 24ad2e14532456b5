# SPDX-License-Identifier: Apache-2.0
"""Logit: the inverse of the logistic function."""

from __future__ import annotations

import tensorflow as tf

from tensorflow_custom_ops.core import elementwise
from tensorflow_custom_ops.ops.logit import gen_logit

__all__ = ["logit"]


def logit(
    input: tf.types.experimental.TensorLike,
    epsilon: float = 1e-7,
    name: str | None = None,
) -> tf.Tensor:
    """Computes `log(p / (1 - p))` of each element, where `p` is `x`, but at least `epsilon` and at most `1 - epsilon`.

    The default bounds probabilities as Keras does (`tf.keras.backend.epsilon()`): without bounds the results for 0 and
    1 are infinite.

    The gradient is `1 / (p * (1 - p))`, and 0 where `x` is below `epsilon` or above `1 - epsilon`. It can be taken
    twice.

    Args:
      input: A tensor of any shape, or what converts to one. Its type is half, bfloat16, float32 or float64.
      epsilon: How near to 0 and 1 probabilities may be, rounded to float32.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `input`.

    Raises:
      tf.errors.InvalidArgumentError: in eager mode, `input` has another type, or `epsilon` is not in [0, 0.5).
      ValueError: in a tf.function, `epsilon` is not in [0, 0.5).
      TypeError: in a tf.function, `input` has another type.
    """
    return gen_logit.logit(input, epsilon=epsilon, name=name)


elementwise.register("Logit", gen_logit)
