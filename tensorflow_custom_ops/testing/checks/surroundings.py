# SPDX-License-Identifier: Apache-2.0
"""Checks of the op within what TensorFlow and Keras do with ops."""

from __future__ import annotations

import contextlib
import logging
import pathlib
import tempfile
from collections.abc import Iterator

import numpy as np
import tensorflow as tf

from tensorflow_custom_ops.testing.call import Call, Traced, value_of
from tensorflow_custom_ops.testing.report import Note
from tensorflow_custom_ops.testing.subject import NotApplicable, Outcome, Subject
from tensorflow_custom_ops.testing.worker import CrashError, TaskError

_STACK = 3


def check_vectorized_map(subject: Subject) -> Iterator[str]:
    """tf.vectorized_map gives for each element of a stack what the op gives."""
    if not subject.call.inputs:
        raise NotApplicable("there are no inputs")
    if not subject.deterministic:
        raise NotApplicable("the op is stateful, so that calls may differ")
    runs = [
        [
            # What is no number of a floating-point type may be an index, and stays in its place.
            np.roll(array.ravel(), i).reshape(array.shape) if tf.as_dtype(array.dtype).is_floating else array
            for array in subject.call.inputs
        ]
        for i in range(_STACK)
    ]
    expected = [np.stack(outputs) for outputs in zip(*subject.run_each(subject.traced, runs), strict=True)]
    everything = list(range(len(subject.call.inputs)))
    # All inputs of each element; and, where there are several, each input of its own and the others for all.
    for stacked in [everything, *([[i] for i in everything] if len(everything) > 1 else [])]:
        yield from _vectorized(subject, runs, expected if stacked == everything else None, stacked)


def _vectorized(
    subject: Subject, runs: list[list[np.ndarray]], expected: list[np.ndarray] | None, stacked: list[int]
) -> Iterator[str]:
    inputs = [
        np.stack([run[i] for run in runs]) if i in stacked else runs[0][i] for i in range(len(subject.call.inputs))
    ]
    if expected is None:
        each = [[run[i] if i in stacked else runs[0][i] for i in range(len(inputs))] for run in runs]
        expected = [np.stack(outputs) for outputs in zip(*subject.run_each(subject.traced, each), strict=True)]
    what = "" if len(stacked) == len(inputs) else f"with a stack of {subject.input_name(stacked[0])} only, "

    def mapped(*tensors: tf.Tensor, fallback: bool) -> list[tf.Tensor]:
        def one(elements: list[tf.Tensor]) -> list[tf.Tensor]:
            all_inputs = list(tensors)
            for i, element in zip(stacked, elements, strict=True):
                all_inputs[i] = element
            return subject.call(*all_inputs)

        outputs: list[tf.Tensor] = tf.vectorized_map(
            one, [tensors[i] for i in stacked], fallback_to_while_loop=fallback, warn=False
        )
        return outputs

    specs = [tf.TensorSpec(array.shape, array.dtype) for array in inputs]
    traced: Traced | Outcome
    for fallback in (False, True):
        call = Call(lambda *tensors, fallback=fallback: mapped(*tensors, fallback=fallback), inputs)
        with _no_log():
            traced = subject.attempt_trace(call, specs)
        if not isinstance(traced, Outcome):
            if fallback:
                yield Note(f"{what}it runs in a loop")
            outcome = subject.attempt(traced, inputs)
            if outcome.outputs is None:
                yield f"{what}it {outcome}"
                return
            different = subject.difference(expected, outcome.outputs)
            if different is not None:
                yield f"{what}{different} of each alone"
            return
    yield f"{what}it {traced}"


@contextlib.contextmanager
def _no_log() -> Iterator[None]:
    """TensorFlow logs a page for each op that it has no rule for; a note says so in a line."""
    logger = tf.get_logger()
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def check_saved_model(subject: Subject) -> Iterator[str]:
    """A SavedModel gives in another process what the function gives here, for any shapes."""
    if subject.traced.needs_python:
        yield "the function calls Python while it runs, which a SavedModel does not have"
        return
    module = tf.Module()
    module.call = tf.function(subject.call.__call__, autograph=False, input_signature=subject.call.unknown_specs())
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "model")
        tf.saved_model.save(module, path)
        try:
            outputs = subject.worker("run_saved_model", path=path, inputs=subject.call.inputs)
        except (TaskError, CrashError) as error:
            yield f"loaded in another process, it fails: {error}"
            return
    different = subject.difference(subject.outputs, outputs)
    if different is not None and subject.deterministic:
        yield f"loaded in another process, {different}"


def check_keras(subject: Subject) -> Iterator[str]:
    """A Keras model can be made of it with a layer, and calling it with a symbolic input says that this takes one."""
    try:
        import keras  # noqa: PLC0415 - slow, and may be missing
    except ImportError as error:
        raise NotApplicable(f"Keras cannot be imported: {error}") from error
    if keras.backend.backend() != "tensorflow":
        raise NotApplicable(f"Keras runs on {keras.backend.backend()}")
    inputs = subject.call.inputs
    if not inputs or any(not array.ndim for array in inputs):
        raise NotApplicable("an input is a scalar, or there is none")
    # A batch of unknown size, where all inputs may have one.
    first = {array.shape[0] for array in inputs}
    if len(first) == 1:
        symbols = [keras.Input(array.shape[1:], dtype=array.dtype.name) for array in inputs]
    else:
        symbols = [keras.Input(batch_shape=array.shape, dtype=array.dtype.name) for array in inputs]

    class OpLayer(keras.layers.Layer):
        def call(self, tensors: list[tf.Tensor]) -> list[tf.Tensor]:
            return subject.call(*tensors)

    # Without a policy that casts inputs.
    layer = OpLayer(dtype=keras.DTypePolicy("float32"), autocast=False)
    try:
        model = keras.Model(symbols, layer(symbols))
    except Exception as error:
        yield f"a layer of it fails on symbolic inputs: {type(error).__name__}: {error}"
        return
    outputs = tf.nest.flatten(model([tf.constant(array) for array in inputs]))
    different = subject.difference(subject.outputs, [value_of(output) for output in outputs])
    if different is not None and subject.deterministic:
        yield f"in a Keras model, {different}"
    for i, (symbol, output) in enumerate(zip(model.outputs, subject.outputs, strict=True)):
        if not tf.TensorShape(symbol.shape).is_compatible_with(output.shape):
            yield f"in a Keras model, output {i} is said to have shape {symbol.shape}, and has {list(output.shape)}"
    try:
        subject.call(*symbols)
    except Exception as error:
        if "keras" not in str(error).lower() and "symbolic" not in str(error).lower():
            text = f"{type(error).__name__}: {error}"
            yield f"called with a symbolic Keras input, it raises what does not tell so: {text}"
