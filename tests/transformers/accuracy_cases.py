# SPDX-License-Identifier: Apache-2.0
"""The ops of transformers at the sizes of models, and what they are expected to give, in float64."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

import tensorflow_custom_ops as ops

Arrays = Sequence[np.ndarray]


@dataclasses.dataclass(frozen=True)
class Case:
    """An op at one size.

    Attributes:
      op: The name of the op.
      size: As the documentation has it.
      shapes: The shapes of the inputs.
      outputs: How many outputs there are, of the shape of the first input.
      function: Calls the op, and returns its outputs.
      expected: The outputs, and the gradients with respect to the inputs, of inputs and of the outputs' gradients.
    """

    op: str
    size: str
    shapes: tuple[tuple[int, ...], ...]
    outputs: int
    function: Callable[..., Any]
    expected: Callable[[Arrays, Arrays], tuple[Arrays, Arrays]]

    @property
    def name(self) -> str:
        """What tells it from all others."""
        return f"{self.op} {self.size}"

    def arrays(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Inputs, and gradients of the outputs."""
        generator = np.random.default_rng(0)
        inputs = [generator.standard_normal(shape) for shape in self.shapes]
        return inputs, [generator.standard_normal(self.shapes[0]) for _ in range(self.outputs)]


def _mean(values: np.ndarray) -> np.ndarray:
    return np.mean(values, -1, keepdims=True)


def _normalized(
    x: np.ndarray, scale: np.ndarray, grad: np.ndarray, epsilon: float, centered: bool
) -> tuple[np.ndarray, list[np.ndarray]]:
    """A row divided by its root mean square, times the scale; gradients with respect to x, scale and an offset."""
    if centered:
        x = x - _mean(x)
    inverse = 1 / np.sqrt(_mean(x**2) + np.float64(np.float32(epsilon)))
    normalized = x * inverse
    scaled = grad * scale
    x_grad = scaled - normalized * _mean(scaled * normalized)
    if centered:
        x_grad = x_grad - _mean(scaled)
    return normalized * scale, [x_grad * inverse, np.sum(grad * normalized, 0), np.sum(grad, 0)]


def _rms_norm(inputs: Arrays, grads: Arrays) -> tuple[Arrays, Arrays]:
    y, gradients = _normalized(inputs[0], inputs[1], grads[0], epsilon=1e-6, centered=False)
    return [y], gradients[:2]


def _rms_norm_residual(inputs: Arrays, grads: Arrays) -> tuple[Arrays, Arrays]:
    x, residual, scale = inputs
    total = x + residual
    y, (x_grad, scale_grad, _) = _normalized(total, scale, grads[0], epsilon=1e-6, centered=False)
    return [y, total], [x_grad + grads[1], x_grad + grads[1], scale_grad]


def _layer_norm(inputs: Arrays, grads: Arrays) -> tuple[Arrays, Arrays]:
    y, gradients = _normalized(inputs[0], inputs[1], grads[0], epsilon=1e-3, centered=True)
    return [y + inputs[2]], gradients


def _rotated(x: np.ndarray, sign: int) -> np.ndarray:
    """Turned by positions 0, 1 and so on, or back."""
    half = x.shape[-1] // 2
    angles = np.arange(x.shape[1])[:, None, None] * 10000.0 ** (-np.arange(half) / half)
    cosine, sine = np.cos(angles), sign * np.sin(angles)
    first, second = x[..., :half], x[..., half:]
    return np.concatenate([first * cosine - second * sine, second * cosine + first * sine], -1)


def _rotary_embedding(inputs: Arrays, grads: Arrays) -> tuple[Arrays, Arrays]:
    return [_rotated(inputs[0], 1)], [_rotated(grads[0], -1)]


def _flash_attention(inputs: Arrays, grads: Arrays) -> tuple[Arrays, Arrays]:
    # With the heads before the length, for products of matrices.
    q, k, v, grad = (np.swapaxes(array, 1, 2) for array in (*inputs, *grads))
    (batch, heads, length, dim), kv_heads = q.shape, k.shape[1]
    scale = dim**-0.5

    def transposed(array: np.ndarray) -> np.ndarray:
        return np.swapaxes(array, -1, -2)

    def of_key_heads(array: np.ndarray) -> np.ndarray:
        return array.reshape(batch, kv_heads, heads // kv_heads, length, dim).sum(2)

    k, v = (np.repeat(array, heads // kv_heads, axis=1) for array in (k, v))
    scores = np.where(np.tri(length, dtype=bool), scale * q @ transposed(k), -np.inf)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    y = p @ v
    p_grad = grad @ transposed(v)
    score_grad = p * (p_grad - np.sum(y * grad, -1, keepdims=True)) * scale
    gradients = [score_grad @ k, of_key_heads(transposed(score_grad) @ q), of_key_heads(transposed(p) @ grad)]
    return [np.swapaxes(y, 1, 2)], [np.swapaxes(array, 1, 2) for array in gradients]


def _normalizations(rows: int, n: int) -> list[Case]:
    size = f"{rows} rows of {n}"
    x = (rows, n)
    return [
        Case("RmsNorm", size, (x, (n,)), 1, ops.rms_norm, _rms_norm),
        Case("RmsNormResidual", size, (x, x, (n,)), 2, ops.rms_norm_residual, _rms_norm_residual),
        Case("LayerNorm", size, (x, (n,), (n,)), 1, ops.layer_norm, _layer_norm),
    ]


def _rotary(length: int, dim: int) -> Case:
    shapes = ((1, length, 4, dim),)
    return Case("RotaryEmbedding", f"{length} x {dim}", shapes, 1, ops.rotary_embedding, _rotary_embedding)


def _attention(length: int, dim: int) -> Case:
    kv = (1, length, 2, dim)
    return Case(
        "FlashAttention",
        f"{length} x {dim}",
        ((1, length, 4, dim), kv, kv),
        1,
        lambda q, k, v: ops.flash_attention(q, k, v, causal=True),
        _flash_attention,
    )


CASES = [
    *_normalizations(128, 512),
    *_normalizations(1024, 4096),
    _rotary(128, 64),
    _rotary(1024, 128),
    _attention(128, 64),
    _attention(1024, 64),
    _attention(1024, 128),
]

# The columns of the documentation's table.
DTYPES = {"float32": tf.float32, "float64": tf.float64, "half": tf.half, "bfloat16": tf.bfloat16}
