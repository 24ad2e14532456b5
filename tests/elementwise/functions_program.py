# SPDX-License-Identifier: Apache-2.0
"""Computes all functions, in a process of its own: a process has one instruction set.

The arguments: the library of the functions, the file for the results, and how they are computed: eager or jit.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from tensorflow_custom_ops.core import elementwise
from tests.elementwise import functions_cases as cases

# More than two packets of all types.
_LONGEST = 40
# Enough for two threads.
_LARGE = 100_003


def derivative(function: Callable[..., Any], *inputs: tf.Tensor) -> list[tf.Tensor]:
    """The first derivatives by all inputs."""
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        y = function(*inputs)
    result: list[tf.Tensor] = tape.gradient(y, list(inputs), unconnected_gradients="zero")
    return result


def second_derivative(function: Callable[..., Any], *inputs: tf.Tensor) -> list[tf.Tensor]:
    """The second derivatives by all inputs, of the sum of the first."""
    return derivative(lambda *x: tf.add_n(derivative(function, *x)), *inputs)


def compute(function: Callable[..., Any], case: cases.Function, mode: str) -> dict[str, np.ndarray]:
    """Values and derivatives in all types.

    Args:
      function: of tensors and the attributes.
      case: what the function is.
      mode: eager or jit.
    """

    def call(*inputs: tf.Tensor) -> tf.Tensor:
        return function(*inputs, **case.attributes)

    kinds = {"points": call, "special": call}
    if case.differentiable:
        kinds["special derivative"] = kinds["derivative"] = lambda *x: derivative(call, *x)
        kinds["second derivative"] = lambda *x: second_derivative(call, *x)
    results = {}
    for name, dtype in cases.DTYPES.items():
        points, special, ordinary = (f(case, dtype) for f in (cases.points, cases.special, cases.ordinary))
        inputs = [points, special, special, ordinary, ordinary]

        def everything(*flat: tf.Tensor) -> list[Any]:
            groups = [flat[i : i + case.inputs] for i in range(0, len(flat), case.inputs)]
            return [kind(*group) for kind, group in zip(kinds.values(), groups, strict=True)]

        if mode == "jit":
            everything = tf.function(everything, autograph=False, jit_compile=True)
        flat = [tf.constant(array) for group in inputs[: len(kinds)] for array in group]
        for kind, result in zip(kinds, everything(*flat), strict=True):
            # NumPy's files have no bfloat16.
            results[f"{case.key}/{name}/{kind}"] = np.stack(
                [tensor.numpy().astype(np.float64) for tensor in tf.nest.flatten(result)]
            )
    return results


def _bits(values: np.ndarray) -> bytes:
    """The bits of values; a NaN is a NaN, and threads may flush what is not normal."""
    values = values.copy()
    magnitude = np.abs(values)
    values[magnitude < cases.smallest_normal(values.dtype)] *= 0
    values[np.isnan(values)] = np.nan
    return bytes(values.tobytes())


def check_positions(function: Callable[..., Any], case: cases.Function) -> list[str]:
    """Whether a result does not depend on where the element is, on how many there are, and on the threads.

    Returns:
      what differs.
    """
    errors = []
    for name, dtype in cases.DTYPES.items():
        arrays = [np.resize(array[::37], _LARGE) for array in cases.points(case, dtype)]
        tensors = [tf.constant(array) for array in arrays]

        def copied(begin: int, end: int, arrays: list[np.ndarray] = arrays) -> bytes:
            return _bits(function(*(tf.constant(array[begin:end]) for array in arrays), **case.attributes).numpy())

        def sliced(begin: int, end: int, tensors: list[tf.Tensor] = tensors) -> bytes:
            # The elements move within their packets.
            return _bits(function(*(tensor[begin:end] for tensor in tensors), **case.attributes).numpy())

        size = dtype.itemsize
        whole = copied(0, _LARGE)
        same = {f"{n} elements": copied(n, 2 * n) == whole[n * size : 2 * n * size] for n in range(1, _LONGEST + 1)}
        same |= {f"from {n} on": sliced(n, _LARGE) == whole[n * size :] for n in (1, 4, 5, 15)}
        parts = [copied(begin, min(begin + 1000, _LARGE)) for begin in range(0, _LARGE, 1000)]
        same["by one thread"] = b"".join(parts) == whole
        errors += [f"{case.key} of {name}: {what}" for what, is_same in same.items() if not is_same]
    return errors


def main(library: str, output: str, mode: str) -> None:
    """Computes all functions, and saves the results."""
    tf.config.threading.set_intra_op_parallelism_threads(2)
    lib = tf.load_op_library(library)
    results = {}
    errors = []
    registered = set()
    for case in cases.FUNCTIONS:
        function = getattr(lib, case.op)
        if case.op not in registered:
            elementwise.register("".join(word.capitalize() for word in case.op.split("_")), lib)
            registered.add(case.op)
        results.update(compute(function, case, mode))
        if mode == "eager":
            errors += check_positions(function, case)
    np.savez(output, **results, positions=np.array(errors))


if __name__ == "__main__":
    main(*sys.argv[1:])
