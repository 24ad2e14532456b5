# SPDX-License-Identifier: Apache-2.0
"""Gradients of elementwise ops, and how tf.vectorized_map runs them."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python import pywrap_tfe

from tensorflow_custom_ops.core import vectorization


def register(op_type: str, module: types.ModuleType) -> None:
    """Registers an elementwise op's gradients, of all orders that it has, and how it runs on a stack of tensors.

    Args:
      op_type: The op's name, which is its functor's.
      module: The generated module that has the functions of the op and of its gradient.

    Raises:
      ValueError: the module does not have both.
    """
    function, gradient = _function_of(op_type, module), _function_of(op_type + "Grad", module)
    # Of the gradient: the inputs of the op, grad, orders, the attributes, and name.
    parameters = list(inspect.signature(gradient).parameters)
    count = parameters.index("grad")
    attributes = tuple(parameters[count + 2 : -1])

    def weighted(op: tf.Operation, grad: tf.Tensor, orders: list[int]) -> list[tf.Tensor]:
        """The derivatives by each input of the derivative of these orders, times grad, as large as grad."""
        values = {name: op.get_attr(name) for name in attributes}
        result = gradient(*op.inputs[:count], grad, orders=orders, **values)
        return [result] if count == 1 else list(result)

    def sums(op: tf.Operation, terms: list[list[tf.Tensor]]) -> list[tf.Tensor | None]:
        """The sums of the terms of each input's gradient, as large as the input. Those that are skipped are None."""
        skipped = _skipped(op)
        inputs = enumerate(zip(terms, op.inputs, strict=True))
        return [None if i in skipped else _sum(of, x, broadcasts=count > 1) for i, (of, x) in inputs]

    @tf.RegisterGradient(op_type)
    def _(op: tf.Operation, grad: tf.Tensor) -> list[tf.Tensor | None]:
        return sums(op, [[value] for value in weighted(op, grad, [0] * count)])

    @tf.RegisterGradient(op_type + "Grad")
    def _(op: tf.Operation, *grads: tf.Tensor) -> list[tf.Tensor | None]:
        grad, orders, skipped = op.inputs[count], op.get_attr("orders"), _skipped(op)
        terms: list[list[tf.Tensor]] = [[] for _ in op.inputs]
        for j in range(count):
            # What comes from outputs that nobody uses: zeros, and an infinite derivative times zero would be NaN. What
            # somebody differentiates by may be zero by chance.
            if count > 1 and not _is_recorded(grads[j]) and _is_zero(grads[j]):
                continue
            if count not in skipped:
                terms[count].append(weighted(op, grads[j], orders)[j])
            if not skipped.issuperset(range(count)):
                raised = [order + (i == j) for i, order in enumerate(orders)]
                for of_input, value in zip(terms, weighted(op, grad * grads[j], raised), strict=False):
                    of_input.append(value)
        return sums(op, terms)

    vectorization.register_broadcasting(op_type, function, attributes)
    vectorization.register_broadcasting(op_type + "Grad", gradient, (*attributes, "orders"))


def _function_of(op_type: str, module: types.ModuleType) -> Callable[..., Any]:
    """The function of an op in a generated module, which has another one there that is called like the op itself."""
    by_op_type = getattr(module, op_type, None)
    if by_op_type is None:
        raise ValueError(f"{module.__name__} has no op {op_type}")
    function: Callable[..., Any] = getattr(module, by_op_type.__name__)
    return function


def _skipped(op: tf.Operation) -> set[int]:
    """The inputs of an op whose gradients nobody asks for, as far as is known: by tapes."""
    return set(getattr(op, "skip_input_indices", None) or ())


def _is_recorded(gradient: tf.Tensor) -> bool:
    """Whether a tape or an accumulator follows a gradient, to differentiate by it."""
    types: int = pywrap_tfe.TFE_Py_TapeSetPossibleGradientTypes([gradient])
    return types != 0


def _is_zero(gradient: tf.Tensor) -> bool:
    """Whether a gradient is known to be zero everywhere."""
    if tf.executing_eagerly():
        return not tf.reduce_any(gradient != 0)
    op = gradient.op
    # As tf.zeros makes them.
    value = tf.get_static_value(op.inputs[1] if op.type == "Fill" else gradient)
    return op.type == "ZerosLike" or (value is not None and not np.any(value))


def _sum(terms: list[tf.Tensor], like: tf.Tensor, broadcasts: bool) -> tf.Tensor:
    """The sum of terms, and of all their elements that belong to one element of the input `like`."""
    if not terms:
        return tf.zeros_like(like)
    value = tf.add_n(terms)
    if not broadcasts or (value.shape.is_fully_defined() and value.shape == like.shape):
        return value
    shape = tf.shape(like)
    axes, _ = tf.raw_ops.BroadcastGradientArgs(s0=shape, s1=tf.shape(value))
    return tf.reshape(tf.reduce_sum(value, axes), shape)
