# SPDX-License-Identifier: Apache-2.0
"""Traces training steps with TensorFlow's profiler, and prints which ops took how long.

    bazel run //tools/profile -- --logdir /tmp/profile
    tensorboard --logdir /tmp/profile

What is traced is the model of //examples/char_transformer. TensorBoard needs the package tensorboard-plugin-profile.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import pathlib
import subprocess

# Before TensorFlow is imported, for it prints.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from tensorflow_custom_ops._build_info import OPS

from examples.char_transformer import corpus, train
from examples.char_transformer.model import Size, build
from tools.profile import events

PLOT = pathlib.Path(__file__).with_name("plot")
WARM_UP = 2


def record(args: argparse.Namespace) -> None:
    """Trains a model for a few steps, of which the profiler traces the last ones."""
    keras.utils.set_random_seed(1)
    model = build(Size(), len(corpus.ALPHABET), train.LAYERS[args.layers])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, jit_compile=args.jit)
    x, y = np.random.default_rng(1).integers(0, len(corpus.ALPHABET), (2, args.batch, args.length))
    for _ in range(WARM_UP):
        model.train_on_batch(x, y)
    tf.profiler.experimental.start(str(args.logdir))
    for step in range(args.steps):
        with tf.profiler.experimental.Trace(events.STEP, step_num=step, _r=1):
            model.train_on_batch(x, y)
    tf.profiler.experimental.stop()


def table(recorded: list[events.Event], rows: int) -> str:
    """The ops that took most time, one a line: calls and milliseconds in a step."""
    steps = [event for event in recorded if event.name == events.STEP]
    calls: collections.Counter[str] = collections.Counter()
    times: collections.defaultdict[str, float] = collections.defaultdict(float)
    for op, event in events.ops_in(recorded, OPS):
        calls[op] += 1
        times[op] += event.duration
    lines = [f"{len(steps)} steps of {sum(step.duration for step in steps) / len(steps):.1f} ms", ""]
    lines.append(f"{'op':32}{'calls':>8}{'ms':>10}")
    # Ours are in the table however little they took.
    most = set(sorted(times, key=times.__getitem__)[-rows:]) | (set(times) & set(OPS))
    for op in sorted(most, key=times.__getitem__, reverse=True):
        mark = "  of tensorflow_custom_ops" if op in OPS else ""
        lines.append(f"{op:32}{calls[op] / len(steps):8.0f}{times[op] / len(steps):10.2f}{mark}")
    return "\n".join(lines)


def plot(recorded: list[events.Event], path: pathlib.Path) -> None:
    """Draws what the threads did in the last step."""
    step = [event for event in recorded if event.name == events.STEP][-1]
    bars = [
        [event.thread, event.start - step.start, event.duration, op, op in OPS]
        for op, event in events.ops_in(recorded, OPS)
        if step.start <= event.start < step.start + step.duration
    ]
    content = json.dumps({"milliseconds": step.duration, "bars": bars})
    subprocess.run([PLOT, path], input=content, text=True, check=True)


def _path(text: str) -> pathlib.Path:
    # Bazel starts the program elsewhere.
    return pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), text)


def main(arguments: list[str] | None = None) -> None:
    """Runs the program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logdir", type=_path, required=True, help="the directory for the trace, for TensorBoard")
    parser.add_argument("--layers", choices=train.LAYERS, default="ours", help="what the model is made of")
    parser.add_argument("--steps", type=train.positive, default=3, help="how many steps are traced")
    parser.add_argument("--batch", type=train.positive, default=16, help="how many parts of a text a step sees")
    parser.add_argument("--length", type=train.positive, default=128, help="how many characters they have")
    parser.add_argument("--rows", type=train.positive, default=12, help="how many ops are printed, beside ours")
    parser.add_argument("--jit", action="store_true", help="XLA compiles the step")
    parser.add_argument("--plot", type=_path, help="a PNG file for what the threads did in the last step")
    args = parser.parse_args(arguments)
    record(args)
    path = events.newest(args.logdir)
    recorded = events.read(path)
    print(table(recorded, args.rows))
    print(f"\nthe trace is {path}\ntensorboard --logdir {args.logdir}")
    if args.plot:
        plot(recorded, args.plot)


if __name__ == "__main__":
    main()
