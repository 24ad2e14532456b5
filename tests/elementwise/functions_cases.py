# SPDX-License-Identifier: Apache-2.0
"""The functions of functors: what they are compared with, and where."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import ml_dtypes
import numpy as np
import tensorflow as tf

DTYPES = {
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
    "half": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
}

_POINTS = 10_000
_PI = np.longdouble("3.14159265358979323846264338327950288")


@dataclasses.dataclass(frozen=True)
class Function:
    """A function.

    Attributes:
      name: As in the documentation's table.
      op: The Python name of the op that is this function and nothing else.
      reference: The function in long double.
      tensorflow: TensorFlow's function.
      low: From here ...
      high: ... to here is where the function does something.
      inputs: How many inputs it has.
      attributes: Of the op, and of the reference and TensorFlow's function.
      near: Where the function is near 0, if not at 0.
      exact: Whether results are exact, in whatever type.
      differentiable: Whether its derivatives are compared.
    """

    name: str
    op: str
    reference: Callable[..., np.ndarray]
    tensorflow: Callable[..., tf.Tensor]
    low: float = -20.0
    high: float = 20.0
    inputs: int = 1
    attributes: Mapping[str, float] = dataclasses.field(default_factory=dict)
    near: float = 0.0
    exact: bool = False
    differentiable: bool = True

    @property
    def key(self) -> str:
        """A name that no other case has."""
        return " ".join([self.op, *(f"{value:g}" for value in self.attributes.values())])


def _erf(x: np.ndarray) -> np.ndarray:
    """2/sqrt(pi) e^(-x^2) (x + 2x^3/3 + 4x^5/(3*5) + ...): no term is negative for positive x."""
    x = np.clip(x, -7, 7)
    square = 2 * x * x
    term = x.copy()
    total = np.zeros_like(x)
    for i in range(1, 400):
        total += term
        term = term * square / (2 * i + 1)
    return 2 / np.sqrt(_PI) * np.exp(-x * x) * total


def _erfc(x: np.ndarray) -> np.ndarray:
    """1 - erf(x), and from 2 on, where that loses digits, its continued fraction."""
    tail = np.clip(x, 2, 200)
    rest = np.zeros_like(tail)
    for i in range(200, 0, -1):
        rest = i / np.longdouble(2) / (tail + rest)
    # The square of what has 24 bits is exact.
    high = tail.astype(np.float32).astype(np.longdouble)
    gauss = np.exp(-high * high) * np.exp(-(tail - high) * (tail + high))
    return np.where(x < 2, 1 - _erf(x), gauss / np.sqrt(_PI) / (tail + rest))


def _comparison(compare: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    return lambda a, b: compare(a, b).astype(np.longdouble)


def _tf_comparison(compare: Callable[..., tf.Tensor]) -> Callable[..., tf.Tensor]:
    return lambda a, b: tf.cast(compare(a, b), a.dtype)


def _softplus(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))))


def _clamp(x: np.ndarray, low: float, high: float) -> np.ndarray:
    return np.clip(x, low, high)


def _exact(name: str, op: str, reference: Callable[..., np.ndarray], tensorflow: Callable[..., tf.Tensor]) -> Function:
    return Function(name, op, reference, tensorflow, exact=True)


def _compare(
    name: str, op: str, reference: Callable[..., np.ndarray], tensorflow: Callable[..., tf.Tensor]
) -> Function:
    return Function(
        name,
        op,
        _comparison(reference),
        _tf_comparison(tensorflow),
        inputs=2,
        exact=True,
        differentiable=False,
    )


def _pow(exponent: float) -> Function:
    return Function(
        "pow",
        "fn_pow",
        lambda x, exponent: np.power(x, np.longdouble(exponent)),
        lambda x, exponent: tf.pow(x, tf.constant(exponent, x.dtype)),
        low=-3,
        high=3,
        attributes={"exponent": exponent},
    )


FUNCTIONS = (
    _exact("-x", "fn_negate", np.negative, tf.negative),
    _exact("abs", "fn_abs", np.abs, tf.abs),
    _exact("sign", "fn_sign", np.sign, tf.sign),
    _exact("floor", "fn_floor", np.floor, tf.floor),
    _exact("round", "fn_round", np.rint, tf.round),
    _exact("relu", "fn_relu", lambda x: np.maximum(x, 0), tf.nn.relu),
    Function("exp", "fn_exp", np.exp, tf.exp, -100, 100),
    Function("expm1", "fn_expm1", np.expm1, tf.math.expm1, -20, 20),
    Function("log", "fn_log", np.log, tf.math.log, 0, 4, near=1),
    Function("log1p", "fn_log1p", np.log1p, tf.math.log1p, -1, 4),
    Function("sqrt", "fn_sqrt", np.sqrt, tf.sqrt, 0, 4),
    Function("rsqrt", "fn_rsqrt", lambda x: 1 / np.sqrt(x), tf.math.rsqrt, 0, 4),
    Function("tanh", "fn_tanh", np.tanh, tf.tanh, -10, 10),
    Function("sigmoid", "fn_sigmoid", lambda x: 1 / (1 + np.exp(-x)), tf.sigmoid, -80, 80),
    Function("softplus", "fn_softplus", _softplus, tf.math.softplus, -80, 80),
    Function("sin", "fn_sin", np.sin, tf.sin, -100, 100),
    Function("cos", "fn_cos", np.cos, tf.cos, -100, 100),
    Function("erf", "fn_erf", _erf, tf.math.erf, -6, 6),
    Function("erfc", "fn_erfc", _erfc, tf.math.erfc, -6, 28),
    *(_pow(exponent) for exponent in (0.0, 0.5, 1.0, 2.0, 2.5, 3.0, -1.0, -1.5, 10.25)),
    Function(
        "clamp",
        "fn_clamp",
        _clamp,
        lambda x, low, high: tf.clip_by_value(x, tf.cast(low, x.dtype), tf.cast(high, x.dtype)),
        attributes={"low": -0.5, "high": 1.5},
        exact=True,
    ),
    Function("1 / x", "fn_reciprocal", lambda x: 1 / x, lambda x: tf.constant(1, x.dtype) / x),
    Function("a + b", "fn_add", np.add, tf.add, inputs=2),
    Function("a - b", "fn_subtract", np.subtract, tf.subtract, inputs=2),
    Function("a * b", "fn_multiply", np.multiply, tf.multiply, inputs=2),
    Function("a / b", "fn_divide", np.divide, tf.divide, inputs=2),
    Function("max", "fn_max", np.maximum, tf.maximum, inputs=2, exact=True),
    Function("min", "fn_min", np.minimum, tf.minimum, inputs=2, exact=True),
    _compare("a < b", "fn_less", np.less, tf.less),
    _compare("a <= b", "fn_less_equal", np.less_equal, tf.less_equal),
    _compare("a > b", "fn_greater", np.greater, tf.greater),
    _compare("a >= b", "fn_greater_equal", np.greater_equal, tf.greater_equal),
    _compare("a == b", "fn_equal", np.equal, tf.equal),
    Function(
        "select",
        "fn_select",
        lambda a, b: np.where(a < b, a * a, a * b),
        lambda a, b: tf.where(a < b, a * a, a * b),
        inputs=2,
    ),
)


def wide(array: np.ndarray) -> np.ndarray:
    """The same numbers in long double."""
    if array.dtype.itemsize == 2:
        array = array.astype(np.float32)
    return array.astype(np.longdouble)


def _magnitudes(dtype: np.dtype, generator: np.random.Generator) -> np.ndarray:
    """Numbers of all magnitudes that the type has, of both signs."""
    limits = ml_dtypes.finfo(dtype)
    exponents = generator.uniform(np.log2(float(limits.smallest_normal)), np.log2(float(limits.max)), _POINTS)
    return generator.choice([-1.0, 1.0], _POINTS) * np.exp2(exponents)


def smallest_normal(dtype: np.dtype) -> float:
    """The smallest positive number of a type, but for those with fewer digits."""
    return float(ml_dtypes.finfo(dtype).smallest_normal)


def points(function: Function, dtype: np.dtype) -> list[np.ndarray]:
    """Finite inputs of a function, for its accuracy. Of one input in a half type: all that are normal in float."""
    generator = np.random.default_rng(0)
    if function.inputs == 1 and dtype.itemsize == 2:
        every = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16).view(dtype)
        magnitude = np.abs(every.astype(np.float32))
        return [every[(magnitude < np.inf) & ((magnitude == 0) | (magnitude >= 2.0**-126))]]
    arrays = []
    for _ in range(function.inputs):
        dense = generator.uniform(function.low, function.high, _POINTS)
        near = function.near + generator.choice([-1.0, 1.0], _POINTS) * np.exp2(generator.uniform(-30, 3, _POINTS))
        arrays.append(np.concatenate([dense, near, _magnitudes(dtype, generator)]).astype(dtype))
    return arrays


def special(function: Function, dtype: np.dtype) -> list[np.ndarray]:
    """Inputs of a function at which it is not like elsewhere: of two inputs, all pairs."""
    limits = ml_dtypes.finfo(dtype)
    small, large = float(limits.smallest_normal), float(limits.max)
    half = [0.0, small, 0.5, 1.0, 1.5, 2.0, 2.5, 100.0, large, np.inf]
    values = np.array([np.nan, *half, *np.negative(half)]).astype(dtype)
    if function.inputs == 1:
        return [values]
    return [array.ravel() for array in np.meshgrid(values, values)]


def ordinary(function: Function, dtype: np.dtype) -> list[np.ndarray]:
    """Inputs of a function at which it has all derivatives."""
    generator = np.random.default_rng(1)
    low, high = max(function.low, -8), min(function.high, 8)
    if function.name in ("log", "sqrt", "rsqrt", "pow"):
        low = 0.1
    elif function.name == "log1p":
        low = -0.9
    return [generator.uniform(low, high, 1000).astype(dtype) for _ in range(function.inputs)]


def ulps(result: np.ndarray, expected: np.ndarray, scale: float = 0.0) -> np.ndarray:
    """By how many units in the last place of its type each result differs from long doubles.

    What is not normal counts as equal, and so do NaNs. What is beyond the largest value counts as the next one
    above it.

    Args:
      result: of some type.
      expected: long doubles.
      scale: a unit is that of `expected`, or of this if that is smaller.
    """
    limits = ml_dtypes.finfo(result.dtype)
    bound = 2.0 ** (int(np.log2(float(limits.max))) + 1) if limits.bits < 64 else np.ldexp(np.longdouble(1), 1024)
    smallest = np.longdouble(float(limits.smallest_normal))
    result = np.clip(wide(result), -bound, bound)
    expected = np.clip(expected, -bound, bound)
    magnitude = np.minimum(np.maximum(np.abs(expected), scale), np.longdouble(float(limits.max)))
    unit = np.ldexp(np.longdouble(1), np.frexp(np.maximum(magnitude, smallest))[1] - 1 - limits.nmant)
    difference = np.abs(result - expected) / unit
    difference[np.isnan(result) & np.isnan(expected)] = 0
    difference[np.isnan(difference)] = np.inf
    both_small = (np.abs(expected) < smallest) & (np.abs(result) <= smallest)
    difference[both_small] = 0
    return difference
