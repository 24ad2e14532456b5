# SPDX-License-Identifier: Apache-2.0
"""Checks of what the op says to inputs and attributes that it cannot take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import tensorflow as tf

from tensorflow_custom_ops.testing.checks.inputs import compare_ways, unclean
from tensorflow_custom_ops.testing.subject import CLEAN_ERRORS, NotApplicable, Outcome, Subject

_OTHER_TYPES = (tf.string, tf.bool, tf.complex64, tf.int32, tf.float64, tf.float32)


def _wrong_shapes(array: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    yield "one dimension more", np.stack([array, array])
    if array.ndim:
        if array.shape[0]:
            yield "one dimension less", array[0]
        for axis in {0: "first", array.ndim - 1: "last"}:
            if array.shape[axis]:
                longer = np.concatenate([array, np.take(array, [0], axis=axis)], axis=axis)
                yield f"dimension {axis} longer by one", longer


def check_wrong_shapes(subject: Subject) -> Iterator[str]:
    """Of inputs whose shapes may not fit, shape function, kernel and XLA take the same, and refuse others clearly."""
    if not subject.call.inputs:
        raise NotApplicable("there are no inputs")
    for i, array in enumerate(subject.call.inputs):
        for what, wrong in _wrong_shapes(array):
            inputs = list(subject.call.inputs)
            inputs[i] = wrong
            for found in compare_ways(subject, f"{subject.input_name(i)} with {what}", inputs):
                if isinstance(found, str):
                    yield found


def _as_type(array: np.ndarray, dtype: tf.DType) -> np.ndarray:
    if dtype == tf.string:
        return np.full(array.shape, b"text", object)
    if tf.as_dtype(array.dtype) == tf.string:
        return np.ones(array.shape, dtype.as_numpy_dtype)
    return array.astype(dtype.as_numpy_dtype)


def check_wrong_dtypes(subject: Subject) -> Iterator[str]:
    """Inputs of other types give results, or an error that names a type."""
    if not subject.call.inputs:
        raise NotApplicable("there are no inputs")
    for i, array in enumerate(subject.call.inputs):
        for dtype in _OTHER_TYPES:
            if dtype == tf.as_dtype(array.dtype):
                continue
            inputs = list(subject.call.inputs)
            with np.errstate(all="ignore"):
                inputs[i] = _as_type(array, dtype)
            what = f"with {subject.input_name(i)} of type {dtype.name}"
            yield from _wrong_dtype(subject, what, inputs)


def _wrong_dtype(subject: Subject, what: str, inputs: list[np.ndarray]) -> Iterator[str]:
    call = subject.call.with_inputs(inputs)
    traced = subject.attempt_trace(call, call.specs())
    if not isinstance(traced, Outcome):
        outcome = subject.attempt(traced, inputs)
        yield from unclean(what, outcome)
        return
    yield from _refusal(what, traced)
    # What is refused in a graph is so before a kernel sees it.
    try:
        call(*(tf.constant(array) for array in inputs))
    except Exception as error:
        yield from _refusal(f"{what}, eagerly", Outcome(error=type(error).__name__, message=str(error)))
    else:
        yield f"{what}, it is refused in a graph only: it {traced}"


def _refusal(what: str, outcome: Outcome) -> Iterator[str]:
    if outcome.error not in CLEAN_ERRORS:
        yield f"{what}, it {outcome}; that should be one of {', '.join(sorted(CLEAN_ERRORS))}"
    elif len(outcome.message.split()) < 3:
        yield f"{what}, the error {outcome.error} says nothing: {outcome.message!r}"


def check_wrong_attributes(subject: Subject) -> Iterator[str]:
    """Arguments that are no tensors are refused with a wrong type, and strings with a wrong value."""
    attributes = {
        name: value for name, value in subject.call.kwargs.items() if isinstance(value, (str, bool, int, float))
    }
    if not attributes:
        raise NotApplicable("no number, string or bool is passed by name")
    for name, value in attributes.items():
        # Of the same type, text that means nothing; for others, text in place of a number.
        wrong = "op_check: no such value"
        call = subject.call.with_kwargs(**{name: wrong})
        traced = subject.attempt_trace(call, call.specs())
        what = f"with {name} = {wrong!r}"
        if isinstance(traced, Outcome):
            yield from _refusal(what, traced)
            continue
        outcome = subject.attempt(traced, call.inputs)
        if outcome.outputs is not None:
            yield f"{what} instead of {value!r}, it gives a result"
        yield from unclean(what, outcome)
    yield from _out_of_range(subject, attributes)


def _out_of_range(subject: Subject, attributes: Mapping[str, object]) -> Iterator[str]:
    """Numbers far from the sample's give a result or an error."""
    for name, value in attributes.items():
        if isinstance(value, (bool, str)):
            continue
        extremes: list[object] = [-(2**31), 2**31 - 1, -1] if isinstance(value, int) else [float("nan"), -1.0, 1e300]
        for extreme in extremes:
            call = subject.call.with_kwargs(**{name: extreme})
            what = f"with {name} = {extreme!r}"
            traced = subject.attempt_trace(call, call.specs())
            if isinstance(traced, Outcome):
                yield from _refusal(what, traced)
            else:
                yield from unclean(what, subject.attempt(traced, call.inputs))
