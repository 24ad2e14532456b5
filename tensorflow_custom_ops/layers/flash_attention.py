# SPDX-License-Identifier: Apache-2.0
# >>> only with flash_attention, rotary_embedding: whole file
"""FlashAttention: a Keras layer of attention whose memory grows with the length and not with its square."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tensorflow_custom_ops.layers import my_layer, op_layer
from tensorflow_custom_ops.ops.flash_attention import flash_attention
from tensorflow_custom_ops.ops.rotary_embedding import rotary_embedding

Shape = op_layer.Shape


@keras.saving.register_keras_serializable(package="tensorflow_custom_ops")
class FlashAttention(op_layer.OpLayer):
    """Attention with several heads, between projections of its inputs and one of its result, by the op FlashAttention.

    It is for what `keras.layers.GroupQueryAttention` and `keras.layers.MultiHeadAttention` are for, but dropout and
    the matrix of scores, which is nowhere. The heads of queries and keys can be rotated by their positions
    (RotaryEmbedding). These count from the end, as in the op: the last query is at the position of the last key, so
    that `layer(x[:, -1:], x)` is `layer(x)[:, -1:]`.

    Masks: keys that Keras's mask of the value leaves out are not seen. The mask of the query is passed on.

    Input shapes: `(batch, length, features)` of the query, and `(batch, kv_length, kv_features)` of the value.

    Output shape: that of the query.
    """

    def __init__(
        self,
        num_heads: int,
        head_dim: int,
        num_kv_heads: int | None = None,
        *,
        causal: bool = False,
        window: int | None = None,
        rotary_base: float | None = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",  # noqa: ANN401 - whatever Keras takes, here and below
        bias_initializer: Any = "zeros",  # noqa: ANN401
        kernel_regularizer: Any = None,  # noqa: ANN401
        bias_regularizer: Any = None,  # noqa: ANN401
        kernel_constraint: Any = None,  # noqa: ANN401
        bias_constraint: Any = None,  # noqa: ANN401
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        """Makes a layer, whose weights are made when it is built.

        Args:
          num_heads: How many heads the queries have.
          head_dim: The size of a head.
          num_kv_heads: How many heads the keys and values have, of which `num_heads` is a multiple. None is as many.
          causal: Whether a query sees only the keys up to its own position. The last query is at the last key.
          window: How many keys a query sees to its left, that of its own position included. None is all.
          rotary_base: The base of a rotary embedding of queries and keys, such as 10000. None is no embedding.
          use_bias: Whether the projections add a bias.
          kernel_initializer: The initializer of the projections' kernels.
          bias_initializer: The initializer of their biases.
          kernel_regularizer: The regularizer of their kernels, if any.
          bias_regularizer: The regularizer of their biases, if any.
          kernel_constraint: The constraint on their kernels, if any.
          bias_constraint: The constraint on their biases, if any.
          **kwargs: What every Keras layer takes: `name`, `dtype` (also a policy), `trainable`, `activity_regularizer`.

        Raises:
          ValueError: a size is no positive integer, `num_heads` is no multiple of `num_kv_heads`, `rotary_base` is no
            positive number of float32 or `head_dim` not even with it, `causal` or `use_bias` is no bool, or `dtype` is
            a type or policy in which the op cannot compute.
        """
        super().__init__(**kwargs)
        self.num_heads = self.checked_size("num_heads", num_heads)
        self.head_dim = self.checked_size("head_dim", head_dim)
        self.num_kv_heads = self.num_heads if num_kv_heads is None else self.checked_size("num_kv_heads", num_kv_heads)
        if self.num_heads % self.num_kv_heads != 0:
            raise ValueError(
                f"FlashAttention: num_heads must be a multiple of num_kv_heads, but they are {self.num_heads} and "
                f"{self.num_kv_heads}"
            )
        self.causal = self.checked_bool("causal", causal)
        self.window = None if window is None else self.checked_size("window", window)
        self.rotary_base = None if rotary_base is None else self._checked_rotary_base(rotary_base)
        self._arguments = {
            "use_bias": self.checked_bool("use_bias", use_bias),
            "kernel_initializer": keras.initializers.get(kernel_initializer),
            "bias_initializer": keras.initializers.get(bias_initializer),
            "kernel_regularizer": keras.regularizers.get(kernel_regularizer),
            "bias_regularizer": keras.regularizers.get(bias_regularizer),
            "kernel_constraint": keras.constraints.get(kernel_constraint),
            "bias_constraint": keras.constraints.get(bias_constraint),
        }
        self.query_projection: my_layer.MyLayer = self._projection("query", self.num_heads * self.head_dim)
        self.key_projection = self._projection("key", self.num_kv_heads * self.head_dim)
        self.value_projection = self._projection("value", self.num_kv_heads * self.head_dim)
        self.output_projection: Any = None

    def _checked_rotary_base(self, rotary_base: float) -> float:
        base = self.checked_number("rotary_base", rotary_base)
        limits = np.finfo(np.float32)
        # The op's attribute is a float32.
        if not limits.tiny <= base <= limits.max:
            raise ValueError(f"FlashAttention: rotary_base must be a positive number, but it is {rotary_base!r}")
        if self.head_dim % 2 != 0:
            raise ValueError(f"FlashAttention: head_dim must be even with a rotary_base, but it is {self.head_dim}")
        return base

    def _projection(self, name: str, units: int) -> my_layer.MyLayer:
        """A layer with the arguments of this one, which draws its own first weights."""
        initializers = {
            key: value.clone() if isinstance(value, keras.initializers.Initializer) else value
            for key, value in self._arguments.items()
        }
        return my_layer.MyLayer(units, name=name, dtype=self.dtype_policy, **initializers)

    def build(self, query_shape: Shape, value_shape: Shape | None = None) -> None:
        """Makes the weights of the projections.

        Args:
          query_shape: The shape of the query.
          value_shape: The shape of the value, if there is one.

        Raises:
          ValueError: the last dimension is unknown.
        """
        value_shape = value_shape or query_shape
        features = self.known_size(query_shape, -1)
        self.query_projection.build(query_shape)
        self.key_projection.build(value_shape)
        self.value_projection.build(value_shape)
        self.output_projection = self._projection("output", features)
        self.output_projection.build((*query_shape[:-1], self.num_heads * self.head_dim))
        self.built = True

    def call(
        self,
        query: tf.Tensor,
        value: tf.Tensor | None = None,
        mask: tf.Tensor | None = None,
        value_mask: tf.Tensor | None = None,
    ) -> tf.Tensor:
        """Applies the layer.

        Args:
          query: The queries, before they are projected.
          value: The keys and values, before they are projected. None is the query: self-attention.
          mask: For self-attention, which positions there are, of shape `(batch, length)`; Keras gives it.
          value_mask: The same for a value, of shape `(batch, kv_length)`; Keras gives it.

        Returns:
          A tensor of the shape of the query.
        """
        self_attention = value is None
        if self_attention:
            value, value_mask = query, mask
        q = self._heads(self.query_projection(query))
        k = self._heads(self.key_projection(value))
        v = self._heads(self.value_projection(value))
        if self.rotary_base is not None:
            q_length, kv_length = tf.shape(q)[1], tf.shape(k)[1]
            positions = None if self_attention else tf.range(kv_length - q_length, kv_length)
            q = rotary_embedding.rotary_embedding(q, positions, base=self.rotary_base)
            k = rotary_embedding.rotary_embedding(k, base=self.rotary_base)
        bias = None
        if value_mask is not None:
            seen = tf.cast(value_mask, tf.bool)[:, tf.newaxis, tf.newaxis, :]
            bias = tf.where(seen, tf.zeros([], q.dtype), tf.constant(float("-inf"), q.dtype))
        attended = flash_attention.flash_attention(q, k, v, bias, causal=self.causal, window=self.window)
        shape = tf.shape(attended)
        merged = tf.reshape(attended, [shape[0], shape[1], self.num_heads * self.head_dim])
        return self.output_projection(merged)

    def _heads(self, x: tf.Tensor) -> tf.Tensor:
        shape = tf.shape(x)
        return tf.reshape(x, [shape[0], shape[1], x.shape[-1] // self.head_dim, self.head_dim])

    def compute_mask(self, query: Any, previous_mask: Any) -> Any:  # noqa: ANN401 - whatever Keras takes
        """The mask of the output.

        Args:
          query: The query.
          previous_mask: Its mask.

        Returns:
          That mask.
        """
        del query
        return previous_mask

    def compute_output_shape(self, query_shape: Shape, value_shape: Shape | None = None) -> Shape:
        """The shape of the output.

        Args:
          query_shape: The shape of the query.
          value_shape: The shape of the value, if there is one.

        Returns:
          The shape of the query.
        """
        del value_shape
        return query_shape

    def get_config(self) -> dict[str, Any]:
        """The arguments to make such a layer again, as Keras saves them.

        Returns:
          A dictionary of what JSON can hold.
        """
        arguments = self._arguments
        return {
            **super().get_config(),
            "num_heads": self.num_heads,
            "head_dim": self.head_dim,
            "num_kv_heads": self.num_kv_heads,
            "causal": self.causal,
            "window": self.window,
            "rotary_base": self.rotary_base,
            "use_bias": arguments["use_bias"],
            **{
                f"{weight}_{kind}": module.serialize(arguments[f"{weight}_{kind}"])
                for weight in ("kernel", "bias")
                for kind, module in (
                    ("initializer", keras.initializers),
                    ("regularizer", keras.regularizers),
                    ("constraint", keras.constraints),
                )
            },
        }
