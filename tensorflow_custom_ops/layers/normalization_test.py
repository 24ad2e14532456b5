# SPDX-License-Identifier: Apache-2.0
# >>> only with normalization.py: whole file
"""Tests of RmsNorm, RmsNormResidual and LayerNorm."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tensorflow_custom_ops as ops
from tensorflow_custom_ops.layers import LayerNorm, RmsNorm, RmsNormResidual
from tests import layer_test_case, op_test_case

# Ours and Keras's.
PAIRS = {"RmsNorm": (RmsNorm, keras.layers.RMSNormalization), "LayerNorm": (LayerNorm, keras.layers.LayerNormalization)}

ALL = (RmsNorm, RmsNormResidual, LayerNorm)


class NormalizationTest(layer_test_case.LayerTestCase):
    def random_weights(self, *layers: keras.layers.Layer) -> None:
        """Gives the layers the same random weights."""
        weights = [self.random(w.shape, tf.float32, seed=i + 1) for i, w in enumerate(layers[0].weights)]
        for layer in layers:
            layer.set_weights(weights)

    @parameterized.product(mode=op_test_case.MODES, policy=layer_test_case.POLICIES, name=tuple(PAIRS), axis=(-1, 1))
    def test_same_as_keras(self, mode: str, policy: str, name: str, axis: int) -> None:
        for shape in ((2, 3, 7), (0, 3, 7)):
            ours, theirs = PAIRS[name]
            layer, expected_of = ours(axis=axis, epsilon=1e-3, dtype=policy), theirs(epsilon=1e-3, dtype=policy)
            x = tf.constant(self.random(shape, tf.float32))
            # Keras's RMSNormalization fails for axes other than the last.
            order = [0, 2, 1] if axis == 1 else [0, 1, 2]
            turned = tf.transpose(x, order)
            layer.build(shape)
            expected_of.build(turned.shape)
            self.random_weights(layer, expected_of)
            y, expected = self.in_mode(mode, layer)(x), tf.transpose(expected_of(turned), order)
            # Keras rounds the normalised row, too, and computes float64 in float32.
            self.assert_near(y, expected, "float32" if policy == "float64" else policy, ulps=64)

    @parameterized.product(mode=op_test_case.MODES, policy=layer_test_case.POLICIES)
    def test_residual(self, mode: str, policy: str) -> None:
        layer, plain = RmsNormResidual(dtype=policy), RmsNorm(dtype=policy)
        shape = (2, 3, 7)
        layer.build(shape, shape)
        plain.build(shape)
        self.random_weights(layer, plain)
        x, residual = (tf.constant(self.random(shape, tf.float32, seed)) for seed in (1, 2))
        y, total = self.in_mode(mode, layer)(x, residual)
        dtype = layer.compute_dtype
        expected = tf.cast(x, dtype) + tf.cast(residual, dtype)
        self.assert_near(total, expected, policy, ulps=1)
        self.assert_near(y, plain(expected), policy)

    @parameterized.parameters(*layer_test_case.POLICIES)
    def test_weights(self, policy: str) -> None:
        for layer in ALL:
            made = layer(dtype=policy)
            shapes = [(2, None, 5)] * (2 if layer is RmsNormResidual else 1)
            made.build(*shapes)
            expected = ["scale", "offset"] if layer is LayerNorm else ["scale"]
            self.assertEqual([w.name for w in made.weights], expected)
            kept = "float64" if policy == "float64" else "float32"
            self.assertEqual({(w.dtype, tuple(w.shape)) for w in made.weights}, {(kept, (5,))})

    def test_mixed_precision_keeps_its_statistics_in_float32(self) -> None:
        # The sum of squares is larger than the largest half.
        y = RmsNorm(dtype="mixed_float16")(np.full([1, 64], 200.0))
        np.testing.assert_allclose(y, np.ones([1, 64]), rtol=1e-3)

    @parameterized.parameters(*ALL)
    def test_functional_model(self, layer: type[keras.layers.Layer]) -> None:
        inputs = [keras.Input((None, 6)) for _ in range(2 if layer is RmsNormResidual else 1)]
        outputs = layer(epsilon=0.1)(*inputs)
        for output in keras.tree.flatten(outputs):
            self.assertEqual((output.shape, output.dtype), ((None, None, 6), "float32"))
        arrays = [self.random((2, 3, 6), tf.float32, seed) for seed in range(len(inputs))]
        self.assert_model_saves(inputs, outputs, *arrays)

    @parameterized.parameters(*ALL)
    def test_output_shape(self, layer: type[keras.layers.Layer]) -> None:
        for shape in ((None, None, 6), (2, None, 6), (None, 6)):
            if layer is RmsNormResidual:
                self.assertEqual(layer().compute_output_shape(shape, shape), (shape, shape))
            else:
                self.assertEqual(layer().compute_output_shape(shape), shape)

    @parameterized.parameters(*ALL)
    def test_refuses_symbolic_inputs_of_another_size(self, layer: type[keras.layers.Layer]) -> None:
        made = layer()
        made(*[keras.Input((6,))] * (2 if layer is RmsNormResidual else 1))
        with self.assertRaisesRegex(ValueError, f"{layer.__name__}: scale must have shape"):
            made(*[keras.Input((7,))] * (2 if layer is RmsNormResidual else 1))

    @parameterized.parameters(*ALL)
    def test_passes_masks_on(self, layer: type[keras.layers.Layer]) -> None:
        x = keras.layers.Embedding(5, 4, mask_zero=True)(np.array([[1, 2, 0]]))
        outputs = layer()(x, x) if layer is RmsNormResidual else layer()(x)
        for output in keras.tree.flatten(outputs):
            np.testing.assert_array_equal(keras.src.backend.get_keras_mask(output), [[True, True, False]])

    @parameterized.product(jit=[mode == "jit" for mode in op_test_case.MODES if mode != "eager"], name=tuple(PAIRS))
    def test_trains_as_keras(self, jit: bool, name: str) -> None:
        x = self.random((64, 12), tf.float32)
        y = np.sin(x[:, :1])
        losses = []
        models = [
            keras.Sequential([keras.Input((12,)), keras.layers.Dense(8), layer(epsilon=1e-3), keras.layers.Dense(1)])
            for layer in PAIRS[name]
        ]
        models[1].set_weights(models[0].get_weights())
        for model in models:
            model.compile(keras.optimizers.SGD(0.05), "mse", jit_compile=jit)
            losses.append(model.fit(x, y, batch_size=32, epochs=8, shuffle=False, verbose=0).history["loss"])
        self.assertLess(losses[0][-1], losses[0][0])
        np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)

    def test_config(self) -> None:
        arguments: dict[str, Any] = {
            "axis": 1,
            "epsilon": 0.5,
            "scale_initializer": "zeros",
            "scale_regularizer": "l2",
            "scale_constraint": "non_neg",
            "name": "layer",
            "dtype": "mixed_bfloat16",
        }
        for layer in ALL:
            with self.subTest(layer.__name__):
                more: dict[str, Any] = {
                    "offset_initializer": "ones",
                    "offset_regularizer": "l1",
                    "offset_constraint": "max_norm",
                }
                self.assert_config(layer(**arguments, **(more if layer is LayerNorm else {})))

    def test_regularizers_and_constraints(self) -> None:
        layer = LayerNorm(
            offset_initializer="ones",
            scale_regularizer=keras.regularizers.L1(0.5),
            offset_regularizer=keras.regularizers.L2(2.0),
            offset_constraint="non_neg",
            scale_constraint="max_norm",
        )
        layer(np.ones([1, 3]))
        self.assertCountEqual([float(loss) for loss in layer.losses], [0.5 * 3, 2.0 * 3])
        self.assertIsInstance(layer.offset.constraint, keras.constraints.NonNeg)
        self.assertIsInstance(layer.scale.constraint, keras.constraints.MaxNorm)

    @parameterized.parameters(*ALL)
    def test_refuses(self, layer: type[keras.layers.Layer]) -> None:
        name = layer.__name__
        for axis in (1.0, None, True):
            with self.assertRaisesRegex(ValueError, f"{name}: axis must be an integer, but it is {axis!r}"):
                layer(axis=axis)
        for epsilon in (-1.0, float("inf"), float("nan"), "1", None):
            message = f"{name}: epsilon must be a finite number, 0 at least, but it is {epsilon!r}"
            with self.assertRaisesRegex(ValueError, message):
                layer(epsilon=epsilon)
        with self.assertRaisesRegex(ValueError, f"{name}: dtype must be .* float16, .* but it is 'int32'"):
            layer(dtype="int32")
        inputs = [keras.Input((None,))] * (2 if layer is RmsNormResidual else 1)
        with self.assertRaisesRegex(ValueError, rf"{name}: the last dimension .* must be known, .* \(None, None\)"):
            layer()(*inputs)
        with self.assertRaisesRegex(ValueError, rf"{name}: the inputs must have the dimension 2, .* \(None, None\)"):
            layer(axis=2)(*inputs)

    def test_is_the_op(self) -> None:
        x = self.random((2, 5), tf.float32)
        np.testing.assert_array_equal(RmsNorm(epsilon=0.5)(x), ops.rms_norm(x, tf.ones([5]), epsilon=0.5))


if __name__ == "__main__":
    absltest.main()
