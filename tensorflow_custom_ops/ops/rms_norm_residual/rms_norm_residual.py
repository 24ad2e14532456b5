# SPDX-License-Identifier: Apache-2.0
"""RmsNormResidual: adds a residual, and divides rows by their root mean square."""

from __future__ import annotations

import tensorflow as tf

from tensorflow_custom_ops.core import normalization
from tensorflow_custom_ops.ops.rms_norm_residual import gen_rms_norm_residual

__all__ = ["rms_norm_residual"]


def rms_norm_residual(
    x: tf.types.experimental.TensorLike,
    residual: tf.types.experimental.TensorLike,
    scale: tf.types.experimental.TensorLike,
    epsilon: float = 1e-6,
    axis: int = -1,
    *,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Adds a residual, and divides each row of the sum by its root mean square.

    `sum = x + residual`, `y = sum / sqrt(mean(sum**2) + epsilon) * scale`: what there is between the layers of a
    transformer, in one pass over memory. The sum is the residual of the next layer.

    Half and bfloat16 are computed in float32. The sum is rounded, and `y` is that of the rounded sum, so that both are
    what `rms_norm(x + residual, ...)` gives. `rms_norm` says more about types, special values and the gradient, which
    is one op here, too.

    Args:
      x: A tensor of at least one dimension, or what converts to one. Its type is half, bfloat16, float32 or float64.
        The axis has one element at least, `n`.
      residual: A tensor of the shape and type of `x`. It is not broadcast.
      scale: A vector of shape `[n]` and the type of `x`.
      epsilon: What is added to the mean square: a finite number, 0 at least. It is rounded to float32.
      axis: The dimension that has the rows. If it is not the last, the inputs and the results are transposed.
      name: A name for the operation.

    Returns:
      `y` and `sum`, tensors of the shape and type of `x`.

    Raises:
      tf.errors.InvalidArgumentError: in eager mode, `x` is a scalar or has empty rows, `residual` or `scale` has
        another shape, the types differ or are others, or `epsilon` is negative or not finite. In a tf.function, a shape
        turns out to be so when it runs. Under XLA, a shape is not known while it compiles.
      ValueError: in a tf.function, a shape or `epsilon` is known to be so while it is traced. In any mode, `x` has no
        such axis, or an unknown rank and `axis` is not -1.
      TypeError: in a tf.function, the types differ or are others; in any mode, `epsilon` is no number, or `axis` is no
        int.
    """
    epsilon = normalization.checked_epsilon("rms_norm_residual", epsilon)
    results: tuple[tf.Tensor, tf.Tensor] = normalization.call_along_axis(
        "rms_norm_residual",
        lambda x, residual: tuple(
            gen_rms_norm_residual.rms_norm_residual(x, residual, scale, epsilon=epsilon, name=name)
        ),
        axis,
        x,
        residual,
    )
    return results


normalization.register(
    gen_rms_norm_residual.rms_norm_residual, gen_rms_norm_residual.rms_norm_residual_grad, has_residual=True
)
