# SPDX-License-Identifier: Apache-2.0
"""FlashAttention: attention in blocks, whose memory grows with the length and not with its square."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from tensorflow_custom_ops.core import vectorization
from tensorflow_custom_ops.ops.flash_attention import gen_flash_attention

__all__ = ["flash_attention"]


def flash_attention(  # noqa: PLR0917 - what changes from call to call comes first
    q: tf.types.experimental.TensorLike,
    k: tf.types.experimental.TensorLike,
    v: tf.types.experimental.TensorLike,
    bias: tf.types.experimental.TensorLike | None = None,
    causal: bool = False,
    scale: float | None = None,
    window: int | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Scaled dot-product attention: `softmax(scale * q @ transpose(k) + bias) @ v` for each head.

    The matrix of scores is never in memory as a whole: blocks of queries and keys meet in the cache, with a softmax
    that is corrected from block to block (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018).
    So memory grows with the length, and not with its square (Rabe and Staats, "Self-attention Does Not Need O(n^2)
    Memory", 2021), and the scores need not be written and read (Dao et al., "FlashAttention: Fast and Memory-Efficient
    Exact Attention with IO-Awareness", 2022; Dao, "FlashAttention-2", 2023). The result is exact up to rounding. It
    does not depend on the number of threads; it may differ in the last bits between processors with other vector
    instructions.

    With fewer heads in `k` and `v` than in `q`, query head `h` uses key head `h // (heads // kv_heads)`: grouped-query
    attention, or multi-query attention with one (Ainslie et al., "GQA", 2023; Shazeer, "Fast Transformer Decoding",
    2019).

    Positions count from the end: the last query is at the position of the last key, as in FlashAttention 2, so that
    queries that continue a cache of earlier keys see all of it. Query `i` is at position `i + kv_length - q_length`.
    (Keras and PyTorch's `is_causal` count from the first; it is the same where the lengths are equal.)

    A query that sees no key, because of `causal`, `window` or a bias of -inf, gives zeros, and has no part in any
    gradient. A NaN in `q` spoils its own query and head. One in `k`, `v` or `bias` spoils the queries that see it, and
    one in `v`, or an infinity there, may spoil queries that do not.

    Half and bfloat16 are computed in float32 and rounded once. On processors with AVX512_BF16, bfloat16 are multiplied
    as they are, and summed up in float32: there, probabilities and gradients of scores are rounded to bfloat16 before
    they are multiplied, as on GPUs. The environment variable TF_CUSTOM_OPS_ISA (baseline, avx2, avx512 or avx512_bf16)
    forces the instructions. The logarithm of the sum of exponentials, of which the backward pass computes the softmax
    again, is float32, or float64 for float64.

    The gradient with respect to `q`, `k`, `v` and `bias` needs as little memory, beside the gradient of `bias` itself.
    The gradient of the gradient, and so on, is computed by TensorFlow's ops, with matrices of all scores.

    Args:
      q: The queries, of shape `[batch, q_length, heads, head_dim]`, or what converts to such a tensor. Their type is
        half, bfloat16, float32 or float64.
      k: The keys, of shape `[batch, kv_length, kv_heads, head_dim]` and the type of `q`; `heads` is a multiple of
        `kv_heads`.
      v: The values, of the shape and type of `k`.
      bias: What is added to the scores, of the type of `q` and a shape that broadcasts to
        `[batch, heads, q_length, kv_length]`: -inf masks a key out.
      causal: Whether a query sees only the keys up to its own position.
      scale: What the products of queries and keys are multiplied by: a number other than 0, rounded to float32 unless
        the type is float64, of which it must be a normal number. None is `1 / sqrt(head_dim)`.
      window: How many keys a query sees to its left, that of its own position included; without `causal`, as many to
        its right. None is all.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `q`.

    Raises:
      tf.errors.InvalidArgumentError: in eager mode, the shapes do not fit, or the types differ or are others. In a
        tf.function, the shapes turn out not to fit when it runs. Under XLA, a size other than the batch's is not known
        while it compiles, or the batch's is not, and is for another input or an array is empty.
      ValueError: in a tf.function, the shapes are known not to fit while it is traced. In any mode, `scale` is 0 or not
        finite, or becomes so when it is rounded, or `window` is not positive.
      TypeError: in a tf.function, the types differ or are others. In any mode, `causal` is no bool, `scale` no number,
        or `window` no int.
    """
    if not isinstance(causal, bool):
        raise TypeError(f"flash_attention: causal must be a bool, but is {causal!r}")
    window = _checked_window(window)
    q = tf.convert_to_tensor(q)
    attribute = _checked_scale(scale, q.dtype)
    if q.dtype == tf.float64 and attribute != 0.0:
        # The attribute is a float32.
        q, attribute = q * attribute, 1.0
    return gen_flash_attention.flash_attention(
        q,
        k,
        v,
        [] if bias is None else [bias],
        Tsum=_sum_type(q.dtype),
        causal=causal,
        scale=attribute,
        window=window,
        name=name,
    ).output


