# SPDX-License-Identifier: Apache-2.0
"""Runs a case eagerly, in graphs and by XLA, and tells what comes of it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf

from tensorflow_custom_ops.testing.call import value_of
from tests.fuzz.cases import MOST_ELEMENTS, Array, Case, StaticShape
from tests.fuzz.targets import Target


class ImpossibleError(Exception):
    """There is no tensor that a case asks for."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What came of a case.

    Attributes:
      shapes: The outputs' shapes, if there are outputs.
      error: The exception, if it was refused.
      running: Whether that was when it ran; otherwise a graph was being made.
    """

    shapes: tuple[tuple[int | None, ...] | None, ...] = ()
    error: Exception | None = None
    running: bool = True

    @property
    def refused(self) -> bool:
        """Whether there is an error."""
        return self.error is not None

    def __str__(self) -> str:
        if self.error is not None:
            where = "when it runs" if self.running else "while the graph is made"
            return f"{type(self.error).__name__} {where}: {self.error}"
        return f"outputs of shape {self.shapes}"


_FILLS: dict[str, Callable[[np.ndarray, np.dtype], np.ndarray]] = {
    "normal": lambda index, _: np.sin(index * 1.7) * 2,
    "zeros": lambda index, _: index * 0,
    "nan": lambda index, _: np.where(index % 3 == 0, np.nan, index),
    "infinite": lambda index, _: np.where(index % 2 == 0, np.inf, -np.inf),
    "largest": lambda index, dtype: np.where(index % 2 == 0, 1.0, -1.0) * _largest(dtype),
    "denormal": lambda index, _: index * 1e-40,
    "negative": lambda index, _: -1.0 - index,
}


def _largest(dtype: np.dtype) -> float:
    return float(tf.as_dtype(dtype).max) if tf.as_dtype(dtype).is_floating else 2.0**62


@functools.lru_cache(maxsize=2048)
def tensor(array: Array) -> tf.Tensor:
    """The tensor that an array describes.

    Raises:
      ImpossibleError: TensorFlow has no tensor of this shape.
    """
    dtype = np.dtype(tf.as_dtype(array.dtype).as_numpy_dtype)
    if 0 in array.shape or max(array.shape, default=0) > MOST_ELEMENTS:
        try:
            return tf.reshape(tf.constant([], dtype), array.shape)
        except tf.errors.InvalidArgumentError as error:
            raise ImpossibleError(str(array)) from error
    index = np.arange(int(np.prod(array.shape)), dtype=np.float64).reshape(array.shape)
    with np.errstate(all="ignore"):
        values = _FILLS[array.fill](index, dtype)
        if dtype.kind in "iu":
            values = np.nan_to_num(values)
        return tf.constant(values.astype(dtype))


@functools.lru_cache(maxsize=2048)
def value(array: Array) -> np.ndarray:
    """The same for NumPy.

    Raises:
      ImpossibleError: NumPy has no array of this shape; it also counts the bytes of empty ones.
    """
    try:
        return value_of(tensor(array))
    except tf.errors.InvalidArgumentError as error:
        raise ImpossibleError(str(array)) from error


def _attempt(call: Callable[[], Sequence[tf.Tensor]], *, running: bool) -> tuple[Outcome, Sequence[tf.Tensor]]:
    try:
        outputs = call()
    except Exception as error:
        # Without the frames, which hold tensors.
        return Outcome(error=error.with_traceback(None), running=running), ()
    return Outcome(shapes=tuple(_shape(output) for output in outputs), running=running), outputs


def _shape(output: tf.Tensor | np.ndarray) -> tuple[int | None, ...] | None:
    shape = tf.TensorShape(output.shape)
    return None if shape.rank is None else tuple(shape.as_list())


def eagerly(target: Target, case: Case) -> Outcome:
    """Runs the case eagerly."""
    inputs = [tensor(array) for array in case.inputs]
    return _attempt(lambda: target.run(inputs, dict(case.attrs)), running=True)[0]


class Graphs:
    """Makes the graphs of cases: several in one graph, which is replaced from time to time."""

    _MOST_CASES = 100

    def __init__(self, target: Target) -> None:
        self._target = target
        self._begin()

    def _begin(self) -> None:
        self._graph = tf.Graph()
        self._session = tf.compat.v1.Session(graph=self._graph)
        self._placeholders: dict[tuple[str, StaticShape, int], tf.Tensor] = {}
        self._count = 0

    def _placeholder(self, dtype: str, shape: StaticShape, i: int) -> tf.Tensor:
        key = dtype, shape, i
        if key not in self._placeholders:
            placeholder = tf.compat.v1.placeholder(dtype)
            # As an attribute, TensorFlow refuses shapes that no tensor can have; not so as a claim.
            placeholder.set_shape(shape)
            self._placeholders[key] = placeholder
        return self._placeholders[key]

    def make(self, case: Case, shapes: Sequence[StaticShape]) -> tuple[Outcome, Callable[[], Outcome]]:
        """Adds a case to a graph in which something is known of shapes, and returns what runs it, too."""
        if self._count == self._MOST_CASES:
            self._session.close()
            self._begin()
        self._count += 1
        with self._graph.as_default():
            inputs = [
                self._placeholder(array.dtype, shape, i)
                for i, (array, shape) in enumerate(zip(case.inputs, shapes, strict=True))
            ]
            outcome, outputs = _attempt(lambda: self._target.build(inputs, dict(case.attrs)), running=False)

        def run() -> Outcome:
            feed = dict(zip(inputs, map(value, case.inputs), strict=True))
            return _attempt(lambda: self._session.run(outputs, feed), running=True)[0]

        return outcome, run


def by_xla(target: Target, case: Case, shapes: Sequence[StaticShape]) -> Outcome:
    """Compiles and runs a case, with what tracing is to know of shapes."""
    inputs = [tensor(array) for array in case.inputs]
    signature = [tf.TensorSpec(None, array.dtype) for array in case.inputs]

    def build(*tensors: tf.Tensor) -> list[tf.Tensor]:
        claimed = [tf.identity(value) for value in tensors]
        for value, shape in zip(claimed, shapes, strict=True):
            value.set_shape(shape)
        return target.build(claimed, dict(case.attrs))

    function = tf.function(build, autograph=False, jit_compile=True, input_signature=signature)
    return _attempt(lambda: function(*inputs), running=True)[0]
