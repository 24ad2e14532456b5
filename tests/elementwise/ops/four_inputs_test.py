# SPDX-License-Identifier: Apache-2.0
"""An elementwise op may have four inputs, an integer, and a name of its own."""

from __future__ import annotations

from absl.testing import absltest

from tests import elementwise_test_case
from tests.elementwise.ops import four_inputs, products
from tests.elementwise_test_case import Input, Spec, Tolerance


class FourInputsTest(elementwise_test_case.BroadcastingTestCase):
    libraries = (products.LIBRARY,)
    spec = Spec(
        op="FactorsABCD",
        function=four_inputs.four_inputs,
        reference=products.derivative((0, 0, 0, 0)),
        derivatives=products.derivatives(inputs=4, order=2),
        tolerances=(
            Tolerance(float32=16, float64=32),
            Tolerance(float32=16, float64=32, scale=products.scale),
            Tolerance(float32=16, float64=32, scale=products.scale),
        ),
        inputs=tuple(Input(name, low=-3.0, high=3.0) for name in "abcd"),
        variants=({"times": 2}, {"times": -3}),
        refused=(({"times": 0}, "times must not be 0, but times is 0"),),
    )


if __name__ == "__main__":
    absltest.main()