def _checked_scale(scale: float | None, dtype: tf.DType) -> float:
    """The attribute `scale` for inputs of a type; what becomes 0 or infinite in the type of sums is refused."""
    if scale is None:
        return 0.0
    if isinstance(scale, bool) or not isinstance(scale, numbers.Real):
        raise TypeError(f"flash_attention: scale must be a number or None, but is {scale!r}")
    limits = np.finfo(_sum_type(dtype).as_numpy_dtype)
    least, greatest = float(limits.tiny), float(limits.max)
    # Threads may take denormal numbers for 0.
    if not least <= abs(scale) <= greatest:
        raise ValueError(
            f"flash_attention: scale must be finite and not 0, with a size from {least:g} to {greatest:g} where scores "
            f"are {limits.dtype}, but is {scale!r}"
        )
    return float(scale)


def _checked_window(window: int | None) -> int:
    """The attribute `window`."""
    if window is None:
        return 0
    if isinstance(window, bool) or not isinstance(window, numbers.Integral):
        raise TypeError(f"flash_attention: window must be an int or None, but is {window!r}")
    if window <= 0:
        raise ValueError(f"flash_attention: window must be positive, but is {window!r}")
    # No length is larger.
    return min(int(window), tf.int64.max)


def _sum_type(dtype: tf.DType) -> tf.DType:
    return tf.float64 if dtype == tf.float64 else tf.float32


def _attributes(op: Any) -> dict[str, Any]:  # noqa: ANN401 - of an op, or of what tf.vectorized_map has for one
    return {name: op.get_attr(name) for name in ("causal", "scale", "window")}


@tf.RegisterGradient("FlashAttention")
def _flash_attention_grad(
    op: tf.Operation, grad: tf.Tensor, log_sum_exp_grad: tf.Tensor | None
) -> list[tf.Tensor | None]:
    del log_sum_exp_grad
    # Eager mode tells which gradients nobody asked for.
    skipped = getattr(op, "skip_input_indices", None) or ()
    num_bias = op.get_attr("num_bias")
    num_bias_grad = 0 if 3 in skipped else num_bias
    grads = gen_flash_attention.flash_attention_grad(
        *op.inputs[:3],
        op.inputs[3:],
        *op.outputs,
        grad,
        num_bias_grad=num_bias_grad,
        **_attributes(op),
    )
    return [grads.query_grad, grads.key_grad, grads.value_grad, *grads.bias_grad, *[None] * (num_bias - num_bias_grad)]


def _visible(q_length: tf.Tensor, kv_length: tf.Tensor, causal: bool, window: int) -> tf.Tensor:
    """Which keys a query sees, of shape [q_length, kv_length]."""
    # How far the key is to the left of the query.
    distance = (kv_length - q_length + tf.range(q_length))[:, tf.newaxis] - tf.range(kv_length)
    # A larger window is no other, and may not fit into an int32.
    window = min(window, tf.int32.max)
    visible = tf.ones_like(distance, tf.bool)
    if causal:
        visible &= distance >= 0
    if window > 0:
        visible &= tf.abs(distance) < window
    return visible


def _plain_attention(
    q: tf.Tensor, k: tf.Tensor, v: tf.Tensor, *bias: tf.Tensor, causal: bool, scale: float, window: int
) -> tf.Tensor:
    """The same as the op, by TensorFlow's ops and with a matrix of all scores."""
    shape, kv_shape = tf.shape(q), tf.shape(k)
    head_dim = tf.cast(shape[3], q.dtype)
    q = q * (scale if scale != 0.0 else tf.math.rsqrt(head_dim))
    # Heads that share a key head are one dimension.
    group = shape[2] // kv_shape[2]
    grouped = tf.reshape(q, [shape[0], shape[1], kv_shape[2], group, shape[3]])
    scores = tf.einsum("bihgd,bjhd->bhgij", grouped, k)
    scores = tf.reshape(scores, [shape[0], shape[2], shape[1], kv_shape[1]])
    for one in bias:
        scores += one
    none = tf.constant(-math.inf, scores.dtype)
    scores = tf.where(_visible(shape[1], kv_shape[1], causal, window), scores, none)
    greatest = tf.stop_gradient(tf.reduce_max(scores, axis=-1, keepdims=True))
    p = tf.exp(scores - tf.where(tf.equal(greatest, none), tf.zeros_like(greatest), greatest))
    total = tf.reduce_sum(p, axis=-1, keepdims=True)
    p /= tf.where(tf.equal(total, 0), tf.ones_like(total), total)
    p = tf.reshape(p, [shape[0], kv_shape[2], group, shape[1], kv_shape[1]])
    return tf.reshape(tf.einsum("bhgij,bjhd->bihgd", p, v), shape)


