# SPDX-License-Identifier: Apache-2.0
"""Ops with planted faults, each with the check that is there to find it. Right, each would double its input."""

from __future__ import annotations

import dataclasses
import itertools
import pathlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

# Not public; see tensorflow_custom_ops/core/vectorization.py.
from tensorflow.python.ops.parallel_for import pfor

from tensorflow_custom_ops import _build_info

LIBRARY = str(pathlib.Path(__file__).absolute().parent / "_faults.so")
OPS = tf.load_op_library(LIBRARY)


@dataclasses.dataclass(frozen=True)
class Fault:
    """A function with a fault.

    Attributes:
      check: The name of the check that is to find it.
      function: Calls the op with one tensor.
      finding: A regular expression of what the check says.
      kwargs: Further arguments of the function.
      options: Options of op_check.
    """

    check: str
    function: Callable[..., Any]
    finding: str
    kwargs: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@tf.RegisterGradient("FaultNone")
def _fault_none_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    del op
    return 2 * grad


@pfor.RegisterPFor("FaultNone")
def _convert(pfor_input: Any) -> Any:  # noqa: ANN401 - of no public type
    return pfor.wrap(OPS.fault_none(pfor_input.stacked_input(0)), True)


@pfor.RegisterPFor("FaultRefusesOnlyStatically")
def _convert_wrongly(pfor_input: Any) -> Any:  # noqa: ANN401 - of no public type
    return pfor.wrap(pfor_input.stacked_input(0), True)


def sound(x: tf.Tensor) -> tf.Tensor:
    """The op without a fault."""
    return OPS.fault_none(x)


@tf.custom_gradient
def _gradient_off_by_two(x: tf.Tensor) -> Any:  # noqa: ANN401 - what tf.custom_gradient takes
    return OPS.fault_none(x), lambda grad: 4 * grad


@tf.custom_gradient
def _gradient_of_wrong_shape(x: tf.Tensor) -> Any:  # noqa: ANN401 - what tf.custom_gradient takes
    return OPS.fault_none(x), lambda grad: 2 * grad[:1]


@tf.custom_gradient
def _no_gradient_for_the_input(x: tf.Tensor) -> Any:  # noqa: ANN401 - what tf.custom_gradient takes
    return OPS.fault_none(x), lambda _: None


def _no_second_order(x: tf.Tensor) -> tf.Tensor:
    # The first gradient is right.
    @tf.custom_gradient
    def square(x: tf.Tensor) -> Any:  # noqa: ANN401 - what tf.custom_gradient takes
        return x * x, lambda grad: grad * tf.stop_gradient(2 * x)

    return square(x)


@tf.custom_gradient
def _gradient_only_eagerly(x: tf.Tensor) -> Any:  # noqa: ANN401 - what tf.custom_gradient takes
    factor = 2.0 if tf.executing_eagerly() else 1.0
    return OPS.fault_none(x), lambda grad: (4 - factor) * grad


def _eager_differs(x: tf.Tensor) -> tf.Tensor:
    return OPS.fault_none(x + 1.0 if tf.executing_eagerly() else x)


def _needs_shape(x: tf.Tensor) -> tf.Tensor:
    return OPS.fault_none(tf.reshape(x, [x.shape[0] * 5]))


def _through_python(x: tf.Tensor) -> tf.Tensor:
    return OPS.fault_none(tf.ensure_shape(tf.numpy_function(lambda array: array, [x], tf.float32), x.shape))


def _ignores_mode(x: tf.Tensor, mode: str) -> tf.Tensor:
    return OPS.fault_none(x) if mode == "double" else x + 0.0


def _cryptic_type_error(x: tf.Tensor) -> tf.Tensor:
    if x.dtype != tf.float32:
        raise RuntimeError("no")
    return OPS.fault_none(x)


_ONE_SECOND = {"time_limit": 5.0}

FAULTS: dict[str, Fault] = {
    "missing kernel": Fault("kernels", OPS.fault_missing_kernel, "CPU has no kernel for T = float16, float64"),
    "one type wrong": Fault("dtypes", OPS.fault_wrong_for_one_type, "with T = float32, the output differs"),
    "wrong shape": Fault("static_shapes", OPS.fault_wrong_shape, r"said to have shape \(7,\), and has \[3, 5\]"),
    "shape needed": Fault("static_shapes", _needs_shape, "with unknown shapes, tracing raises"),
    "shape lost": Fault("lost_shapes", OPS.fault_loses_shape, "though every input's shape is known"),
    "eager differs": Fault("eager", _eager_differs, "eagerly, the output differs in 15 of 15"),
    "gradient off by 2": Fault("gradient", _gradient_off_by_two, "2 times too large"),
    "gradient of wrong shape": Fault("gradient", _gradient_of_wrong_shape, r"has shape \[1, 5\]|tracing the gradient"),
    "gradient missing": Fault("gradient", OPS.fault_loses_shape, "no gradient: .*FaultLosesShape"),
    "gradient for no input": Fault("gradient", _no_gradient_for_the_input, "no gradient for input 0"),
    "second order missing": Fault("higher_orders", _no_second_order, "order 2: there is no gradient for"),
    "gradient differs eagerly": Fault("gradient_modes", _gradient_only_eagerly, "of the gradient, .* in a graph"),
    "no forward mode": Fault("forward_mode", OPS.fault_loses_shape, "raises LookupError"),
    "empty aborts": Fault("empty", OPS.fault_aborts_if_empty, "dimensions of 3 made 0, it ends .* by SIGABRT"),
    "scalar aborts": Fault("scalar", OPS.fault_aborts_if_scalar, "by SIGABRT"),
    "16-bit count": Fault("large", OPS.fault_counts_in16_bits, "the output differs in"),
    "hangs": Fault("non_finite", OPS.fault_hangs_on_nan, "does not end within 5 s", options=_ONE_SECOND),
    "state": Fault("repeat", OPS.fault_counts_calls, "another than that of the first"),
    "race": Fault("threads", OPS.fault_race, "threads"),
    "alignment needed": Fault("alignment", OPS.fault_needs_alignment, "by SIGABRT: Check failed: IsAligned"),
    "alignment matters": Fault("alignment", OPS.fault_depends_on_alignment, "not aligned, the output differs"),
    "input overwritten": Fault("forwarding", OPS.fault_overwrites, "as an argument, input 0 .* is overwritten"),
    "vectorized wrongly": Fault("vectorized_map", OPS.fault_refuses_only_statically, "differs in .* of each alone"),
    "Python inside": Fault("saved_model", _through_python, "calls Python while it runs"),
    "no symbolic shapes": Fault("keras", _needs_shape, "a layer of it fails on symbolic inputs"),
    "refuses statically only": Fault(
        "wrong_shapes", OPS.fault_refuses_only_statically, "tracing with known shapes raises .* though the kernel"
    ),
    "internal error": Fault("wrong_shapes", OPS.fault_internal_error, "raises InternalError.* should be one of"),
    "error without text": Fault("wrong_shapes", OPS.fault_silent_error, "says nothing"),
    "wrong class of error": Fault("wrong_dtypes", _cryptic_type_error, "raises RuntimeError: no; that should be"),
    "attribute ignored": Fault("wrong_attributes", _ignores_mode, "it gives a result", kwargs={"mode": "double"}),
}

if _build_info.XLA:
    FAULTS["XLA differs"] = Fault("jit", OPS.fault_wrong_by_xla, "the output differs in 15 of 15 .* by the kernel")

SAMPLE = np.array(list(itertools.islice(itertools.count(0.5, 0.75), 15)), np.float32).reshape(3, 5)
