# SPDX-License-Identifier: Apache-2.0
"""What the tests of products of functions share: their library, and formulas."""

from __future__ import annotations

import itertools
import math
import pathlib

import numpy as np
import tensorflow as tf

from tests import op_test_case
from tests.elementwise_test_case import Formula, Orders, sigmoid

LIBRARY = str(pathlib.Path(__file__).parent / ("_emulated_ops.so" if op_test_case.DEVICE == "emulator" else "_ops.so"))
tf.load_op_library(LIBRARY)

# Of each input a function, and its first and second derivative. They are bounded: 0 times infinity would be NaN, and
# what is 0 differs between types.
_FACTORS: tuple[tuple[Formula, Formula, Formula], ...] = (
    (
        sigmoid,
        lambda a: sigmoid(a) * sigmoid(-a),
        lambda a: sigmoid(a) * sigmoid(-a) * (sigmoid(-a) - sigmoid(a)),
    ),
    (
        np.tanh,
        lambda b: 1 - np.tanh(b) ** 2,
        lambda b: -2 * np.tanh(b) * (1 - np.tanh(b) ** 2),
    ),
    (np.sin, np.cos, lambda c: -np.sin(c)),
    (np.cos, lambda d: -np.sin(d), lambda d: -np.cos(d)),
)


def derivative(orders: Orders) -> Formula:
    """The formula of a derivative of the product of as many functions, and of a number."""

    def product(*inputs: np.ndarray, times: int = 1) -> np.ndarray:
        factors = (factor[order](x) for factor, order, x in zip(_FACTORS, orders, inputs, strict=False))
        return np.asarray(math.prod(factors, start=times))

    return product


def derivatives(inputs: int, order: int) -> dict[Orders, Formula]:
    """The formulas of all derivatives up to an order."""
    return {
        orders: derivative(orders)
        for orders in itertools.product(range(order + 1), repeat=inputs)
        if 1 <= sum(orders) <= order
    }


def scale(*inputs: np.ndarray) -> np.ndarray:
    """Of what the error of 1 - tanh(b)**2, one ulp of 1, is multiplied by."""
    return np.ones_like(inputs[0])
