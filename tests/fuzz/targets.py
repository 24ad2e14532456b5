# SPDX-License-Identifier: Apache-2.0
"""What is fuzzed: ops, as their definitions have them, and functions that are made of TensorFlow's."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import tensorflow as tf
from tensorflow.core.framework import attr_value_pb2, op_def_pb2, types_pb2
from tensorflow.python.eager import context, execute
from tensorflow.python.framework import op_def_registry

import tensorflow_custom_ops
from tensorflow_custom_ops import _build_info
from tensorflow_custom_ops.testing import samples
from tensorflow_custom_ops.testing.call import Call
from tests.fuzz.cases import Template


class Target(Protocol):
    """What can be called in all modes.

    Attributes:
      name: By which its errors begin.
      op_def: The definition, or one that says what the function takes.
      templates: Calls that are right.
      takes_huge: Whether huge dimensions are tried.
    """

    name: str
    op_def: Any
    templates: Sequence[Template]
    takes_huge: bool

    def run(self, inputs: Sequence[tf.Tensor], attrs: Mapping[str, Any]) -> list[tf.Tensor]:
        """Runs it eagerly."""

    def build(self, inputs: Sequence[tf.Tensor], attrs: Mapping[str, Any]) -> list[tf.Tensor]:
        """Adds it to the graph that is the default one."""


class OpTarget:
    """An op, called past its Python function, which would refuse much."""

    takes_huge = True

    def __init__(self, name: str, templates: Sequence[Template]) -> None:
        self.name = name
        self.op_def = op_def_registry.get(name)
        self.templates = templates
        self._types = {attr.name: attr.type for attr in self.op_def.attr}

    def run(self, inputs: Sequence[tf.Tensor], attrs: Mapping[str, Any]) -> list[tf.Tensor]:
        """Runs it eagerly."""
        flat: list[Any] = []
        for name, value in attrs.items():
            flat += [name, _eager_value(self._types[name], value)]
        count = sum(attrs[arg.number_attr] if arg.number_attr else 1 for arg in self.op_def.output_arg)
        outputs = execute.execute(self.name.encode(), count, list(inputs), tuple(flat), context.context())
        return [] if outputs is None else list(outputs)

    def build(self, inputs: Sequence[tf.Tensor], attrs: Mapping[str, Any]) -> list[tf.Tensor]:
        """Adds it to the graph that is the default one."""
        values = {name: _attr_value(value) for name, value in attrs.items()}
        op = tf.compat.v1.get_default_graph().create_op(self.name, list(inputs), attrs=values, op_def=self.op_def)
        return list(op.outputs)


class FunctionTarget:
    """A function of tensors that is no op."""

    # TensorFlow's own kernels may hang where there is not enough memory for what they give.
    takes_huge = False

    def __init__(self, name: str, templates: Sequence[Template]) -> None:
        self.name = name
        self._function = getattr(tensorflow_custom_ops, name)
        self.templates = templates
        parameters = [p for p in inspect.signature(self._function).parameters.values() if p.default is p.empty]
        self.op_def = op_def_pb2.OpDef(name=name)
        attr = self.op_def.attr.add(name="T", type="type")
        attr.allowed_values.list.type.extend(
            [types_pb2.DT_HALF, types_pb2.DT_BFLOAT16, types_pb2.DT_FLOAT, types_pb2.DT_DOUBLE]
        )
        for parameter in parameters:
            self.op_def.input_arg.add(name=parameter.name, type_attr="T")

    def run(self, inputs: Sequence[tf.Tensor], attrs: Mapping[str, Any]) -> list[tf.Tensor]:
        """Runs it eagerly."""
        del attrs
        outputs: list[tf.Tensor] = tf.nest.flatten(self._function(*inputs))
        return outputs

    build = run


def _eager_value(kind: str, value: Any) -> Any:  # noqa: ANN401 - of any attribute
    if kind == "type" and isinstance(value, str) and ":" not in value:
        return tf.as_dtype(value).as_datatype_enum
    return list(value) if isinstance(value, tuple) else value


def _attr_value(value: Any) -> attr_value_pb2.AttrValue:  # noqa: ANN401 - of any attribute
    """A value that a graph can have for an attribute, also one that is not of its type."""
    match value:
        case str() if ":" in value:
            what, text = value.split(":")
            if what == "type":
                return attr_value_pb2.AttrValue(type=tf.as_dtype(text).as_datatype_enum)
            if what == "shape":
                return attr_value_pb2.AttrValue(
                    shape=tf.TensorShape([int(size) for size in text.split(",")]).as_proto()
                )
            return attr_value_pb2.AttrValue(func=attr_value_pb2.NameAttrList(name=text))
        case str():
            return attr_value_pb2.AttrValue(type=tf.as_dtype(value).as_datatype_enum)
        case bytes():
            return attr_value_pb2.AttrValue(s=value)
        case bool():
            return attr_value_pb2.AttrValue(b=value)
        case int():
            return attr_value_pb2.AttrValue(i=value)
        case float():
            return attr_value_pb2.AttrValue(f=value)
    proto = attr_value_pb2.AttrValue()
    proto.list.SetInParent()
    for element in value:
        (proto.list.f if isinstance(element, float) else proto.list.i).append(element)
    return proto


def _value(attr: Any, value: Any) -> Any:  # noqa: ANN401 - of any attribute
    """An attribute of an op in a graph, as cases have it."""
    if attr.type == "type":
        return value.name
    return tuple(value) if isinstance(value, list) else value


def _traced(op: str) -> list[tf.Operation]:
    """The ops of graphs of an op's samples, and of their gradients."""
    function = getattr(tensorflow_custom_ops, op)
    found: list[tf.Operation] = []
    for sample in samples(op).values():
        call = Call(function, sample.args, dict(sample.kwargs))

        def gradients(*inputs: tf.Tensor, call: Call = call) -> list[tf.Tensor]:
            floating = [tensor for tensor in inputs if tensor.dtype.is_floating]
            with tf.GradientTape() as tape:
                tape.watch(floating)
                outputs = [output for output in call(*inputs) if output.dtype.is_floating]
            return [grad for grad in tape.gradient(outputs, floating) if grad is not None]

        concrete = tf.function(gradients, autograph=False).get_concrete_function(*call.specs())
        found += concrete.graph.get_operations()
    return found


