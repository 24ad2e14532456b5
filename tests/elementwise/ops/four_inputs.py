# SPDX-License-Identifier: Apache-2.0
"""FactorsABCD: an op of four inputs, with an integer."""

from __future__ import annotations

import tensorflow as tf

from tensorflow_custom_ops.core import elementwise
from tests.elementwise.ops import gen_four_inputs

__all__ = ["four_inputs"]


def four_inputs(
    a: tf.types.experimental.TensorLike,
    b: tf.types.experimental.TensorLike,
    c: tf.types.experimental.TensorLike,
    d: tf.types.experimental.TensorLike,
    *,
    times: int = 2,
    name: str | None = None,
) -> tf.Tensor:
    """Computes `sigmoid(a) * tanh(b) * sin(c) * cos(d) * times`."""
    return gen_four_inputs.factors_abcd(a, b, c, d, times=times, name=name)


elementwise.register("FactorsABCD", gen_four_inputs)
