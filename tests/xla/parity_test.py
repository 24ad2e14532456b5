# SPDX-License-Identifier: Apache-2.0
"""The ops give the same inside TensorFlow's control flow and maps, compiled or not, and in a training step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tensorflow_custom_ops as ops
from tests import op_test_case

add: Callable[..., tf.Tensor] = tf.add
# >>> only with simple_add
add = ops.simple_add
# <<<

X = np.linspace(-2.0, 3.0, 12, dtype=np.float32).reshape(4, 3)


def loop(x: tf.Tensor) -> tf.Tensor:
    """Doubles three times and adds twice what was there before."""
    return tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, add(ops.my_op(y), x)), (0, x))[1]


def branch(x: tf.Tensor) -> tf.Tensor:
    """Takes the first of two branches."""
    return tf.cond(tf.reduce_sum(x) > 0.0, lambda: ops.my_op(x), lambda: add(x, x * 0.5))


# Name: the function with our ops, and the same in NumPy.
FUNCTIONS: dict[str, tuple[Callable[[tf.Tensor], tf.Tensor], Callable[[np.ndarray], np.ndarray]]] = {
    "while_loop": (loop, lambda x: 15 * x),
    "cond": (branch, lambda x: 2 * x),
    "map_fn": (lambda x: tf.map_fn(lambda row: add(ops.my_op(row), row), x), lambda x: 3 * x),
    "vectorized_map": (
        lambda x: tf.vectorized_map(lambda row: add(ops.my_op(row), row), x),
        lambda x: 3 * x,
    ),
}


class ParityTest(op_test_case.OpTestCase):
    @parameterized.product(name=tuple(FUNCTIONS), mode=op_test_case.MODES)
    def test_control_flow(self, name: str, mode: str) -> None:
        function, reference = FUNCTIONS[name]
        np.testing.assert_allclose(self.in_mode(mode, function)(tf.constant(X)), reference(X), rtol=1e-6)

    @parameterized.product(name=tuple(FUNCTIONS), mode=op_test_case.MODES)
    def test_gradient_through_control_flow(self, name: str, mode: str) -> None:
        function, reference = FUNCTIONS[name]

        def gradient(x: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = function(x)
            return tape.gradient(y, x)

        slope = reference(np.ones_like(X))
        np.testing.assert_allclose(self.in_mode(mode, gradient)(tf.constant(X)), slope, rtol=1e-6)

    def test_vectorized_map_makes_no_loop(self) -> None:
        function = tf.function(FUNCTIONS["vectorized_map"][0], autograph=False)
        graph = function.get_concrete_function(tf.TensorSpec([4, 3])).graph
        types = {node.type for node in graph.get_operations()}
        self.assertContainsSubset({"MyOp"}, types)
        # >>> only with simple_add
        self.assertContainsSubset({"SimpleAdd"}, types)
        # <<<
        self.assertNoCommonElements({"While", "StatelessWhile"}, types)

    def test_vectorized_map_with_an_input_for_all_rows(self) -> None:
        row = tf.constant([1.0, 2.0, 3.0])
        for mode in op_test_case.MODES:
            function = self.in_mode(mode, lambda x: tf.vectorized_map(lambda r: add(r, row), x))
            np.testing.assert_allclose(function(tf.constant(X)), X + row.numpy(), rtol=1e-6)

    @parameterized.product(
        shape=[(4, 3), (None, 3), (None, None), None], mode=[m for m in op_test_case.MODES if m != "eager"]
    )
    def test_static_partial_and_unknown_shapes(self, shape: tuple[int | None, ...] | None, mode: str) -> None:
        function = tf.function(
            lambda x: add(ops.my_op(x), x),
            input_signature=[tf.TensorSpec(shape, tf.float32)],
            jit_compile=mode == "jit",
        )
        np.testing.assert_allclose(function(tf.constant(X)), 3 * X, rtol=1e-6)
        if shape is None or shape[0] is None:
            np.testing.assert_allclose(function(tf.constant(X[:2])), 3 * X[:2], rtol=1e-6)

    def test_training_step(self) -> None:
        target = tf.constant(2.0 * X + 1.0)

        def train(mode: str, double: Callable[..., tf.Tensor], add: Callable[..., tf.Tensor]) -> list[float]:
            weight = tf.Variable(tf.ones([3, 3]))
            bias = tf.Variable(tf.zeros([4, 3]))

            def step() -> tf.Tensor:
                with tf.GradientTape() as tape:
                    y = add(double(tf.matmul(tf.constant(X), weight)), bias)
                    loss = tf.reduce_mean(tf.square(y - target))
                for variable, gradient in zip((weight, bias), tape.gradient(loss, [weight, bias]), strict=True):
                    variable.assign_sub(0.01 * gradient)
                return loss

            compiled = self.in_mode(mode, step)
            return [float(compiled()) for _ in range(20)]

        expected = train("eager", lambda x: 2.0 * x, tf.add)
        self.assertLess(expected[-1], 0.5 * expected[0])
        for mode in op_test_case.MODES:
            # Compiled sums are added in another order.
            np.testing.assert_allclose(train(mode, ops.my_op, add), expected, rtol=1e-5)


if __name__ == "__main__":
    absltest.main()
