# SPDX-License-Identifier: Apache-2.0
"""AllNumbers: an op of all types, with literals and an integer."""

from __future__ import annotations

import tensorflow as tf

from tests.elementwise.ops import gen_all_numbers

__all__ = ["all_numbers"]


def all_numbers(
    a: tf.types.experimental.TensorLike,
    b: tf.types.experimental.TensorLike,
    *,
    offset: int = 5,
    name: str | None = None,
) -> tf.Tensor:
    """Computes `2 * a * b - a + offset`, but -3 where a equals b."""
    return gen_all_numbers.all_numbers(a, b, offset=offset, name=name)
