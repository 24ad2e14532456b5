# SPDX-License-Identifier: Apache-2.0
"""What the Python functions of ops that normalise rows share: arguments, gradients, and tf.vectorized_map."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tensorflow_custom_ops.core import vectorization


def checked_epsilon(name: str, epsilon: float) -> float:
    """The epsilon for an op, which checks its value.

    Args:
      name: The function's name.
      epsilon: The argument.

    Raises:
      TypeError: it is no number.
    """
    if isinstance(epsilon, bool) or not isinstance(epsilon, numbers.Real):
        raise TypeError(f"{name}: epsilon must be a number, but is {epsilon!r}")
    return float(epsilon)


def call_along_axis(
    name: str,
    function: Callable[..., Any],
    axis: int,
    *inputs: tf.types.experimental.TensorLike,
) -> Any:  # noqa: ANN401 - as the function
    """Calls a function whose rows are the last dimension for rows along another.

    Args:
      name: The caller's name.
      function: Its arguments are tensors of the shape of the inputs; so are its one or more results.
      axis: The dimension of the inputs that has the rows.
      *inputs: The inputs.

    Returns:
      What the function returns.

    Raises:
      TypeError: the axis is no int.
      ValueError: the inputs have no such axis, or an unknown rank and the axis is not -1.
    """
    if isinstance(axis, bool) or not isinstance(axis, numbers.Integral):
        raise TypeError(f"{name}: axis must be an int, but is {axis!r}")
    if axis == -1:
        return function(*inputs)
    tensors = [tf.convert_to_tensor(array) for array in inputs]
    rank = tensors[0].shape.rank
    if rank is None:
        raise ValueError(f"{name}: axis must be -1 where the rank of x is unknown, but is {axis}")
    if not -rank <= axis < rank:
        raise ValueError(f"{name}: axis must be one of the {rank} dimensions of x, but is {axis}")
    axis = int(axis) % rank
    if axis == rank - 1:
        return function(*tensors)
    order = [*range(axis), *range(axis + 1, rank), axis]
    back = [*range(axis), rank - 1, *range(axis, rank - 1)]
    results = function(*(tf.transpose(tensor, order) for tensor in tensors))
    if isinstance(results, tf.Tensor):
        return tf.transpose(results, back)
    return tuple(tf.transpose(result, back) for result in results)


def register(
    function: Callable[..., Any], gradient: Callable[..., Any], has_residual: bool = False, has_offset: bool = False
) -> None:
    """Registers an op's first and second gradients, and how both run on stacks of tensors.

    Args:
      function: The op's function in its generated module.
      gradient: The function of the op's gradient there.
      has_residual: Whether the op's inputs are x, residual and scale, and its outputs y and sum.
      has_offset: Whether the op's inputs are x, scale and offset. The mean is subtracted from the rows then.
    """
    op_type = "".join(word.capitalize() for word in function.__name__.split("_"))

    @tf.RegisterGradient(op_type)
    def _(op: tf.Operation, *grads: tf.Tensor) -> Sequence[tf.Tensor]:
        epsilon = op.get_attr("epsilon")
        if has_residual:
            # Of the sum, as it was rounded.
            x_grad, scale_grad = gradient(op.outputs[1], op.inputs[2], *grads, epsilon=epsilon)
            return x_grad, x_grad, scale_grad
        return tuple(gradient(op.inputs[0], op.inputs[1], *grads, epsilon=epsilon))

    @tf.RegisterGradient(op_type + "Grad")
    def _(op: tf.Operation, *grads: tf.Tensor) -> Sequence[tf.Tensor]:
        inputs = list(op.inputs)
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            outputs = _gradients(inputs, op.get_attr("epsilon"), has_offset)
        gradients: Sequence[tf.Tensor] = tape.gradient(outputs, inputs, grads)
        return gradients

    @vectorization.register(op_type)
    def _(pfor_input: Any) -> Any:  # noqa: ANN401 - of no public type
        inputs = _stacked(op_type, pfor_input, (0, 1) if has_residual else (0,))
        outputs = function(*inputs, epsilon=pfor_input.get_attr("epsilon"))
        if has_residual:
            return [vectorization.pfor.wrap(output, True) for output in outputs]
        return vectorization.pfor.wrap(outputs, True)

    @vectorization.register(op_type + "Grad")
    def _(pfor_input: Any) -> Any:  # noqa: ANN401 - of no public type
        inputs = _stacked(op_type + "Grad", pfor_input, (0, 2, 3) if has_residual else (0, 2))
        epsilon = pfor_input.get_attr("epsilon")
        # The op would sum up the others over the stack, too.
        _, *of_row = _gradients(inputs, epsilon, has_offset, first_axis=1)
        x_grad = gradient(*inputs, epsilon=epsilon)[0]
        return [vectorization.pfor.wrap(output, True) for output in (x_grad, *of_row)]


def _stacked(op_type: str, pfor_input: Any, rows: Sequence[int]) -> list[tf.Tensor]:  # noqa: ANN401
    """The inputs, stacks of those that are rows, and of the others one for all."""
    others = [i for i in range(pfor_input.num_inputs) if i not in rows]
    if any(pfor_input.input(i)[1] for i in others):
        raise vectorization.pfor.ConversionNotImplementedError(f"{op_type} has one scale for all rows")
    pfor_input.stack_inputs(rows)
    # A stack of scalars is no array of rows: the op itself must say that a scalar is none.
    if not (pfor_input.stacked_input(0).shape.rank or 0) > 1:
        raise vectorization.pfor.ConversionNotImplementedError(f"{op_type} needs a rank that is known")
    return [
        pfor_input.stacked_input(i) if i in rows else pfor_input.unstacked_input(i)
        for i in range(pfor_input.num_inputs)
    ]


def _gradients(inputs: Sequence[tf.Tensor], epsilon: float, has_offset: bool, first_axis: int = 0) -> list[tf.Tensor]:
    """What the gradient's op computes, by TensorFlow's ops. Sums over rows leave out axes before the first."""
    dtype = inputs[0].dtype
    wide = tf.float64 if dtype == tf.float64 else tf.float32
    x, scale, grad, *sum_grad = (tf.cast(tensor, wide) for tensor in inputs)

    def mean(values: tf.Tensor) -> tf.Tensor:
        return tf.reduce_mean(values, -1, keepdims=True)

    if has_offset:
        x -= mean(x)
    inverse = tf.math.rsqrt(mean(tf.square(x)) + tf.constant(epsilon, wide))
    normalized = x * inverse
    scaled = grad * scale
    x_grad = scaled - normalized * mean(scaled * normalized)
    if has_offset:
        x_grad -= mean(scaled)
    x_grad *= inverse
    if sum_grad:
        x_grad += sum_grad[0]
    axes = tf.range(first_axis, tf.rank(x) - 1)
    gradients = [x_grad, tf.reduce_sum(grad * normalized, axes)]
    if has_offset:
        gradients.append(tf.reduce_sum(grad, axes))
    return [tf.cast(gradient, dtype) for gradient in gradients]
