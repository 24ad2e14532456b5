# SPDX-License-Identifier: Apache-2.0
"""How tf.vectorized_map and jacobians run an op on all rows at once, instead of in a loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

# Not public, and unchanged since TensorFlow 2.1; without a converter an op runs in a loop, with a warning.
from tensorflow.python.ops.parallel_for import pfor


def register_elementwise(op_type: str, function: Callable[..., tf.Tensor]) -> None:
    """Says that an op works on each element alone, and so on a stack of tensors as on one.

    Args:
      op_type: The op's name.
      function: The op's Python function, of the op's inputs.
    """

    @pfor.RegisterPFor(op_type)
    def convert(pfor_input: Any) -> Any:  # noqa: ANN401 - of no public type
        # Inputs that are the same for every row are repeated: the op does not broadcast.
        pfor_input.stack_inputs()
        inputs = [pfor_input.stacked_input(i) for i in range(pfor_input.num_inputs)]
        return pfor.wrap(function(*inputs), True)
