# SPDX-License-Identifier: Apache-2.0
"""Times the elementwise ops against TensorFlow, NumPy, PyTorch and plain copies, in turns; prints tables, draws a plot.

    bazel run //tools/benchmark:elementwise
    bazel run //tools/benchmark:elementwise -- --op my_op --threads 1 --sizes 1e3,1e6 --plot /tmp/my_op.png

A cell is the median time in microseconds, the interquartile range in percent of it, and their median through ours in
the same row: above 1x, ours is faster. TensorFlow runs in our mode, or jit-compiled; NumPy and PyTorch run eagerly
whatever our mode is; NumPy runs on one thread. The backward pass includes the forward pass.

`copy` and `new copy` move as many bytes as the op must read and write, into memory that is there and, by TensorFlow,
into a new tensor. Their ratio is the fraction of the memory's bandwidth that ours reaches: 0.95x is 95 %. The GB/s are
what ours moves.

PyTorch is timed if it can be imported:

    pip install --target ~/torch torch
    PYTHONPATH=~/torch bazel run //tools/benchmark:elementwise
"""

from __future__ import annotations

import argparse
import collections
import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Before TensorFlow is imported, for it prints.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# Before PyTorch is: its threads would otherwise spin into the next one's turn.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
import tensorflow as tf

from tools.benchmark import common, timing
from tools.benchmark.common import Time
from tools.benchmark.elementwise_cases import CASES, Case

DTYPES = ("float16", "bfloat16", "float32", "float64")
SIZES = "1e3,1e4,1e5,1e6,1e7,1e8"
OVERHEAD_SIZES = (1, 1000)
# What plots can be; Matplotlib tells the format by the name.
IMAGES = (".pdf", ".png", ".svg")
PLOT = Path(__file__).with_name("plot")
OURS, TENSORFLOW, XLA, NUMPY, PYTORCH = "ours", "TensorFlow", "TensorFlow jit", "NumPy", "PyTorch"
COPY, NEW_COPY = "copy", "new copy"
THEIRS = (TENSORFLOW, XLA, NUMPY, PYTORCH, COPY, NEW_COPY)
ROW = "{:>13} {:>8} {:>9} {:>5} {:>15} {:>6}" + " {:>22}" * len(THEIRS)
OVERHEAD_ROW = "{:>13} {:>9} {:>5} {:>15} {:>22}"

# Ratios by op, pass and label: pairs of elements and ratio.
Ratios = dict[str, dict[str, dict[str, list[tuple[int, float]]]]]


def _sizes(text: str) -> list[int]:
    """Parses sizes such as 1e3,1e6."""
    try:
        sizes = [float(size) for size in text.split(",")]
        if any(size < 1 or size != int(size) for size in sizes):
            raise ValueError
    except (OverflowError, ValueError):
        raise argparse.ArgumentTypeError(f"sizes are whole numbers from 1 such as 1e3,1e6, not {text!r}") from None
    return [int(size) for size in sizes]


def _ops(text: str) -> list[Case]:
    """Parses names of ops such as my_op,other_op."""
    unknown = [name for name in text.split(",") if name not in CASES]
    if unknown:
        raise argparse.ArgumentTypeError(f"there is no {unknown[0]!r}; there are {','.join(CASES)}")
    return [CASES[name] for name in text.split(",")]


