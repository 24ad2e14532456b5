# SPDX-License-Identifier: Apache-2.0
"""Calls of ops, made of calls that are right by changing something."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf
from hypothesis import strategies as st

Shape = tuple[int, ...]
# What a graph knows of a shape: nothing, or sizes, of which some may be None.
StaticShape = tuple[int | None, ...] | None

# More than that many elements find nothing that fewer do not, and take longer.
MOST_ELEMENTS = 1024

# Attributes that are numbers of inputs or outputs: TensorFlow makes lists as long as that, before it asks the op.
_MOST_COUNT = 3

# How many variants of a case there are.
VARIANTS = 6

_SIZES = (1, 2, 3, 4, 5, 6, 8, 16)
# Tensors with such a dimension must be empty.
HUGE_SIZES = (2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1)
_RANK = 5

FILLS = ("normal", "zeros", "nan", "infinite", "largest", "denormal", "negative")

_OTHER_TYPES = ("float16", "bfloat16", "float32", "float64", "int8", "int32", "int64", "uint8", "bool", "complex64")

_INTS = (-(2**63), -(2**31) - 1, -2, -1, 0, 1, 2, 3, 5, 2**31 - 1, 2**31, 2**62, 2**63 - 1)
_FLOATS = (math.nan, math.inf, -math.inf, 0.0, -0.0, 1e-45, 1e-30, 1e-3, 0.5, 1.0, 2.0, 1e4, 3.4e38, -1.0, -3.4e38)
_OF_OTHER_TYPE = (b"text", True, 3, 0.5, (1, 2), (0.5,), (), "type:float32", "shape:2,3", "func:f")


@dataclasses.dataclass(frozen=True)
class Array:
    """A tensor: its shape, its type's name, and one of FILLS."""

    shape: Shape
    dtype: str
    fill: str = "normal"


