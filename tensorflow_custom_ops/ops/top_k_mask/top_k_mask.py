# SPDX-License-Identifier: Apache-2.0
"""TopKMask: keeps the k largest elements of each row."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

# Not public; see core/vectorization.py.
from tensorflow.python.ops.parallel_for import pfor

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
      k: How many elements of each row to keep, from none to all: an int, or an int32 scalar.
      fill_value: What replaces the other elements, rounded to float32 and to the type of `input`.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `input`.

    Raises:
      tf.errors.InvalidArgumentError: in eager mode, `input` is a scalar or has another type, or `k` is not a scalar,
        negative, or larger than the last dimension of `input`. In a tf.function, a shape or `k` turns out to be so when
        it runs. Under XLA, `k` is not a compile-time constant.
      ValueError: in a tf.function, a shape or `k` is known to be so while it is traced.
      TypeError: in a tf.function, `input` has another type.
    """
    return gen_top_k_mask.top_k_mask(input, k, fill_value=fill_value, name=name).output


@tf.RegisterGradient("TopKMask")
def _top_k_mask_grad(op: tf.Operation, grad: tf.Tensor, mask_grad: tf.Tensor | None) -> tuple[tf.Tensor, None]:
    del mask_grad
    return tf.where(op.outputs[1], grad, tf.zeros([], grad.dtype)), None


@pfor.RegisterPFor("TopKMask")
def _vectorize(pfor_input: Any) -> Any:  # noqa: ANN401 - of no public type
    """Each row is masked alone already. A `k` for each row is a loop."""
    if pfor_input.input(1)[1]:
        raise pfor.ConversionNotImplementedError("TopKMask has one k")
    input, k = pfor_input.stacked_input(0), pfor_input.unstacked_input(1)
    outputs = gen_top_k_mask.top_k_mask(input, k, fill_value=pfor_input.get_attr("fill_value"))
    return [pfor.wrap(output, True) for output in outputs]
