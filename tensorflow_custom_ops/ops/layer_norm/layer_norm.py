# SPDX-License-Identifier: Apache-2.0
"""LayerNorm: subtracts from rows their mean, and divides them by their standard deviation."""

from __future__ import annotations

import tensorflow as tf

from tensorflow_custom_ops.core import normalization
from tensorflow_custom_ops.ops.layer_norm import gen_layer_norm

__all__ = ["layer_norm"]


def layer_norm(
    x: tf.types.experimental.TensorLike,
    scale: tf.types.experimental.TensorLike,
    offset: tf.types.experimental.TensorLike,
    epsilon: float = 1e-3,
    axis: int = -1,
    *,
    name: str | None = None,
) -> tf.Tensor:
    """Normalises each row: `(x - mean(x)) / sqrt(var(x) + epsilon) * scale + offset`.

    Ba, Kiros and Hinton, "Layer Normalization" (2016). It is what `keras.layers.LayerNormalization` computes, in one
    pass over memory; the default of `epsilon` is Keras's.

    Half and bfloat16 are computed in float32, and rounded once. The mean is subtracted before the variance is formed,
    and what was lost when it was rounded, too: a mean that is large beside the standard deviation costs no digits. The
    result does not depend on the number of threads; it may differ in the last bits between processors with other vector
    instructions, and from what XLA computes. The environment variable TF_CUSTOM_OPS_ISA (baseline, avx2 or avx512)
    forces the instructions.

    A row with NaN or infinite elements becomes NaN, and so does one whose sum is not within the range of float32 (of
    float64), for it has no mean: elements of 1e35 and more. Where the sum of squares of the differences from the mean
    is not within that range, the row becomes `offset`, as with other implementations; so does a row of equal elements,
    but for rounding errors, unless epsilon is 0: that row is NaN.

    The gradient with respect to `x`, `scale` and `offset` is one op, which reads its inputs once. Those of `scale` and
    `offset`, sums over all rows, do not depend on the number of threads either. The second derivative, and further
    ones, are made of TensorFlow's ops.

    Args:
      x: A tensor of at least one dimension, or what converts to one. Its type is half, bfloat16, float32 or float64.
        The axis has one element at least, `n`.
      scale: A vector of shape `[n]` and the type of `x`.
      offset: A vector of shape `[n]` and the type of `x`.
      epsilon: What is added to the variance: a finite number, 0 at least. It is rounded to float32.
      axis: The dimension that has the rows. If it is not the last, `x` and the result are transposed.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`.

    Raises:
      tf.errors.InvalidArgumentError: in eager mode, `x` is a scalar or has empty rows, `scale` or `offset` has another
        shape, the types differ or are others, or `epsilon` is negative or not finite. In a tf.function, a shape turns
        out to be so when it runs. Under XLA, `n` is not known while it compiles, or another size is not and there
        are no rows.
      ValueError: in a tf.function, a shape or `epsilon` is known to be so while it is traced. In any mode, `x` has no
        such axis, or an unknown rank and `axis` is not -1.
      TypeError: in a tf.function, the types differ or are others; in any mode, `epsilon` is no number, or `axis` is no
        int.
    """
    epsilon = normalization.checked_epsilon("layer_norm", epsilon)
    return normalization.call_along_axis(
        "layer_norm", lambda x: gen_layer_norm.layer_norm(x, scale, offset, epsilon=epsilon, name=name), axis, x
    )


normalization.register(gen_layer_norm.layer_norm, gen_layer_norm.layer_norm_grad, has_offset=True)
