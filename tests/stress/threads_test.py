# SPDX-License-Identifier: Apache-2.0
"""Calls the ops from many threads, with thread pools of several sizes, and from within the pools."""

from __future__ import annotations

import concurrent.futures
import os

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

from tests import op_test_case
from tests.stress import op_call

OPS = os.environ["OPS"].split()
THREADS = 16

# Prints hashes of what ops of each kind make of inputs that are large enough for every thread, and of the gradients.
# argv: the size of the pools.
PROGRAM = """
import hashlib
import sys

import tensorflow as tf

tf.config.threading.set_intra_op_parallelism_threads(int(sys.argv[1]))
tf.config.threading.set_inter_op_parallelism_threads(int(sys.argv[1]))

import tensorflow_custom_ops as ops
from tests.stress import op_call


def normal(*shape):
    return tf.random.stateless_normal(shape, seed=[1, 2])


heads = normal(2, 300, 4, 64)
for function, inputs in {
    ops.my_op: [normal(1_000_003)],
    # >>> only with mish
    ops.mish: [normal(1_000_003)],
    # <<<
    # >>> only with swi_glu_gate
    ops.swi_glu_gate: [normal(1001, 999), normal(999)],
    # <<<
    # >>> only with fused_dense
    ops.fused_dense: [normal(1001, 300), normal(300, 200), normal(200)],
    # <<<
    # >>> only with top_k_mask
    ops.top_k_mask: [normal(301, 1001), 7],
    # <<<
    # >>> only with layer_norm
    ops.layer_norm: [normal(3001, 300), normal(300), normal(300)],
    # <<<
    # >>> only with rotary_embedding
    ops.rotary_embedding: [heads],
    # <<<
    # >>> only with flash_attention
    ops.flash_attention: [heads, heads, heads],
    # <<<
}.items():
    results = op_call.gradients(lambda *tensors: [function(*tensors)], [tf.convert_to_tensor(each) for each in inputs])
    digest = hashlib.sha256(b"".join(tf.io.serialize_tensor(result).numpy() for result in results))
    print(function.__name__, len(results), digest.hexdigest())
"""

# Calls an op, which asks for the threads of a pool, in that pool's threads; with one thread in each pool.
NESTED = """
import sys

import tensorflow as tf

tf.config.threading.set_intra_op_parallelism_threads(int(sys.argv[1]))
tf.config.threading.set_inter_op_parallelism_threads(int(sys.argv[1]))

import tensorflow_custom_ops as ops

x = tf.random.normal([64, 256, 512], seed=1)


def use(row):
    y = ops.my_op(row)
    # >>> only with mish
    y = ops.mish(y)
    # <<<
    # >>> only with rms_norm
    y = ops.rms_norm(y, tf.ones([512]))
    # <<<
    # >>> only with fused_dense
    y = ops.fused_dense(y, tf.ones([512, 512]), tf.ones([512]))
    # <<<
    return y


options = tf.data.Options()
options.threading.private_threadpool_size = int(sys.argv[1])
data = tf.data.Dataset.from_tensor_slices(x).map(use, num_parallel_calls=8).with_options(options)
mapped = tf.function(lambda: tf.map_fn(use, x, tf.float32, parallel_iterations=8))()
tf.debugging.assert_equal(tf.stack(list(data)), mapped)
"""


class ThreadsTest(op_test_case.OpTestCase):
    @parameterized.parameters(OPS)
    def test_many_threads_get_what_one_gets(self, op: str) -> None:
        function, inputs = op_call.op_call(op)
        graph = tf.function(lambda *tensors: op_call.gradients(function, tensors))
        expected = [result.numpy() for result in op_call.gradients(function, inputs)]

        def use(number: int) -> None:
            for _ in range(20):
                run = graph if number % 2 else (lambda *tensors: op_call.gradients(function, tensors))
                for result, value in zip(run(*inputs), expected, strict=True):
                    np.testing.assert_array_equal(result.numpy(), value)

        with concurrent.futures.ThreadPoolExecutor(THREADS) as executor:
            list(executor.map(use, range(THREADS)))

    def test_pools_of_all_sizes_give_the_same(self) -> None:
        results = {self.run_python(PROGRAM, str(size)).stdout for size in (1, 2, 8)}
        self.assertLen(results, 1, results)

    def test_ops_in_threads_of_the_pools_that_they_use(self) -> None:
        for size in (1, 2):
            self.run_python(NESTED, str(size))


if __name__ == "__main__":
    absltest.main()
