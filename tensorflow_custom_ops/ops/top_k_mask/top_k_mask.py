# SPDX-License-Identifier: Apache-2.0
"""TopKMask: keeps the k largest elements of each row."""

from __future__ import annotations

import numbers

import tensorflow as tf

from tensorflow_custom_ops.core import vectorization
from tensorflow_custom_ops.ops.top_k_mask import gen_top_k_mask

__all__ = ["top_k_mask"]


def top_k_mask(
    input: tf.types.experimental.TensorLike,
    k: tf.types.experimental.TensorLike,
    fill_value: float = 0.0,
    name: str | None = None,
) -> tf.Tensor:
    """Keeps the k largest elements of each row, the last dimension, and replaces the others.

    With `fill_value=float("-inf")` before a softmax it is the sparse gate of Shazeer et al., "Outrageously Large Neural
    Networks: The Sparsely-Gated Mixture-of-Experts Layer" (2017), without the noise; with 0 it is a k-winners-take-all
    activation.

    Of equal elements the first are kept. NaN counts as larger than every number, and -0 as equal to 0.

    The gradient is 1 where an element is kept, and 0 where it is replaced. There is none with respect to `k`.

    Under XLA (`jit_compile=True`) `k` must be a compile-time constant: a Python int, or what follows from arguments of
    the compiled function, which is then compiled again for each value. Where the last dimension has a size that XLA
    does not know while it compiles, as after `tf.boolean_mask`, a `k` that turns out to be larger keeps all elements.

    Args:
      input: A tensor of at least one dimension, or what converts to one. Its type is half, bfloat16, float32 or
        float64.
      k: How many elements of each row to keep, from none to all: an int, or a scalar of type int32 or int64.
      fill_value: What replaces the other elements, rounded to float32 and to the type of `input`.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `input`.

    Raises:
      tf.errors.InvalidArgumentError: in eager mode, `input` is a scalar, `input` or `k` has another type, or `k` is not
        a scalar, negative, or larger than the last dimension of `input`. In a tf.function, a shape or `k` turns out to
        be so when it runs. Under XLA, `k` is not a compile-time constant, or a size is not known while it compiles and
        `input` is empty.
      ValueError: in a tf.function, a shape or `k` is known to be so while it is traced.
      TypeError: in a tf.function, `input` or `k` has another type; in any mode, `fill_value` is no number.
    """
    if isinstance(fill_value, bool) or not isinstance(fill_value, numbers.Real):
        raise TypeError(f"top_k_mask: fill_value must be a number, but is {fill_value!r}")
    if isinstance(k, numbers.Integral) and not isinstance(k, bool):
        # TensorFlow would make an int32 of it, and cut off what does not fit.
        k = tf.constant(k, tf.int64)
    else:
        # With the type that it has: TensorFlow would cut off the fraction of a NumPy number.
        k = tf.convert_to_tensor(k)
    return gen_top_k_mask.top_k_mask(input, k, fill_value=float(fill_value), name=name).output


@tf.RegisterGradient("TopKMask")
def _top_k_mask_grad(op: tf.Operation, grad: tf.Tensor, mask_grad: tf.Tensor | None) -> tuple[tf.Tensor, None]:
    del mask_grad
    return tf.where(op.outputs[1], grad, tf.zeros([], grad.dtype)), None


vectorization.register_batched("TopKMask", gen_top_k_mask.top_k_mask, ("fill_value",))
