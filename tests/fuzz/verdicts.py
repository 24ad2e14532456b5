# SPDX-License-Identifier: Apache-2.0
"""What is wrong with outcomes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tests.fuzz.modes import Outcome

# Where TensorFlow tells that an error came from: what surrounds its text.
_BETWEEN = re.compile(r"Node: '[^']*'\n(.*?)\n\t \[\[", re.DOTALL)
_BEFORE = re.compile(r"^\{\{function_node [^}]*\}\} ")
_AFTER = re.compile(
    r"\s+\[Op:|\s+Stack trace for op definition:|\s+\[\[\{\{node| for '\{\{node |\s+tf2xla conversion failed while"
)

_CLASSES = (tf.errors.InvalidArgumentError, tf.errors.UnimplementedError, ValueError)

# What TensorFlow says itself: before it asks the op, which then is not named at the beginning of the text.
_BY_TENSORFLOW: tuple[tuple[tuple[type[Exception], ...], str], ...] = (
    # Attributes and types of inputs that the OpDef does not allow; eagerly.
    ((tf.errors.InvalidArgumentError,), r"^Expecting (a )?\w+ value for attr \w+, got \w+"),
    (
        (tf.errors.InvalidArgumentError,),
        r"^cannot compute \w+ as input #\d+\(zero-based\) was expected to be a \w+ tensor but",
    ),
    (
        (tf.errors.InvalidArgumentError, ValueError),
        r"^Value for attr '\w+' of (\w+|\".*\") is not in the list of allowed values: ",
    ),
    (
        (tf.errors.InvalidArgumentError, ValueError),
        r"^(Value|Length) for attr '\w+' of -?\d+ must be at least minimum -?\d+",
    ),
    # Strings that are no text, of which Python cannot make the text of an error.
    ((UnicodeDecodeError,), "codec can't decode byte"),
    # The same, when a graph is made.
    ((ValueError,), r"^\d errors while building NodeDef"),
    ((ValueError,), r"^Inconsistent values for attr '\w+' \w+ vs\. \w+ while building NodeDef"),
    ((ValueError,), r"^AttrValue (had value with type|missing value with expected type) .* for attr '\w+'"),
    ((ValueError,), r"^Input '\w+' passed \w+ expected \w+ while building NodeDef"),
    # Where the output of empty inputs would not be empty, and there is not the memory.
    ((tf.errors.ResourceExhaustedError,), r"^OOM when allocating tensor with shape\["),
    # Of composite ops, which are made of TensorFlow's, for scalars whose shape is not known before.
    ((tf.errors.InvalidArgumentError,), r"^Invalid reduction dimension \(-1 for input with 0 dimension\(s\)"),
)


def text_of(error: Exception) -> str:
    """An error's text, without where it was raised, in one line."""
    text = str(error)
    if between := _BETWEEN.search(text):
        text = between[1]
    text = _BEFORE.sub("", text)
    if after := _AFTER.search(text):
        text = text[: after.start()]
    return " ".join(text.split())


def unclear(name: str, op_def: Any, error: Exception) -> str | None:  # noqa: ANN401 - of a protocol buffer's class
    """What is missing in a refusal, or None."""
    text = text_of(error)
    for classes, pattern in _BY_TENSORFLOW:
        if isinstance(error, classes) and re.search(pattern, text):
            return None
    if not isinstance(error, _CLASSES):
        return f"{type(error).__name__} is not the class of a refusal"
    if not text.startswith(f"{name}: "):
        return f"the error does not begin with the op's name, {name}"
    arguments = [arg.name for arg in (*op_def.input_arg, *op_def.output_arg, *op_def.attr)] + ["the output"]
    if not any(re.search(rf"\b{argument}\b", text) for argument in arguments):
        return f"the error names none of {', '.join(arguments)}"
    if not re.search(r"\bmust\b.*\bbut\b", text):
        return "the error does not tell what must be, and what is"
    return None


def untrue(static: Sequence[Any], actual: Sequence[Any]) -> str | None:
    """In what the shapes of outputs are not those that were foretold, or None."""
    if len(static) != len(actual):
        return f"{len(static)} outputs were foretold, and there are {len(actual)}"
    for i, (foretold, shape) in enumerate(zip(static, actual, strict=True)):
        if not tf.TensorShape(foretold).is_compatible_with(tf.TensorShape(shape)):
            return f"of output {i} the shape {foretold} was foretold, and it is {shape}"
    return None


def differs(one: Outcome, other: Outcome, how: str) -> str | None:
    """In what an outcome differs from another that is to be like it, or None."""
    if other.error is not None and text_of(other.error).startswith("AttrValue had value with type"):
        # Eagerly, Python makes a number of True, and a float of an int.
        return None
    if one.refused != other.refused:
        return f"eagerly it gives {one}; {how} {other}"
    return untrue(one.shapes, other.shapes)
