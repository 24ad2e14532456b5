# SPDX-License-Identifier: Apache-2.0
"""FocalLogits: the focal loss of two classes."""

from __future__ import annotations

import tensorflow as tf

from tensorflow_custom_ops.core import elementwise
from tensorflow_custom_ops.ops.focal_logits import gen_focal_logits

__all__ = ["focal_logits"]


def focal_logits(
    logits: tf.types.experimental.TensorLike,
    labels: tf.types.experimental.TensorLike,
    alpha: float = 0.25,
    gamma: float = 2.0,
    name: str | None = None,
) -> tf.Tensor:
    """Computes the focal loss of two classes, from logits, of each pair of elements.

    With `p = sigmoid(logits)` it is `weight * (1 - p_t)**gamma * cross_entropy`, where

    - `cross_entropy = -labels * log(p) - (1 - labels) * log(1 - p)`,
    - `p_t = labels * p + (1 - labels) * (1 - p)`,
    - `weight = labels * alpha + (1 - labels) * (1 - alpha)`.

    It is computed so that nothing overflows for large logits. The mean of it is
    `tf.keras.losses.BinaryFocalCrossentropy(apply_class_balancing=True, from_logits=True)`, which clips probabilities
    near 0 and 1. An infinite logit may make NaN.

    Lin, Goyal, Girshick, He and Dollar, "Focal Loss for Dense Object Detection", 2017.

    The gradients with respect to `logits` and `labels` are those of the formula. They can be taken twice.

    Args:
      logits: A tensor, or what converts to one. Its type is half, bfloat16, float32 or float64.
      labels: A tensor of the type of `logits`, or what converts to one: the probabilities of class 1, so 0 or 1 or
        between. The shapes are broadcast, as NumPy does.
      alpha: The weight of class 1, from 0 to 1, rounded to float32. Class 0 has the weight `1 - alpha`.
      gamma: How little an element counts that is predicted well, at least 0, rounded to float32. With 0 the loss is
        the weighted cross entropy. Between 0 and 1, what is predicted so well that `1 - p_t` is below 1e-18 has no
        gradient.
      name: A name for the operation.

    Returns:
      A tensor of the type of `logits`, and of the shape to which `logits` and `labels` are broadcast.

    Raises:
      tf.errors.InvalidArgumentError: in eager mode, the types differ, the type is another, the shapes cannot be
        broadcast, or `alpha` or `gamma` is out of range. In a tf.function, the shapes turn out so when it runs.
      ValueError: in a tf.function, the shapes are known to be so while it is traced, or `alpha` or `gamma` is out of
        range.
      TypeError: in a tf.function, the types differ, or the type is another.
    """
    return gen_focal_logits.focal_logits(logits, labels, alpha=alpha, gamma=gamma, name=name)


elementwise.register("FocalLogits", gen_focal_logits)
