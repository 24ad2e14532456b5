# SPDX-License-Identifier: Apache-2.0
"""The inputs on which compare_kernels.py computes the ops, the same in each run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import ml_dtypes
import numpy as np
import tensorflow as tf

import tensorflow_custom_ops as ops
from tensorflow_custom_ops.ops.top_k_mask import gen_top_k_mask  # only with top_k_mask

FLOATS = (tf.half, tf.bfloat16, tf.float32, tf.float64)
# >>> only with simple_add
ADDED = (*FLOATS, tf.complex64, tf.complex128, tf.int32, tf.int64)
# <<<

# Sizes beside those of vectors, warps and blocks.
SHAPES: tuple[tuple[int, ...], ...] = ((), (0,), (1,), (3,), (33,), (5, 1, 51), (257,), (2051,))
# What is cut off at the front: the rest begins where vectors do, and where they do not.
STARTS = (16, 1)
# >>> only with top_k_mask
# Rows, their length, k.
ROWS = ((1, 1, 1), (3, 7, 0), (3, 7, 7), (0, 5, 2), (5, 33, 4), (2, 257, 100), (1, 3001, 17))
# <<<
# >>> only with fused_dense
# The input's shape, units.
DENSE: tuple[tuple[tuple[int, ...], int], ...] = (((3,), 5), ((0, 4), 3), ((2, 0), 3), ((7, 33), 17), ((33, 65), 129))
# Of FusedDense's gradients, which TensorFlow's products compute: few terms.
DENSE_GRADIENT = ((6, 9), 5)
ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "linear": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}
# <<<

# >>> only with rotary_embedding
# Input and positions, of which the angles are within some units of the last place of 10000.
ROTARY: tuple[tuple[tuple[int, ...], tuple[int, ...] | None], ...] = (
    ((1, 1, 2), None),
    ((2, 0, 3, 4), None),
    ((2, 7, 3, 16), (7,)),
    ((3, 5, 9, 46), (3, 5)),
    ((2, 3, 2, 13), None),
)
ROTARY_POSITIONS = 10000
# <<<

# >>> only with layer_norm, rms_norm, rms_norm_residual
# Shapes of rows that are normalised, beside those of vectors, warps and blocks.
NORMALIZED: tuple[tuple[int, ...], ...] = ((0, 5), (5, 1), (2, 3, 7), (66, 130), (3, 1027))
# Roundings beside those of sums, whose errors mostly cancel out.
NORMALIZATION_ULPS = 64
# <<<

# >>> only with flash_attention
# Of queries and of keys, of the bias; causal, window. Below and above a tile, with heads that share a key head.
ATTENTION: tuple[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...] | None, bool, int | None], ...] = (
    ((1, 1, 1, 1), (1, 1, 1, 1), None, False, None),
    ((2, 0, 2, 8), (2, 3, 2, 8), None, False, None),
    ((2, 5, 4, 8), (2, 7, 2, 8), (2, 1, 1, 7), True, None),
    ((2, 6, 2, 17), (2, 6, 1, 17), (6, 6), False, 2),
    ((1, 70, 2, 5), (1, 40, 1, 5), (2, 1, 40), True, None),
    ((1, 3, 1, 80), (1, 67, 1, 80), None, True, 9),
)
# Of sums of products, exponentials, and what is made of an output that two kernels round differently.
ATTENTION_ULPS = 64
# <<<

# >>> only with fused_dense
# Errors of an activation's own code, in units of the last place of the type in which it is computed.
ACTIVATION_ULPS = 8
# Where threads flush denormals to zero, sigmoid does not underflow to the same.
UNDERFLOW = 1e-30
# Of gradients, in units of the last place: each of two kernels rounds output, derivative, product and sum.
GRADIENT_ULPS = 32
# <<<


@dataclasses.dataclass(frozen=True)
class Case:
    """An op and its inputs.

    Attributes:
      name: tells it from all others.
      function: calls the op.
      inputs: the arguments.
      differentiable: whether gradients with respect to all inputs are computed too.
      bound: what an output's elements may differ by; 0 if by no bit.
      gradient_bound: what a gradient's elements may, in relation to 1 plus their size.
    """

    name: str
    function: Callable[..., tf.Tensor | tuple[tf.Tensor, ...]]
    inputs: tuple[np.ndarray, ...]
    differentiable: bool = True
    bound: np.ndarray | float = 0.0
    gradient_bound: float = 0.0


def random(shape: tuple[int, ...], dtype: tf.DType, seed: int) -> np.ndarray:
    """Normally distributed values, or integers of the whole type."""
    generator = np.random.default_rng(seed)
    if dtype.is_integer:
        return np.asarray(generator.integers(dtype.min, dtype.max, shape, dtype.as_numpy_dtype, endpoint=True))
    values = generator.standard_normal(shape)
    if dtype.is_complex:
        values = values + 1j * generator.standard_normal(shape)
    return np.asarray(values).astype(dtype.as_numpy_dtype)


def special(dtype: tf.DType) -> np.ndarray:
    """Values that are special, but no denormals: TensorFlow's threads on the CPU may flush those to zero."""
    if dtype.is_integer:
        return np.array([dtype.min, -1, 0, 1, dtype.max], dtype.as_numpy_dtype)
    real = dtype.real_dtype
    values = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0, -1.0, real.max, real.min]).astype(real.as_numpy_dtype)
    if not dtype.is_complex:
        return values
    result = np.empty(values.shape, dtype.as_numpy_dtype)
    # One by one: what i times infinity adds to the other is no number.
    result.real, result.imag = values, values[::-1]
    return result


