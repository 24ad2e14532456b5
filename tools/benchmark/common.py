# SPDX-License-Identifier: Apache-2.0
"""What the programs share: arguments, times, and ways of running a function."""

from __future__ import annotations

import argparse
import dataclasses
import functools
import importlib
import os
import statistics
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any, NoReturn

import numpy as np
import tensorflow as tf

import tensorflow_custom_ops

# Of tensors.
Function = Callable[..., Any]


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        """Exits with the message alone, without the usage."""
        self.exit(2, f"{self.prog}: {message}\n")


def positive(convert: Callable[[str], Any], text: str) -> Any:  # noqa: ANN401
    """Parses a positive number."""
    try:
        number = convert(text)
    except ValueError:
        number = 0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"should be a positive {convert.__name__}, not {text!r}")
    return number


@dataclasses.dataclass(frozen=True)
class Time:
    """The times of one function, in microseconds."""

    median: float
    spread: float  # The interquartile range.

    @classmethod
    def of(cls, times: list[float]) -> Time:
        """Summarises times."""
        first, median, third = statistics.quantiles(times, n=4, method="inclusive")
        return cls(median, third - first)

    def __str__(self) -> str:
        digits = 0 if self.median >= 1000 else 2
        return f"{self.median:.{digits}f} {100 * self.spread / self.median:3.0f}%"

    def against(self, ours: Time) -> str:
        """Their time, and how it compares with ours."""
        return f"{self} {self.median / ours.median:6.2f}x"


def graph(function: Function, jit_compile: bool = False) -> Function:
    """A tf.function, whose parameters are the same for all: an optional `name` makes a call 40 us slower."""

    def call(*tensors: tf.Tensor) -> Any:  # noqa: ANN401
        return function(*tensors)

    result: Function = tf.function(call, jit_compile=jit_compile)
    return result


def modes() -> dict[str, Callable[[Function], Function]]:
    """The ways of running a function of tensors."""
    result: dict[str, Callable[[Function], Function]] = {"eager": lambda f: f, "graph": graph}
    if tensorflow_custom_ops.build_info()["xla"]:
        result["jit"] = functools.partial(graph, jit_compile=True)
    return result


def import_torch() -> ModuleType | None:
    """PyTorch, if it is there."""
    try:
        return importlib.import_module("torch")
    except ImportError:
        return None


def use_threads(threads: int | None, torch: ModuleType | None) -> int:
    """Gives ops so many threads, or None for each one's own number; returns how many.

    It must be called before TensorFlow's first op, which starts its threads.
    """
    if threads:
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        # Or a graph's ops run beside each other, each on that many.
        tf.config.threading.set_inter_op_parallelism_threads(1)
        if torch:
            torch.set_num_threads(threads)
    return threads or len(os.sched_getaffinity(0))


def with_gradient(function: Function, differentiated: int) -> Function:
    """A function of inputs and an incoming gradient, which gives the output and the inputs' gradients."""

    def call(*tensors: tf.Tensor) -> tuple[tf.Tensor, list[tf.Tensor]]:
        *inputs, grad = tensors
        with tf.GradientTape() as tape:
            tape.watch(inputs[:differentiated])
            output = function(*inputs)
        return output, tape.gradient(output, inputs[:differentiated], output_gradients=grad)

    return call


def torch_with_gradient(torch: ModuleType, function: Function, differentiated: int) -> Function:
    """The same for PyTorch."""

    def call(*tensors: Any) -> Any:  # noqa: ANN401
        *inputs, grad = tensors
        output = function(*inputs)
        return output, torch.autograd.grad(output, inputs[:differentiated], grad)

    return call


def copy_into(size: int, threads: int, pool: ThreadPoolExecutor) -> Callable[[], object]:
    """Copies bytes to memory that is there, on some threads."""
    sources = np.array_split(np.ones(size, np.uint8), threads)
    targets = np.array_split(np.zeros(size, np.uint8), threads)
    if threads == 1:
        return functools.partial(np.copyto, targets[0], sources[0])
    return lambda: list(pool.map(np.copyto, targets, sources))
