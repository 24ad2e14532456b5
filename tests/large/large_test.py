# SPDX-License-Identifier: Apache-2.0
"""Calls each op with more than 2^31 elements, and looks at the beginning, the end, and around the 2^31st.

    ./bazelw test //tests/large:large_test

It needs 20 GiB of memory, and so is no part of //...
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tensorflow_custom_ops as ops

OPS = os.environ["OPS"].split()
LIMIT = 2**31
# A row is of heads, each of features, where an op has such.
HEADS, FEATURES = 16, 64
ROW = HEADS * FEATURES
ROWS = LIMIT // ROW + 3
LOOKED_AT = {"beginning": slice(0, 2), "limit": slice(ROWS - 5, ROWS - 1), "end": slice(ROWS - 2, ROWS)}

# Calls of one tensor of rows, for the ops that take other arguments than tensors of its shape.
CALLS: dict[str, Callable[[tf.Tensor], tf.Tensor]] = {
    # >>> only with flash_attention
    "flash_attention": lambda x: _attention(_heads(x)),
    # <<<
    # >>> only with focal_logits
    "focal_logits": lambda x: ops.focal_logits(x, x),
    # <<<
    # >>> only with fused_dense
    "fused_dense": lambda x: ops.fused_dense(x, _vector(x)[:, tf.newaxis], tf.zeros([1], x.dtype)),
    # <<<
    # >>> only with layer_norm
    "layer_norm": lambda x: ops.layer_norm(x, _vector(x), _vector(x)),
    # <<<
    # >>> only with rms_norm
    "rms_norm": lambda x: ops.rms_norm(x, _vector(x)),
    # <<<
    # >>> only with rms_norm_residual
    "rms_norm_residual": lambda x: ops.rms_norm_residual(x, x, _vector(x))[0],
    # <<<
    # >>> only with rotary_embedding
    "rotary_embedding": lambda x: ops.rotary_embedding(_heads(x), tf.zeros([tf.shape(x)[0], 1], tf.int32) + 3),
    # <<<
    # >>> only with simple_add
    "simple_add": lambda x: ops.simple_add(x, x),
    # <<<
    # >>> only with swi_glu_gate
    "swi_glu_gate": lambda x: ops.swi_glu_gate(x, x),
    # <<<
    # >>> only with top_k_mask
    "top_k_mask": lambda x: ops.top_k_mask(x, 5),
    # <<<
}

# Gradients of two inputs, and their sum, do not fit into the memory beside these in float32.
TWO_INPUTS: list[str] = [
    "flash_attention",  # only with flash_attention
    "focal_logits",  # only with focal_logits
    "rms_norm_residual",  # only with rms_norm_residual
    "simple_add",  # only with simple_add
    "swi_glu_gate",  # only with swi_glu_gate
]


def _vector(x: tf.Tensor) -> tf.Tensor:
    return tf.cast(tf.linspace(-1.0, 1.0, ROW), x.dtype)


def _heads(x: tf.Tensor) -> tf.Tensor:
    """Each row as a batch of its own."""
    return tf.reshape(x, [-1, 1, HEADS, FEATURES])


# >>> only with flash_attention
def _attention(x: tf.Tensor) -> tf.Tensor:
    return ops.flash_attention(x, x, x)


# <<<


def _rows(dtype: tf.DType) -> tf.Tensor:
    """All rows, in one buffer: 1021 of them, again and again."""
    some = tf.cast(tf.random.stateless_uniform([1021, ROW], [1, 2]), dtype)
    return tf.tile(some, [-(-ROWS // 1021), 1])[:ROWS]


class LargeTest(parameterized.TestCase):
    @parameterized.product(op=OPS, dtype=(tf.half, tf.float32), is_gradient=(False, True))
    def test_rows_are_as_alone(self, op: str, dtype: tf.DType, is_gradient: bool) -> None:
        if is_gradient and dtype == tf.float32 and op in TWO_INPUTS:
            self.skipTest("takes more than 20 GiB")
        call = CALLS.get(op, getattr(ops, op))

        def gradient(x: tf.Tensor) -> tf.Tensor:
            return tf.gradients(call(x), x)[0]

        # In a graph, where only what is needed is computed and kept.
        function = tf.function(gradient if is_gradient else call, autograph=False)
        x = _rows(dtype)
        self.assertGreater(tf.size(x, tf.int64).numpy(), LIMIT)
        y = function(x)
        self.assertEqual(y.shape[0], ROWS)
        for name, rows in LOOKED_AT.items():
            np.testing.assert_allclose(
                y[rows].numpy().astype(np.float64),
                function(x[rows]).numpy().astype(np.float64),
                rtol=1e-2 if dtype == tf.half else 1e-5,
                atol=1e-3 if dtype == tf.half else 1e-6,
                err_msg=name,
            )


if __name__ == "__main__":
    absltest.main()