def folder_of(name: str) -> str:
    """The name of the Python function of an op or of its gradient."""
    plain = name.removesuffix("Grad").lower().replace("_", "")
    (found,) = (op for op in tensorflow_custom_ops.__all__ if op.replace("_", "") == plain)
    return str(found)


def template_of(op: tf.Operation) -> Template:
    """The call that an op in a graph is, whose shapes are known."""
    return Template(
        shapes=tuple(tuple(tensor.shape.as_list()) for tensor in op.inputs),
        attrs={attr.name: _value(attr, op.get_attr(attr.name)) for attr in op.op_def.attr},
    )


@functools.cache
def target(name: str) -> Target:
    """The target of one of NAMES."""
    if name in _build_info.OPS:
        found = [template_of(op) for op in _traced(folder_of(name)) if op.type == name]
        if not found:
            raise ValueError(f"the samples of {folder_of(name)} and their gradients do not use {name}")
        return OpTarget(name, found)
    function = getattr(tensorflow_custom_ops, name)
    shapes = [
        tuple(array.shape for array in Call(function, sample.args, dict(sample.kwargs)).inputs)
        for sample in samples(name).values()
    ]
    return FunctionTarget(name, [Template(of_inputs, {"T": "float32"}) for of_inputs in shapes])


def names(folders: Sequence[str]) -> list[str]:
    """The names of the targets of the ops in some folders, in the order of the folders."""
    of_folder: dict[str, list[str]] = {folder: [] for folder in folders}
    for op in _build_info.OPS:
        of_folder[folder_of(op)].append(op)
    return [name for folder in folders for name in of_folder[folder] or [folder]]
