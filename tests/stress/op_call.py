# SPDX-License-Identifier: Apache-2.0
"""One call of each op, small and of all its inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

import tensorflow_custom_ops
from tensorflow_custom_ops import testing
from tensorflow_custom_ops.testing import call


def op_call(op: str) -> tuple[Callable[..., list[tf.Tensor]], list[tf.Tensor]]:
    """The first sample of an op: a function of tensors, and tensors for it."""
    sample = next(iter(testing.samples(op).values()))
    function = call.Call(getattr(tensorflow_custom_ops, op), sample.args, dict(sample.kwargs))
    return function, [tf.constant(array) for array in function.inputs]


def floating(inputs: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """The inputs that may have gradients."""
    return [tensor for tensor in inputs if tensor.dtype.is_floating]


def gradients(
    function: Callable[..., Any], inputs: Sequence[tf.Tensor], sources: Sequence[tf.Tensor] | None = None
) -> list[tf.Tensor]:
    """The outputs of a function and the gradients of their sum, for those of the sources, or inputs, that have some."""
    watched = floating(inputs) if sources is None else sources
    with tf.GradientTape() as tape:
        tape.watch(watched)
        outputs = function(*inputs)
    found = tape.gradient(outputs, watched)
    return [*outputs, *(gradient for gradient in found if gradient is not None)]
