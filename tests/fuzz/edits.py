# SPDX-License-Identifier: Apache-2.0
"""Edits of SavedModels."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.core.framework import attr_value_pb2, node_def_pb2, types_pb2
from tensorflow.core.protobuf import saved_model_pb2

from tensorflow_custom_ops import _build_info

_TYPES = (
    types_pb2.DT_FLOAT,
    types_pb2.DT_DOUBLE,
    types_pb2.DT_HALF,
    types_pb2.DT_INT32,
    types_pb2.DT_INT64,
    types_pb2.DT_STRING,
    types_pb2.DT_BOOL,
    types_pb2.DT_QINT8,
    types_pb2.DT_RESOURCE,
    types_pb2.DT_VARIANT,
    types_pb2.DT_FLOAT_REF,
    types_pb2.DT_INVALID,
)

_SIZES = (-1, 0, 1, 2, 3, 7, 2**31, 2**40, 2**62)


def _values(random_: random.Random) -> list[attr_value_pb2.AttrValue]:
    """A value of each type that an attribute can have."""
    numbers = [-(2**63), -(2**31) - 1, -1, 0, 1, 2, 3]
    floats = [float("nan"), float("inf"), -1.0, 0.0, 1e-45, 3e38]
    of_list = attr_value_pb2.AttrValue()
    of_list.list.i.extend(random_.choices([0, 0, 1, *numbers], k=random_.randrange(4)))
    floating = attr_value_pb2.AttrValue()
    floating.list.f.extend([0.5, 1.5])
    return [
        attr_value_pb2.AttrValue(i=random_.choice([*numbers])),
        attr_value_pb2.AttrValue(f=random_.choice(floats)),
        attr_value_pb2.AttrValue(b=random_.random() < 0.5),
        attr_value_pb2.AttrValue(s=random_.choice([b"", b"relu", b"no such value", b"\xff\x00"])),
        attr_value_pb2.AttrValue(type=random_.choice(_TYPES)),
        attr_value_pb2.AttrValue(shape=_shape(random_)),
        attr_value_pb2.AttrValue(func=attr_value_pb2.NameAttrList(name="no_such_function")),
        attr_value_pb2.AttrValue(placeholder="p"),
        of_list,
        floating,
        attr_value_pb2.AttrValue(),
    ]


def _shape(random_: random.Random) -> Any:  # noqa: ANN401 - of a protocol buffer's class
    shape = tf.TensorShape(None).as_proto()
    if random_.random() < 0.8:
        shape.unknown_rank = False
        for _ in range(random_.randrange(5)):
            shape.dim.add(size=random_.choice(_SIZES))
    return shape


@dataclasses.dataclass
class Model:
    """A SavedModel that is edited.

    Attributes:
      proto: The whole of it.
      nodes: Its calls of this package's ops, or of any, where an op is made of TensorFlow's.
    """

    proto: saved_model_pb2.SavedModel
    nodes: list[node_def_pb2.NodeDef]

    @staticmethod
    def parse(data: bytes) -> Model:
        """The model whose serialised form this is."""
        proto = saved_model_pb2.SavedModel.FromString(data)
        functions = proto.meta_graphs[0].graph_def.library.function
        nodes = [node for function in functions for node in function.node_def]
        own = [node for node in nodes if node.op in _build_info.OPS]
        return Model(proto, own or nodes)

    def __str__(self) -> str:
        """The nodes."""
        return "\n".join(str(node) for node in self.nodes)


def _edit_attr(model: Model, random_: random.Random) -> None:
    node = random_.choice(model.nodes)
    names = sorted(name for name in node.attr if not name.startswith("_"))
    name = random_.choice(names or ["T"])
    node.attr[name].CopyFrom(random_.choice(_values(random_)))


def _edit_value(model: Model, random_: random.Random) -> None:
    """As _edit_attr, but the type of the value stays."""
    node = random_.choice(model.nodes)
    name = random_.choice(sorted(name for name in node.attr if not name.startswith("_")) or ["T"])
    kind = node.attr[name].WhichOneof("value")
    fitting = [value for value in _values(random_) if value.WhichOneof("value") == kind]
    node.attr[name].CopyFrom(random_.choice(fitting or _values(random_)))


def _remove_attr(model: Model, random_: random.Random) -> None:
    node = random_.choice(model.nodes)
    if node.attr:
        del node.attr[random_.choice(sorted(node.attr))]


def _add_attr(model: Model, random_: random.Random) -> None:
    name = random_.choice(["T", "orders", "no_such_attribute", "_output_shapes", "_class", "_XlaMustCompile"])
    random_.choice(model.nodes).attr[name].CopyFrom(random_.choice(_values(random_)))


def _edit_inputs(model: Model, random_: random.Random) -> None:
    node = random_.choice(model.nodes)
    inputs = list(node.input)
    match random_.randrange(4):
        case 0 if inputs:
            del inputs[random_.randrange(len(inputs))]
        case 1 if inputs:
            inputs.insert(random_.randrange(len(inputs)), random_.choice(inputs))
        case 2 if inputs:
            inputs[random_.randrange(len(inputs))] = random_.choice(["no_such_node:output:0", "^no_such_node", "", ":"])
        case _:
            random_.shuffle(inputs)
    del node.input[:]
    node.input.extend(inputs)


def _edit_op(model: Model, random_: random.Random) -> None:
    random_.choice(model.nodes).op = random_.choice([*sorted(_build_info.OPS), "Identity", "NoSuchOp"])


def _edit_type(model: Model, random_: random.Random) -> None:
    """Another type of an argument or result of a function."""
    functions = model.proto.meta_graphs[0].graph_def.library.function
    signature = random_.choice(functions).signature
    args = [*signature.input_arg, *signature.output_arg]
    if args:
        random_.choice(args).type = random_.choice(_TYPES[:6])


def _edit_shapes(model: Model, random_: random.Random) -> None:
    """Another shape of an argument, or of what a node gives."""
    functions = model.proto.meta_graphs[0].graph_def.library.function
    lists = [
        value.attr["_output_shapes"].list.shape
        for function in functions
        for value in (*function.arg_attr.values(), *function.node_def)
        if "_output_shapes" in value.attr
    ]
    shapes = [shape for of_list in lists for shape in of_list]
    if shapes:
        random_.choice(shapes).CopyFrom(_shape(random_))


def _edit_specs(model: Model, random_: random.Random) -> None:
    """Other shapes and types in what Python reads of the functions."""
    objects = model.proto.meta_graphs[0].object_graph_def
    specs = [
        value.tensor_spec_value
        for function in objects.concrete_functions.values()
        for of_args in function.canonicalized_input_signature.tuple_value.values
        for value in of_args.tuple_value.values
        if value.HasField("tensor_spec_value")
    ]
    if specs:
        spec = random_.choice(specs)
        if random_.random() < 0.5:
            spec.shape.CopyFrom(_shape(random_))
        else:
            spec.dtype = random_.choice(_TYPES[:6])


EDITS: tuple[Callable[[Model, random.Random], None], ...] = (
    _edit_attr,
    _edit_value,
    _edit_value,
    _edit_value,
    _remove_attr,
    _add_attr,
    _edit_inputs,
    _edit_op,
    _edit_type,
    _edit_shapes,
    _edit_specs,
)
