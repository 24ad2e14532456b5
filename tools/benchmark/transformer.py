# SPDX-License-Identifier: Apache-2.0
# >>> only with flash_attention, layer_norm, rms_norm, rms_norm_residual, rotary_embedding: whole file
"""Times what transformers are made of against Keras and PyTorch, in turns.

    bazel run //tools/benchmark:transformer
    bazel run //tools/benchmark:transformer -- --op rms_norm,flash_attention --threads 1 --max-elements 1e6

A cell is the median time in microseconds, the interquartile range in percent of it, and their median through ours in
the same row: above 1x, ours is faster. Keras runs in our mode; PyTorch, if it can be imported, eagerly. The backward
pass includes the forward pass.

The limit is the least that this machine would need, measured in the same turns: for attention the time of as many
operations in one large product of matrices, by TensorFlow; for the other ops that of a copy of as many bytes as must be
read and written, into memory that is there. Its ratio is the fraction that ours reaches: 0.95x is 95 %.

Of attention there is also the memory that one forward and backward pass takes at most, in a process of its own.
"""

from __future__ import annotations

import argparse
import functools
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

# Before TensorFlow is imported, for it prints.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# Before PyTorch is: its threads would otherwise spin into the next one's turn.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
import tensorflow as tf

from tools.benchmark import common, timing
from tools.benchmark.common import Function, Time
from tools.benchmark.transformer_cases import CASES, Case

DTYPES = ("float16", "bfloat16", "float32", "float64")
ROW = "{:>22} {:>8} {:>11} {:>5} {:>15}" + " {:>22}" * 3
MEMORY_ROW = "{:>22} {:>11} {:>10} {:>10} {:>6}"
KERAS, OURS, TORCH, LIMIT = "keras", "ours", "torch", "limit"
# Rows of the matrices whose product shows how fast products are.
PRODUCT_SIZE = 2048


