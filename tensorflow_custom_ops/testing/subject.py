# SPDX-License-Identifier: Apache-2.0
"""What checks work on: the call, how it is run, and what it gives for the sample."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tensorflow_custom_ops.testing import compare, kernels, protocol
from tensorflow_custom_ops.testing.call import Call, Traced
from tensorflow_custom_ops.testing.worker import CrashError, TaskError, Worker

# What an op may raise where inputs do not fit.
CLEAN_ERRORS = frozenset({"InvalidArgumentError", "UnimplementedError", "NotFoundError", "ValueError", "TypeError"})


# What TensorFlow adds to an error's text: where it was raised.
_WHERE = re.compile(
    r"Graph execution error:|Detected at node .*? defined at \(most recent call last\):|<stack traces unavailable>"
    r"|\[\[\{\{.*?\}\}\]\]|\[Op:\w*\]|dummy_file_name:\d+:dummy_function_name|The op is created at:"
)


def own_text(message: str) -> str:
    """An error's text without what TensorFlow adds, in a line."""
    return " ".join(_WHERE.sub(" ", message).split())


class NotApplicable(Exception):  # noqa: N818 - no error
    """Why a check has nothing to look at."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What came of a run.

    Attributes:
      outputs: The outputs, if it ended well.
      error: The exception's class, if it raised one.
      message: The exception's text, or how it crashed.
    """

    outputs: list[np.ndarray] | None = None
    error: str | None = None
    message: str = ""

    @property
    def crashed(self) -> bool:
        """Whether it ended the process or hung."""
        return self.outputs is None and self.error is None

    def __str__(self) -> str:
        if self.outputs is not None:
            return "gives outputs of shape " + ", ".join(str(list(output.shape)) for output in self.outputs)
        if self.error is not None:
            return f"raises {self.error}: {own_text(self.message)[:300]}"
        return self.message


class Subject:
    """A call to check.

    Attributes:
      call: The call.
      worker: Runs graphs in another process.
      tolerances: Relative errors by type's name.
      order: The order up to which there are gradients.
      differentiable: The inputs to differentiate by.
    """

    def __init__(
        self,
        call: Call,
        worker: Worker,
        tolerances: Mapping[str, float],
        order: int,
        differentiable: Sequence[int] | None,
    ) -> None:
        self.call = call
        self.worker = worker
        self.tolerances = tolerances
        self.order = order
        floating = [i for i, array in enumerate(call.inputs) if tf.as_dtype(array.dtype).is_floating]
        self.differentiable = floating if differentiable is None else list(differentiable)

    @functools.cached_property
    def traced(self) -> Traced:
        """The call as a graph, with the shapes of the sample."""
        return self.call.trace()

    @functools.cached_property
    def traced_unknown(self) -> Traced:
        """The call as a graph, for any shapes."""
        return self.call.trace(self.call.unknown_specs())

    @functools.cached_property
    def outputs(self) -> list[np.ndarray]:
        """What the sample gives, in a graph."""
        return self.run(self.traced)

    @functools.cached_property
    def deterministic(self) -> bool:
        """Whether TensorFlow takes equal calls to give equal results."""
        return not any(kernels.is_stateful(op) for op in self.traced.op_types)

    @functools.cached_property
    def has_xla_kernel(self) -> bool:
        """Whether jit_compile=True has a kernel for all ops of the call."""
        kernels.load_xla_kernels()
        ops = self.traced.op_types - {"NoOp"}
        return all(kernels.devices(op) & {"XLA_CPU_JIT"} or kernels.is_function(op) for op in ops)

    @functools.cached_property
    def jit_works(self) -> bool:
        """Whether the sample runs by XLA, so that other inputs can be tried; if not, the check `jit` tells why."""
        return self.has_xla_kernel and self.attempt(self.traced_unknown, self.call.inputs, jit=True).outputs is not None

    def input_name(self, i: int) -> str:
        """How messages call an input."""
        name = self.traced.op_inputs[i]
        return f"input {i} ({name})" if name else f"input {i}"

    def run(self, traced: Traced, inputs: Sequence[np.ndarray] | None = None, **kwargs: Any) -> list[np.ndarray]:  # noqa: ANN401
        """The outputs for some inputs, by default the sample's. Raises TaskError and CrashError."""
        return self.run_each(traced, [self.call.inputs if inputs is None else inputs], **kwargs)[0]

    def run_each(
        self,
        traced: Traced,
        runs: Sequence[Sequence[np.ndarray]],
        **kwargs: Any,  # noqa: ANN401 - of the task `run`
    ) -> list[list[np.ndarray]]:
        """The outputs for each list of inputs."""
        outputs: list[list[np.ndarray]] = self.worker("run", graph=graph_of(traced), runs=runs, **kwargs)
        return outputs

    def attempt(self, traced: Traced, inputs: Sequence[np.ndarray], **kwargs: Any) -> Outcome:  # noqa: ANN401
        """As run, but tells of errors and crashes instead of raising them."""
        try:
            return Outcome(outputs=self.run(traced, inputs, **kwargs))
        except TaskError as error:
            return Outcome(error=error.kind, message=error.message)
        except CrashError as error:
            return Outcome(message=str(error))

    def attempt_trace(self, call: Call, specs: Sequence[tf.TensorSpec]) -> Traced | Outcome:
        """Traces, or tells of the error."""
        try:
            return call.trace(specs)
        except Exception as error:
            return Outcome(error=type(error).__name__, message=str(error))

    def difference(
        self,
        expected: Sequence[np.ndarray],
        actual: Sequence[np.ndarray],
        of_type: object = None,
    ) -> str | None:
        """In what outputs differ, or None."""
        return compare.difference(expected, actual, self.tolerances, of_type)


def graph_of(traced: Traced) -> protocol.Graph:
    """What a worker needs of a graph."""
    if traced.needs_python:
        raise NotApplicable("the function calls Python while it runs, which another process does not have")
    return protocol.Graph(
        graph_def=traced.graph_def,
        specs=tuple(
            (None if spec.shape.rank is None else tuple(spec.shape.as_list()), spec.dtype.name) for spec in traced.specs
        ),
        input_names=traced.input_names,
        output_names=traced.output_names,
        captured=traced.captured,
    )
