# SPDX-License-Identifier: Apache-2.0
"""Calls each op so often that what a call does not free can be seen in the size of the process."""

from __future__ import annotations

import functools
import gc
import os
import pathlib
from collections.abc import Callable

import tensorflow as tf
from absl.testing import absltest, parameterized

import tensorflow_custom_ops
from tests.stress import op_call

OPS = os.environ["OPS"].split()

# How often each op and its gradient are called in a graph, how often eagerly, and how often a function is traced.
GRAPH_CALLS = 100_000
EAGER_CALLS = 1000
TRACES = 300

# What each may leave behind on average, in bytes. The least that a kernel can lose, a buffer and its counter, is 112.
# Python and TensorFlow keep some memory for later.
GRAPH_CALL_BYTES = 60
EAGER_CALL_BYTES = 400
TRACE_BYTES = 5000


def resident() -> int:
    """The size of this process's memory, in bytes."""
    gc.collect()
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def growth(call: Callable[[], object], count: int) -> int:
    """By how many bytes the process grows in some calls: the least of some attempts, for a leak is in all of them."""
    growths = []
    for _ in range(4):
        before = resident()
        for _ in range(count):
            call()
        growths.append(resident() - before)
    return min(growths[1:])


class MemoryTest(parameterized.TestCase):
    @parameterized.parameters(OPS)
    def test_calls_free_all(self, op: str) -> None:
        function, inputs = op_call.op_call(op)

        @tf.function(autograph=False)
        def call_often(count: tf.Tensor) -> tf.Tensor:
            def call(number: tf.Tensor, total: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
                results = op_call.gradients(function, inputs)
                return number + 1, total + tf.add_n([tf.cast(tf.reduce_sum(result), tf.float32) for result in results])

            return tf.while_loop(lambda number, _: number < count, call, (0, 0.0), parallel_iterations=1)[1]

        call_often(GRAPH_CALLS // 10)
        before = resident()
        call_often(GRAPH_CALLS)
        self.assertLess(resident() - before, GRAPH_CALL_BYTES * GRAPH_CALLS)
        # One source at a time: TensorFlow's tape leaks 640 bytes where two have the same gradient, for tf.add, too.
        for source in op_call.floating(inputs):
            call = functools.partial(op_call.gradients, function, inputs, [source])
            self.assertLess(growth(call, EAGER_CALLS), EAGER_CALL_BYTES * EAGER_CALLS)

    def test_traces_free_all(self) -> None:
        x = tf.ones([3, 5])

        def trace() -> None:
            tf.function(tensorflow_custom_ops.my_op)(x)

        self.assertLess(growth(trace, TRACES), TRACE_BYTES * TRACES)


if __name__ == "__main__":
    # Otherwise TensorFlow takes calls of the same inputs out of the loop.
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    absltest.main()
