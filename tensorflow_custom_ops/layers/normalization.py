# SPDX-License-Identifier: Apache-2.0
# >>> only with layer_norm, rms_norm, rms_norm_residual: whole file
"""RmsNorm, RmsNormResidual and LayerNorm: Keras layers that normalise rows in one op."""

from __future__ import annotations

import numbers
from typing import Any

import keras
import tensorflow as tf

from tensorflow_custom_ops.layers import op_layer
from tensorflow_custom_ops.ops.layer_norm import layer_norm
from tensorflow_custom_ops.ops.rms_norm import rms_norm
from tensorflow_custom_ops.ops.rms_norm_residual import rms_norm_residual

Shape = op_layer.Shape


class _Normalization(op_layer.OpLayer):
    """A layer with a scale for each element of a row."""

    def __init__(
        self,
        axis: int = -1,
        epsilon: float = 1e-6,
        *,
        scale_initializer: Any = "ones",  # noqa: ANN401 - whatever Keras takes, here and below
        scale_regularizer: Any = None,  # noqa: ANN401
        scale_constraint: Any = None,  # noqa: ANN401
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        """Makes a layer, whose weights are made when it is built.

        Args:
          axis: The dimension that has the rows.
          epsilon: What is added to the mean square or the variance, 0 at least.
          scale_initializer: The initializer of `scale`, of shape `(n,)`.
          scale_regularizer: The regularizer of `scale`, if any.
          scale_constraint: The constraint on `scale`, if any.
          **kwargs: What every Keras layer takes: `name`, `dtype` (also a policy), `trainable`, `activity_regularizer`.

        Raises:
          ValueError: `axis` is no integer, `epsilon` no number that is 0 at least, or `dtype` is a type or policy in
            which the op cannot compute.
        """
        super().__init__(**kwargs)
        name = type(self).__name__
        if isinstance(axis, bool) or not hasattr(axis, "__index__"):
            raise ValueError(f"{name}: axis must be an integer, but it is {axis!r}")
        if isinstance(epsilon, bool) or not isinstance(epsilon, numbers.Real) or not 0 <= epsilon < float("inf"):
            raise ValueError(f"{name}: epsilon must be a finite number, 0 at least, but it is {epsilon!r}")
        self.axis: int = int(axis)
        self.epsilon: float = float(epsilon)
        self.scale_initializer: Any = keras.initializers.get(scale_initializer)
        self.scale_regularizer: Any = keras.regularizers.get(scale_regularizer)
        self.scale_constraint: Any = keras.constraints.get(scale_constraint)
        self.scale: Any = None

    def _build(self, shape: Shape) -> int:
        """Makes the scale for inputs of a shape, and returns the size of a row."""
        size = self.known_size(shape, self.axis)
        self.scale = self.add_weight(
            name="scale",
            shape=(size,),
            initializer=self.scale_initializer,
            regularizer=self.scale_regularizer,
            constraint=self.scale_constraint,
        )
        self.built = True
        return size

    def get_config(self) -> dict[str, Any]:
        """The arguments to make such a layer again, as Keras saves them.

        Returns:
          A dictionary of what JSON can hold.
        """
        return {
            **super().get_config(),
            "axis": self.axis,
            "epsilon": self.epsilon,
            "scale_initializer": keras.initializers.serialize(self.scale_initializer),
            "scale_regularizer": keras.regularizers.serialize(self.scale_regularizer),
            "scale_constraint": keras.constraints.serialize(self.scale_constraint),
        }


@keras.saving.register_keras_serializable(package="tensorflow_custom_ops")
class RmsNorm(_Normalization):
    """Divides rows by their root mean square: `x / sqrt(mean(x**2) + epsilon) * scale`, by the op RmsNorm.

    It is for what `keras.layers.RMSNormalization` is for, and can use the weights of one. With a mixed precision policy
    the statistics are float32, and the scale is rounded to the type of the inputs.

    Input shape: any with the axis, whose size is known. Output shape: the same.
    """

    def build(self, input_shape: Shape) -> None:
        """Makes the scale.

        Args:
          input_shape: The shape of the inputs.

        Raises:
          ValueError: the size of the axis is unknown.
        """
        self._build(input_shape)

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        """Applies the layer.

        Args:
          inputs: A tensor.

        Returns:
          A tensor of the same shape.
        """
        dtype = self.compute_dtype
        return rms_norm.rms_norm(
            keras.ops.cast(inputs, dtype), keras.ops.cast(self.scale, dtype), epsilon=self.epsilon, axis=self.axis
        )

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """The shape of the output for inputs of a shape.

        Args:
          input_shape: The shape of the inputs.

        Returns:
          The same.
        """
        return input_shape


@keras.saving.register_keras_serializable(package="tensorflow_custom_ops")
class RmsNormResidual(_Normalization):
    """Adds two tensors, and divides the rows of the sum by their root mean square, by the op RmsNormResidual.

    It is what there is between the blocks of a transformer, in one pass over memory:

    ```python
    x, residual = RmsNormResidual()(block(x), residual)
    ```

    Input shapes: any with the axis, whose size is known; the same for both. Output shapes: the same.
    """

    def build(self, inputs_shape: Shape, residual_shape: Shape) -> None:
        """Makes the scale.

        Args:
          inputs_shape: The shape of the inputs.
          residual_shape: The shape of what is added to them.

        Raises:
          ValueError: the size of the axis is unknown.
        """
        del residual_shape
        self._build(inputs_shape)

    def call(self, inputs: tf.Tensor, residual: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Applies the layer.

        Args:
          inputs: A tensor.
          residual: What is added to it, of the same shape.

        Returns:
          The normalised sum, and the sum itself, which is the next residual.
        """
        dtype = self.compute_dtype
        return rms_norm_residual.rms_norm_residual(
            keras.ops.cast(inputs, dtype),
            keras.ops.cast(residual, dtype),
            keras.ops.cast(self.scale, dtype),
            epsilon=self.epsilon,
            axis=self.axis,
        )

    def compute_output_shape(self, inputs_shape: Shape, residual_shape: Shape) -> tuple[Shape, Shape]:
        """The shapes of the outputs.

        Args:
          inputs_shape: The shape of the inputs.
          residual_shape: The shape of what is added to them.

        Returns:
          The shape of the inputs, twice.
        """
        del residual_shape
        return inputs_shape, inputs_shape

    def compute_mask(self, inputs: Any, previous_mask: Any) -> Any:  # noqa: ANN401 - whatever Keras takes
        """The masks of the outputs.

        Args:
          inputs: The inputs.
          previous_mask: The mask of the inputs.

        Returns:
          That mask for both outputs.
        """
        del inputs
        return previous_mask, previous_mask


@keras.saving.register_keras_serializable(package="tensorflow_custom_ops")
class LayerNorm(_Normalization):
    """Normalises rows: `(x - mean(x)) / sqrt(var(x) + epsilon) * scale + offset`, by the op LayerNorm.

    It is for what `keras.layers.LayerNormalization` is for, and can use the weights of one. With a mixed precision
    policy the statistics are float32, and scale and offset are rounded to the type of the inputs.

    Input shape: any with the axis, whose size is known. Output shape: the same.
    """

    def __init__(
        self,
        axis: int = -1,
        epsilon: float = 1e-3,
        *,
        offset_initializer: Any = "zeros",  # noqa: ANN401
        offset_regularizer: Any = None,  # noqa: ANN401
        offset_constraint: Any = None,  # noqa: ANN401
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        """Makes a layer, whose weights are made when it is built.

        Args:
          axis: The dimension that has the rows.
          epsilon: What is added to the variance, 0 at least.
          offset_initializer: The initializer of `offset`, of shape `(n,)`.
          offset_regularizer: The regularizer of `offset`, if any.
          offset_constraint: The constraint on `offset`, if any.
          **kwargs: What RmsNorm takes.

        Raises:
          ValueError: as RmsNorm.
        """
        super().__init__(axis, epsilon, **kwargs)
        self.offset_initializer = keras.initializers.get(offset_initializer)
        self.offset_regularizer = keras.regularizers.get(offset_regularizer)
        self.offset_constraint = keras.constraints.get(offset_constraint)
        self.offset: Any = None

    def build(self, input_shape: Shape) -> None:
        """Makes the scale and the offset.

        Args:
          input_shape: The shape of the inputs.

        Raises:
          ValueError: the size of the axis is unknown.
        """
        size = self._build(input_shape)
        self.offset = self.add_weight(
            name="offset",
            shape=(size,),
            initializer=self.offset_initializer,
            regularizer=self.offset_regularizer,
            constraint=self.offset_constraint,
        )

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        """Applies the layer.

        Args:
          inputs: A tensor.

        Returns:
          A tensor of the same shape.
        """
        dtype = self.compute_dtype
        return layer_norm.layer_norm(
            keras.ops.cast(inputs, dtype),
            keras.ops.cast(self.scale, dtype),
            keras.ops.cast(self.offset, dtype),
            epsilon=self.epsilon,
            axis=self.axis,
        )

    def compute_output_shape(self, input_shape: Shape) -> Shape:
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
        return {
            **super().get_config(),
            "offset_initializer": keras.initializers.serialize(self.offset_initializer),
            "offset_regularizer": keras.regularizers.serialize(self.offset_regularizer),
            "offset_constraint": keras.constraints.serialize(self.offset_constraint),
        }
