# SPDX-License-Identifier: Apache-2.0
"""Computes the ops on many inputs, and compares what two kinds of kernels make of them.

    compare_kernels.py --out FILE.npz [--device CPU|GPU] [--modes eager graph jit]
    compare_kernels.py --compare FILE.npz OTHER.npz

The inputs, those of compare_kernels_cases.py, are the same in each run. Results must agree to the last bit, but for the
kind of NaN; those with a bound within that: what sums in another order, cosines and sines may differ by.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator

# Before TensorFlow is imported, for it prints.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

import tensorflow_custom_ops
from tests.gpu.compare_kernels_cases import Case, all_cases, random

MODES = ("eager", "graph", "jit") if tensorflow_custom_ops.build_info()["xla"] else ("eager", "graph")

# Of an array's name in a file, before it that of the array which it is about.
BOUND = " bound"

# How many differences are printed.
SHOWN = 20


def outputs_and_gradients(case: Case, mode: str) -> tuple[list[tf.Tensor], list[tf.Tensor]]:
    """The results of a case in one of MODES."""

    def call(weight: tf.Tensor, *inputs: tf.Tensor) -> tuple[list[tf.Tensor], list[tf.Tensor]]:
        if not case.differentiable:
            return tf.nest.flatten(case.function(*inputs)), []
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            outputs = tf.nest.flatten(case.function(*inputs))
        return outputs, tape.gradient(outputs[0], inputs, weight)

    inputs = [tf.constant(array) for array in case.inputs]
    # An argument: the gradient of a constant might be computed when the graph is made, on the CPU.
    shape = tuple(tf.nest.flatten(case.function(*inputs))[0].shape)
    weight = tf.constant(random(shape, inputs[0].dtype, 9))
    function: Callable[..., tuple[list[tf.Tensor], list[tf.Tensor]]] = call
    if mode != "eager":
        function = tf.function(call, autograph=False, jit_compile=mode == "jit")
    return function(weight, *inputs)


def to_numpy(tensor: tf.Tensor, dtype: tf.DType, device: str) -> np.ndarray:
    """A tensor's values, in a type that NumPy can save.

    Raises:
      RuntimeError: the tensor is not of the type, or elsewhere than on the device.
    """
    # On a GPU device too, int32 is in host memory.
    if tensor.dtype not in (dtype, tf.bool) or (dtype != tf.int32 and not tensor.device.endswith(f"{device}:0")):
        raise RuntimeError(f"this is {tensor.dtype.name} on {tensor.device}, and not {dtype.name} on {device}")
    values: np.ndarray = tensor.numpy()
    return values.astype(np.float32) if tensor.dtype == tf.bfloat16 else values


def arrays_of(case: Case, mode: str, device: str) -> Iterator[tuple[str, np.ndarray]]:
    """Named results of a case, with what they may differ by where they may."""
    outputs, gradients = outputs_and_gradients(case, mode)
    dtype = tf.as_dtype(case.inputs[0].dtype)
    for kind, tensors in (("output", outputs), ("gradient", gradients)):
        for index, tensor in enumerate(tensors):
            name = f"{case.name}, {mode}: {kind} {index}"
            values = to_numpy(tensor, dtype, device)
            yield name, values
            bound = case.bound
            if kind == "gradient":
                bound = case.gradient_bound * (1 + np.abs(values.astype(np.float64))) if case.gradient_bound else 0.0
            if np.any(bound):
                yield name + BOUND, np.asarray(bound)


def compute(out: str, device: str, modes: list[str]) -> None:
    """Writes the results of all cases to a file."""
    tf.config.experimental.enable_tensor_float_32_execution(False)
    arrays: dict[str, np.ndarray] = {}
    with tf.device(f"/{device}:0"):
        for case in all_cases():
            for mode in modes:
                arrays.update(arrays_of(case, mode, device))
    np.savez(out, **arrays)
    print(f"{out}: {len(arrays)} arrays, computed on the {device}")


def parts(array: np.ndarray) -> np.ndarray:
    """An array whose elements are the parts of complex numbers."""
    return array.reshape(-1).view(array.real.dtype) if np.iscomplexobj(array) else array


def differing(one: np.ndarray, other: np.ndarray, bound: np.ndarray | None) -> np.ndarray:
    """Whether elements, or parts of complex ones, differ by more than they may."""
    one, other = parts(one), parts(other)
    if not np.issubdtype(one.dtype, np.floating):
        return np.asarray(one != other)
    both_nan = np.isnan(one) & np.isnan(other)
    if bound is None:
        same = (one == other) & (np.signbit(one) == np.signbit(other))
    else:
        with np.errstate(invalid="ignore"):
            same = (one == other) | (np.abs(one.astype(np.float64) - other.astype(np.float64)) <= bound)
    return np.asarray(~(same | both_nan))


def difference(name: str, one: np.ndarray, other: np.ndarray, bound: np.ndarray | None) -> str | None:
    """What differs in two arrays, if something does."""
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return f"{name}: {one.dtype} {one.shape} and {other.dtype} {other.shape}"
    differs = differing(one, other, bound)
    if not np.any(differs):
        return None
    index = tuple(int(i) for i in np.argwhere(differs)[0])
    values = f"{parts(one)[index]!r} and {parts(other)[index]!r}"
    return f"{name}: {np.sum(differs)} of {differs.size} differ, first {values} at {index}"


def compare(one_path: str, other_path: str) -> int:
    """Compares two files; returns how many arrays differ."""
    with np.load(one_path) as file:
        one = dict(file)
    with np.load(other_path) as file:
        other = dict(file)
    names = [name for name in one if not name.endswith(BOUND)]
    other_names = [name for name in other if not name.endswith(BOUND)]
    if not names or set(names) != set(other_names):
        print(f"{one_path} and {other_path} have results of different cases, or of none")
        return max(1, len(set(names) ^ set(other_names)))
    found = [difference(name, one[name], other[name], one.get(name + BOUND)) for name in names]
    differences = [text for text in found if text]
    print(*differences[:SHOWN], sep="\n", end="\n" if differences else "")
    print(f"{len(names)} arrays compared, {len(differences)} differ")
    return len(differences)


def main() -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--out", metavar="FILE.npz", help="where to write what is computed")
    what.add_argument("--compare", nargs=2, metavar="FILE.npz", help="the files to compare")
    parser.add_argument("--device", choices=("CPU", "GPU"), default="CPU", help="default: %(default)s")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES, help="default: all that the build has")
    args = parser.parse_args()
    if args.compare:
        return 1 if compare(*args.compare) else 0
    compute(args.out, args.device, args.modes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
