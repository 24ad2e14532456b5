# SPDX-License-Identifier: Apache-2.0
# >>> only with rotary_embedding: whole file
"""RotaryEmbedding: rotary position embedding as a Keras layer."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tensorflow_custom_ops.layers import op_layer
from tensorflow_custom_ops.ops.rotary_embedding import rotary_embedding


@keras.saving.register_keras_serializable(package="tensorflow_custom_ops")
class RotaryEmbedding(op_layer.OpLayer):
    """Rotary position embedding of queries or keys, by the op RotaryEmbedding (Su et al., RoFormer, 2021).

    It has no weights, so one layer can be for queries and keys.

    Example:
      ```python
      import keras
      from tensorflow_custom_ops.layers import RotaryEmbedding

      queries = keras.Input((None, 8, 64))
      turned = RotaryEmbedding()(queries)
      ```

    Input shape: `(batch, ..., sequence, heads, head_dim)`.

    Output shape: the same.
    """

    def __init__(
        self,
        base: float = 10000.0,
        rotary_dim: int | None = None,
        interleaved: bool = False,
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        """Makes a layer.

        Args:
          base: As in `rotary_embedding`.
          rotary_dim: As in `rotary_embedding`.
          interleaved: As in `rotary_embedding`.
          **kwargs: What every Keras layer takes: `name`, `dtype` (also a policy), `trainable`, `activity_regularizer`.

        Raises:
          ValueError: an argument is one that the op refuses, or `dtype` is a type or policy in which it cannot compute.
          TypeError: an argument has a type that the op refuses.
        """
        super().__init__(**kwargs)
        self.base = base
        self.rotary_dim = rotary_dim
        self.interleaved = interleaved
        self.built = True
        # The op looks at its arguments where its shape function runs.
        with tf.Graph().as_default():
            self.call(tf.compat.v1.placeholder(self.compute_dtype))

    def call(self, inputs: tf.Tensor, positions: tf.Tensor | None = None) -> tf.Tensor:
        """Applies the layer.

        Args:
          inputs: A tensor of shape `(batch, ..., sequence, heads, head_dim)`.
          positions: Integers of shape `(sequence,)`, `(batch, sequence)` and so on. None is 0, 1 and so on.

        Returns:
          A tensor of the shape of `inputs`.

        Raises:
          ValueError: `inputs` is sparse or complex.
        """
        if isinstance(inputs, tf.SparseTensor) or tf.as_dtype(inputs.dtype).is_complex:
            found = "a SparseTensor" if isinstance(inputs, tf.SparseTensor) else f"of type {inputs.dtype}"
            raise ValueError(f"RotaryEmbedding: inputs must be a dense tensor of real numbers, but it is {found}")
        return rotary_embedding.rotary_embedding(
            keras.ops.cast(inputs, self.compute_dtype),
            positions,
            base=self.base,
            rotary_dim=self.rotary_dim,
            interleaved=self.interleaved,
        )

    def compute_output_shape(
        self, input_shape: op_layer.Shape, positions_shape: op_layer.Shape | None = None
    ) -> op_layer.Shape:
        """The shape of the output for inputs of a shape.

        Args:
          input_shape: The shape of the inputs.
          positions_shape: The shape of the positions, if there are any.

        Returns:
          The shape of the inputs.
        """
        del positions_shape
        return input_shape

    def get_config(self) -> dict[str, Any]:
        """The arguments to make such a layer again, as Keras saves them.

        Returns:
          A dictionary of what JSON can hold.
        """
        return {
            **super().get_config(),
            "base": self.base,
            "rotary_dim": self.rotary_dim,
            "interleaved": self.interleaved,
        }
