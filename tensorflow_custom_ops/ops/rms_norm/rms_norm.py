# SPDX-License-Identifier: Apache-2.0
"""RmsNorm: divides rows by their root mean square."""

from __future__ import annotations

import tensorflow as tf

from tensorflow_custom_ops.core import normalization
from tensorflow_custom_ops.ops.rms_norm import gen_rms_norm

__all__ = ["rms_norm"]


def rms_norm(
    x: tf.types.experimental.TensorLike,
    scale: tf.types.experimental.TensorLike,
    epsilon: float = 1e-6,
    axis: int = -1,
    name: str | None = None,
) -> tf.Tensor:
    """Divides each row by its root mean square: `x / sqrt(mean(x**2) + epsilon) * scale`.

    Zhang and Sennrich, "Root Mean Square Layer Normalization" (2019). It is what `keras.layers.RMSNormalization`
    computes, in one pass over memory.

    Half and bfloat16 are computed in float32, and rounded once. The result does not depend on the number of threads; it
    may differ in the last bits between processors with other vector instructions, and from what XLA computes. The
    environment variable TF_CUSTOM_OPS_ISA (baseline, avx2 or avx512) forces the instructions.

    A row with NaN becomes NaN, and so do infinite elements; the other elements of their row become 0. So does a row
    whose sum of squares is not within the range of float32 (of float64), as with other implementations: elements of
    1e19 and more are too large, and with epsilon 0 a row of elements below 1e-20 has no root mean square but 0.

    The gradient with respect to `x` and `scale` is one op, which reads its inputs once. That of `scale`, a sum over all
    rows, does not depend on the number of threads either. The second derivative, and further ones, are made of
    TensorFlow's ops.

    Args:
      x: A tensor of at least one dimension, or what converts to one. Its type is half, bfloat16, float32 or float64.
        The axis has one element at least, `n`.
      scale: A vector of shape `[n]` and the type of `x`.
      epsilon: What is added to the mean square: a finite number, 0 at least. It is rounded to float32.
      axis: The dimension that has the rows. If it is not the last, `x` and the result are transposed.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`.

    Raises:
      tf.errors.InvalidArgumentError: in eager mode, `x` is a scalar or has empty rows, `scale` has another shape, the
        types differ or are others, or `epsilon` is negative or not finite. In a tf.function, a shape turns out to be so
        when it runs. Under XLA, `n` is not known while it compiles, or another size is not and there are no rows.
      ValueError: in a tf.function, a shape or `epsilon` is known to be so while it is traced. In any mode, `x` has no
        such axis, or an unknown rank and `axis` is not -1.
      TypeError: in a tf.function, the types differ or are others; in any mode, `epsilon` is no number, or `axis` is no
        int.
    """
    epsilon = normalization.checked_epsilon("rms_norm", epsilon)
    return normalization.call_along_axis(
        "rms_norm", lambda x: gen_rms_norm.rms_norm(x, scale, epsilon=epsilon, name=name), axis, x
    )


normalization.register(gen_rms_norm.rms_norm, gen_rms_norm.rms_norm_grad)
