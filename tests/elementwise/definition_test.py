# SPDX-License-Identifier: Apache-2.0
"""What is said of elementwise ops that are defined or registered wrongly."""

from __future__ import annotations

import pathlib

import tensorflow as tf
from absl.testing import absltest

from tensorflow_custom_ops.core import elementwise
from tensorflow_custom_ops.ops.mish import gen_mish
from tensorflow_custom_ops.ops.simple_add import gen_simple_add

_LIBRARY = pathlib.Path(__file__).parent / "_wrong_definition.so"


class DefinitionTest(absltest.TestCase):
    def test_must_fit_the_functor(self) -> None:
        message = "WrongDefinition: its functor takes 2 inputs and 1 attributes, but its definition has 1 and 0"
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
            tf.load_op_library(str(_LIBRARY))

    def test_registers_ops_that_are_there(self) -> None:
        for op in ("MISH", "Gelu"):
            with self.assertRaisesRegex(ValueError, f"gen_mish has no op {op}$"):
                elementwise.register(op, gen_mish)

    def test_registers_ops_that_have_a_gradient(self) -> None:
        with self.assertRaisesRegex(ValueError, "gen_simple_add has no op SimpleAddGrad$"):
            elementwise.register("SimpleAdd", gen_simple_add)


if __name__ == "__main__":
    absltest.main()