def _image(text: str) -> Path:
    """Parses the path of a plot. A measurement of minutes should not be lost for a wrong one."""
    # Bazel runs programs elsewhere.
    path = Path(os.environ.get("BUILD_WORKING_DIRECTORY", ""), text)
    if path.suffix not in IMAGES:
        raise argparse.ArgumentTypeError(f"a plot's name ends in {', '.join(IMAGES)}, but it is {text!r}")
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"cannot write {text!r}")
    return path


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parses the command line."""
    parser = common.Parser(
        prog="elementwise", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--op", type=_ops, default=list(CASES.values()), help="default: all of " + ",".join(CASES))
    parser.add_argument("--dtype", choices=DTYPES, default="float32", help="default: %(default)s")
    parser.add_argument("--sizes", type=_sizes, default=SIZES, help="numbers of elements (default: %(default)s)")
    parser.add_argument(
        "--threads",
        type=functools.partial(common.positive, int),
        help="of TensorFlow's ops, and as many of PyTorch's (default: each one's own)",
    )
    parser.add_argument(
        "--seconds",
        type=functools.partial(common.positive, float),
        default=1.0,
        help="for each op, pass and size (default: %(default)s)",
    )
    parser.add_argument("--plot", type=_image, help=f"the image to write: {', '.join(IMAGES)}")
    return parser.parse_args(arguments)


class Benchmark:
    """Times ops of one type on some threads."""

    def __init__(self, dtype: str, threads: int | None, seconds: float) -> None:
        self._dtype = tf.as_dtype(dtype)
        self._seconds = seconds
        self._modes = common.modes()
        self._torch = common.import_torch()
        self._threads = common.use_threads(threads, self._torch)
        self._pool = ThreadPoolExecutor(self._threads)

    def describe(self) -> str:
        """What is timed."""
        torch = f"PyTorch {self._torch.__version__}" if self._torch else "no PyTorch"
        setting = f"{self._dtype.name}, threads: {self._threads}"
        return f"{setting}, TensorFlow {tf.__version__}, NumPy {np.__version__}, {torch}"

    def _arrays(self, case: Case, size: int, backward: bool) -> list[np.ndarray]:
        """Inputs, and the incoming gradient if there is a backward pass."""
        generator = np.random.default_rng(0)
        draws = [*case.inputs, lambda generator, size: generator.standard_normal(size)] if backward else case.inputs
        return [draw(generator, size).astype(self._dtype.as_numpy_dtype) for draw in draws]

    def _torch_call(self, case: Case, arrays: list[np.ndarray], backward: bool) -> Callable[[], object]:
        """The call of PyTorch."""
        torch = self._torch
        assert torch is not None
        dtype = getattr(torch, self._dtype.name)
        # By way of float64, for PyTorch does not know NumPy's bfloat16.
        tensors = [torch.tensor(array.astype(np.float64), dtype=dtype) for array in arrays]
        function = case.torch(torch)
        if backward:
            for tensor in tensors[: case.differentiated]:
                tensor.requires_grad_()
            function = common.torch_with_gradient(torch, function, case.differentiated)
        return functools.partial(function, *tensors)

    def overhead(self, case: Case, size: int) -> dict[str, tuple[Time, Time]]:
        """For each mode but jit, the time of a call of ours, and of a built-in op."""
        tensors = [tf.constant(array) for array in self._arrays(case, size, backward=False)]
        modes = [mode for mode in self._modes if mode != "jit"]
        calls = [
            functools.partial(self._modes[mode](function), *tensors)
            for mode in modes
            for function in (case.ours, case.built_in)
        ]
        times = iter(map(Time.of, timing.in_turns(calls, self._seconds)))
        return dict(zip(modes, zip(times, times, strict=True), strict=True))

    def compare(self, case: Case, size: int, backward: bool) -> tuple[int, dict[tuple[str, str], Time]]:
        """The bytes that must move, and times by label and mode. What has not our modes has the mode ""."""
        arrays = self._arrays(case, size, backward)
        tensors = [tf.constant(array) for array in arrays]
        calls: dict[tuple[str, str], Callable[[], object]] = {}
        for mode, wrap in self._modes.items():
            theirs = (XLA, "") if mode == "jit" else (TENSORFLOW, mode)
            for key, function in (((OURS, mode), case.ours), (theirs, case.tensorflow)):
                whole = common.with_gradient(function, case.differentiated) if backward else function
                calls[key] = functools.partial(wrap(whole), *tensors)
        if case.numpy and not backward:
            calls[NUMPY, ""] = functools.partial(case.numpy, *arrays)
        if self._torch:
            calls[PYTORCH, ""] = self._torch_call(case, arrays, backward)
        moved = case.arrays(backward) * size * self._dtype.size
        # A copy of a byte moves two.
        calls[COPY, ""] = common.copy_into(moved // 2, self._threads, self._pool)
        calls[NEW_COPY, ""] = functools.partial(tf.raw_ops.DeepCopy, x=tf.ones(moved // 2, tf.uint8))
        with np.errstate(over="ignore"):
            times = map(Time.of, timing.in_turns(list(calls.values()), self._seconds))
            return moved, dict(zip(calls, times, strict=True))


def _print_overhead(benchmark: Benchmark, cases: list[Case]) -> None:
    print("\nA call on few elements, against a built-in op of one kernel:")
    print(OVERHEAD_ROW.format("op", "elements", "mode", f"{OURS} us", "built-in us"))
    for case in cases:
        for size in OVERHEAD_SIZES:
            for mode, (ours, built_in) in benchmark.overhead(case, size).items():
                print(OVERHEAD_ROW.format(case.name, size, mode, str(ours), built_in.against(ours)), flush=True)


def _rows(moved: int, times: dict[tuple[str, str], Time]) -> Iterator[tuple[str, list[str]]]:
    """The rows of one op, pass and size: the mode, and the cells."""
    for (label, mode), ours in times.items():
        if label == OURS:
            theirs = [times.get((name, mode)) or times.get((name, "")) for name in THEIRS]
            cells = [time.against(ours) if time else "-" for time in theirs]
            yield mode, [str(ours), f"{moved / ours.median / 1e3:.1f}", *cells]


def _print_comparison(benchmark: Benchmark, cases: list[Case], sizes: list[int]) -> Ratios:
    """Prints the table, and returns what the plot shows. What has not our modes is compared with our eager mode."""
    ratios: Ratios = {
        case.name: {name: collections.defaultdict(list) for name in ("forward", "backward")} for case in cases
    }
    print("\nAgainst what computes the same, and copies of as many bytes:")
    print(ROW.format("op", "pass", "elements", "mode", f"{OURS} us", "GB/s", *(f"{name} us" for name in THEIRS)))
    for case in cases:
        for name, lines in ratios[case.name].items():
            for size in sizes:
                moved, times = benchmark.compare(case, size, name == "backward")
                for mode, cells in _rows(moved, times):
                    print(ROW.format(case.name, name, size, mode, *cells), flush=True)
                for (label, mode), time in times.items():
                    if label != OURS:
                        ours = times[OURS, mode or "eager"]
                        lines[f"{label} {mode}".strip()].append((size, time.median / ours.median))
    return ratios


def main(arguments: Sequence[str]) -> None:
    """Prints the tables, and writes the plot."""
    args = parse(arguments)
    # TensorFlow warns of many tf.functions from the same line.
    tf.get_logger().setLevel("ERROR")
    benchmark = Benchmark(args.dtype, args.threads, args.seconds)
    print(benchmark.describe())
    _print_overhead(benchmark, args.op)
    ratios = _print_comparison(benchmark, args.op, args.sizes)
    if args.plot:
        content = json.dumps({"title": benchmark.describe(), "ratios": ratios})
        subprocess.run([PLOT, args.plot], input=content, text=True, check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
