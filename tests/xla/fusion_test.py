# SPDX-License-Identifier: Apache-2.0
"""XLA fuses the ops with their neighbours."""

from __future__ import annotations

import re
from collections.abc import Callable

import tensorflow as tf
from absl.testing import absltest, parameterized

import tensorflow_custom_ops as ops
from tensorflow_custom_ops import _build_info
from tests import op_test_case


def optimized_hlo(function: Callable[..., tf.Tensor], *inputs: tf.Tensor) -> str:
    """The program that XLA makes of a function for the CPU."""
    text: str = tf.function(function, jit_compile=True).experimental_get_compiler_ir(*inputs)(stage="optimized_hlo")
    return text


def entry_instructions(hlo: str) -> list[str]:
    """The opcodes of the entry computation, without its parameters."""
    entry = re.search(r"^ENTRY .*?\{\n(.*?)^\}", hlo, re.MULTILINE | re.DOTALL)
    assert entry is not None, hlo
    opcodes = re.findall(r"^ *(?:ROOT )?%\S+ = \S+ ([\w-]+)\(", entry[1], re.MULTILINE)
    return [opcode for opcode in opcodes if opcode != "parameter"]


@absltest.skipUnless(_build_info.XLA, "this build has no XLA kernels")
class FusionTest(op_test_case.OpTestCase):
    @parameterized.named_parameters(
        ("my_op", lambda x: ops.my_op(x) + 1.0, {"add"}),
        # >>> only with simple_add
        ("simple_add", lambda x: tf.exp(ops.simple_add(x, x * 3.0)), {"add", "multiply", "exponential"}),
        ("both", lambda x: ops.my_op(ops.simple_add(x, tf.sin(x))), {"add", "sine"}),
        # <<<
    )
    def test_one_fusion(self, function: Callable[..., tf.Tensor], opcodes: set[str]) -> None:
        hlo = optimized_hlo(function, tf.zeros([64, 33]))
        self.assertEqual(entry_instructions(hlo), ["fusion"])
        for opcode in opcodes:
            self.assertRegex(hlo, rf" {opcode}\(")


if __name__ == "__main__":
    absltest.main()
