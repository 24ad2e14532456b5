# SPDX-License-Identifier: Apache-2.0
"""Checks of how the op treats the buffers of its inputs."""

from __future__ import annotations

from collections.abc import Iterator

import tensorflow as tf

from tensorflow_custom_ops.testing import compare
from tensorflow_custom_ops.testing.call import Call, value_of
from tensorflow_custom_ops.testing.subject import NotApplicable, Subject


def check_alignment(subject: Subject) -> Iterator[str]:
    """Inputs whose buffers begin at any element give the same results, also by XLA."""
    if not subject.deterministic:
        raise NotApplicable("the op is stateful, so that calls may differ")
    for jit in (False, True) if subject.jit_works else (False,):
        by = "by XLA, " if jit else ""
        # The shapes unknown, so that XLA compiles what another check does.
        outcome = subject.attempt(subject.traced_unknown, subject.call.inputs, unaligned=True, jit=jit)
        if outcome.outputs is None:
            yield f"{by}with inputs that are not aligned, it {outcome}"
            continue
        different = subject.difference(subject.outputs, outcome.outputs)
        if different is not None:
            yield f"{by}with inputs that are not aligned, {different}"


def check_forwarding(subject: Subject) -> Iterator[str]:
    """An input that is needed after the op keeps its values: an argument, an intermediate result, a variable."""
    numeric = [
        i
        for i, array in enumerate(subject.call.inputs)
        if tf.as_dtype(array.dtype).is_floating or tf.as_dtype(array.dtype).is_integer
    ]
    if not numeric:
        raise NotApplicable("no input is a number")
    if not subject.deterministic:
        raise NotApplicable("the op is stateful, so that calls may differ")
    inputs = subject.call.inputs

    def arguments(*tensors: tf.Tensor) -> list[tf.Tensor]:
        outputs = subject.call(*tensors)
        with tf.control_dependencies(outputs):
            return [*outputs, *(tf.identity(tensor) for tensor in tensors)]

    def intermediate(*tensors: tf.Tensor) -> list[tf.Tensor]:
        # Nothing that TensorFlow takes for the input itself: an op of its own, whose result nobody else has.
        own = [tf.raw_ops.Roll(input=tf.reshape(t, [-1]), shift=[0], axis=[0]) for t in tensors]
        shaped = [tf.reshape(t, tf.shape(like)) for t, like in zip(own, tensors, strict=True)]
        return arguments(*shaped)

    def variables(*tensors: tf.Tensor) -> list[tf.Tensor]:
        handles = [
            tf.raw_ops.VarHandleOp(dtype=t.dtype, shape=t.shape, shared_name=f"op_check_{i}")
            for i, t in enumerate(tensors)
        ]
        assigned = [
            tf.raw_ops.AssignVariableOp(resource=handle, value=tensor)
            for handle, tensor in zip(handles, tensors, strict=True)
        ]
        with tf.control_dependencies(assigned):
            outputs = subject.call(*(_read(h, t) for h, t in zip(handles, tensors, strict=True)))
        with tf.control_dependencies(outputs):
            return [*outputs, *(_read(h, t) for h, t in zip(handles, tensors, strict=True))]

    expected = [*subject.outputs, *inputs]
    ways = (("an argument", arguments), ("an intermediate result", intermediate), ("a variable", variables))
    for what, function in ways:
        traced = Call(function, inputs).trace()
        # Twice: the first run may spoil what the second one reads.
        for outputs in subject.run_each(traced, [inputs, inputs]):
            for i, (before, after) in enumerate(zip(inputs, outputs[len(subject.outputs) :], strict=True)):
                if not compare.same_bits(before, after):
                    yield f"as {what}, {subject.input_name(i)} is overwritten, though it is needed after the op"
            different = subject.difference(expected[: len(subject.outputs)], outputs[: len(subject.outputs)])
            if different is not None:
                yield f"of {what}, {different}"
    copies = [array.copy() for array in inputs]
    tensors = [tf.constant(array) for array in inputs]
    subject.call(*tensors)
    for i, tensor in enumerate(tensors):
        if not compare.same_bits(copies[i], value_of(tensor)):
            yield f"eagerly, {subject.input_name(i)} is overwritten"


def _read(handle: tf.Tensor, like: tf.Tensor) -> tf.Tensor:
    value = tf.raw_ops.ReadVariableOp(resource=handle, dtype=like.dtype)
    return tf.ensure_shape(value, like.shape)
