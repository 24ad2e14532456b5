# SPDX-License-Identifier: Apache-2.0
"""Checks of gradients, against difference quotients."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np
import tensorflow as tf

from tensorflow_custom_ops.testing.call import Call, Traced, value_of
from tensorflow_custom_ops.testing.report import Note
from tensorflow_custom_ops.testing.subject import NotApplicable, Outcome, Subject

# Of each type that gradients are computed in the step of difference quotients, and the error allowed.
_STEPS = {"float64": (1e-5, 1e-4), "float32": (1e-2, 3e-2)}

# Up to this size of an input its elements are changed one at a time; beyond, all of them, in random directions.
_FEW = 24
_DIRECTIONS = 8


@dataclasses.dataclass
class _Gradient:
    """The gradient of a function's weighted outputs.

    Attributes:
      call: Calls it: of the function's inputs, and one weight of each floating-point output.
      connected: Which of the inputs have a gradient.
    """

    call: Call
    connected: list[int]


def in_wide_type(subject: Subject) -> Call:
    """The call in float64 if that works, else as it is."""
    inputs = [
        array.astype(np.float64) if tf.as_dtype(array.dtype).is_floating else array for array in subject.call.inputs
    ]
    call = subject.call.with_inputs(inputs)
    traced = subject.attempt_trace(call, call.specs())
    if not isinstance(traced, Outcome) and subject.attempt(traced, inputs).outputs is not None:
        return call
    return subject.call


def _floating(arrays: Sequence[np.ndarray]) -> list[int]:
    return [i for i, array in enumerate(arrays) if tf.as_dtype(array.dtype).is_floating]


def gradient_of(call: Call, outputs: Sequence[np.ndarray], sources: Sequence[int], seed: int) -> _Gradient:
    """The gradient, as a call; tracing it raises what TensorFlow raises where there is none."""
    generator = np.random.default_rng(seed)
    weights = [generator.uniform(0.5, 1.5, outputs[i].shape).astype(outputs[i].dtype) for i in _floating(outputs)]
    count = len(call.inputs)
    connected: list[int] = []

    def gradient(*tensors: tf.Tensor) -> list[tf.Tensor]:
        inputs = list(tensors[:count])
        with tf.GradientTape() as tape:
            tape.watch([inputs[i] for i in sources])
            targets = [output for output in call(*inputs) if output.dtype.is_floating]
        found = tape.gradient(targets, [inputs[i] for i in sources], output_gradients=list(tensors[count:]))
        connected[:] = [source for source, tensor in zip(sources, found, strict=True) if tensor is not None]
        return [tf.convert_to_tensor(tensor) for tensor in found if tensor is not None]

    return _Gradient(Call(gradient, [*call.inputs, *weights]), connected)


def _directions(array: np.ndarray, generator: np.random.Generator) -> list[np.ndarray]:
    if array.size <= _FEW:
        return [unit.reshape(array.shape) for unit in np.eye(array.size)]
    return [generator.standard_normal(array.shape) for _ in range(_DIRECTIONS)]


def _weighted(outputs: Sequence[np.ndarray], weights: Sequence[np.ndarray]) -> float:
    return sum(
        float(np.sum(outputs[i].astype(np.float64) * weight.astype(np.float64)))
        for i, weight in zip(_floating(outputs), weights, strict=True)
    )


def difference_quotients(
    subject: Subject,
    call: Call,
    traced: Traced,
    *,
    source: int,
    directions: Sequence[np.ndarray],
    step: float,
) -> list[list[np.ndarray]]:
    """Of each direction the outputs' derivatives, by differences of one input."""
    runs = []
    for direction in directions:
        for sign in (1, -1):
            inputs = list(call.inputs)
            # asarray: a scalar must stay an array.
            moved = np.asarray(inputs[source].astype(np.float64) + sign * step * direction)
            inputs[source] = moved.astype(inputs[source].dtype)
            runs.append(inputs)
    results = subject.run_each(traced, runs)
    return [
        [
            (above.astype(np.float64) - below.astype(np.float64)) / (2 * step)
            if tf.as_dtype(above.dtype).is_floating
            else np.zeros_like(above)
            for above, below in zip(results[2 * i], results[2 * i + 1], strict=True)
        ]
        for i in range(len(directions))
    ]


