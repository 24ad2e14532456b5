# SPDX-License-Identifier: Apache-2.0
"""An elementwise op may have three inputs, and one derivative."""

from __future__ import annotations

from absl.testing import absltest

from tests import elementwise_test_case
from tests.elementwise.ops import products, three_inputs
from tests.elementwise_test_case import Input, Spec, Tolerance


class ThreeInputsTest(elementwise_test_case.BroadcastingTestCase):
    libraries = (products.LIBRARY,)
    spec = Spec(
        op="ThreeInputs",
        function=three_inputs.three_inputs,
        reference=products.derivative((0, 0, 0)),
        derivatives=products.derivatives(inputs=3, order=1),
        tolerances=(
            Tolerance(float32=16, float64=32),
            Tolerance(float32=16, float64=32, scale=products.scale),
        ),
        inputs=tuple(Input(name, low=-3.0, high=3.0) for name in "abc"),
        order=1,
    )


if __name__ == "__main__":
    absltest.main()
