# SPDX-License-Identifier: Apache-2.0
"""Checks of shape functions."""

from __future__ import annotations

from collections.abc import Iterator

import tensorflow as tf

from tensorflow_custom_ops.testing.subject import NotApplicable, Outcome, Subject


def _variants(subject: Subject) -> Iterator[tuple[str, list[tf.TensorSpec]]]:
    """Specifications of what is known of the inputs' shapes, and how to call them."""
    specs = subject.call.specs()
    yield "known shapes", specs
    yield "unknown shapes", subject.call.unknown_specs()
    yield "known ranks", [tf.TensorSpec([None] * spec.shape.rank, spec.dtype) for spec in specs]
    longest = max((spec.shape.rank for spec in specs), default=0)
    for axis in range(longest):
        partial = [
            tf.TensorSpec([None if i == axis else size for i, size in enumerate(spec.shape)], spec.dtype)
            for spec in specs
        ]
        if partial != specs:
            yield f"dimension {axis} unknown", partial
    if len(specs) > 1:
        for i, spec in enumerate(specs):
            yield (
                f"the shape of {subject.input_name(i)} unknown",
                [*specs[:i], tf.TensorSpec(None, spec.dtype), *specs[i + 1 :]],
            )


def check_static_shapes(subject: Subject) -> Iterator[str]:
    """What the shape function says is true, and what it does not know does not change the results."""
    for known, specs in _variants(subject):
        traced = subject.attempt_trace(subject.call, specs)
        if isinstance(traced, Outcome):
            yield f"with {known}, tracing {traced}"
            continue
        outcome = subject.attempt(traced, subject.call.inputs)
        if outcome.outputs is None:
            yield f"with {known}, it {outcome}"
            continue
        for i, (static, output) in enumerate(zip(traced.output_shapes, outcome.outputs, strict=True)):
            if not static.is_compatible_with(output.shape):
                yield f"with {known}, output {i} is said to have shape {static}, and has {list(output.shape)}"
        different = subject.difference(subject.outputs, outcome.outputs)
        if different is not None and subject.deterministic:
            yield f"with {known}, {different}"


def check_lost_shapes(subject: Subject) -> Iterator[str]:
    """Of inputs of known shapes the output's shape is known, and of inputs of known rank its rank."""
    if not subject.outputs:
        raise NotApplicable("it has no outputs")
    for i, shape in enumerate(subject.traced.output_shapes):
        if not shape.is_fully_defined():
            yield f"output {i} is said to have shape {shape}, though every input's shape is known"
            return
    ranks = [tf.TensorSpec([None] * spec.shape.rank, spec.dtype) for spec in subject.call.specs()]
    traced = subject.attempt_trace(subject.call, ranks)
    if isinstance(traced, Outcome):
        return  # static_shapes tells.
    for i, shape in enumerate(traced.output_shapes):
        if shape.rank is None:
            yield f"output {i} is said to have unknown rank, though every input's rank is known"