def _compare(
    subject: Subject, call: Call, sources: Sequence[int], names: Sequence[str], seed: int
) -> Iterator[str | _Gradient]:
    """Compares the gradient of a call with difference quotients; yields it, and what is wrong."""
    step, allowed = _STEPS[min((call.inputs[i].dtype.name for i in sources), default="float64")]
    traced = call.trace()
    outputs = subject.run(traced, call.inputs)
    if not _floating(outputs):
        raise NotApplicable("no output is of a floating-point type")
    gradient = gradient_of(call, outputs, sources, seed)
    try:
        gradient_traced = gradient.call.trace()
    except LookupError as error:
        yield f"no gradient: {' '.join(str(error).split())}"
        return
    except Exception as error:
        yield f"tracing the gradient raises {type(error).__name__}: {error}"
        return
    yield gradient
    analytic = dict(zip(gradient.connected, subject.run(gradient_traced, gradient.call.inputs), strict=True))
    weights = gradient.call.inputs[len(call.inputs) :]
    generator = np.random.default_rng(seed)
    for source in sources:
        array = call.inputs[source]
        found = analytic.get(source)
        if found is not None and (found.shape != array.shape or found.dtype != array.dtype):
            yield (
                f"the gradient for {names[source]} has shape {list(found.shape)} and type {found.dtype}, the input "
                f"{list(array.shape)} and {array.dtype}"
            )
            continue
        directions = _directions(array, generator)
        numeric = np.array(
            [
                _weighted(quotients, weights)
                for quotients in difference_quotients(
                    subject, call, traced, source=source, directions=directions, step=step
                )
            ]
        )
        if found is None:
            if np.abs(numeric).max(initial=0.0) > allowed:
                yield f"there is no gradient for {names[source]}, on which the output depends"
            continue
        projected = np.array([np.sum(found.astype(np.float64) * direction) for direction in directions])
        yield from _disagreement(names[source], projected, numeric, allowed)


def _disagreement(name: str, analytic: np.ndarray, numeric: np.ndarray, allowed: float) -> Iterator[str]:
    if not np.isfinite(analytic).all():
        yield f"the gradient for {name} is not finite"
        return
    if not analytic.size:
        return
    scale = max(float(np.abs(numeric).max()), float(np.abs(analytic).max()))
    error = np.abs(analytic - numeric)
    limit = allowed * scale
    if not (error > limit).any():
        return
    worst = int(np.argmax(error))
    message = (
        f"the gradient for {name} is wrong: in {int((error > limit).sum())} of {len(error)} directions, in one "
        f"{analytic[worst]:.6g} instead of {numeric[worst]:.6g}"
    )
    nonzero = np.abs(numeric) > limit
    if nonzero.any():
        ratios = analytic[nonzero] / numeric[nonzero]
        if np.ptp(ratios) < 1e-2 * abs(float(ratios[0])):
            message += f" (it is {ratios[0]:.3g} times too large)" if ratios[0] > 1 else f" (times {ratios[0]:.3g})"
    yield message


def _sources(subject: Subject) -> list[int]:
    if not subject.differentiable:
        raise NotApplicable("no input is of a floating-point type")
    if not subject.deterministic:
        raise NotApplicable("the op is stateful, so that calls may differ")
    return subject.differentiable


def _wide_call(subject: Subject, sources: Sequence[int]) -> Call:
    call = in_wide_type(subject)
    if any(call.inputs[i].dtype.name not in _STEPS for i in sources):
        raise NotApplicable("it takes neither float32 nor float64, in which differences could be computed")
    return call


def _names(subject: Subject, call: Call) -> list[str]:
    inputs = len(subject.call.inputs)
    return [subject.input_name(i) if i < inputs else f"gradient {i - inputs}" for i in range(len(call.inputs))]


def check_gradient(subject: Subject) -> Iterator[str]:
    """There is a gradient, and it is that of difference quotients, for every input."""
    sources = _sources(subject)
    call = _wide_call(subject, sources)
    for found in _compare(subject, call, sources, _names(subject, call), seed=1):
        if isinstance(found, str):
            yield found
    if "float64" not in {call.inputs[i].dtype.name for i in sources}:
        yield Note("compared in float32")


