# SPDX-License-Identifier: Apache-2.0
"""Tests of the ops in examples/by_hand, against NumPy.

The package has ops of the same names, so nothing here imports it.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

LIBRARY = os.environ.get("LIBRARY", "_by_hand_ops.so")
library = tf.load_op_library(str(pathlib.Path(__file__).parent / LIBRARY))

# "eager", "graph", and "jit" where the library has the lowerings to XLA.
MODES = os.environ["MODES"].split()

FLOATS = (tf.half, tf.bfloat16, tf.float32, tf.float64)
SUMMABLE = (*FLOATS, tf.int32, tf.int64, tf.complex64, tf.complex128)

# With an empty one, a scalar, and one that is no multiple of a vector or block.
SHAPES = ((), (0,), (7,), (3, 0, 2), (5, 1, 333))

Op = Callable[..., tf.Tensor]


def in_mode(mode: str, op: Op) -> Op:
    """The op, to be called in one of MODES."""
    if mode == "eager":
        return op
    graph: Op = tf.function(op, autograph=False, jit_compile=mode == "jit")
    return graph


def random(shape: tuple[int, ...], dtype: tf.DType, seed: int = 0) -> np.ndarray:
    """Normally distributed values (integers: uniform over the whole type)."""
    generator = np.random.default_rng(seed)
    numpy_type = dtype.as_numpy_dtype
    if dtype.is_integer:
        return generator.integers(dtype.min, dtype.max, shape, numpy_type, endpoint=True)
    values = generator.standard_normal(shape)
    if dtype.is_complex:
        values = values + 1j * generator.standard_normal(shape)
    return np.asarray(values).astype(numpy_type)


def assert_same(expected: np.ndarray, actual: tf.Tensor) -> None:
    """Checks for the same type, shape and values."""
    np.testing.assert_array_equal(actual.numpy(), expected, strict=True)


class MyOpTest(parameterized.TestCase):
    @parameterized.product(dtype=FLOATS, mode=MODES, shape=SHAPES)
    def test_doubles(self, dtype: tf.DType, mode: str, shape: tuple[int, ...]) -> None:
        x = random(shape, dtype)
        # Exact in every type.
        assert_same(np.asarray(x + x), in_mode(mode, library.my_op)(input=tf.constant(x)))

    def test_static_shape(self) -> None:
        function = tf.function(library.my_op, autograph=False).get_concrete_function(
            input=tf.TensorSpec([None, 3], tf.float32)
        )
        self.assertEqual(function.output_shapes.as_list(), [None, 3])

    def test_refuses_other_types(self) -> None:
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "allowed values: half, bfloat16, float, double"):
            library.my_op(input=tf.constant([1]))


class SimpleAddTest(parameterized.TestCase):
    @parameterized.product(dtype=SUMMABLE, mode=MODES, shape=SHAPES)
    def test_adds(self, dtype: tf.DType, mode: str, shape: tuple[int, ...]) -> None:
        a, b = random(shape, dtype, seed=1), random(shape, dtype, seed=2)
        with np.errstate(over="ignore"):
            expected = np.asarray(a + b)
        assert_same(expected, in_mode(mode, library.simple_add)(a=tf.constant(a), b=tf.constant(b)))

    @parameterized.product(mode=MODES, shapes=(((2, 3), (3, 2)), ((2, 3), (3,)), ((1,), ())))
    def test_refuses_other_shapes(self, mode: str, shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
        a, b = (tf.zeros(shape) for shape in shapes)
        # The kernel's error, and that of the shape function in a graph.
        error = tf.errors.InvalidArgumentError if mode == "eager" else ValueError
        a_shape, b_shape = (r"\[" + ",".join(map(str, shape)) + r"\]" for shape in shapes)
        with self.assertRaisesRegex(
            error, f"SimpleAdd: a and b must have the same shape, but a has {a_shape} and b has {b_shape}"
        ):
            in_mode(mode, library.simple_add)(a=a, b=b)

    @parameterized.parameters(mode for mode in MODES if mode != "eager")
    def test_refuses_shapes_that_the_graph_does_not_know(self, mode: str) -> None:
        function = tf.function(
            lambda a, b: library.simple_add(a=a, b=b),
            input_signature=[tf.TensorSpec(None, tf.float32)] * 2,
            jit_compile=mode == "jit",
        )
        with self.assertRaisesRegex(
            tf.errors.InvalidArgumentError, r"SimpleAdd: a and b must have the same shape, but a has .*2.* and b has "
        ):
            function(tf.zeros([2]), tf.zeros([]))


if __name__ == "__main__":
    absltest.main()
