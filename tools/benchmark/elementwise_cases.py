# SPDX-License-Identifier: Apache-2.0
"""The elementwise ops of the package, and what computes the same elsewhere."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import keras
import numpy as np
import tensorflow as tf

import tensorflow_custom_ops
from tools.benchmark.common import Function

Draw = Callable[[np.random.Generator, int], np.ndarray]

# >>> only with logit
_LOGIT_EPSILON = 1e-6
# <<<
# >>> only with softplus_beta
_SOFTPLUS_BETA = 2.0
# <<<
# >>> only with focal_logits
_FOCAL_ALPHA = 0.25
_FOCAL_GAMMA = 2.0
# <<<


def _normal(generator: np.random.Generator, size: int) -> np.ndarray:
    """Values on both sides of each kink, and in the tails."""
    return 3 * generator.standard_normal(size)


# >>> only with logit
def _fractions(generator: np.random.Generator, size: int) -> np.ndarray:
    return generator.random(size)


# <<<


# >>> only with focal_logits
def _labels(generator: np.random.Generator, size: int) -> np.ndarray:
    return generator.integers(0, 2, size)


# <<<


@dataclasses.dataclass(frozen=True)
class Case:
    """An op, and what computes the same elsewhere."""

    name: str
    op: str  # The package's function.
    tensorflow: Function
    torch: Callable[[ModuleType], Function]
    # Straightforward NumPy; None where NumPy lacks a function that it takes.
    numpy: Function | None
    attributes: dict[str, Any] = dataclasses.field(default_factory=dict)
    inputs: tuple[Draw, ...] = (_normal,)
    differentiated: int = 1  # The first inputs, so many of them, have a gradient.
    # How many arrays the gradient must read and write; None: inputs, incoming gradient, and its results.
    gradient_arrays: int | None = None
    # What the overhead of a call is compared with: a built-in op of as many inputs, one kernel.
    built_in: Function = tf.nn.relu

    @property
    def ours(self) -> Function:
        """The package's function with the attributes."""
        function = getattr(tensorflow_custom_ops, self.op)
        return functools.partial(function, **self.attributes) if self.attributes else function

    def arrays(self, backward: bool) -> int:
        """How many arrays must be read and written."""
        forward = len(self.inputs) + 1
        if not backward:
            return forward
        gradient = self.gradient_arrays
        return forward + (forward + self.differentiated if gradient is None else gradient)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


# >>> only with gelu
def _numpy_gelu_tanh(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))


# <<<


# >>> only with logit
def _tensorflow_logit(x: tf.Tensor) -> tf.Tensor:
    x = tf.clip_by_value(x, _LOGIT_EPSILON, 1 - _LOGIT_EPSILON)
    return tf.math.log(x / (1 - x))


def _numpy_logit(x: np.ndarray) -> np.ndarray:
    x = np.clip(x, _LOGIT_EPSILON, 1 - _LOGIT_EPSILON)
    return np.log(x / (1 - x))


# <<<


# >>> only with huber
def _tensorflow_huber(x: tf.Tensor) -> tf.Tensor:
    size = tf.abs(x)
    return tf.where(size <= 1, 0.5 * tf.square(x), size - 0.5)


def _numpy_huber(x: np.ndarray) -> np.ndarray:
    size = np.abs(x)
    return np.where(size <= 1, 0.5 * np.square(x), size - 0.5)


def _torch_huber(torch: ModuleType) -> Function:
    return lambda x: torch.nn.functional.huber_loss(x, torch.zeros((), dtype=x.dtype).expand_as(x), reduction="none")


# <<<


# >>> only with focal_logits
def _focal(cross_entropy: Function, sigmoid: Function, logits: Any, labels: Any) -> Any:  # noqa: ANN401
    """Binary focal loss of arrays or tensors of any library."""
    p = sigmoid(logits)
    miss = labels * (1 - p) + (1 - labels) * p
    weight = labels * _FOCAL_ALPHA + (1 - labels) * (1 - _FOCAL_ALPHA)
    return weight * miss**_FOCAL_GAMMA * cross_entropy(logits, labels)


def _tensorflow_cross_entropy(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)


