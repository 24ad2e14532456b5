# SPDX-License-Identifier: Apache-2.0
"""RotaryEmbedding: positions as rotations of pairs of elements."""

from __future__ import annotations

import numbers
from typing import Any

import tensorflow as tf

from tensorflow_custom_ops.core import vectorization
from tensorflow_custom_ops.ops.rotary_embedding import gen_rotary_embedding

__all__ = ["rotary_embedding"]

_ATTRIBUTES = ("base", "rotary_dim", "interleaved", "inverse")


def rotary_embedding(
    x: tf.types.experimental.TensorLike,
    positions: tf.types.experimental.TensorLike | None = None,
    *,
    base: float = 10000.0,
    rotary_dim: int | None = None,
    interleaved: bool = False,
    inverse: bool = False,
    name: str | None = None,
) -> tf.Tensor:
    """Rotary position embedding: turns pairs of elements of each head by angles proportional to the position.

    Pair `i` of the first `rotary_dim` elements of a head, `a` and `b`, becomes `a * cos(t) - b * sin(t)` and
    `b * cos(t) + a * sin(t)` with the angle `t = position * base ** (-2 * i / rotary_dim)`; the elements that follow
    stay as they are. Of queries and keys that are turned, the product depends on their positions by the difference
    alone (Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021). `x` has the layout of
    `flash_attention` and of `keras.ops.dot_product_attention`.

    Which elements are a pair: with `interleaved`, `2 * i` and `2 * i + 1`, as in that paper and in GPT-J; without,
    `i` and `i + rotary_dim / 2`, as in GPT-NeoX, Llama and Keras Hub.

    Angles are computed and reduced in float64: at position 2^20 they are right to 1e-9. Half and bfloat16 are turned in
    float32 and rounded once. The result does not depend on the number of threads; it may differ in the last bits
    between processors with other vector instructions, and from what a GPU computes.

    The gradient is the inverse rotation, which has a gradient of its own, and so on. There is none with respect to
    `positions`.

    Args:
      x: A tensor of shape `[..., sequence, heads, head_dim]`, of rank 3 at least, or what converts to one; with a
        batch, `[batch, sequence, heads, head_dim]`. Its type is half, bfloat16, float32 or float64.
      positions: The positions, of type int32 or int64, which may be negative, and of shape `[sequence]`, or
        `[batch, sequence]` for others in each sequence: of the dimensions of `x` but the last two, some of the last.
        None is 0, 1 and so on to `sequence - 1`.
      base: What the angles' powers are of: a positive number, rounded to float32.
      rotary_dim: How many elements of each head turn, an even number. None is `head_dim`.
      interleaved: Which elements are a pair.
      inverse: Whether they turn back: the same by the negative angles.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`.

    Raises:
      tf.errors.InvalidArgumentError: in eager mode, the rank of `x` is less than 3, the shape of `positions` does not
        fit, `rotary_dim` is odd or larger than `head_dim`, `base` is not positive, or a type is another. In a
        tf.function, a shape turns out to be so when it runs. Under XLA, `head_dim`, or a dimension that `positions`
        has, is not known while it compiles, or any is not and `x` is empty.
      ValueError: in a tf.function, a shape or attribute is known to be so while it is traced. In any mode, `rotary_dim`
        is negative.
      TypeError: in a tf.function, a type is another. In any mode, `base` is no number, `rotary_dim` no int, or
        `interleaved` or `inverse` no bool.
    """
    for argument, value in (("interleaved", interleaved), ("inverse", inverse)):
        if not isinstance(value, bool):
            raise TypeError(f"rotary_embedding: {argument} must be a bool, but is {value!r}")
    if isinstance(base, bool) or not isinstance(base, numbers.Real):
        raise TypeError(f"rotary_embedding: base must be a number, but is {base!r}")
    return gen_rotary_embedding.rotary_embedding(
        x,
        # With the type that they have: TensorFlow would cut off the fraction of a NumPy number.
        [] if positions is None else [tf.convert_to_tensor(positions)],
        base=float(base),
        rotary_dim=_checked_rotary_dim(rotary_dim),
        interleaved=interleaved,
        inverse=inverse,
        name=name,
    )


def _checked_rotary_dim(rotary_dim: int | None) -> int:
    """The attribute `rotary_dim`."""
    if rotary_dim is None:
        return -1
    if isinstance(rotary_dim, bool) or not isinstance(rotary_dim, numbers.Integral):
        raise TypeError(f"rotary_embedding: rotary_dim must be an int or None, but is {rotary_dim!r}")
    if rotary_dim < 0:
        raise ValueError(f"rotary_embedding: rotary_dim must not be negative, but is {rotary_dim!r}")
    return int(rotary_dim)


@tf.RegisterGradient("RotaryEmbedding")
def _rotary_embedding_grad(op: tf.Operation, grad: tf.Tensor) -> list[tf.Tensor | None]:
    attributes: dict[str, Any] = {name: op.get_attr(name) for name in _ATTRIBUTES}
    attributes["inverse"] = not attributes["inverse"]
    positions = list(op.inputs[1:])
    return [gen_rotary_embedding.rotary_embedding(grad, positions, **attributes), *[None] * len(positions)]


@vectorization.register("RotaryEmbedding")
def _convert(pfor_input: Any) -> Any:  # noqa: ANN401 - of no public type
    """How tf.vectorized_map runs the op on a stack of inputs, which are a batch."""
    positions = []
    if pfor_input.num_inputs > 1:
        if pfor_input.input(1)[1]:
            # An input that is the same for all positions is repeated.
            pfor_input.stack_inputs()
            positions = [_for_each_row(pfor_input.stacked_input(0), pfor_input.stacked_input(1))]
        else:
            positions = [pfor_input.unstacked_input(1)]
    x = pfor_input.stacked_input(0)
    if not (x.shape.rank or 0) > 3:
        # The op itself must say what has too few dimensions.
        raise vectorization.pfor.ConversionNotImplementedError("RotaryEmbedding: the rank is unknown, or too small")
    attributes = {name: pfor_input.get_attr(name) for name in _ATTRIBUTES}
    return vectorization.pfor.wrap(gen_rotary_embedding.rotary_embedding(x, positions, **attributes), True)


def _for_each_row(x: tf.Tensor, positions: tf.Tensor) -> tf.Tensor:
    """Positions of which there is one of each stacked input, as positions of all rows of the stack."""
    if x.shape.rank is None or positions.shape.rank is None:
        raise vectorization.pfor.ConversionNotImplementedError("RotaryEmbedding: a rank is unknown")
    shape = tf.shape(positions)
    ones = tf.ones([x.shape.rank - 2 - positions.shape.rank], tf.int32)
    return tf.broadcast_to(tf.reshape(positions, tf.concat([shape[:1], ones, shape[1:]], 0)), tf.shape(x)[:-2])
