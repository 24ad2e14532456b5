# SPDX-License-Identifier: Apache-2.0
"""What the layers share."""

from __future__ import annotations

import numbers
from typing import Any

import keras

from tensorflow_custom_ops import _build_info

Shape = tuple[int | None, ...]

_COMPUTE_DTYPES = ("float16", "bfloat16", "float32", "float64")


class OpLayer(keras.layers.Layer):
    """A layer of ops that compute in floating-point types. It passes the mask of its input on."""

    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401 - whatever Keras takes
        """Makes a layer.

        Args:
          **kwargs: What every Keras layer takes.

        Raises:
          ValueError: `dtype` is a type or policy in which the ops cannot compute.
        """
        super().__init__(**kwargs)
        if self.compute_dtype not in _COMPUTE_DTYPES or self.quantization_mode is not None:
            raise ValueError(
                f"{type(self).__name__}: dtype must be a type or policy that computes in one of "
                f"{', '.join(_COMPUTE_DTYPES)}, without quantization, but it is {self.dtype_policy.name!r}"
            )
        self.supports_masking = True
        # Asked by Keras before it compiles a model by default.
        self.supports_jit = _build_info.XLA

    def checked_size(self, argument: str, value: Any) -> int:  # noqa: ANN401 - whatever is given
        """A size that is given as an argument.

        Args:
          argument: The argument's name.
          value: Its value.

        Raises:
          ValueError: it is not a positive integer.
        """
        if isinstance(value, bool) or not hasattr(value, "__index__") or value < 1:
            raise ValueError(f"{type(self).__name__}: {argument} must be a positive integer, but it is {value!r}")
        return int(value)

    def checked_bool(self, argument: str, value: Any) -> bool:  # noqa: ANN401
        """A bool that is given as an argument.

        Args:
          argument: The argument's name.
          value: Its value.

        Raises:
          ValueError: it is none.
        """
        if not isinstance(value, bool):
            raise ValueError(f"{type(self).__name__}: {argument} must be a bool, but it is {value!r}")
        return value

    def checked_number(self, argument: str, value: Any) -> float:  # noqa: ANN401
        """A number that is given as an argument.

        Args:
          argument: The argument's name.
          value: Its value.

        Raises:
          ValueError: it is none.
        """
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise ValueError(f"{type(self).__name__}: {argument} must be a number, but it is {value!r}")
        return float(value)

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - whatever Keras takes
        """What a call gives for symbolic inputs, by the shape functions of the ops.

        Keras would ask `compute_output_shape`, which does not say what inputs the ops refuse.

        Args:
          *args: The inputs.
          **kwargs: Those given by name.

        Returns:
          Symbolic outputs.
        """
        return keras.Operation.compute_output_spec(self, *args, **kwargs)

    def known_size(self, shape: Shape, axis: int) -> int:
        """The size of a dimension of the inputs.

        Args:
          shape: The inputs' shape.
          axis: The dimension.

        Raises:
          ValueError: it is unknown, or there is no such dimension.
        """
        if not -len(shape) <= axis < len(shape):
            raise ValueError(
                f"{type(self).__name__}: the inputs must have the dimension {axis}, but their shape is {shape}"
            )
        size = shape[axis]
        if size is None:
            which = "the last dimension" if axis == -1 else f"dimension {axis}"
            raise ValueError(f"{type(self).__name__}: {which} of the inputs must be known, but their shape is {shape}")
        return size
