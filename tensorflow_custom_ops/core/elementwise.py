# SPDX-License-Identifier: Apache-2.0
"""Gradients of elementwise ops, and how tf.vectorized_map runs them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tensorflow_custom_ops.core import vectorization


def register(function: Callable[..., tf.Tensor], gradient: Callable[..., Any]) -> None:
    """Registers an elementwise op's gradients, of all orders that it has, and how it runs on a stack of tensors.

    Args:
      function: The op's function in its generated module.
      gradient: The function of the op's gradient there.
    """
    op_type = "".join(word.capitalize() for word in function.__name__.split("_"))
    # Of the gradient: the inputs of the op, grad, orders, the attributes, and name.
    parameters = list(inspect.signature(gradient).parameters)
    count = parameters.index("grad")
    attributes = tuple(parameters[count + 2 : -1])

    def weighted(op: tf.Operation, grad: tf.Tensor, orders: list[int]) -> list[tf.Tensor]:
        """The derivatives by each input of the derivative of these orders, times grad, as large as grad."""
        values = {name: op.get_attr(name) for name in attributes}
        result = gradient(*op.inputs[:count], grad, orders=orders, **values)
        return [result] if count == 1 else list(result)

    @tf.RegisterGradient(op_type)
    def _(op: tf.Operation, grad: tf.Tensor) -> list[tf.Tensor]:
        gradients = weighted(op, grad, [0] * count)
        if count == 1:
            return gradients
        return [_sum_to(y, x) for y, x in zip(gradients, op.inputs, strict=True)]

    @tf.RegisterGradient(op_type + "Grad")
    def _(op: tf.Operation, *grads: tf.Tensor) -> list[tf.Tensor | None]:
        grad, orders = op.inputs[count], op.get_attr("orders")
        # Eagerly what nobody asks for is not computed.
        skipped = getattr(op, "skip_input_indices", None) or ()
        by_inputs: list[list[tf.Tensor]] = [[] for _ in range(count)]
        by_grad = []
        for j in range(count):
            if count not in skipped:
                by_grad.append(weighted(op, grads[j], orders)[j])
            if not set(range(count)) <= set(skipped):
                raised = [order + (i == j) for i, order in enumerate(orders)]
                for of_input, value in zip(by_inputs, weighted(op, grad * grads[j], raised), strict=True):
                    of_input.append(value)
        return [
            None if not terms else tf.add_n(terms) if count == 1 else _sum_to(tf.add_n(terms), x)
            for terms, x in zip([*by_inputs, by_grad], op.inputs, strict=True)
        ]

    vectorization.register_broadcasting(op_type, function, attributes)
    vectorization.register_broadcasting(op_type + "Grad", gradient, (*attributes, "orders"))


def _sum_to(value: tf.Tensor, like: tf.Tensor) -> tf.Tensor:
    """The sum of all elements that belong to one element of the input `like`, which has been broadcast."""
    if value.shape.is_fully_defined() and value.shape == like.shape:
        return value
    shape = tf.shape(like)
    axes, _ = tf.raw_ops.BroadcastGradientArgs(s0=shape, s1=tf.shape(value))
    return tf.reshape(tf.reduce_sum(value, axes), shape)
