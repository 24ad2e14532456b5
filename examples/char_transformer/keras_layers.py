# SPDX-License-Identifier: Apache-2.0
"""The same layers as Keras has them, to compare with."""

from __future__ import annotations

import keras
import tensorflow as tf

from examples.char_transformer.model import ROTARY_BASE, Layers, Size


class KerasAttention(keras.layers.Layer):
    """Causal attention with rotary embedding, of keras.ops."""

    def __init__(self, size: Size) -> None:
        """Makes the layer, whose weights are made when it is built."""
        super().__init__()
        self.head_dim = size.width // size.heads
        self.group = size.heads // size.kv_heads
        units = size.heads * self.head_dim, size.kv_heads * self.head_dim, size.kv_heads * self.head_dim, size.width
        self.projections = [keras.layers.Dense(n, use_bias=False) for n in units]

    def build(self, shape: tuple[int | None, ...]) -> None:
        """Makes the weights of the projections."""
        for projection in self.projections:
            projection.build(shape)

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """Applies the layer to a tensor of shape [batch, length, width]."""
        length = keras.ops.shape(x)[1]
        q, k, v = (
            keras.ops.reshape(projection(x), (-1, length, projection.units // self.head_dim, self.head_dim))
            for projection in self.projections[:3]
        )
        k, v = (keras.ops.repeat(heads, self.group, axis=2) for heads in (_rotated(k), v))
        attended = keras.ops.dot_product_attention(_rotated(q), k, v, is_causal=True)
        return self.projections[3](keras.ops.reshape(attended, (-1, length, self.projections[0].units)))


def _rotated(x: tf.Tensor) -> tf.Tensor:
    """Pairs of the first and the second half of each head, rotated by their position."""
    length, half = keras.ops.shape(x)[1], x.shape[-1] // 2
    frequencies = ROTARY_BASE ** (-keras.ops.arange(half, dtype="float32") / half)
    angles = keras.ops.arange(length, dtype="float32")[:, None] * frequencies
    cos, sin = (keras.ops.expand_dims(f(angles), 1) for f in (keras.ops.cos, keras.ops.sin))
    a, b = x[..., :half], x[..., half:]
    return keras.ops.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


class AddAndNormalize(keras.layers.Layer):
    """Adds two tensors, and returns the normalised sum and the sum."""

    def __init__(self) -> None:
        """Makes the layer."""
        super().__init__()
        self.normalization = keras.layers.RMSNormalization()

    def build(self, x_shape: tuple[int | None, ...], residual_shape: tuple[int | None, ...]) -> None:
        """Makes the weights of the normalisation."""
        del residual_shape
        self.normalization.build(x_shape)

    def call(self, x: tf.Tensor, residual: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Applies the layer to two tensors of one shape."""
        total = x + residual
        return self.normalization(total), total


class Gate(keras.layers.Layer):
    """`silu(a) * b`."""

    def call(self, a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
        """Applies the layer to two tensors of one shape."""
        return keras.activations.silu(a) * b


KERAS = Layers(
    dense=lambda units: keras.layers.Dense(units, use_bias=False),
    layer_norm=keras.layers.LayerNormalization,
    rms_norm=keras.layers.RMSNormalization,
    rms_norm_residual=AddAndNormalize,
    attention=KerasAttention,
    gate=Gate,
)