def my_op_cases() -> Iterator[Case]:
    """Of MyOp."""
    for dtype in FLOATS:
        for shape in SHAPES:
            yield Case(f"MyOp {dtype.name} {shape}", ops.my_op, (random(shape, dtype, 1),))
        yield Case(f"MyOp {dtype.name} special", ops.my_op, (special(dtype),))
        for start in STARTS:
            x = random((501,), dtype, 1)
            yield Case(f"MyOp {dtype.name} from {start}", lambda x, start=start: ops.my_op(x[start:]), (x,))


# >>> only with simple_add
def simple_add_cases() -> Iterator[Case]:
    """Of SimpleAdd."""
    for dtype in ADDED:
        pairs = {str(shape): (random(shape, dtype, 1), random(shape, dtype, 2)) for shape in SHAPES}
        a, b = np.meshgrid(special(dtype), special(dtype))
        pairs["special"] = (a, b)
        for name, pair in pairs.items():
            yield Case(f"SimpleAdd {dtype.name} {name}", ops.simple_add, pair, not dtype.is_integer)
        for start in STARTS:
            yield Case(
                f"SimpleAdd {dtype.name} from {start}",
                lambda a, b, start=start: ops.simple_add(a[start:], b[start:]),
                (random((501,), dtype, 1), random((501,), dtype, 2)),
                not dtype.is_integer,
            )


# <<<


# >>> only with top_k_mask
def top_k_mask_cases() -> Iterator[Case]:
    """Of TopKMask, with both of its outputs."""
    for dtype in FLOATS:
        inputs = [(f"{rows} x {n}", random((rows, n), dtype, 1), k) for rows, n, k in ROWS]
        # Of equal elements the first are kept.
        ties = (np.arange(154).reshape(2, 77) * 7 % 5).astype(dtype.as_numpy_dtype)
        for k in (1, 4, 8):
            inputs += [("special", special(dtype)[None], k), ("ties", ties, k)]
        for name, x, k in inputs:
            for fill_value in (0.0, -np.inf):
                yield Case(
                    f"TopKMask {dtype.name} {name}, k {k}, fill_value {fill_value}",
                    lambda x, k=k, fill_value=fill_value: tuple(
                        gen_top_k_mask.top_k_mask(x, tf.constant(k, tf.int64), fill_value=fill_value)
                    ),
                    (x,),
                )


