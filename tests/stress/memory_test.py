# SPDX-License-Identifier: Apache-2.0
"""Calls each op so often that what a call does not free can be seen in the size of the process."""

from __future__ import annotations

import gc
import os
import pathlib
from collections.abc import Callable

import tensorflow as tf
from absl.testing import absltest, parameterized

import tensorflow_custom_ops
from tests.stress import op_call

OPS = os.environ["OPS"].split()

# How often each op is called, how often with its gradient, and how often traced and compiled.
CALLS = 100_000
GRADIENTS = 10_000
TRACES = 1000

# What a call may leave behind on average. The least that a kernel can lose, a buffer and its counter, takes 112.
BYTES = 60


def resident() -> int:
    """The size of this process's memory, in bytes."""
    gc.collect()
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def growth(call: Callable[[], object], count: int) -> int:
    """By how many bytes the process grows in some calls, after a tenth of as many."""
    for _ in range(count // 10):
        call()
    before = resident()
    for _ in range(count):
        call()
    return resident() - before


def trace(function: Callable[..., object], inputs: list[tf.Tensor]) -> None:
    """Traces a function anew, and runs its graph."""
    tf.function(function)(*inputs)


class MemoryTest(parameterized.TestCase):
    @parameterized.parameters(OPS)
    def test_calls_free_all(self, op: str) -> None:
        call, inputs = op_call.op_call(op)
        self.assertLess(growth(lambda: call(*inputs), CALLS), BYTES * CALLS)
        self.assertLess(growth(lambda: op_call.gradients(call, inputs), GRADIENTS), 4 * BYTES * GRADIENTS)

    def test_traces_free_as_much_as_those_of_tensorflows_ops(self) -> None:
        x = [tf.ones([3, 5])]
        theirs = growth(lambda: trace(tf.nn.silu, x), TRACES)
        ours = growth(lambda: trace(tensorflow_custom_ops.scaled_silu, x), TRACES)
        self.assertLess(ours, theirs + BYTES * TRACES)


if __name__ == "__main__":
    absltest.main()
