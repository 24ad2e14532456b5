# SPDX-License-Identifier: Apache-2.0
"""Trains a small transformer on the docstrings of Python's standard library, and prints a text that it makes up.

    bazel run //examples/char_transformer:train
    bazel run //examples/char_transformer:train -- --steps 2000 --plot /tmp/loss.png

The model is made of this package's layers; with `--layers keras` the same is made of Keras's own.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import time

# Before TensorFlow is imported, for it prints.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf

from examples.char_transformer import corpus
from examples.char_transformer.keras_layers import KERAS
from examples.char_transformer.model import OURS, Layers, Size, build, generate

LAYERS = {"ours": OURS, "keras": KERAS}
PLOT = pathlib.Path(__file__).with_name("plot")
PROMPT = "Return "


class LossOfSteps(keras.callbacks.Callback):
    """Keeps the loss of each step, and prints the average of some of them now and then.

    Attributes:
      losses: The losses so far.
    """

    def __init__(self, every: int) -> None:
        """Makes a callback that prints after every so many steps."""
        super().__init__()
        self.losses: list[float] = []
        self._every = every
        self._total = 0.0
        self._start = time.monotonic()

    def on_train_batch_end(self, batch: int, logs: dict[str, float] | None = None) -> None:
        """Is told the average of the losses since the first step."""
        total = (logs or {})["loss"] * (batch + 1)
        self.losses.append(total - self._total)
        self._total = total
        if (batch + 1) % self._every == 0:
            seconds = time.monotonic() - self._start
            print(f"step {batch + 1}: loss {np.mean(self.losses[-self._every :]):.3f}, {seconds:.1f} s", flush=True)


def train(
    of: Layers,
    size: Size,
    *,
    steps: int,
    batch: int,
    length: int,
    learning_rate: float = 3e-3,
    jit: bool = True,
    weights: list[np.ndarray] | None = None,
) -> tuple[keras.Model, list[float]]:
    """Trains a model.

    Args:
      of: What the model is made of.
      size: How large it is.
      steps: How many steps it is trained for.
      batch: How many parts of the text a step sees.
      length: How long they are.
      learning_rate: Of the optimizer.
      jit: Whether XLA compiles the step.
      weights: The first weights. None draws them.

    Returns:
      The model, and the loss of each step.
    """
    keras.utils.set_random_seed(1)
    model = build(size, len(corpus.ALPHABET), of)
    if weights is not None:
        model.set_weights(weights)
    x, y = corpus.windows(corpus.encode(corpus.text()), steps * batch, length, seed=2)
    model.compile(
        keras.optimizers.Adam(learning_rate),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        jit_compile=jit,
    )
    losses = LossOfSteps(every=max(1, steps // 10))
    model.fit(x, y, batch_size=batch, shuffle=False, verbose=0, callbacks=[losses])
    return model, losses.losses


def positive(text: str) -> int:
    """Parses a positive number."""
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"it must be a positive integer, but it is {text!r}")
    return number


def main() -> None:
    """Runs the program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", choices=LAYERS, default="ours", help="what the model is made of")
    parser.add_argument("--steps", type=positive, default=300, help="how many steps it is trained for")
    parser.add_argument("--batch", type=positive, default=16, help="how many parts of the text a step sees")
    parser.add_argument("--length", type=positive, default=128, help="how many characters they have")
    parser.add_argument("--sample", type=positive, default=300, help="how many characters are printed")
    parser.add_argument("--no-jit", action="store_true", help="XLA does not compile the step")
    parser.add_argument("--plot", help="a PNG file for the loss curve")
    args = parser.parse_args()
    model, losses = train(
        LAYERS[args.layers], Size(), steps=args.steps, batch=args.batch, length=args.length, jit=not args.no_jit
    )
    if args.plot:
        path = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), args.plot)
        content = {"title": f"{args.layers}, {model.count_params():,} parameters", "losses": losses}
        subprocess.run([PLOT, str(path)], input=json.dumps(content), text=True, check=True)
    sample = generate(model, corpus.encode(PROMPT), args.sample, length=args.length)
    print(f"\n{PROMPT}{corpus.decode(sample)}")


if __name__ == "__main__":
    tf.config.experimental.enable_op_determinism()
    main()
