# SPDX-License-Identifier: Apache-2.0
"""Checks of what is registered: kernels, and what they compute for each type."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import tensorflow as tf

from tensorflow_custom_ops.testing import compare, kernels
from tensorflow_custom_ops.testing.call import Call
from tensorflow_custom_ops.testing.report import Note
from tensorflow_custom_ops.testing.subject import NotApplicable, Outcome, Subject


def check_kernels(subject: Subject) -> Iterator[str]:
    """Each device that has kernels of the op has one for every type that the OpDef allows."""
    op = subject.traced.op
    if not op or kernels.is_function(op):
        raise NotApplicable("the output comes from no op alone")
    kernels.load_xla_kernels()
    devices = kernels.devices(op) - {"DEFAULT"}
    if "DEFAULT" not in kernels.devices(op) and "CPU" not in devices:
        yield f"{op} has no kernel for the CPU"
    listed = kernels.type_attributes(op)
    for device in sorted(devices):
        for attribute, allowed in listed.items():
            having = kernels.types_with_kernel(op, device, attribute)
            if having is None:
                continue
            missing = [dtype for dtype in allowed if dtype not in having]
            # Quantised types mostly have ops of their own. And XLA's devices have what TensorFlow lists for all ops.
            faults = [t for t in missing if device in {"CPU", "GPU"} and not t.is_quantized]
            notes = [t for t in missing if t not in faults]
            for found, kind in ((faults, str), (notes, Note)):
                if found:
                    yield kind(f"{device} has no kernel for {attribute} = {', '.join(t.name for t in found)}")
    yield Note("on " + ", ".join(sorted(kernels.devices(op))))


def cast_call(subject: Subject, attribute: str, dtype: tf.DType) -> Call | None:
    """The call with another type for an attribute of the op; None if no input of the call has that type."""
    definition = kernels.op_def(subject.traced.op)
    names = {arg.name for arg in definition.input_arg if arg.type_attr == attribute}
    cast = [name in names for name in subject.traced.op_inputs]
    if not any(cast):
        return None
    inputs = [_cast(array, dtype) if chosen else array for array, chosen in zip(subject.call.inputs, cast, strict=True)]
    return subject.call.with_inputs(inputs)


def _cast(array: np.ndarray, dtype: tf.DType) -> np.ndarray:
    source = tf.as_dtype(array.dtype)
    if dtype.is_integer and not source.is_integer:
        # Numbers around 0 would all become 0.
        array = np.round(array.astype(np.float64) * 3)
    if dtype.is_unsigned:
        array = np.abs(array)
    if dtype.is_floating and source.is_floating and dtype.size < source.size:
        # float8 and the like have no path from float64.
        array = array.astype(np.float32)
    return array.astype(dtype.as_numpy_dtype)


def check_dtypes(subject: Subject) -> Iterator[str]:
    """For every type of the OpDef's list the results are those of the widest type, within that type's tolerance."""
    op = subject.traced.op
    if not op or kernels.is_function(op):
        raise NotApplicable("the output comes from no op alone")
    compared = []
    for attribute, allowed in kernels.type_attributes(op).items():
        numbers = [dtype for dtype in allowed if dtype.is_floating or dtype.is_integer]
        having = kernels.types_with_kernel(op, "CPU", attribute)
        for dtype in numbers:
            if (having is not None and dtype not in having) or dtype.size < 2 or dtype.name.startswith("q"):
                continue
            call = cast_call(subject, attribute, dtype)
            if call is None:
                continue
            wide = tf.float64 if dtype.is_floating else tf.int64
            message = _compare_with(subject, call, attribute, dtype, wide if wide in numbers else None)
            compared.append(dtype.name)
            if message is not None:
                yield message
    if not compared:
        raise NotApplicable("no input has a type that the OpDef lists")
    yield Note("ran " + ", ".join(compared))


def _compare_with(subject: Subject, call: Call, attribute: str, dtype: tf.DType, wide: tf.DType | None) -> str | None:
    traced = subject.attempt_trace(call, call.specs())
    if isinstance(traced, Outcome):
        return f"with {attribute} = {dtype.name}, the function {traced}"
    outcome = subject.attempt(traced, call.inputs)
    if outcome.outputs is None:
        return f"with {attribute} = {dtype.name}, it {outcome}"
    if wide is None or wide == dtype:
        return None
    wide_inputs = [
        array.astype(wide.as_numpy_dtype) if array.dtype == dtype.as_numpy_dtype else array for array in call.inputs
    ]
    wide_call = call.with_inputs(wide_inputs)
    wide_traced = subject.attempt_trace(wide_call, wide_call.specs())
    if isinstance(wide_traced, Outcome):
        return None
    expected = subject.attempt(wide_traced, wide_inputs)
    if expected.outputs is None:
        return None
    found = compare.difference(expected.outputs, outcome.outputs, subject.tolerances, of_type=dtype)
    # Where the wider type is more than what the narrow one can hold, it has to wrap around or be infinite.
    if found is None or not _fits(expected.outputs, dtype):
        return None
    return f"with {attribute} = {dtype.name}, {found} for {wide.name}"


def _fits(outputs: list[np.ndarray], dtype: tf.DType) -> bool:
    numbers = [output for output in outputs if tf.as_dtype(output.dtype).is_floating or output.dtype.kind in "iu"]
    largest = max((float(np.abs(output.astype(np.float64)).max()) for output in numbers if output.size), default=0.0)
    return largest <= float(dtype.max)
