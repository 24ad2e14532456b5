# SPDX-License-Identifier: Apache-2.0
"""SavedModels of ops that somebody has edited."""

from __future__ import annotations

import pathlib
import random
import shutil
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

import tensorflow_custom_ops
from tensorflow_custom_ops.testing import samples
from tensorflow_custom_ops.testing.call import Call
from tests.fuzz.edits import EDITS, Model
from tests.fuzz.fuzz import limit_memory


class _Module(tf.Module):
    """Calls an op, and its gradient."""

    def __init__(self, call: Call) -> None:
        super().__init__()
        specs = call.unknown_specs()
        self.call = tf.function(call.__call__, autograph=False, input_signature=specs)
        self.jit = tf.function(call.__call__, autograph=False, input_signature=specs, jit_compile=True)

        def gradients(*inputs: tf.Tensor) -> list[tf.Tensor]:
            floating = [tensor for tensor in inputs if tensor.dtype.is_floating]
            with tf.GradientTape() as tape:
                tape.watch(floating)
                outputs = [output for output in call(*inputs) if output.dtype.is_floating]
            return [grad for grad in tape.gradient(outputs, floating) if grad is not None]

        self.gradients = tf.function(gradients, autograph=False, input_signature=specs)


def _attempt(path: str, inputs: Sequence[tf.Tensor]) -> str:
    """What came of loading a model, and of calling it.

    TensorFlow's loader finds most edits before it asks an op, and raises exceptions of all kinds.
    """
    try:
        model = tf.saved_model.load(path)
    except Exception as error:
        return f"refused by {type(error).__name__}"
    return ", ".join(_outcome(function, inputs) for function in (model.call, model.gradients, model.jit))


def _outcome(function: Callable[..., Any], inputs: Sequence[tf.Tensor]) -> str:
    try:
        function(*inputs)
    except Exception as error:
        return type(error).__name__
    return "result"


def fuzz_models(op: str, folder: str, count: int, seed: int, note: Callable[[str], None]) -> dict[str, int]:
    """Edits SavedModels of an op, loads and calls them.

    Args:
      op: The name of the op's Python function.
      folder: Where there is room.
      count: How many models there are to be.
      seed: Of random numbers.
      note: Is told of each before it is loaded.

    Returns:
      How often which came of it.
    """
    limit_memory()
    outcomes: dict[str, int] = {}
    of_op = list(samples(op).items())
    for number, (name, sample) in enumerate(of_op):
        call = Call(getattr(tensorflow_custom_ops, op), sample.args, dict(sample.kwargs))
        path = pathlib.Path(folder, f"{op}_{number}")
        tf.saved_model.save(_Module(call), str(path))
        file = path / "saved_model.pb"
        data = file.read_bytes()
        # The fingerprint is of the file as it was.
        (path / "fingerprint.pb").unlink()
        inputs = [tf.constant(array) for array in call.inputs]
        for i in range(count // len(of_op)):
            random_ = random.Random(f"{op} {number} {i} {seed}")
            model = Model.parse(data)
            edits = random_.choices(EDITS, k=random_.choice([1, 1, 1, 2]))
            for edit in edits:
                edit(model, random_)
            done = " and ".join(edit.__name__ for edit in edits)
            note(f"SavedModel {i} of {op}, {name}, in {path}; after {done} its nodes are\n{model}")
            file.write_bytes(model.proto.SerializeToString())
            outcome = _attempt(str(path), inputs)
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
        shutil.rmtree(path)
    return outcomes
