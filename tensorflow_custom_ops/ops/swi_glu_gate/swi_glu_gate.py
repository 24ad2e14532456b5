# SPDX-License-Identifier: Apache-2.0
"""SwiGluGate: the gate of SwiGLU."""

from __future__ import annotations

import tensorflow as tf

from tensorflow_custom_ops.core import elementwise
from tensorflow_custom_ops.ops.swi_glu_gate import gen_swi_glu_gate

__all__ = ["swi_glu_gate"]


def swi_glu_gate(
    a: tf.types.experimental.TensorLike,
    b: tf.types.experimental.TensorLike,
    name: str | None = None,
) -> tf.Tensor:
    """Computes `silu(a) * b`, which is `a * sigmoid(a) * b`, of each pair of elements.

    With `a = x @ W` and `b = x @ V` it is SwiGLU. For an `a` of minus infinity it is NaN, as `tf.nn.silu` is.

    Shazeer, "GLU Variants Improve Transformer", 2020.

    The gradients with respect to `a` and `b` are those of the formula. They can be taken twice.

    Args:
      a: A tensor, or what converts to one. Its type is half, bfloat16, float32 or float64.
      b: A tensor of the type of `a`, or what converts to one. The shapes are broadcast, as NumPy does.
      name: A name for the operation.

    Returns:
      A tensor of the type of `a`, and of the shape to which `a` and `b` are broadcast.

    Raises:
      tf.errors.InvalidArgumentError: in eager mode, the types differ, the type is another, or the shapes cannot be
        broadcast. In a tf.function, the shapes turn out so when it runs.
      ValueError: in a tf.function, the shapes are known to be so while it is traced.
      TypeError: in a tf.function, the types differ, or the type is another.
    """
    return gen_swi_glu_gate.swi_glu_gate(a, b, name=name)


elementwise.register("SwiGluGate", gen_swi_glu_gate)
