# SPDX-License-Identifier: Apache-2.0
"""Checks that all ways to run the op agree."""

from __future__ import annotations

from collections.abc import Iterator

import tensorflow as tf

from tensorflow_custom_ops.testing.call import value_of
from tensorflow_custom_ops.testing.subject import NotApplicable, Subject


def check_eager(subject: Subject) -> Iterator[str]:
    """Eager mode gives what a tf.function gives."""
    if not subject.deterministic:
        raise NotApplicable("the op is stateful, so that calls may differ")
    expected = subject.outputs  # In the other process first: if it crashes, then there.
    outputs = [value_of(output) for output in subject.call(*map(tf.constant, subject.call.inputs))]
    different = subject.difference(expected, outputs)
    if different is not None:
        yield f"eagerly, {different} in a graph"


def check_jit(subject: Subject) -> Iterator[str]:
    """XLA (`jit_compile=True`) gives what the kernel gives."""
    if not subject.has_xla_kernel:
        raise NotApplicable("it has no XLA kernel")
    if not subject.deterministic:
        raise NotApplicable("the op is stateful, so that calls may differ")
    for traced, shapes in ((subject.traced, "known"), (subject.traced_unknown, "unknown")):
        outcome = subject.attempt(traced, subject.call.inputs, jit=True)
        if outcome.outputs is None:
            yield f"with shapes {shapes}, it {outcome}"
            continue
        different = subject.difference(subject.outputs, outcome.outputs)
        if different is not None:
            yield f"with shapes {shapes}, {different} by the kernel"


def check_gpu(subject: Subject) -> Iterator[str]:
    """A GPU gives what the CPU gives, also by XLA."""
    if not tf.config.list_physical_devices("GPU"):
        raise NotApplicable("TensorFlow has no GPU here")
    if not subject.deterministic:
        raise NotApplicable("the op is stateful, so that calls may differ")
    expected = subject.run(subject.traced, device="CPU:0")
    for jit in (False, True) if subject.has_xla_kernel else (False,):
        outcome = subject.attempt(subject.traced, subject.call.inputs, device="GPU:0", jit=jit)
        by = "XLA on the GPU" if jit else "the GPU"
        if outcome.outputs is None:
            yield f"on {by}, it {outcome}"
            continue
        different = subject.difference(expected, outcome.outputs)
        if different is not None:
            yield f"on {by}, {different} on the CPU"
