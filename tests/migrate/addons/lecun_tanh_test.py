# SPDX-License-Identifier: Apache-2.0
"""The op that is moved as one from TensorFlow Addons would be computes what NumPy does, and its layer can be saved."""

from __future__ import annotations

import pathlib

import keras
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

from tests import op_test_case
from tests.migrate.addons import gen_lecun_tanh
from tests.migrate.addons.lecun_tanh import LecunTanh, lecun_tanh

LIBRARY = "_emulated_ops.so" if op_test_case.DEVICE == "emulator" else "_ops.so"
# XLA has the op's function, whatever the kernels are.
MODES = ("eager", "graph") if op_test_case.DEVICE == "emulator" else op_test_case.MODES
RTOL = {tf.half: 2e-3, tf.bfloat16: 1.6e-2, tf.float32: 2e-6, tf.float64: 1e-14}

tf.load_op_library(str(pathlib.Path(__file__).parent / LIBRARY))


class LecunTanhTest(op_test_case.OpTestCase):
    @parameterized.product(mode=MODES, dtype=tuple(RTOL), shape=op_test_case.SHAPES)
    def test_values(self, mode: str, dtype: tf.DType, shape: tuple[int, ...]) -> None:
        x = self.random(shape, dtype)
        y = self.in_mode(mode, lambda x: lecun_tanh(x, scale=1.5, slope=0.75))(tf.constant(x))
        expected = 1.5 * np.tanh(0.75 * x.astype(np.float64))
        np.testing.assert_allclose(y.numpy().astype(np.float64), expected, rtol=RTOL[dtype], strict=True)

    @parameterized.parameters(*MODES)
    def test_gradients(self, mode: str) -> None:
        def gradients(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    y = lecun_tanh(x, scale=1.5, slope=0.75)
                first = inner.gradient(y, x)
            return first, outer.gradient(first, x)

        x = self.random((5, 7), tf.float64)
        first, second = self.in_mode(mode, gradients)(tf.constant(x))
        tanh = np.tanh(0.75 * x)
        np.testing.assert_allclose(first, 1.5 * 0.75 * (1 - tanh**2), rtol=1e-12)
        np.testing.assert_allclose(second, -2 * 1.5 * 0.75**2 * tanh * (1 - tanh**2), rtol=1e-12)

    def test_the_defaults_of_the_function_are_those_of_the_op(self) -> None:
        x = tf.constant(self.random((100,), tf.float32))
        np.testing.assert_array_equal(lecun_tanh(x), gen_lecun_tanh.lecun_tanh(x))

    def test_the_layer_can_be_saved(self) -> None:
        model = keras.Sequential([keras.Input([4]), keras.layers.Dense(3), LecunTanh(scale=2.0)])
        file = str(pathlib.Path(self.create_tempdir().full_path) / "model.keras")
        model.save(file)
        x = self.random((6, 4), tf.float32)
        loaded = keras.models.load_model(file)
        np.testing.assert_array_equal(loaded(x), model(x))
        self.assertEqual(loaded.layers[-1].scale, 2.0)


if __name__ == "__main__":
    absltest.main()