def _ops(text: str) -> list[Case]:
    unknown = [name for name in text.split(",") if name not in CASES]
    if unknown:
        raise argparse.ArgumentTypeError(f"there is no {unknown[0]!r}; there are {','.join(CASES)}")
    return [CASES[name] for name in text.split(",")]


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parses the command line."""
    parser = common.Parser(
        prog="transformer", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    number, count = (functools.partial(common.positive, of) for of in (float, int))
    parser.add_argument("--op", type=_ops, default=list(CASES.values()), help="default: all of " + ",".join(CASES))
    parser.add_argument("--dtype", choices=DTYPES, default="float32", help="default: %(default)s")
    parser.add_argument("--threads", type=count, help="of TensorFlow's ops, and of PyTorch's (default: each one's own)")
    parser.add_argument("--max-elements", type=number, default=1e9, help="of an input; larger sizes are left out")
    parser.add_argument("--seconds", type=number, default=2.0, help="for each op, pass and size (default: %(default)s)")
    # What a process of its own does for the memory.
    parser.add_argument("--peak", choices=(KERAS, OURS), help=argparse.SUPPRESS)
    parser.add_argument("--size", type=count, nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def arrays(case: Case, size: tuple[int, int], dtype: tf.DType, backward: bool) -> list[np.ndarray]:
    """Inputs, and the incoming gradient if there is a backward pass."""
    generator = np.random.default_rng(0)
    shapes = case.shapes(*size)
    if backward:
        shapes = (*shapes, shapes[0])
    return [generator.standard_normal(shape).astype(dtype.as_numpy_dtype) for shape in shapes]


class Benchmark:
    """Times ops of one type on some threads."""

    def __init__(self, dtype: str, threads: int | None, seconds: float) -> None:
        self._dtype = tf.as_dtype(dtype)
        self._seconds = seconds
        self._torch = common.import_torch()
        self._threads = common.use_threads(threads, self._torch)
        self._pool = ThreadPoolExecutor(self._threads)

    def describe(self) -> str:
        """What is timed."""
        torch = f"PyTorch {self._torch.__version__}" if self._torch else "no PyTorch"
        return f"{self._dtype.name}, threads: {self._threads}, TensorFlow {tf.__version__}, {torch}"

    def _torch_call(self, case: Case, inputs: list[np.ndarray], backward: bool) -> Callable[[], object]:
        torch = self._torch
        assert torch is not None
        assert case.torch is not None
        # By way of float64, for PyTorch does not know NumPy's bfloat16.
        tensors = [torch.tensor(x.astype(np.float64), dtype=getattr(torch, self._dtype.name)) for x in inputs]
        function = case.torch(torch)
        if not backward:
            return functools.partial(torch.no_grad()(function), *tensors)
        for tensor in tensors[:-1]:
            tensor.requires_grad_()
        return functools.partial(common.torch_with_gradient(torch, function, len(tensors) - 1), *tensors)

    def _limit_call(self, case: Case, size: tuple[int, int], backward: bool) -> tuple[Callable[[], object], float]:
        """What is limited as the op is, and how many times as long the op must take."""
        if case.products:
            matrix = tf.ones([PRODUCT_SIZE, PRODUCT_SIZE], self._dtype)
            operations = case.products(*size) * (3.5 if backward else 1)
            return functools.partial(tf.matmul, matrix, matrix), operations / (2 * PRODUCT_SIZE**3)
        moved = case.moved[backward] * int(np.prod(case.shapes(*size)[0])) * self._dtype.size
        # A copy of a byte moves two.
        return common.copy_into(moved // 2, self._threads, self._pool), 1.0

    def compare(self, case: Case, size: tuple[int, int], backward: bool) -> dict[tuple[str, str], Time]:
        """The times by who computes and in which mode; what has no modes has ""."""
        inputs = arrays(case, size, self._dtype, backward)
        tensors = [tf.constant(array) for array in inputs]
        calls: dict[tuple[str, str], Callable[[], object]] = {}
        for mode, wrap in common.modes().items():
            for label, function in ((OURS, case.ours), (KERAS, case.keras)):
                whole = common.with_gradient(function, len(inputs) - 1) if backward else function
                calls[label, mode] = functools.partial(wrap(whole), *tensors)
        if self._torch and case.torch:
            calls[TORCH, ""] = self._torch_call(case, inputs, backward)
        calls[LIMIT, ""], factor = self._limit_call(case, size, backward)
        times = dict(zip(calls, timing.in_turns(list(calls.values()), self._seconds), strict=True))
        times[LIMIT, ""] = [factor * time for time in times[LIMIT, ""]]
        return {key: Time.of(of_key) for key, of_key in times.items()}


def print_times(benchmark: Benchmark, cases: list[Case], max_elements: float) -> None:
    """Prints the table of times."""
    print("\n" + ROW.format("op", "pass", "size", "mode", "ours us", "Keras us", "PyTorch us", "limit us"))
    for case in cases:
        for size in case.sizes:
            if np.prod(case.shapes(*size)[0]) > max_elements:
                continue
            for name in ("forward", "backward"):
                times = benchmark.compare(case, size, name == "backward")
                for (label, mode), ours in times.items():
                    if label == OURS:
                        theirs = times[KERAS, mode], times.get((TORCH, "")), times[LIMIT, ""]
                        cells = [time.against(ours) if time else "-" for time in theirs]
                        print(ROW.format(case.name, name, "{}x{}".format(*size), mode, str(ours), *cells), flush=True)


def _resident(which: str) -> float:
    """How much memory this process has, VmRSS, or has had at most, VmHWM, in MiB."""
    (kibibytes,) = re.findall(rf"{which}:\s+(\d+) kB", pathlib.Path("/proc/self/status").read_text())
    return int(kibibytes) / 1024


def peak(case: Case, function: Function, size: tuple[int, int], dtype: tf.DType) -> float:
    """By how many MiB this process grows at most in a forward and backward pass."""
    inputs = [tf.constant(array) for array in arrays(case, size, dtype, backward=True)]
    call = common.graph(common.with_gradient(function, len(inputs) - 1))
    # Of a small size first, for what TensorFlow allocates once.
    call(*(x[:, :16] for x in inputs))
    # Forgets what the process has had at most.
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = _resident("VmRSS")
    call(*inputs)
    return _resident("VmHWM") - before


def print_memory(cases: list[Case], arguments: Sequence[str], max_elements: float) -> None:
    """Prints the table of the memory of attention."""
    print("\n" + MEMORY_ROW.format("op", "size", "ours MiB", "Keras MiB", ""))
    for case in cases:
        size = max(case.sizes)
        if not case.name.startswith("flash_attention") or np.prod(case.shapes(*size)[0]) > max_elements:
            continue
        program = [sys.executable, "-m", "tools.benchmark.transformer", *arguments, "--op", case.name]
        peaks = []
        for label in (OURS, KERAS):
            result = subprocess.run(
                [*program, "--peak", label, "--size", *map(str, size)],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            peaks.append(float(result.stdout))
        ours, keras = peaks
        cells = f"{ours:.0f}", f"{keras:.0f}", f"{keras / ours:.1f}x"
        print(MEMORY_ROW.format(case.name, "{}x{}".format(*size), *cells), flush=True)


def main(arguments: Sequence[str]) -> None:
    """Prints the tables."""
    args = parse(arguments)
    # TensorFlow warns of many tf.functions from the same line.
    tf.get_logger().setLevel("ERROR")
    if args.peak:
        case = args.op[0]
        function = case.ours if args.peak == OURS else case.keras
        print(peak(case, function, tuple(args.size), tf.as_dtype(args.dtype)))
        return
    benchmark = Benchmark(args.dtype, args.threads, args.seconds)
    print(benchmark.describe())
    print_times(benchmark, args.op, args.max_elements)
    print_memory(args.op, arguments, args.max_elements)


if __name__ == "__main__":
    main(sys.argv[1:])
