# SPDX-License-Identifier: Apache-2.0
"""Checks of unusual inputs: empty, scalar, large, not finite."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import tensorflow as tf

from tensorflow_custom_ops.testing import compare
from tensorflow_custom_ops.testing.report import Note
from tensorflow_custom_ops.testing.subject import CLEAN_ERRORS, NotApplicable, Outcome, Subject, own_text

# Elements of all inputs together, about: enough for several threads to get some, and no multiple of anything.
_LARGE = 1_000_003

# Sums of so many numbers are rounded more often; what is looked for is worse.
_LARGE_TOLERANCES = dict.fromkeys(compare.TOLERANCES, 5e-2)


def sizes(inputs: Sequence[np.ndarray]) -> list[int]:
    """The sizes that dimensions of the inputs have, in order: those that are equal are taken to belong together."""
    return list(dict.fromkeys(size for array in inputs for size in array.shape if size > 1))


def resized(array: np.ndarray, old: int, new: int) -> np.ndarray:
    """The array repeated or cut, so that its dimensions of one size have another."""
    for axis in range(array.ndim):
        if array.shape[axis] == old:
            array = np.take(array, np.arange(new) % old, axis=axis)
    return array


def all_resized(inputs: Sequence[np.ndarray], old: int, new: int) -> list[np.ndarray]:
    """The same of each of the inputs."""
    return [resized(array, old, new) for array in inputs]


def compare_ways(
    subject: Subject, what: str, inputs: Sequence[np.ndarray], tolerances: Mapping[str, float] | None = None
) -> Iterator[str | Outcome]:
    """Runs unusual inputs in all ways, which must agree: on an error that tells something, or on the results.

    Args:
      subject: The subject.
      what: How messages begin.
      inputs: The inputs.
      tolerances: Relative errors allowed, by default the subject's.

    Yields:
      What is wrong, and the outcome of the kernel.
    """
    kernel = subject.attempt(subject.traced_unknown, inputs)
    yield kernel
    yield from unclean(what, kernel)
    if kernel.crashed:
        return
    specs = [tf.TensorSpec(array.shape, array.dtype) for array in inputs]
    static = subject.attempt_trace(subject.call, specs)
    if isinstance(static, Outcome):
        if kernel.outputs is not None:
            yield f"{what}, tracing with known shapes {static}, though the kernel {kernel}"
    elif kernel.outputs is not None:
        for i, (shape, output) in enumerate(zip(static.output_shapes, kernel.outputs, strict=True)):
            if not shape.is_compatible_with(output.shape):
                yield f"{what}, output {i} is said to have shape {shape}, and has {list(output.shape)}"
    if not subject.jit_works:
        return
    jit = subject.attempt(subject.traced_unknown, inputs, jit=True)
    if (jit.outputs is None) != (kernel.outputs is None):
        yield f"{what}, the kernel {kernel}, and by XLA it {jit}"
        return
    yield from unclean(f"{what}, by XLA", jit)
    if jit.outputs is not None and kernel.outputs is not None and subject.deterministic:
        different = compare.difference(kernel.outputs, jit.outputs, tolerances or subject.tolerances)
        if different is not None:
            yield f"{what}, by XLA {different} by the kernel"


def unclean(what: str, outcome: Outcome) -> Iterator[str]:
    """What is wrong with an outcome that is no result."""
    if outcome.crashed:
        yield f"{what}, it {outcome}"
    elif outcome.error is not None:
        if outcome.error not in CLEAN_ERRORS:
            yield f"{what}, it {outcome}; that should be one of {', '.join(sorted(CLEAN_ERRORS))}"
        elif len(own_text(outcome.message).split()) < 3:
            yield f"{what}, the error {outcome.error} says nothing: {outcome.message!r}"


def check_empty(subject: Subject) -> Iterator[str]:
    """Inputs without elements give a result or an error, the same in all ways."""
    found = sizes(subject.call.inputs)
    if not found:
        raise NotApplicable("all inputs are scalars, or of size 1")
    for size in found:
        inputs = all_resized(subject.call.inputs, size, 0)
        yield from _texts(compare_ways(subject, f"with dimensions of {size} made 0", inputs))


def check_scalar(subject: Subject) -> Iterator[str]:
    """Scalars in place of all inputs give a result or an error, the same in all ways."""
    inputs = [np.asarray(array.ravel()[0]) for array in subject.call.inputs if array.size]
    if len(inputs) != len(subject.call.inputs):
        raise NotApplicable("an input of the sample is empty")
    if not inputs:
        raise NotApplicable("there are no inputs")
    yield from _texts(compare_ways(subject, "with scalars", inputs))


def _texts(found: Iterator[str | Outcome]) -> Iterator[str]:
    return (text for text in found if isinstance(text, str))


def large_inputs(subject: Subject) -> Iterator[tuple[int, int, list[np.ndarray]]]:
    """The inputs repeated along the dimensions of one size, for each size: the size, how often, the inputs."""
    for size in sizes(subject.call.inputs):
        # A dimension may occur several times.
        counts = [sum(dimension == size for dimension in array.shape) for array in subject.call.inputs]
        elements = sum(array.size for array, count in zip(subject.call.inputs, counts, strict=True) if count)
        times = max(2, int((_LARGE / elements) ** (1 / max(counts)))) | 1
        yield size, times, all_resized(subject.call.inputs, size, size * times)


def check_large(subject: Subject) -> Iterator[str]:
    """A million elements give what the kernel gives for few, if the op works on each alone, and the same by XLA."""
    done = False
    for size, times, inputs in large_inputs(subject):
        what = f"with dimensions of {size} made {size * times}"
        kernel = Outcome()
        for found in compare_ways(subject, what, inputs, _LARGE_TOLERANCES):
            if isinstance(found, Outcome):
                kernel = found
            else:
                yield found
        if kernel.outputs is None:
            continue
        done = True
        resize = functools.partial(resized, old=size)
        twice = subject.attempt(subject.traced_unknown, all_resized(subject.call.inputs, size, size * 2))
        if twice.outputs is None or not _repeats(subject, resize, size * 2, twice.outputs):
            continue
        expected = [resize(output, new=size * times) for output in subject.outputs]
        different = compare.difference(expected, kernel.outputs, _LARGE_TOLERANCES)
        if different is not None:
            yield f"{what} by repeating them, {different}; of twice the sample, it gives the results twice"
    if not done:
        yield Note("no dimension can be made large alone")


def _repeats(subject: Subject, resize: Callable[..., np.ndarray], size: int, outputs: Sequence[np.ndarray]) -> bool:
    """Whether the op gives the sample's outputs repeated for its inputs repeated."""
    expected = [resize(output, new=size) for output in subject.outputs]
    return subject.difference(expected, outputs) is None


def check_non_finite(subject: Subject) -> Iterator[str]:
    """NaN, infinities, denormals and the largest numbers give a result, the same in all ways."""
    floating = [i for i, array in enumerate(subject.call.inputs) if tf.as_dtype(array.dtype).is_floating]
    if not floating:
        raise NotApplicable("no input is of a floating-point type")
    for source in floating:
        inputs = list(subject.call.inputs)
        dtype = tf.as_dtype(inputs[source].dtype)
        smallest = float(tf.experimental.numpy.finfo(dtype.as_numpy_dtype).tiny)
        special = [np.nan, np.inf, -np.inf, float(dtype.max), float(dtype.min), smallest, -0.0, 0.0]
        changed = inputs[source].copy()
        if not changed.size:
            continue
        # Each row has some, and most have ordinary numbers too.
        places = np.linspace(0, changed.size - 1, min(len(special), changed.size)).astype(int)
        for at, value in zip(places, special, strict=False):
            changed.flat[at] = value
        inputs[source] = changed
        what = f"with NaN, infinities and the like in {subject.input_name(source)}"
        for found in compare_ways(subject, what, inputs):
            if isinstance(found, str):
                yield found
            elif found.error is not None:
                yield f"{what}, it {found}"
