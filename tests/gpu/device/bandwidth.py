# SPDX-License-Identifier: Apache-2.0
"""Times the ops' kernels against a copy of TensorFlow's on the same device, and prints a table.

    bandwidth.py [--device GPU|CPU] [--elements N...] [--dtype float32 half] [--rounds N] [--seconds S]

An op is called many times between two waits for the device. The calls are eager: where an array is small, they and not
the kernel are what is timed. A round gives the mean of its calls; the table has the median of all rounds, and as spread
how far they are apart. GB/s count once each byte that an op must read or write; "of copy" divides that by what the copy
reaches with as many elements. The copy is the op DeepCopy: a kernel of TensorFlow's own reads and writes each element.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator

# Before TensorFlow is imported, for it prints.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

import tensorflow_custom_ops as ops

# Of rows where an op has some.
ROW = 1000
SHORT_ROW = 8
ELEMENTS = (1_000_000, 10_000_000, 100_000_000)

LEGEND = ""
# >>> only with top_k_mask
LEGEND += f"""\
TopKMask: rows of {ROW}, of {SHORT_ROW}, and one row; k is a quarter of a row; the mask's bytes are counted. The kernel
reads a row several times, and one block of threads has it.
"""
# <<<
# >>> only with fused_dense
LEGEND += f"""\
FusedDense: relu of a product of inner size 1, with units = {ROW}: cuBLAS writes the sums, of half types as float32, and
the kernel for bias and activation reads them and writes the output.
FusedDense, bias: of inner size 0; that kernel alone, which then only writes.
"""
# <<<


@dataclasses.dataclass(frozen=True)
class Measured:
    """A call to time.

    Attributes:
      name: in the table.
      call: makes it.
      bytes_per_element: what it must read and write, of arrays as large as the output.
    """

    name: str
    call: Callable[[], tf.Tensor]
    bytes_per_element: int


def measured(elements: int, dtype: tf.DType) -> Iterator[Measured]:
    """What is timed with so many elements; the copy is the first."""
    size = dtype.size
    rows = elements // ROW
    flat = tf.cast(np.random.default_rng(0).standard_normal(rows * ROW, np.float32), dtype)
    yield Measured("copy", lambda: tf.raw_ops.DeepCopy(x=flat), 2 * size)
    yield Measured("MyOp", lambda: ops.my_op(flat), 2 * size)

    # >>> only with simple_add
    # Not the same array twice, which a cache would have.
    other = flat + tf.ones([], dtype)
    yield Measured("SimpleAdd", lambda: ops.simple_add(flat, other), 3 * size)
    # <<<

    # >>> only with top_k_mask
    def top_k_mask(row: int) -> Callable[[], tf.Tensor]:
        of_rows = tf.reshape(flat, [-1, row])
        k = tf.constant(row // 4, tf.int64)
        return lambda: ops.top_k_mask(of_rows, k)

    yield Measured("TopKMask", top_k_mask(ROW), 2 * size + 1)
    yield Measured(f"TopKMask, by {SHORT_ROW}", top_k_mask(SHORT_ROW), 2 * size + 1)
    yield Measured("TopKMask, one row", top_k_mask(rows * ROW), 2 * size + 1)
    # <<<

    # >>> only with fused_dense
    sums = tf.float32.size if dtype.size < tf.float32.size else size
    column, no_column = tf.ones([rows, 1], dtype), tf.ones([rows, 0], dtype)
    weights, no_weights = tf.ones([1, ROW], dtype), tf.ones([0, ROW], dtype)
    bias = tf.ones([ROW], dtype)
    yield Measured("FusedDense", lambda: ops.fused_dense(column, weights, bias, "relu"), 2 * sums + size)
    yield Measured("FusedDense, bias", lambda: ops.fused_dense(no_column, no_weights, bias, "relu"), size)
    # <<<


def seconds_of(call: Callable[[], tf.Tensor], calls: int) -> float:
    """The mean time of some calls, from before the first until the device has done the last."""
    tf.test.experimental.sync_devices()
    start = time.perf_counter()
    for _ in range(calls):
        call()
    tf.test.experimental.sync_devices()
    return (time.perf_counter() - start) / calls


def rounds_of(call: Callable[[], tf.Tensor], device: str, rounds: int, seconds: float) -> list[float]:
    """The mean time of a call in each of some rounds, which take about as many seconds each.

    Raises:
      RuntimeError: the call's result is not on the device.
    """
    result = call()
    if not result.device.endswith(f"{device}:0"):
        raise RuntimeError(f"the result is on {result.device}, and not on the {device}")
    calls = max(1, round(seconds / seconds_of(call, 3)))
    return [seconds_of(call, calls) for _ in range(rounds)]


def positive(text: str) -> int:
    """Parses a number of elements.

    Raises:
      argparse.ArgumentTypeError: it has no whole row.
    """
    if not text.isdigit() or int(text) < ROW:
        raise argparse.ArgumentTypeError(f"the number of elements is {ROW} at least, but it is {text!r}")
    return int(text)


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("GPU", "CPU"), default="GPU", help="default: %(default)s")
    parser.add_argument("--elements", type=positive, nargs="+", default=ELEMENTS, help="default: %(default)s")
    parser.add_argument("--dtype", nargs="+", default=("float32", "half"), help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=7, help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=0.1, help="of each round (default: %(default)s)")
    args = parser.parse_args()

    print(f"TensorFlow {tf.__version__}, {args.device}, median of {args.rounds} rounds")
    row = "{:>9} {:>11}  {:<17} {:>10} {:>9} {:>8} {:>8}"
    print(row.format("type", "elements", "op", "us", "spread", "GB/s", "of copy"))
    with tf.device(f"/{args.device}:0"):
        for dtype in map(tf.as_dtype, args.dtype):
            for elements in args.elements:
                copy = 0.0
                for one in measured(elements, dtype):
                    times = rounds_of(one.call, args.device, args.rounds, args.seconds)
                    median = statistics.median(times)
                    rate = elements // ROW * ROW * one.bytes_per_element / median / 1e9
                    copy = copy or rate
                    spread = (max(times) - min(times)) / median
                    print(
                        row.format(
                            *(dtype.name, elements, one.name, f"{median * 1e6:.1f}"),
                            *(f"{spread:.0%}", f"{rate:.1f}", f"{rate / copy:.2f}"),
                        ),
                        flush=True,
                    )
    print(LEGEND, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