# <<<


# >>> only with fused_dense
def dense_bound(activation: str, x: np.ndarray, weights: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """What two results of FusedDense may differ by.

    A sum of n products in floating point is within n / 2 units of the last place of the sum of the absolute products,
    in any order. No activation enlarges an error. A half type then is rounded.
    """
    wide = np.float64 if x.dtype == np.float64 else np.float32
    unit = float(np.finfo(wide).eps)
    half_unit = float(ml_dtypes.finfo(x.dtype).eps) / 2 if x.dtype != wide else 0.0
    x, weights, bias = (array.astype(np.float64) for array in (x, weights, bias))
    with np.errstate(all="ignore"):
        size = np.abs(ACTIVATIONS[activation](x @ weights + bias))
        terms = np.abs(x) @ np.abs(weights) + np.abs(bias)
        error = (len(weights) + 1) / 2 * unit * terms + ACTIVATION_ULPS * unit * size
        error += half_unit * (size + error)
    # What is infinite or no number must be the same.
    return np.where(np.isfinite(error), 2 * error + UNDERFLOW, 0.0)


def fused_dense_case(name: str, activation: str, *inputs: np.ndarray, differentiable: bool = False) -> Case:
    """One of FusedDense."""
    unit = float(ml_dtypes.finfo(inputs[0].dtype).eps)
    return Case(
        f"FusedDense {tf.as_dtype(inputs[0].dtype).name} {activation} {name}",
        lambda *xs: ops.fused_dense(*xs, activation=activation),
        inputs,
        differentiable,
        dense_bound(activation, *inputs),
        GRADIENT_ULPS * unit,
    )


def dense_inputs(shape: tuple[int, ...], units: int, dtype: tf.DType) -> tuple[np.ndarray, ...]:
    """Input, weights and bias, of which the sums are in the range in which activations do something."""
    scale = dtype.as_numpy_dtype(1 / np.sqrt(shape[-1] + 1))
    weights = np.asarray(random((shape[-1], units), dtype, 2) * scale)
    return random(shape, dtype, 1), weights, random((units,), dtype, 3)


def fused_dense_cases() -> Iterator[Case]:
    """Of FusedDense."""
    for dtype in FLOATS:
        one = np.ones((1, 1), dtype.as_numpy_dtype)
        zero = np.zeros(1, dtype.as_numpy_dtype)
        for activation in ACTIVATIONS:
            for shape, units in DENSE:
                yield fused_dense_case(f"{shape} x {units}", activation, *dense_inputs(shape, units, dtype))
            yield fused_dense_case("special", activation, special(dtype)[:, None], one, zero)
            inputs = dense_inputs(*DENSE_GRADIENT, dtype)
            yield fused_dense_case("with gradients", activation, *inputs, differentiable=True)


# <<<


# >>> only with rotary_embedding
def rotary_embedding_cases() -> Iterator[Case]:
    """Of RotaryEmbedding; each of two kernels rounds cosine, sine, two products and a sum, and then a half type."""
    for dtype in FLOATS:
        wide = np.float64 if dtype == tf.float64 else np.float32
        unit = 8 * float(np.finfo(wide).eps) + 8 * ROTARY_POSITIONS * float(np.finfo(np.float64).eps)
        if dtype.size < tf.float32.size:
            unit += float(ml_dtypes.finfo(dtype.as_numpy_dtype).eps)
        for shape, positions_shape in ROTARY:
            x, positions = random(shape, dtype, 1), None
            if positions_shape is not None:
                positions = np.random.default_rng(2).integers(0, ROTARY_POSITIONS, positions_shape, np.int32)
            # No element of a pair is larger than both together.
            bound = unit * 2 * float(np.abs(x.astype(np.float64)).max(initial=0))
            for interleaved in (False, True):
                yield Case(
                    f"RotaryEmbedding {dtype.name} {shape} {positions_shape} {interleaved}",
                    lambda x, positions=positions, interleaved=interleaved: ops.rotary_embedding(
                        x, positions, rotary_dim=x.shape[-1] // 2 * 2, interleaved=interleaved
                    ),
                    (x,),
                    bound=bound,
                    gradient_bound=4 * unit,
                )


# <<<


def units(dtype: tf.DType, ulps: int) -> float:
    """Errors of so many units in the last place of the type that is computed in, and of a half type's rounding."""
    wide = np.float64 if dtype == tf.float64 else np.float32
    rounding = float(ml_dtypes.finfo(dtype.as_numpy_dtype).eps) if dtype.as_numpy_dtype != wide else 0.0
    return ulps * float(np.finfo(wide).eps) + rounding


# >>> only with layer_norm, rms_norm, rms_norm_residual
def normalization_cases() -> Iterator[Case]:
    """Of RmsNorm, RmsNormResidual and LayerNorm."""
    functions: dict[str, tuple[Callable[..., tf.Tensor | tuple[tf.Tensor, ...]], int, int]] = {
        "RmsNorm": (ops.rms_norm, 1, 1),
        "RmsNormResidual": (ops.rms_norm_residual, 2, 1),
        "LayerNorm": (ops.layer_norm, 1, 2),
    }
    for dtype in FLOATS:
        for name, (function, num_rows, num_vectors) in functions.items():
            for shape in NORMALIZED:
                shapes = [shape] * num_rows + [shape[-1:]] * num_vectors
                inputs = tuple(random(of_input, dtype, seed) for seed, of_input in enumerate(shapes))
                # No element of a row is larger than the root of the sum of squares; and an offset.
                size = 4 * np.sqrt(shape[-1]) + 4
                yield Case(
                    f"{name} {dtype.name} {shape}",
                    function,
                    inputs,
                    bound=units(dtype, NORMALIZATION_ULPS) * size,
                    # One that is rounded is a sum of others.
                    gradient_bound=NORMALIZATION_ULPS * float(ml_dtypes.finfo(dtype.as_numpy_dtype).eps),
                )


# <<<


# >>> only with flash_attention
def flash_attention_cases() -> Iterator[Case]:
    """Of FlashAttention."""
    for dtype in FLOATS:
        for q_shape, kv_shape, bias_shape, causal, window in ATTENTION:
            shapes = [q_shape, kv_shape, kv_shape, *([] if bias_shape is None else [bias_shape])]
            inputs = tuple(random(shape, dtype, seed) for seed, shape in enumerate(shapes))
            # A weighted mean of values.
            size = float(np.abs(inputs[2].astype(np.float64)).max(initial=0))
            yield Case(
                f"FlashAttention {dtype.name} {q_shape} {kv_shape} {bias_shape} {causal} {window}",
                lambda *xs, causal=causal, window=window: ops.flash_attention(*xs, causal=causal, window=window),
                inputs,
                bound=units(dtype, ATTENTION_ULPS) * size,
                gradient_bound=ATTENTION_ULPS * float(ml_dtypes.finfo(dtype.as_numpy_dtype).eps),
            )


# <<<


def all_cases() -> Iterator[Case]:
    """Of all ops."""
    yield from my_op_cases()
    # >>> only with simple_add
    yield from simple_add_cases()
    # <<<
    # >>> only with top_k_mask
    yield from top_k_mask_cases()
    # <<<
    # >>> only with fused_dense
    yield from fused_dense_cases()
    # <<<
    # >>> only with rotary_embedding
    yield from rotary_embedding_cases()
    # <<<
    # >>> only with layer_norm, rms_norm, rms_norm_residual
    yield from normalization_cases()
    # <<<
    # >>> only with flash_attention
    yield from flash_attention_cases()
    # <<<
