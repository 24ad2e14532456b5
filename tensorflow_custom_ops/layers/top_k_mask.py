# SPDX-License-Identifier: Apache-2.0
# >>> only with top_k_mask: whole file
"""TopKMask: a Keras layer that keeps the k largest elements of each row."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tensorflow_custom_ops.layers import op_layer
from tensorflow_custom_ops.ops.top_k_mask import top_k_mask


@keras.saving.register_keras_serializable(package="tensorflow_custom_ops")
class TopKMask(op_layer.OpLayer):
    """Keeps the k largest elements of each row, the last dimension, and replaces the others, by the op TopKMask.

    Input shape: `(batch, ..., n)`, with `n >= k`. Output shape: the same.
    """

    def __init__(self, k: int, fill_value: float = 0.0, **kwargs: Any) -> None:  # noqa: ANN401 - whatever Keras takes
        """Makes a layer, which has no weights.

        Args:
          k: How many elements of each row are kept, 1 at least.
          fill_value: What replaces the others, such as `float("-inf")` before a softmax.
          **kwargs: What every Keras layer takes.

        Raises:
          ValueError: `k` is not a positive integer, `fill_value` no number, or `dtype` a type or policy in which the op
            cannot compute.
        """
        super().__init__(**kwargs)
        self.k = self.checked_size("k", k)
        self.fill_value = self.checked_number("fill_value", fill_value)

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        """Applies the layer.

        Args:
          inputs: A tensor.

        Returns:
          A tensor of the same shape.
        """
        return top_k_mask.top_k_mask(keras.ops.cast(inputs, self.compute_dtype), self.k, self.fill_value)

    def compute_output_shape(self, input_shape: op_layer.Shape) -> op_layer.Shape:
        """The shape of the output for inputs of a shape.

        Args:
          input_shape: The shape of the inputs.

        Returns:
          The same.
        """
        return input_shape

    def get_config(self) -> dict[str, Any]:
        """The arguments to make such a layer again, as Keras saves them.

        Returns:
          A dictionary of what JSON can hold.
        """
        return {**super().get_config(), "k": self.k, "fill_value": self.fill_value}
