# SPDX-License-Identifier: Apache-2.0
"""RowDistance: the squared distance between rows."""

from __future__ import annotations

import tensorflow as tf

from tests.migrate.pytorch import gen_row_distance

__all__ = ["row_distance"]


def row_distance(
    a: tf.types.experimental.TensorLike,
    b: tf.types.experimental.TensorLike,
    name: str | None = None,
) -> tf.Tensor:
    """Computes the sum of the squares of `a - b` over the last dimension."""
    return gen_row_distance.row_distance(a, b, name=name)


@tf.RegisterGradient("RowDistance")
def _row_distance_grad(op: tf.Operation, grad: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    a, b = op.inputs
    of_a = 2 * tf.expand_dims(grad, -1) * (a - b)
    return of_a, -of_a
