# SPDX-License-Identifier: Apache-2.0
"""How tf.vectorized_map and jacobians run an op on all rows at once, instead of in a loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

# Not public, and unchanged since TensorFlow 2.1; without a converter an op runs in a loop, with a warning.
try:
    from tensorflow.python.ops.parallel_for import pfor
except ImportError:
    pfor = None


def register(op_type: str) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """A decorator of what runs an op on a stack of its inputs, where TensorFlow can be told.

    Args:
      op_type: The op's name.
    """
    return pfor.RegisterPFor(op_type) if hasattr(pfor, "RegisterPFor") else lambda convert: convert


def register_batched(op_type: str, function: Callable[..., Any], attributes: tuple[str, ...] = ()) -> None:
    """Says that an op takes a batch in its first input, and works on each element of the batch alone.

    The batch has one dimension at least, which is the first of them. The op's other inputs are for the whole batch:
    with one for each element, the op still runs in a loop.

    Args:
      op_type: The op's name.
      function: Calls the op, with its inputs and with its attributes by name, and returns its output or outputs.
      attributes: The names of the attributes.
    """

    @register(op_type)
    def convert(pfor_input: Any) -> Any:  # noqa: ANN401 - of no public type
        others = range(1, pfor_input.num_inputs)
        stacked = pfor_input.stacked_input(0) if pfor_input.input(0)[1] else None
        # A stack of scalars is no batch: the op itself must say that a scalar is none.
        if stacked is None or not (stacked.shape.rank or 0) > 1 or any(pfor_input.input(i)[1] for i in others):
            raise pfor.ConversionNotImplementedError(f"{op_type} has one of each input but the first")
        outputs = function(
            stacked,
            *(pfor_input.unstacked_input(i) for i in others),
            **{name: pfor_input.get_attr(name) for name in attributes},
        )
        if isinstance(outputs, tf.Tensor):
            return pfor.wrap(outputs, True)
        return [pfor.wrap(output, True) for output in outputs]


def register_elementwise(op_type: str, function: Callable[..., tf.Tensor]) -> None:
    """Says that an op works on each element alone, and so on a stack of tensors as on one.

    Args:
      op_type: The op's name.
      function: The op's Python function, of the op's inputs.
    """

    @register(op_type)
    def convert(pfor_input: Any) -> Any:  # noqa: ANN401 - of no public type
        # Inputs that are the same for every row are repeated: the op does not broadcast.
        pfor_input.stack_inputs()
        inputs = [pfor_input.stacked_input(i) for i in range(pfor_input.num_inputs)]
        return pfor.wrap(function(*inputs), True)


def register_broadcasting(op_type: str, function: Callable[..., Any], attributes: tuple[str, ...] = ()) -> None:
    """Says that an op is elementwise, and that it broadcasts its inputs.

    Args:
      op_type: The op's name.
      function: Calls the op, with its inputs and with its attributes by name, and returns its output or outputs.
      attributes: The names of the attributes.
    """

    @register(op_type)
    def convert(pfor_input: Any) -> Any:  # noqa: ANN401 - of no public type
        if pfor_input.num_inputs > 1:
            # Or the rows of one input would meet the first dimension of another.
            pfor_input.expanddim_inputs_for_broadcast()
        inputs = [pfor_input.input(i)[0] for i in range(pfor_input.num_inputs)]
        outputs = function(*inputs, **{name: pfor_input.get_attr(name) for name in attributes})
        if isinstance(outputs, tf.Tensor):
            return pfor.wrap(outputs, True)
        return [pfor.wrap(output, True) for output in outputs]