@tf.RegisterGradient("FlashAttentionGrad")
def _flash_attention_grad_grad(op: tf.Operation, *grads: tf.Tensor | None) -> list[tf.Tensor | None]:
    """Computes the forward pass and its gradients again, as functions of the forward pass's inputs.

    What depends on those by way of output and log_sum_exp is in it: these have no gradients of their own.
    """
    num_bias = op.get_attr("num_bias")
    dtype = _sum_type(op.inputs[0].dtype)
    # Copies, for one tensor may be several inputs, whose gradients are not one another's.
    inputs = [tf.identity(tf.cast(tensor, dtype)) for tensor in (*op.inputs[: 3 + num_bias], op.inputs[-1])]
    *forward_inputs, output_grad = inputs
    with tf.GradientTape() as outer:
        outer.watch(inputs)
        with tf.GradientTape() as inner:
            inner.watch(forward_inputs)
            output = _plain_attention(*forward_inputs, **_attributes(op))
        first = inner.gradient(output, forward_inputs, output_gradients=output_grad)
        total = tf.add_n(
            [
                tf.reduce_sum(one * tf.cast(grad, dtype))
                for one, grad in zip(first[: len(grads)], grads, strict=True)
                if grad is not None
            ]
        )
    second = outer.gradient(total, inputs, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    second = [tf.cast(tensor, op.inputs[0].dtype) for tensor in second]
    return [*second[:-1], None, None, second[-1]]


def _merged(x: tf.Tensor) -> tf.Tensor:
    """The two first dimensions, of a stack and of a batch, as one."""
    shape = tf.shape(x)
    return tf.reshape(x, tf.concat([[shape[0] * shape[1]], shape[2:]], 0))


def _merged_bias(pfor_input: Any, sizes: tf.Tensor) -> tf.Tensor:  # noqa: ANN401 - of no public type
    """A bias for a stack of batches as one for a single batch."""
    bias, is_stacked, _ = pfor_input.input(3)
    if not is_stacked:
        if bias.shape.rank is not None and (bias.shape.rank < 4 or bias.shape[0] == 1):
            # The same for each element of a batch.
            return bias
        pfor_input.stack_inputs([3])
        bias = pfor_input.stacked_input(3)
    if bias.shape.rank is None:
        raise vectorization.pfor.ConversionNotImplementedError(f"{pfor_input.op_type}: the rank of bias is unknown")
    shape = tf.shape(bias)
    shape = tf.concat([shape[:1], tf.ones([5 - bias.shape.rank], tf.int32), shape[1:]], 0)
    return _merged(tf.broadcast_to(tf.reshape(bias, shape), tf.concat([sizes, shape[2:]], 0)))


def _as_one_batch(pfor_input: Any, function: Callable[..., Any], **attributes: Any) -> Any:  # noqa: ANN401
    """Calls an op for a stack of batches, as tf.vectorized_map has them."""
    num_bias = pfor_input.get_attr("num_bias")
    others = [i for i in range(pfor_input.num_inputs) if not 3 <= i < 3 + num_bias]
    # What is the same for the whole stack is repeated.
    pfor_input.stack_inputs(others)
    sizes = tf.shape(pfor_input.stacked_input(0))[:2]
    inputs = [_merged(pfor_input.stacked_input(i)) for i in others]
    biases = [_merged_bias(pfor_input, sizes)] if num_bias > 0 else []
    outputs = function(*inputs[:3], biases, *inputs[3:], **_attributes(pfor_input), **attributes)
    return [
        vectorization.pfor.wrap(tf.reshape(output, tf.concat([sizes, tf.shape(output)[1:]], 0)), True)
        for output in tf.nest.flatten(outputs)
    ]


@vectorization.register("FlashAttention")
def _convert(pfor_input: Any) -> Any:  # noqa: ANN401 - of no public type
    return _as_one_batch(pfor_input, gen_flash_attention.flash_attention, Tsum=pfor_input.get_attr("Tsum"))


@vectorization.register("FlashAttentionGrad")
def _convert_grad(pfor_input: Any) -> Any:  # noqa: ANN401 - of no public type
    if pfor_input.get_attr("num_bias_grad") > 0:
        raise vectorization.pfor.ConversionNotImplementedError(
            "FlashAttentionGrad: as one batch there would be a sum of the gradients with respect to a bias"
        )
    return _as_one_batch(pfor_input, gen_flash_attention.flash_attention_grad, num_bias_grad=0)
