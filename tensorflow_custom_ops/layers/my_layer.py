# SPDX-License-Identifier: Apache-2.0
# >>> only with fused_dense: whole file
"""MyLayer: a dense Keras layer in one op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from tensorflow_custom_ops.layers import op_layer
from tensorflow_custom_ops.ops.fused_dense import fused_dense

# The activations that FusedDense applies itself.
_FUSED_ACTIVATIONS: dict[str, Callable[..., Any]] = {
    "linear": keras.activations.linear,
    "relu": keras.activations.relu,
    "tanh": keras.activations.tanh,
    "sigmoid": keras.activations.sigmoid,
}


@keras.saving.register_keras_serializable(package="tensorflow_custom_ops")
class MyLayer(op_layer.OpLayer):
    """A dense layer: `activation(inputs @ kernel + bias)`, by the op FusedDense.

    It is for what `keras.layers.Dense` is for, but sparse or complex inputs, quantization and LoRA, and it can use the
    weights of one (`set_weights`). The activations linear, relu,
    tanh and sigmoid are part of the op; any other is applied to its output.

    With a mixed precision policy, sums are formed in float32 and rounded once, after an activation that is part of the
    op.

    Example:
      ```python
      import keras
      from tensorflow_custom_ops.layers import MyLayer

      model = keras.Sequential([keras.Input((784,)), MyLayer(128, activation="relu"), MyLayer(10)])
      ```

    Input shape: `(batch, ..., in)`, where `in` is known.

    Output shape: `(batch, ..., units)`.
    """

    def __init__(
        self,
        units: int,
        activation: str | Callable[..., Any] | None = None,
        use_bias: bool = True,
        *,
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
          units: The size of the output's last dimension, at least 1.
          activation: An activation, as Keras takes it; None is linear.
          use_bias: Whether a bias is added.
          kernel_initializer: The initializer of `kernel`, the weights of shape `(in, units)`.
          bias_initializer: The initializer of `bias`, of shape `(units,)`.
          kernel_regularizer: The regularizer of `kernel`, if any.
          bias_regularizer: The regularizer of `bias`, if any.
          kernel_constraint: The constraint on `kernel`, if any.
          bias_constraint: The constraint on `bias`, if any.
          **kwargs: What every Keras layer takes: `name`, `dtype` (also a policy), `trainable`, `activity_regularizer`.

        Raises:
          ValueError: `units` is not a positive integer, `use_bias` no bool, or `dtype` a type or policy in which the op
            cannot compute.
        """
        super().__init__(**kwargs)
        self.units = self.checked_size("units", units)
        self.activation = keras.activations.get(activation)
        self.use_bias = self.checked_bool("use_bias", use_bias)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.bias_initializer = keras.initializers.get(bias_initializer)
        self.kernel_regularizer = keras.regularizers.get(kernel_regularizer)
        self.bias_regularizer = keras.regularizers.get(bias_regularizer)
        self.kernel_constraint = keras.constraints.get(kernel_constraint)
        self.bias_constraint = keras.constraints.get(bias_constraint)
        self.kernel = None
        self.bias = None
        self.input_spec = keras.layers.InputSpec(min_ndim=2)

    def build(self, input_shape: op_layer.Shape) -> None:
        """Makes the weights for inputs of a shape.

        Args:
          input_shape: The shape of the inputs.

        Raises:
          ValueError: the last dimension is unknown.
        """
        size = self.known_size(input_shape, -1)
        self.kernel = self.add_weight(
            name="kernel",
            shape=(size, self.units),
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        if self.use_bias:
            self.bias = self.add_weight(
                name="bias",
                shape=(self.units,),
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.input_spec = keras.layers.InputSpec(min_ndim=2, axes={-1: size})
        self.built = True

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        """Applies the layer.

        Args:
          inputs: A tensor of shape `(batch, ..., in)`.

        Returns:
          A tensor of shape `(batch, ..., units)`.

        Raises:
          ValueError: `inputs` is sparse or complex.
        """
        if isinstance(inputs, tf.SparseTensor) or tf.as_dtype(inputs.dtype).is_complex:
            found = "a SparseTensor" if isinstance(inputs, tf.SparseTensor) else f"of type {inputs.dtype}"
            raise ValueError(f"MyLayer: inputs must be a dense tensor of real numbers, but it is {found}")
        dtype = self.compute_dtype
        bias = tf.zeros([self.units], dtype) if self.bias is None else keras.ops.cast(self.bias, dtype)
        fused = next((name for name, function in _FUSED_ACTIVATIONS.items() if function is self.activation), None)
        outputs = fused_dense.fused_dense(
            keras.ops.cast(inputs, dtype),
            keras.ops.cast(self.kernel, dtype),
            bias,
            activation=fused or "linear",
        )
        return outputs if fused else self.activation(outputs)

    def compute_output_shape(self, input_shape: op_layer.Shape) -> op_layer.Shape:
        """The shape of the output for inputs of a shape.

        Args:
          input_shape: The shape of the inputs.

        Returns:
          The same, with `units` for the last dimension.
        """
        return (*input_shape[:-1], self.units)

    def get_config(self) -> dict[str, Any]:
        """The arguments to make such a layer again, as Keras saves them.

        Returns:
          A dictionary of what JSON can hold.
        """
        return {
            **super().get_config(),
            "units": self.units,
            "activation": keras.activations.serialize(self.activation),
            "use_bias": self.use_bias,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "bias_initializer": keras.initializers.serialize(self.bias_initializer),
            "kernel_regularizer": keras.regularizers.serialize(self.kernel_regularizer),
            "bias_regularizer": keras.regularizers.serialize(self.bias_regularizer),
            "kernel_constraint": keras.constraints.serialize(self.kernel_constraint),
            "bias_constraint": keras.constraints.serialize(self.bias_constraint),
        }