def check_higher_orders(subject: Subject) -> Iterator[str]:
    """The gradient has a gradient itself, up to the order asked for, by the inputs and by the incoming gradient."""
    sources = _sources(subject)
    if subject.order < 2:
        raise NotApplicable("no order beyond the first was asked for")
    call = _wide_call(subject, sources)
    for order in range(2, subject.order + 1):
        outputs = subject.run(call.trace(), call.inputs)
        if not _floating(outputs):
            raise NotApplicable("no output is of a floating-point type")
        gradient = gradient_of(call, outputs, sources, seed=order)
        try:
            gradient.call.trace()
        except Exception as error:
            raise NotApplicable(f"order {order - 1} fails: {type(error).__name__}") from error
        if not gradient.connected:
            raise NotApplicable(f"the gradient of order {order - 1} is not there, which is 0")
        sources = [*sources, *range(len(call.inputs), len(gradient.call.inputs))]
        call = gradient.call
        for found in _compare(subject, call, sources, _names(subject, call), seed=order):
            if isinstance(found, str):
                yield f"order {order}: {found}"


def check_gradient_modes(subject: Subject) -> Iterator[str]:
    """The gradient is the same eagerly, in a graph with known and unknown shapes, and by XLA, in the sample's type."""
    sources = _sources(subject)
    if not _floating(subject.outputs):
        raise NotApplicable("no output is of a floating-point type")
    gradient = gradient_of(subject.call, subject.outputs, sources, seed=1)
    try:
        traced = gradient.call.trace()
    except Exception as error:
        raise NotApplicable(f"there is none: {type(error).__name__}") from error
    if not gradient.connected:
        raise NotApplicable("there is none")
    expected = subject.run(traced, gradient.call.inputs)
    eager = [value_of(tensor) for tensor in gradient.call(*map(tf.constant, gradient.call.inputs))]
    different = subject.difference(expected, eager)
    if different is not None:
        yield f"of the gradient, {different} in a graph"
    unknown = subject.attempt_trace(gradient.call, gradient.call.unknown_specs())
    if isinstance(unknown, Outcome):
        yield f"for unknown shapes, the gradient {unknown}"
        return
    ways = [("for unknown shapes", unknown, False)]
    if subject.jit_works:
        ways += [("by XLA", traced, True)]
    for how, graph, jit in ways:
        outcome = subject.attempt(graph, gradient.call.inputs, jit=jit)
        if outcome.outputs is None:
            yield f"{how}, the gradient {outcome}"
            continue
        different = subject.difference(expected, outcome.outputs)
        if different is not None:
            yield f"{how}, of the gradient {different}"


def check_forward_mode(subject: Subject) -> Iterator[str]:
    """tf.autodiff.ForwardAccumulator gives what difference quotients give."""
    sources = _sources(subject)
    call = _wide_call(subject, sources)
    traced = call.trace()
    outputs = subject.run(traced, call.inputs)
    if not _floating(outputs):
        raise NotApplicable("no output is of a floating-point type")
    step, allowed = _STEPS[call.inputs[sources[0]].dtype.name]
    generator = np.random.default_rng(2)
    for source in sources:
        direction = np.asarray(generator.standard_normal(call.inputs[source].shape))
        tangent = direction.astype(call.inputs[source].dtype)

        def forward(*tensors: tf.Tensor, source: int = source, tangent: np.ndarray = tangent) -> list[tf.Tensor]:
            with tf.autodiff.ForwardAccumulator(tensors[source], tf.constant(tangent)) as accumulator:
                targets = [output for output in call(*tensors) if output.dtype.is_floating]
            return [accumulator.jvp(target, tf.UnconnectedGradients.ZERO) for target in targets]

        forward_call = Call(forward, call.inputs)
        try:
            forward_traced = forward_call.trace()
        except Exception as error:
            yield f"for {subject.input_name(source)}, it raises {type(error).__name__}: {error}"
            continue
        found = subject.run(forward_traced, call.inputs)
        (quotients,) = difference_quotients(subject, call, traced, source=source, directions=[direction], step=step)
        numeric = [quotients[i] for i in _floating(outputs)]
        flat_found = np.concatenate([array.astype(np.float64).ravel() for array in found])
        flat_numeric = np.concatenate([array.ravel() for array in numeric])
        for message in _disagreement(subject.input_name(source), flat_found, flat_numeric, allowed):
            yield message.replace("the gradient", "the derivative").replace("directions", "elements")
