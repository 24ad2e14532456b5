# SPDX-License-Identifier: Apache-2.0
"""row_norm: the Euclidean norm of each row, made of TensorFlow's ops and a gradient."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

__all__ = ["row_norm"]

_DTYPES = (tf.half, tf.bfloat16, tf.float32, tf.float64)


def row_norm(input: tf.types.experimental.TensorLike, name: str | None = None) -> tf.Tensor:
    """Computes the Euclidean norm of each row.

    `row_norm(x)` is `tf.norm(x, axis=-1)`, but for the gradient of a row of zeros, which is NaN
    there. Half types are computed in float32, and rounded once. Like `tf.norm` it squares: of numbers beyond the square
    root of the type's largest one the norm is infinite.

    The gradient is `x / row_norm(x)`, and 0, one of the subgradients, for a row of zeros. It can
    be taken any number of times.

    Args:
      input: A tensor with one dimension or more, the last of which is that of the rows, or what converts to one. Its
        type is half, bfloat16, float32 or float64.
      name: A name for the operations.

    Returns:
      A tensor of the type of `input`, and of its shape without the last dimension. A row without elements has norm 0.

    Raises:
      tf.errors.InvalidArgumentError: `input` is a scalar, or has another type.
    """
    with tf.name_scope(name or "row_norm"):
        x = tf.convert_to_tensor(input)
        if x.dtype not in _DTYPES:
            allowed = ", ".join(dtype.name for dtype in _DTYPES)
            raise _error(f"the type of input must be one of {allowed}, but is {x.dtype.name}")
        if x.shape.rank == 0:
            raise _error("input must have one dimension at least, but is a scalar")
        wide = tf.cast(x, tf.float32) if x.dtype.size < tf.float32.size else x
        return tf.cast(_row_norm(wide), x.dtype)


@tf.custom_gradient
def _row_norm(x: tf.Tensor) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
    def gradient(upstream: tf.Tensor) -> tf.Tensor:
        # The norm is computed again: to whoever differentiates the gradient, that below is a constant.
        norm = tf.expand_dims(_row_norm(x), -1)
        return tf.expand_dims(upstream, -1) * tf.math.divide_no_nan(x, norm)

    return tf.norm(x, axis=-1), gradient


def _error(message: str) -> tf.errors.InvalidArgumentError:
    return tf.errors.InvalidArgumentError(None, None, f"row_norm: {message}")
