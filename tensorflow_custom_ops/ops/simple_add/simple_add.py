# SPDX-License-Identifier: Apache-2.0
"""SimpleAdd: adds two tensors of one shape."""

from __future__ import annotations

import tensorflow as tf

from tensorflow_custom_ops.core import vectorization
from tensorflow_custom_ops.ops.simple_add import gen_simple_add

__all__ = ["simple_add"]


def simple_add(
    a: tf.types.experimental.TensorLike,
    b: tf.types.experimental.TensorLike,
    name: str | None = None,
) -> tf.Tensor:
    """Adds two tensors of one shape.

    Unlike `tf.add` it does not broadcast. Integers wrap around on overflow.

    The gradient with respect to `a` and to `b` is 1 for every element.

    Args:
      a: A tensor of any shape, or what converts to one. Its type is half, bfloat16, float32, float64, int32, int64,
        complex64 or complex128. Under XLA (`jit_compile=True`) each size must be known while it compiles, so it cannot
        be the result of `tf.boolean_mask` there.
      b: A tensor of the shape and type of `a`, or what converts to one.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `a`: `a + b`.

    Raises:
      tf.errors.InvalidArgumentError: in eager mode, the shapes or types differ, or the type is another. In a
        tf.function, the shapes turn out to differ when it runs. Under XLA, a size is not known while it compiles.
      ValueError: in a tf.function, the shapes are known to differ while it is traced.
      TypeError: in a tf.function, the types differ, or the type is another.
    """
    return gen_simple_add.simple_add(a, b, name=name)


@tf.RegisterGradient("SimpleAdd")
def _simple_add_grad(op: tf.Operation, grad: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    del op
    return grad, grad


vectorization.register_elementwise("SimpleAdd", simple_add)
