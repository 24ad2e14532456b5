# SPDX-License-Identifier: Apache-2.0
"""What is said of elementwise ops that are defined or registered wrongly."""

from __future__ import annotations

import os
import pathlib
import shutil
from unittest import mock

import tensorflow as tf
from absl.testing import absltest, parameterized

from tensorflow_custom_ops.core import elementwise
from tensorflow_custom_ops.ops.my_op import gen_my_op

_LIBRARY = pathlib.Path(__file__).parent / "_wrong_definition.so"


class DefinitionTest(parameterized.TestCase):
    @parameterized.parameters(
        ("WrongCounts", "its functor takes 2 inputs and 1 attributes, but its definition has 1 and 0"),
        ("NoDefault", "the attribute alpha must have a default value, but it has none"),
        ("NoDefaultButAMinimum", "the attribute count must have a default value, but it has none"),
        ("OfTypeString", "the attribute mode must be of type float, int or bool, but it is of type string"),
        ("OfTypeType", "the attribute U must be of type float, int or bool, but it is of type type"),
        ("OfTypeList", r"the attribute weights must be of type float, int or bool, but it is of type list\(float\)"),
        ("CalledOrders", "an attribute of an elementwise op must not be called orders, for its gradient has one of"),
    )
    def test_is_refused_when_it_is_loaded(self, op: str, message: str) -> None:
        # A copy, for a library that is there already does not register anything.
        library = shutil.copy(_LIBRARY, pathlib.Path(self.create_tempdir().full_path) / f"{op}.so")
        with (
            mock.patch.dict(os.environ, {"WRONG_DEFINITION": op}),
            self.assertRaisesRegex(tf.errors.InvalidArgumentError, f"{op}: {message}"),
        ):
            tf.load_op_library(str(library))

    def test_registers_ops_that_are_there(self) -> None:
        for op in ("MYOP", "OtherOp"):
            with self.assertRaisesRegex(ValueError, f"gen_my_op has no op {op}$"):
                elementwise.register(op, gen_my_op)

    def test_registers_ops_that_have_a_gradient(self) -> None:
        with self.assertRaisesRegex(ValueError, "gen_my_op has no op MyOpGrad$"):
            elementwise.register("MyOp", gen_my_op)


if __name__ == "__main__":
    absltest.main()
