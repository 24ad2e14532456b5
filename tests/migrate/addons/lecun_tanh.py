# SPDX-License-Identifier: Apache-2.0
"""LecunTanh: an activation, and its Keras layer."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tensorflow_custom_ops.core import elementwise
from tests.migrate.addons import gen_lecun_tanh

__all__ = ["lecun_tanh"]


def lecun_tanh(
    input: tf.types.experimental.TensorLike,
    scale: float = 1.7159,
    slope: float = 0.666667,
    name: str | None = None,
) -> tf.Tensor:
    """Computes `scale * tanh(slope * input)`."""
    return gen_lecun_tanh.lecun_tanh(input, scale=scale, slope=slope, name=name)


elementwise.register("LecunTanh", gen_lecun_tanh)


@keras.saving.register_keras_serializable(package="my_layers")
class LecunTanh(keras.layers.Layer):
    """The activation as a layer."""

    def __init__(self, scale: float = 1.7159, slope: float = 0.666667, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(**kwargs)
        self.scale = scale
        self.slope = slope

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        """Computes the activation."""
        return lecun_tanh(inputs, self.scale, self.slope)

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor."""
        return {**super().get_config(), "scale": self.scale, "slope": self.slope}
