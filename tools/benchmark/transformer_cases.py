# SPDX-License-Identifier: Apache-2.0
# >>> only with transformer.py: whole file
"""What transformers are made of: our ops, and the same of Keras and of PyTorch."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import keras
import tensorflow as tf

import tensorflow_custom_ops as ops
from tools.benchmark.common import Function

EPSILON = 1e-6
BASE = 10000.0

Shape = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Case:
    """One op, for some arguments.

    Attributes:
      name: The op's.
      ours: Our function.
      keras: The same of Keras.
      torch: The same of PyTorch, if it has it.
      shapes: The shapes of the inputs of a size: rows and their length, or the sequence and the size of a head.
      sizes: The sizes that are timed.
      moved: How many arrays of the first input's size a pass must read and write, forward, and with the backward pass.
      products: How many operations of matrix products a pass of a size needs, forward; with the backward pass it is 3.5
        times as many. None if it is the memory that limits the op.
    """

    name: str
    ours: Function
    keras: Function
    torch: Callable[[ModuleType], Function] | None
    shapes: Callable[[int, int], tuple[Shape, ...]]
    sizes: tuple[tuple[int, int], ...]
    moved: tuple[int, int]
    products: Callable[[int, int], float] | None = None


def _rms_norm_of_keras(x: tf.Tensor, scale: tf.Tensor) -> tf.Tensor:
    return keras.ops.rms_normalization(x, scale, epsilon=EPSILON)


def _layer_norm_of_keras(x: tf.Tensor, scale: tf.Tensor, offset: tf.Tensor) -> tf.Tensor:
    return keras.ops.layer_normalization(x, scale, offset, epsilon=EPSILON)


def _residual_of_keras(x: tf.Tensor, residual: tf.Tensor, scale: tf.Tensor) -> tf.Tensor:
    return _rms_norm_of_keras(x + residual, scale)


def _rotary_of_keras(x: tf.Tensor) -> tf.Tensor:
    length, half = keras.ops.shape(x)[1], x.shape[-1] // 2
    frequencies = BASE ** (-keras.ops.arange(half, dtype="float32") / half)
    angles = keras.ops.arange(length, dtype="float32")[:, None] * frequencies
    cos, sin = (keras.ops.cast(keras.ops.expand_dims(f(angles), 1), x.dtype) for f in (keras.ops.cos, keras.ops.sin))
    a, b = x[..., :half], x[..., half:]
    return keras.ops.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def _attention_of_keras(causal: bool) -> Function:
    return lambda q, k, v: keras.ops.dot_product_attention(q, k, v, is_causal=causal)


def _attention_of_torch(causal: bool) -> Callable[[ModuleType], Function]:
    def of(torch: ModuleType) -> Function:
        attention = torch.nn.functional.scaled_dot_product_attention

        def call(q: Any, k: Any, v: Any) -> Any:  # noqa: ANN401
            # Its heads come before the sequence.
            return attention(*(x.transpose(1, 2) for x in (q, k, v)), is_causal=causal).transpose(1, 2)

        return call

    return of


_ROWS = ((1024, 512), (1024, 1024), (1024, 4096), (8192, 1024))
_SEQUENCES = ((128, 64), (512, 64), (2048, 64), (2048, 128), (8192, 64))
_HEADS = 8


def _rows_and(vectors: int, residual: bool = False) -> Callable[[int, int], tuple[Shape, ...]]:
    return lambda rows, size: ((rows, size),) * (1 + residual) + ((size,),) * vectors


def _heads(inputs: int) -> Callable[[int, int], tuple[Shape, ...]]:
    return lambda length, size: ((1, length, _HEADS, size),) * inputs


def _products(causal: bool, length: int, size: int) -> float:
    return 4 * _HEADS * length**2 * size / (1 + causal)


_CASES = (
    Case(
        "rms_norm",
        lambda x, scale: ops.rms_norm(x, scale, EPSILON),
        _rms_norm_of_keras,
        lambda torch: lambda x, scale: torch.nn.functional.rms_norm(x, scale.shape, scale, EPSILON),
        _rows_and(1),
        _ROWS,
        (2, 5),
    ),
    Case(
        "rms_norm_residual",
        lambda x, residual, scale: ops.rms_norm_residual(x, residual, scale, EPSILON)[0],
        _residual_of_keras,
        lambda torch: (
            lambda x, residual, scale: torch.nn.functional.rms_norm(x + residual, scale.shape, scale, EPSILON)
        ),
        _rows_and(1, residual=True),
        _ROWS,
        (4, 7),
    ),
    Case(
        "layer_norm",
        lambda x, scale, offset: ops.layer_norm(x, scale, offset, EPSILON),
        _layer_norm_of_keras,
        lambda torch: lambda x, scale, offset: torch.nn.functional.layer_norm(x, scale.shape, scale, offset, EPSILON),
        _rows_and(2),
        _ROWS,
        (2, 5),
    ),
    Case(
        "rotary_embedding",
        lambda x: ops.rotary_embedding(x, base=BASE),
        _rotary_of_keras,
        None,
        _heads(1),
        _SEQUENCES,
        (2, 4),
    ),
    *(
        Case(
            "flash_attention" + "_causal" * causal,
            lambda q, k, v, causal=causal: ops.flash_attention(q, k, v, causal=causal),
            _attention_of_keras(causal),
            _attention_of_torch(causal),
            _heads(3),
            _SEQUENCES,
            (4, 11),
            # A causal mask hides the half.
            functools.partial(_products, causal),
        )
        for causal in (False, True)
    ),
)

CASES = {case.name: case for case in _CASES}