@dataclasses.dataclass(frozen=True)
class Case:
    """A call of an op.

    Attributes:
      inputs: The inputs, those of lists one after the other.
      attrs: The attributes: types by name, others by value.
      known: For each input what a graph is to know of its shape: all of it, which dimensions, or nothing.
      claimed: Other shapes, for graphs that are made and not run: there need be no such tensors.
    """

    inputs: tuple[Array, ...]
    attrs: tuple[tuple[str, Any], ...]
    known: tuple[tuple[bool, ...] | bool, ...]
    claimed: tuple[Shape, ...]

    def static_shapes(self) -> tuple[StaticShape, ...]:
        """What a graph is to know."""
        return tuple(_known_part(array.shape, known) for array, known in zip(self.inputs, self.known, strict=True))

    def claims(self) -> list[tuple[StaticShape, ...]]:
        """What graphs are to know that are made and not run."""
        partly = zip(self.claimed, self.known, strict=True)
        return [
            (None,) * len(self.inputs),
            self.claimed,
            tuple(_known_part(shape, (False, True) if known is True else known) for shape, known in partly),
        ]

    def variants(self) -> list[Case]:
        """So many others, which cost less than drawing one: with other elements, or with shapes that are claimed."""
        count = len(self.inputs)
        claimed = tuple(map(_possible, self.claimed))
        changed = [set(range(count)), *({i} for i in range(count))]
        others = [
            tuple(
                dataclasses.replace(array, shape=shape) if i in which else array
                for i, (array, shape) in enumerate(zip(self.inputs, claimed, strict=True))
            )
            for which in changed[: VARIANTS // 2]
        ]
        others += [
            tuple(
                dataclasses.replace(array, fill=FILLS[(FILLS.index(array.fill) + by) % len(FILLS)])
                for array in self.inputs
            )
            for by in range(1, VARIANTS + 1 - len(others))
        ]
        return [dataclasses.replace(self, inputs=inputs, known=(), claimed=()) for inputs in others]


def _known_part(shape: Shape, known: tuple[bool, ...] | bool) -> StaticShape:
    if isinstance(known, bool):
        return shape if known else None
    return tuple(size if known[i % len(known)] else None for i, size in enumerate(shape))


@dataclasses.dataclass(frozen=True)
class Template:
    """A call that is right."""

    shapes: tuple[Shape, ...]
    attrs: Mapping[str, Any]


def _possible(shape: Sequence[int]) -> Shape:
    """A shape like this one of which there can be a tensor, and a small one."""
    sizes = list(shape)
    while math.prod(sizes) > MOST_ELEMENTS:
        largest = sizes.index(max(sizes))
        # Where there is another dimension, a huge one can stay if that is 0.
        if sizes[largest] in HUGE_SIZES and len(sizes) > 1:
            sizes[(largest + sizes[largest] % 3 + 1) % len(sizes)] = 0
            if 0 not in sizes:
                sizes[largest] = 0
        else:
            sizes[largest] = sizes[largest] % 4
    return tuple(sizes)


# How a shape is changed: what to do, at which place, and with which size.
_CHANGES = [
    st.tuples(
        st.sampled_from(["size", "insert", "drop", "scalar", "other", "rank"]),
        st.integers(0, _RANK - 1),
        st.sampled_from((*_SIZES, 0, 0, *(HUGE_SIZES if huge else ()))),
    )
    for huge in (False, True)
]


def _changed(shapes: Sequence[Shape], i: int, change: tuple[str, int, int]) -> Shape:
    what, place, size = change
    shape = list(shapes[i])
    if what == "size" and shape:
        shape[place % len(shape)] = size
    elif what == "insert":
        shape.insert(place, size)
    elif what == "drop" and shape:
        del shape[place % len(shape)]
    elif what == "scalar":
        shape = []
    elif what == "other":
        shape = list(shapes[place % len(shapes)])
    elif what == "rank":
        shape = [_SIZES[(size + k) % 4] for k in range(place + size % 5)]
    return tuple(shape)


@st.composite
def _shapes(draw: st.DrawFn, template: Sequence[Shape], sizes: Sequence[int], huge: bool) -> list[Shape]:
    """Shapes in which sizes that belong together are still the same, but for what is changed then."""
    distinct = sorted({size for shape in template for size in shape})
    drawn = draw(st.tuples(*[st.sampled_from(sizes)] * len(distinct)))
    renamed = dict(zip(distinct, drawn, strict=True))
    shapes = [tuple(renamed[size] for size in shape) for shape in template]
    if shapes:
        places = st.integers(0, len(shapes) - 1)
        for i, change in draw(st.lists(st.tuples(places, _CHANGES[huge]), max_size=2)):
            shapes[i] = _changed(shapes, i, change)
    return shapes


def _values(attr: Any) -> st.SearchStrategy[Any]:  # noqa: ANN401 - of a protocol buffer's class
    """Values of an attribute's type."""
    match attr.type:
        case "type":
            return st.sampled_from([tf.as_dtype(number).name for number in attr.allowed_values.list.type])
        case "int":
            return st.sampled_from(_INTS)
        case "float":
            return st.sampled_from(_FLOATS)
        case "bool":
            return st.booleans()
        case "string":
            allowed = list(attr.allowed_values.list.s)
            return st.sampled_from([*allowed, *allowed, b"", b"no such value", b"\xff\x00"])
        case "list(int)":
            return st.lists(st.sampled_from((0, 0, 0, 1, 1, 2, *_INTS)), min_size=1, max_size=4).map(tuple)
    raise ValueError(f"there are no values for attributes of type {attr.type}")


def _counts(op_def: Any) -> set[str]:  # noqa: ANN401 - of a protocol buffer's class
    return {arg.number_attr for arg in (*op_def.input_arg, *op_def.output_arg) if arg.number_attr}


def _of_attr(op_def: Any, attr: Any) -> st.SearchStrategy[Any]:  # noqa: ANN401
    """Values for an attribute."""
    if attr.name in _counts(op_def):
        return st.integers(0, _MOST_COUNT)
    values, others = _values(attr), _OTHER_TYPES if attr.type == "type" else _OF_OTHER_TYPE
    # What TensorFlow itself refuses, not often.
    return st.integers(0, 9).flatmap(lambda number: st.sampled_from(others) if number == 9 else values)


def _attrs(op_def: Any, template: Template) -> st.SearchStrategy[dict[str, Any]]:  # noqa: ANN401
    """The attributes of a template, up to three of them changed."""
    values = {attr.name: _of_attr(op_def, attr) for attr in op_def.attr}
    if not values:
        return st.just({})
    one = st.sampled_from(sorted(values)).flatmap(lambda name: st.tuples(st.just(name), values[name]))
    return st.lists(one, max_size=3).map(lambda changes: {**template.attrs, **dict(changes)})


def _of_inputs(op_def: Any, template: Template, attrs: Mapping[str, Any]) -> tuple[list[Shape], list[str]]:  # noqa: ANN401
    """The template's shapes, as many as the attributes say, and the types."""
    shapes: list[Shape] = []
    dtypes: list[str] = []
    remaining = list(template.shapes)
    for arg in op_def.input_arg:
        usual = template.attrs[arg.number_attr] if arg.number_attr else 1
        own, remaining = remaining[:usual], remaining[usual:]
        count = attrs[arg.number_attr] if arg.number_attr else 1
        # Of an input that the template does not have, that of another.
        shapes += (own or [template.shapes[0]] * count)[:count]
        shapes += [shapes[-1]] * (count - len(own)) if own else []
        dtypes += [attrs[arg.type_attr] if arg.type_attr else tf.as_dtype(arg.type).name] * count
    return shapes, dtypes


@st.composite
def cases(draw: st.DrawFn, op_def: Any, templates: Sequence[Template], *, huge: bool) -> Case:  # noqa: ANN401
    """Calls of an op, of which many are right, most are nearly so, and some are not at all."""
    template = draw(st.sampled_from(templates))
    attrs = draw(_attrs(op_def, template))
    shapes, dtypes = _of_inputs(op_def, template, attrs)
    sizes, claimed_sizes = draw(st.sampled_from(_ALL_SIZES if huge else _ALL_SIZES[:1]))
    drawn = draw(_shapes(shapes, sizes, huge))
    claimed = draw(_shapes(shapes, claimed_sizes, huge))
    number = draw(st.integers(0, _VARIANTS - 1))
    if number % 20 == 19 and dtypes:
        dtypes[number // 20 % len(dtypes)] = _OTHER_TYPES[number % len(_OTHER_TYPES)]
    return Case(
        inputs=tuple(
            Array(_possible(shape), dtype, FILLS[(number + i * (number // 7)) % len(FILLS)])
            for i, (shape, dtype) in enumerate(zip(drawn, dtypes, strict=True))
        ),
        attrs=tuple(attrs.items()),
        known=tuple(_KNOWN[(number // 3 + 3 * i) % len(_KNOWN)] for i in range(len(shapes))),
        claimed=tuple(claimed),
    )


# What is small is drawn as one number, which is faster than by itself.
_VARIANTS = 4200

# Of what is run, and of what is only claimed. With huge dimensions, many must be 0.
_ALL_SIZES = (
    (_SIZES, _SIZES),
    (_SIZES, (*HUGE_SIZES, 0, 1, 2, 2)),
    ((*_SIZES, 0), _SIZES),
    ((0, 0, 1, 3, *HUGE_SIZES[1:5]), (*HUGE_SIZES, 1, 2)),
)

_KNOWN: tuple[tuple[bool, ...] | bool, ...] = (True, False, (True, False), True, (False, True), (False, False, True))
