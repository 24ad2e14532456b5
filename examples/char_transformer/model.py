# SPDX-License-Identifier: Apache-2.0
"""A small decoder-only transformer, and how text is drawn from it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import keras
import numpy as np
import tensorflow as tf

import tensorflow_custom_ops as ops
from tensorflow_custom_ops import layers

ROTARY_BASE = 10000.0


@dataclasses.dataclass(frozen=True)
class Size:
    """How large a model is.

    Attributes:
      width: The features of a position; a multiple of the heads.
      depth: How many blocks there are.
      heads: Heads of the queries.
      kv_heads: Heads of the keys and values.
    """

    width: int = 128
    depth: int = 4
    heads: int = 4
    kv_heads: int = 2


@keras.saving.register_keras_serializable(package="char_transformer")
class SwiGluGate(keras.layers.Layer):
    """`silu(a) * b`: Shazeer, "GLU Variants Improve Transformer", 2020."""

    def call(self, a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
        """Applies the layer to two tensors of one shape."""
        return ops.swi_glu_gate(a, b)


@dataclasses.dataclass(frozen=True)
class Layers:
    """The layers that a model is made of.

    Attributes:
      dense: Makes a layer without bias of so many units.
      layer_norm: Makes a LayerNorm.
      rms_norm: Makes an RmsNorm.
      rms_norm_residual: Makes what adds its two inputs, and returns the normalised sum and the sum.
      attention: Makes a causal attention with rotary embedding of a size.
      gate: Makes a SwiGluGate.
    """

    dense: Callable[[int], keras.layers.Layer]
    layer_norm: Callable[[], keras.layers.Layer]
    rms_norm: Callable[[], keras.layers.Layer]
    rms_norm_residual: Callable[[], keras.layers.Layer]
    attention: Callable[[Size], keras.layers.Layer]
    gate: Callable[[], keras.layers.Layer]


def _attention(size: Size) -> keras.layers.Layer:
    return layers.FlashAttention(
        size.heads,
        size.width // size.heads,
        size.kv_heads,
        causal=True,
        rotary_base=ROTARY_BASE,
        use_bias=False,
    )


OURS = Layers(
    dense=lambda units: layers.MyLayer(units, use_bias=False),
    layer_norm=layers.LayerNorm,
    rms_norm=layers.RmsNorm,
    rms_norm_residual=layers.RmsNormResidual,
    attention=_attention,
    gate=SwiGluGate,
)


def build(size: Size, vocabulary: int, of: Layers = OURS) -> keras.Model:
    """A model that maps tokens to the logits of those that follow.

    Args:
      size: How large it is.
      vocabulary: How many tokens there are.
      of: What it is made of.

    Returns:
      A model from [batch, length] to [batch, length, vocabulary].
    """
    tokens = keras.Input((None,), dtype="int32")
    residual = of.layer_norm()(keras.layers.Embedding(vocabulary, size.width)(tokens))
    x = of.rms_norm()(residual)
    for _ in range(size.depth):
        x, residual = of.rms_norm_residual()(of.attention(size)(x), residual)
        hidden = of.gate()(of.dense(3 * size.width)(x), of.dense(3 * size.width)(x))
        x, residual = of.rms_norm_residual()(of.dense(size.width)(hidden), residual)
    return keras.Model(tokens, of.dense(vocabulary)(x))


def generate(
    model: keras.Model, prompt: np.ndarray, count: int, *, length: int, k: int = 8, seed: int = 0
) -> np.ndarray:
    """Continues a text, one token after the other, each one of the k likeliest.

    Args:
      model: The model.
      prompt: The first tokens, one at least.
      count: How many follow.
      length: How many tokens the model sees at most.
      k: From how many a token is drawn.
      seed: Of the draw.

    Returns:
      The tokens that follow.
    """
    keep_likeliest = layers.TopKMask(k, fill_value=float("-inf"))
    tokens = list(prompt)
    for i in range(count):
        logits = model(np.array([tokens[-length:]], np.int32))[:, -1]
        drawn = tf.random.stateless_categorical(keep_likeliest(logits), 1, [seed, i])
        tokens.append(int(drawn[0, 0]))
    return np.array(tokens[len(prompt) :], np.int32)
