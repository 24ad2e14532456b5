# SPDX-License-Identifier: Apache-2.0
"""What TensorFlow's registries say about an op."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf

# Not public, and what TensorFlow's own tests use.
from tensorflow.python.framework import kernels, op_def_registry


@functools.cache
def load_xla_kernels() -> None:
    """Lets TensorFlow register the kernels of XLA's devices, which it does with the first compilation."""
    tf.function(tf.identity, jit_compile=True)(tf.constant(0.0))


def op_def(op: str) -> Any:  # noqa: ANN401 - of a protocol buffer's class
    """The OpDef, or None."""
    return op_def_registry.get(op)


def is_function(op: str) -> bool:
    """Whether it is no op, but a function of the graph, or calls one."""
    definition = op_def(op)
    return definition is None or any(attr.type in {"func", "list(func)"} for attr in definition.attr)


def is_stateful(op: str) -> bool:
    """Whether the op may give something else each time; calls of functions are not taken to."""
    definition = op_def(op)
    return definition is not None and bool(definition.is_stateful) and not is_function(op)


def registered(op: str) -> list[Any]:
    """The KernelDefs of an op."""
    return list(kernels.get_registered_kernels_for_op(op).kernel)


def devices(op: str) -> set[str]:
    """The types of devices that have a kernel of an op."""
    return {kernel.device_type for kernel in registered(op)}


def type_attributes(op: str) -> dict[str, list[tf.DType]]:
    """The types that the OpDef allows for each attribute that is a type, as far as it lists them."""
    return {
        attr.name: [tf.as_dtype(number) for number in attr.allowed_values.list.type]
        for attr in op_def(op).attr
        if attr.type == "type" and attr.allowed_values.list.type
    }


def types_with_kernel(op: str, device: str, attribute: str) -> set[tf.DType] | None:
    """The types of an attribute that have a kernel on a device; None: all."""
    types: set[tf.DType] = set()
    for kernel in registered(op):
        if kernel.device_type != device:
            continue
        constraints = [constraint for constraint in kernel.constraint if constraint.name == attribute]
        if not constraints:
            return None
        types |= {tf.as_dtype(number) for constraint in constraints for number in constraint.allowed_values.list.type}
    return types
