# SPDX-License-Identifier: Apache-2.0
"""MyOp: doubles each element."""

from __future__ import annotations

import tensorflow as tf

from tensorflow_custom_ops.core import vectorization
from tensorflow_custom_ops.ops.my_op import gen_my_op

__all__ = ["my_op"]


def my_op(input: tf.types.experimental.TensorLike, name: str | None = None) -> tf.Tensor:
    """Doubles each element.

    `my_op(x)` is `2 * x`, rounded as the type does. An element beyond half of the type's largest finite value
    becomes infinite.

    The gradient is 2 for every element, at every order.

    Args:
      input: A tensor of any shape, or what converts to one. Its type is half, bfloat16, float32 or float64.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `input`.

    Raises:
      tf.errors.InvalidArgumentError: in eager mode, `input` has another type.
      TypeError: in a tf.function, `input` has another type.
    """
    return gen_my_op.my_op(input, name=name)


@tf.RegisterGradient("MyOp")
def _my_op_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    """The derivative of a doubling is a doubling, so this is the gradient at every order."""
    del op
    return my_op(grad)


# For an op whose output elements each depend on the same element of the inputs alone, and for no other.
vectorization.register_elementwise("MyOp", my_op)
