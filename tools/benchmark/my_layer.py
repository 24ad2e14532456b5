# SPDX-License-Identifier: Apache-2.0
# >>> only with fused_dense: whole file
"""Times MyLayer against keras.layers.Dense, in turns, and prints a table.

    bazel run //tools/benchmark:my_layer
    bazel run //tools/benchmark:my_layer -- --dtype mixed_bfloat16 --activation tanh --size 32x1024x1024

Times are medians in microseconds, on TensorFlow's default threads; a ratio below 1 says that MyLayer is faster.
"""

from __future__ import annotations

import argparse
import functools
import os
from collections.abc import Callable

# Before TensorFlow is imported, for it prints.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf

import tensorflow_custom_ops
from tensorflow_custom_ops.layers import MyLayer
from tools.benchmark import timing

# Batch, in and units: one row, what fits no cache, and small layers in which overhead is what counts.
SIZES = ("1x1024x1024", "32x64x64", "32x1024x1024", "128x784x128", "256x256x256", "1024x1024x1024")


def size(text: str) -> tuple[int, int, int]:
    """Parses an argument such as 32x784x128."""
    try:
        batch, size, units = map(int, text.split("x"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"a size is BATCHxINxUNITS, such as 32x784x128, but it is {text!r}") from None
    if min(batch, size, units) < 1:
        raise argparse.ArgumentTypeError(f"the numbers of a size are 1 at least, but it is {text!r}")
    return batch, size, units


def forward(layer: keras.layers.Layer) -> Callable[[tf.Tensor], tf.Tensor]:
    """A call of a layer."""
    call: Callable[[tf.Tensor], tf.Tensor] = layer.__call__
    return call


def forward_and_backward(layer: keras.layers.Layer) -> Callable[[tf.Tensor], list[tf.Tensor]]:
    """A call of a layer, and its gradients with respect to inputs and weights."""

    def call(x: tf.Tensor) -> list[tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer(x)
        weights = [weight.value for weight in layer.trainable_weights]
        result: list[tf.Tensor] = tape.gradient(y, [x, *weights])
        return result

    return call


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=size, action="append", help="BATCHxINxUNITS; may be repeated")
    parser.add_argument("--dtype", default="float32", help="the layers' dtype policy (default: %(default)s)")
    parser.add_argument("--activation", default="relu", help="the layers' activation (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each row of the table (default: %(default)s)")
    args = parser.parse_args()
    modes = {"eager": lambda f: f, "graph": tf.function, "jit": lambda f: tf.function(f, jit_compile=True)}
    if not tensorflow_custom_ops.build_info()["xla"]:
        del modes["jit"]

    print(f"{args.dtype}, {args.activation}, TensorFlow {tf.__version__}, {os.cpu_count()} processors")
    row = "{:>18} {:>8} {:>5} {:>10} {:>10} {:>6}"
    print(row.format("batch x in x units", "pass", "mode", "Dense us", "MyLayer us", "ratio"))
    for batch, depth, units in args.size or map(size, SIZES):
        try:
            layers = [cls(units, activation=args.activation, dtype=args.dtype) for cls in (keras.layers.Dense, MyLayer)]
        except ValueError as error:
            parser.error(str(error))
        x = tf.constant(np.random.default_rng(0).standard_normal((batch, depth)), layers[0].compute_dtype)
        for layer in layers:
            layer.build(x.shape)
        for name, make in (("forward", forward), ("both", forward_and_backward)):
            for mode, wrap in modes.items():
                functions = [wrap(make(layer)) for layer in layers]
                dense, ours = timing.medians([functools.partial(f, x) for f in functions], args.seconds)
                shape = f"{batch} x {depth} x {units}"
                print(row.format(shape, name, mode, f"{dense:.0f}", f"{ours:.0f}", f"{ours / dense:.2f}"), flush=True)


if __name__ == "__main__":
    main()
