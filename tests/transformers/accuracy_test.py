# SPDX-License-Identifier: Apache-2.0
"""The ops of transformers are as exact as docs/transformers.md says."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tensorflow_custom_ops as ops
from tests import op_test_case
from tests.transformers import accuracy_cases as cases

_DOCUMENTATION = pathlib.Path("docs/transformers.md")

PASSES = ("forward", "backward")

# Other instruction sets than those with which the table was made add in another order.
SLACK = 4

# Modes of which one is not the other's kernel; a graph's is that of eager mode.
MODES = tuple(mode for mode in op_test_case.MODES if mode != "graph")


def _documented() -> dict[tuple[str, str], dict[str, float]]:
    """The errors in the table, by case and pass, and by type."""
    section = re.search(r"^## Accuracy\n(.*?)(^## |\Z)", _DOCUMENTATION.read_text(), re.MULTILINE | re.DOTALL)
    assert section
    lines = [line for line in section[1].splitlines() if line.startswith("|")]
    names, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {
        (f"{op} {size}", of_pass): dict(zip(names[3:], map(float, errors), strict=True))
        for op, size, of_pass, *errors in rows
    }


def _relative_error(expected: Sequence[np.ndarray], actual: Sequence[tf.Tensor]) -> float:
    """The largest error of any element, in relation to the largest element of the same array."""
    return max(
        float(np.max(np.abs(tensor.numpy().astype(np.float64) - array)) / np.max(np.abs(array)))
        for array, tensor in zip(expected, actual, strict=True)
    )


def _both_passes(case: cases.Case, inputs: Sequence[tf.Tensor], grads: Sequence[tf.Tensor]) -> tuple[Any, Any]:
    """Outputs, and gradients with respect to the inputs."""
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        outputs = tf.nest.flatten(case.function(*inputs))
    return outputs, tape.gradient(outputs, inputs, grads)


class AccuracyTest(op_test_case.OpTestCase):
    def test_documents_all_cases(self) -> None:
        self.assertCountEqual(_documented(), [(case.name, of_pass) for case in cases.CASES for of_pass in PASSES])

    @parameterized.named_parameters((case.name, case) for case in cases.CASES)
    def test_is_as_documented(self, case: cases.Case) -> None:
        arrays = case.arrays()
        for name, dtype in cases.DTYPES.items():
            inputs, grads = ([tf.cast(array, dtype) for array in of_one] for of_one in arrays)
            wide = [[tensor.numpy().astype(np.float64) for tensor in tensors] for tensors in (inputs, grads)]
            expected = case.expected(*wide)
            worst = dict.fromkeys(PASSES, 0.0)
            for mode in MODES:
                function = self.in_mode(mode, lambda inputs, grads: _both_passes(case, inputs, grads))
                for of_pass, one, other in zip(PASSES, expected, function(inputs, grads), strict=True):
                    worst[of_pass] = max(worst[of_pass], _relative_error(one, other))
            for of_pass, error in worst.items():
                documented = _documented()[case.name, of_pass][name]
                print(f"{case.name}, {of_pass}, {name}: {error:.1e}, documented {documented:.1e}")
                with self.subTest(name=name, of_pass=of_pass):
                    self.assertLessEqual(error, documented, "less exact than documented")
                    self.assertLessEqual(documented, SLACK * error, "more exact than documented")

    @parameterized.product(mode=MODES, name=tuple(cases.DTYPES))
    def test_large_scores(self, mode: str, name: str) -> None:
        # Their exponentials are infinite, and their differences so large that one key is seen.
        dtype = cases.DTYPES[name]
        size = 64
        q = tf.reshape(tf.eye(size, dtype=dtype), [1, size, 1, size]) * 200
        v = tf.cast(self.random((1, size, 1, size), tf.float32), dtype)

        def both(q: tf.Tensor, v: tf.Tensor) -> list[tf.Tensor]:
            with tf.GradientTape() as tape:
                tape.watch([q, v])
                y = ops.flash_attention(q, q, v)
            return [y, *tape.gradient(y, [q, v])]

        y, q_grad, v_grad = self.in_mode(mode, both)(q, v)
        self.assert_same(v.numpy(), y)
        self.assert_same(np.ones_like(v.numpy()), v_grad)
        # The gradients of scores cancel out, up to rounding errors.
        np.testing.assert_allclose(tf.cast(q_grad, tf.float32), np.zeros(v.shape), atol=0.01)

    @parameterized.product(mode=MODES, name=tuple(cases.DTYPES))
    def test_queries_that_see_nothing(self, mode: str, name: str) -> None:
        dtype = cases.DTYPES[name]
        x = tf.cast(self.random((2, 130, 2, 64), tf.float32), dtype)
        keys = x[:, :100]
        hidden = tf.constant(-np.inf, dtype)

        def both(x: tf.Tensor, keys: tf.Tensor, bias: tf.Tensor) -> list[tf.Tensor]:
            with tf.GradientTape() as tape:
                tape.watch([x, keys])
                y = ops.flash_attention(x, keys, keys, bias, causal=True)
            return [y, *tape.gradient(y, [x, keys])]

        with self.subTest("by the causal mask"):
            y, x_grad, _ = self.in_mode(mode, both)(x, keys, tf.zeros([1], dtype))
            for tensor in (y, x_grad):
                self.assert_same(np.zeros_like(tensor[:, :30].numpy()), tensor[:, :30])
                self.assertTrue(np.all(np.isfinite(tensor.numpy().astype(np.float64))))
                # The first one that sees a key sees no other, and has no gradient.
                self.assertTrue(np.all(np.any(tensor[:, 31:].numpy() != 0, -1)))
        with self.subTest("by a bias"):
            for tensor in self.in_mode(mode, both)(x, keys, tf.fill([100], hidden)):
                self.assert_same(np.zeros_like(tensor.numpy()), tensor)


if __name__ == "__main__":
    absltest.main()