def _numpy_cross_entropy(logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return np.maximum(logits, 0) - logits * labels + np.log1p(np.exp(-np.abs(logits)))


def _torch_focal(torch: ModuleType) -> Function:
    cross_entropy = functools.partial(torch.nn.functional.binary_cross_entropy_with_logits, reduction="none")
    return functools.partial(_focal, cross_entropy, torch.sigmoid)


# <<<


_ALL = (
    Case(
        "my_op",
        "my_op",
        tensorflow=lambda x: 2 * x,
        numpy=lambda x: 2 * x,
        torch=lambda _: lambda x: 2 * x,
        # The gradient is a doubling too.
        gradient_arrays=2,
    ),
    # >>> only with simple_add
    Case(
        "simple_add",
        "simple_add",
        tensorflow=tf.add,
        numpy=np.add,
        torch=lambda torch: torch.add,
        inputs=(_normal, _normal),
        differentiated=2,
        # The incoming gradient is the result.
        gradient_arrays=0,
        built_in=tf.add,
    ),
    # <<<
    # >>> only with scaled_silu
    Case(
        "scaled_silu",
        "scaled_silu",
        tensorflow=tf.nn.silu,
        numpy=lambda x: x * _sigmoid(x),
        torch=lambda torch: torch.nn.functional.silu,
    ),
    # <<<
    # >>> only with gelu
    Case(
        "gelu",
        "gelu",
        tensorflow=tf.nn.gelu,
        # NumPy has no erf.
        numpy=None,
        torch=lambda torch: torch.nn.functional.gelu,
    ),
    Case(
        "gelu_tanh",
        "gelu",
        tensorflow=functools.partial(tf.nn.gelu, approximate=True),
        numpy=_numpy_gelu_tanh,
        torch=lambda torch: functools.partial(torch.nn.functional.gelu, approximate="tanh"),
        attributes={"approximate": True},
    ),
    # <<<
    # >>> only with mish
    Case(
        "mish",
        "mish",
        tensorflow=keras.activations.mish,
        numpy=lambda x: x * np.tanh(np.logaddexp(0, x)),
        torch=lambda torch: torch.nn.functional.mish,
    ),
    # <<<
    # >>> only with squared_relu
    Case(
        "squared_relu",
        "squared_relu",
        tensorflow=lambda x: tf.square(tf.nn.relu(x)),
        numpy=lambda x: np.square(np.maximum(x, 0)),
        torch=lambda torch: lambda x: torch.square(torch.relu(x)),
    ),
    # <<<
    # >>> only with softplus_beta
    Case(
        "softplus_beta",
        "softplus_beta",
        tensorflow=lambda x: tf.nn.softplus(_SOFTPLUS_BETA * x) / _SOFTPLUS_BETA,
        numpy=lambda x: np.logaddexp(0, _SOFTPLUS_BETA * x) / _SOFTPLUS_BETA,
        torch=lambda torch: functools.partial(torch.nn.functional.softplus, beta=_SOFTPLUS_BETA),
        attributes={"beta": _SOFTPLUS_BETA},
    ),
    # <<<
    # >>> only with logit
    Case(
        "logit",
        "logit",
        tensorflow=_tensorflow_logit,
        numpy=_numpy_logit,
        torch=lambda torch: functools.partial(torch.logit, eps=_LOGIT_EPSILON),
        attributes={"epsilon": _LOGIT_EPSILON},
        inputs=(_fractions,),
    ),
    # <<<
    # >>> only with huber
    Case("huber", "huber", tensorflow=_tensorflow_huber, numpy=_numpy_huber, torch=_torch_huber),
    # <<<
    # >>> only with focal_logits
    Case(
        "focal_logits",
        "focal_logits",
        tensorflow=functools.partial(_focal, _tensorflow_cross_entropy, tf.sigmoid),
        numpy=functools.partial(_focal, _numpy_cross_entropy, _sigmoid),
        torch=_torch_focal,
        attributes={"alpha": _FOCAL_ALPHA, "gamma": _FOCAL_GAMMA},
        inputs=(_normal, _labels),
        built_in=tf.add,
    ),
    # <<<
    # >>> only with swi_glu_gate
    Case(
        "swi_glu_gate",
        "swi_glu_gate",
        tensorflow=lambda a, b: tf.nn.silu(a) * b,
        numpy=lambda a, b: a * _sigmoid(a) * b,
        torch=lambda torch: lambda a, b: torch.nn.functional.silu(a) * b,
        inputs=(_normal, _normal),
        differentiated=2,
        built_in=tf.add,
    ),
    # <<<
)

CASES = {case.name: case for case in _ALL}
