# SPDX-License-Identifier: Apache-2.0
"""The call that is checked, and what tracing makes of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

# What functions put around the op that they are about.
_AROUND = {"Identity", "IdentityN", "StopGradient", "Reshape", "Squeeze", "ExpandDims", "EnsureShape"}

# Ops that run Python, which another process does not have.
_PYTHON = {"PyFunc", "EagerPyFunc", "PyFuncStateless"}


@dataclasses.dataclass(frozen=True)
class Traced:
    """A graph of a call, which another process can run.

    Attributes:
      graph_def: The serialised GraphDef.
      specs: The shapes and types that it was traced for.
      input_names, output_names: The tensors of the graph; an input that is not used has the name "". The last inputs
        are those that the function captured.
      captured: The values of the captured ones.
      output_shapes: What is known of the outputs' shapes.
      output_types: The outputs' types.
      op: The name of the op that makes the first output, or "".
      op_inputs: Of each input of the call the OpDef's name of the op's input that it is, or "".
      op_types: The names of all ops.
    """

    graph_def: bytes
    specs: tuple[tf.TensorSpec, ...]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    captured: tuple[np.ndarray, ...]
    output_shapes: tuple[tf.TensorShape, ...]
    output_types: tuple[tf.DType, ...]
    op: str
    op_inputs: tuple[str, ...]
    op_types: frozenset[str]

    @property
    def needs_python(self) -> bool:
        """Whether it calls Python functions when it runs."""
        return not _PYTHON.isdisjoint(self.op_types)


class Call:
    """A function and its arguments, of which the arrays and tensors, also those in lists, are the inputs.

    Attributes:
      inputs: The inputs' values.
    """

    def __init__(self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any] | None = None) -> None:
        self.function = function
        self.args = tuple(args)
        self.kwargs = dict(kwargs or {})
        self._leaves = tf.nest.flatten((self.args, self.kwargs))
        self._positions = [
            i for i, leaf in enumerate(self._leaves) if isinstance(leaf, (np.ndarray, np.generic, tf.Tensor))
        ]
        # Copies: what a faulty op overwrites are not the caller's.
        self.inputs = [value_of(tf.constant(self._leaves[i])) for i in self._positions]

    def __call__(self, *tensors: Any) -> list[tf.Tensor]:  # noqa: ANN401 - tensors or what stands for them
        """Calls the function with other inputs, and returns its outputs as a list."""
        leaves = list(self._leaves)
        for position, tensor in zip(self._positions, tensors, strict=True):
            leaves[position] = tensor
        args, kwargs = tf.nest.pack_sequence_as((self.args, self.kwargs), leaves)
        # Gradients of gathers are slices, which are not flattened.
        outputs = [
            tensor
            for output in tf.nest.flatten(self.function(*args, **kwargs))
            for tensor in (
                [output] if isinstance(output, tf.IndexedSlices) else tf.nest.flatten(output, expand_composites=True)
            )
        ]
        return [tf.convert_to_tensor(output) for output in outputs if output is not None]

    def with_inputs(self, inputs: Sequence[np.ndarray]) -> Call:
        """The same call of other inputs."""
        call = Call(self.function, self.args, self.kwargs)
        call.inputs = list(inputs)
        return call

    def with_kwargs(self, **kwargs: Any) -> Call:  # noqa: ANN401 - attributes of any type
        """The same call with other arguments by name."""
        return Call(self.function, self.args, self.kwargs | kwargs)

    def specs(self) -> list[tf.TensorSpec]:
        """The inputs' shapes and types."""
        return [tf.TensorSpec(array.shape, array.dtype) for array in self.inputs]

    def unknown_specs(self) -> list[tf.TensorSpec]:
        """The inputs' types, with nothing known about shapes."""
        return [tf.TensorSpec(None, array.dtype) for array in self.inputs]

    def trace(self, specs: Sequence[tf.TensorSpec] | None = None) -> Traced:
        """The graph of the call for some shapes and types: by default those of the inputs."""
        specs = tuple(self.specs() if specs is None else specs)
        concrete = tf.function(self.__call__, autograph=False).get_concrete_function(*specs)
        graph = concrete.graph
        op = _maker(concrete.outputs)
        arguments = concrete.inputs[: len(specs)]
        graph_def = graph.as_graph_def()
        used = {name.split(":")[0].lstrip("^") for node in graph_def.node for name in node.input}
        # The placeholders of inputs are replaced where the graph is run, and XLA has no kernel for them.
        replaced = {tensor.op.name for tensor in concrete.inputs}
        kept = [node for node in graph_def.node if node.name not in replaced]
        for node in kept:
            # Where they were to be beside the input.
            node.attr.pop("_class", None)
        del graph_def.node[:]
        graph_def.node.extend(kept)
        return Traced(
            graph_def=graph_def.SerializeToString(),
            specs=specs,
            input_names=tuple(tensor.name if tensor.op.name in used else "" for tensor in concrete.inputs),
            output_names=tuple(tensor.name for tensor in concrete.outputs),
            captured=tuple(_value(tensor) for tensor in concrete.captured_inputs),
            output_shapes=tuple(tensor.shape for tensor in concrete.outputs),
            output_types=tuple(tensor.dtype for tensor in concrete.outputs),
            op="" if op is None else op.type,
            op_inputs=tuple("" if op is None else _input_name(op, tensor) for tensor in arguments),
            op_types=frozenset(node.op for node in graph_def.node)
            | frozenset(node.op for function in graph_def.library.function for node in function.node_def),
        )


def _value(tensor: tf.Tensor) -> np.ndarray:
    if tensor.dtype in {tf.resource, tf.variant}:
        raise ValueError("op_check: the function uses a variable or other resource of its surroundings; pass its value")
    return value_of(tensor)


def value_of(tensor: tf.Tensor) -> np.ndarray:
    """The value of a tensor; np.array itself fails for scalars of types that are not NumPy's."""
    return np.array(tensor.numpy(), tensor.dtype.as_numpy_dtype)


def _maker(outputs: Sequence[tf.Tensor]) -> tf.Operation | None:
    """The op that the first output comes from."""
    if not outputs:
        return None
    op = outputs[0].op
    while op.type in _AROUND:
        op = op.inputs[0].op
    return None if op.type == "Placeholder" else op


def _input_name(op: tf.Operation, tensor: tf.Tensor) -> str:
    """The name of the op's input that a tensor is."""
    for i, candidate in enumerate(op.inputs):
        source = candidate
        while source.op.type in _AROUND:
            source = source.op.inputs[0]
        if source is not tensor:
            continue
        begin = 0
        for arg in op.op_def.input_arg:
            count = 1
            if arg.number_attr:
                count = op.get_attr(arg.number_attr)
            elif arg.type_list_attr:
                count = len(op.get_attr(arg.type_list_attr))
            if i < begin + count:
                return str(arg.name)
            begin += count
    return ""
