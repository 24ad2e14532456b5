# SPDX-License-Identifier: Apache-2.0
"""The calls by which this package's ops are checked."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import tensorflow_custom_ops
from tensorflow_custom_ops.testing.op_check import op_check
from tensorflow_custom_ops.testing.report import Report


@dataclasses.dataclass(frozen=True)
class Sample:
    """Arguments of an op's Python function, and of op_check.

    Attributes:
      args: The arguments; arrays are the op's inputs.
      kwargs: Those by name.
      options: Those of op_check: `skip`, `order` and the others.
    """

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def check(self, function: Callable[..., Any], **options: Any) -> Report:  # noqa: ANN401 - of op_check
        """Runs op_check on a function with these arguments; options replace those of the sample."""
        return op_check(function, self.args, self.kwargs, **{**self.options, **options})


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    """A float32 array of normally distributed numbers."""
    return np.asarray(np.random.default_rng(seed).standard_normal(shape), np.float32)


def default_sample(function: Callable[..., Any]) -> Sample:
    """The sample of a function whose arguments without a default are all tensors of one shape."""
    parameters = inspect.signature(function).parameters.values()
    required = [parameter for parameter in parameters if parameter.default is parameter.empty]
    return Sample(tuple(normal(3, 5, seed=seed) for seed in range(len(required))))


def samples(op: str) -> dict[str, Sample]:
    """The samples of one of this package's ops, by names that say what is special about them.

    They are in `<op>_samples.py` in the op's folder; an op whose tensors are all of one shape needs none.

    Args:
      op: The name of the op's Python function.

    Raises:
      ValueError: The package has no such op.
    """
    function = getattr(tensorflow_custom_ops, op, None)
    module = f"tensorflow_custom_ops.ops.{op}"
    if function is None or importlib.util.find_spec(module) is None:
        raise ValueError(f"op_check: tensorflow_custom_ops has no op {op!r}")
    if importlib.util.find_spec(f"{module}.{op}_samples") is None:
        return {"default": default_sample(function)}
    found: dict[str, Sample] = importlib.import_module(f"{module}.{op}_samples").SAMPLES
    return found
