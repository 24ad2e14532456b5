# SPDX-License-Identifier: Apache-2.0
# >>> only with my_layer.py: whole file
"""Tests of MyLayer."""

from __future__ import annotations

import pathlib
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tensorflow_custom_ops
from tensorflow_custom_ops.layers import MyLayer
from tests import layer_test_case, op_test_case
from tests.layer_test_case import POLICIES, ulp

ACTIVATIONS = (None, "linear", "relu", "tanh", "sigmoid", "gelu")
JIT = tuple(mode == "jit" for mode in op_test_case.MODES if mode != "eager")

# Of a result with the same from keras.layers.Dense, in units of the last place of the type: that of half types rounds
# the product, the sum and the activation, each of which is of size 1.
ULPS = 8

_LOAD = """
import sys
import keras
import numpy as np
import tensorflow as tf
import tensorflow_custom_ops.layers
y = keras.models.load_model(sys.argv[1]).predict(np.load(sys.argv[2]), verbose=0)
np.save(sys.argv[3], y.astype(np.float64))
"""

_SERVE = """
import sys
import numpy as np
import tensorflow as tf
import tensorflow_custom_ops
model = tf.saved_model.load(sys.argv[1])
y = model.serve(tf.constant(np.load(sys.argv[2])))
# NumPy saves no bfloat16.
np.save(sys.argv[3], tf.cast(y, tf.float64).numpy())
"""


def model_of(layer: type[keras.layers.Layer], policy: str = "float32") -> keras.Model:
    """A model with each kind of activation and one layer without bias."""
    return keras.Sequential(
        [
            keras.Input((12,)),
            layer(16, activation="relu", dtype=policy),
            layer(16, activation="gelu", dtype=policy),
            layer(8, activation="tanh", use_bias=False, dtype=policy),
            layer(1, dtype=policy),
        ]
    )


class MyLayerTest(layer_test_case.LayerTestCase):
    def temporary_directory(self) -> pathlib.Path:
        return pathlib.Path(self.create_tempdir().full_path)

    def pair(self, shape: tuple[int, ...], **arguments: Any) -> tuple[MyLayer, keras.layers.Dense]:  # noqa: ANN401
        """Our layer and Dense, with the same weights."""
        layers = MyLayer(5, **arguments), keras.layers.Dense(5, **arguments)
        for layer in layers:
            layer.build(shape)
        if layers[0].use_bias:
            layers[0].bias.assign(self.random((5,), tf.float32, seed=2))
        layers[1].set_weights(layers[0].get_weights())
        return layers

    def assert_same_as_dense(self, mode: str, policy: str, **arguments: Any) -> None:  # noqa: ANN401
        for shape in ((2, 3, 7), (0, 7)):
            ours, dense = self.pair(shape, dtype=policy, **arguments)
            x = tf.constant(self.random(shape, tf.float32))
            self.assert_near(self.in_mode(mode, ours)(x), dense(x), policy, ULPS)

    @parameterized.product(mode=op_test_case.MODES, policy=POLICIES, activation=ACTIVATIONS)
    def test_same_as_dense(self, mode: str, policy: str, activation: str | None) -> None:
        self.assert_same_as_dense(mode, policy, activation=activation)

    @parameterized.product(mode=op_test_case.MODES, policy=POLICIES)
    def test_same_as_dense_without_bias(self, mode: str, policy: str) -> None:
        self.assert_same_as_dense(mode, policy, activation="relu", use_bias=False)

    @parameterized.product(policy=POLICIES, jit_compile=JIT)
    def test_trains_as_dense(self, policy: str, jit_compile: bool) -> None:
        x = self.random((64, 12), tf.float32)
        y = np.sin(x[:, :1])
        losses = []
        models = model_of(MyLayer, policy), model_of(keras.layers.Dense, policy)
        models[1].set_weights(models[0].get_weights())
        for model in models:
            model.compile(keras.optimizers.SGD(0.05), "mse", jit_compile=jit_compile)
            history = model.fit(x, y, batch_size=32, epochs=12, shuffle=False, verbose=0)
            losses.append(history.history["loss"])
        self.assertLess(losses[0][-1], 0.5 * losses[0][0])
        # Steps add up their rounding errors, of half types in a few digits.
        np.testing.assert_allclose(losses[0], losses[1], rtol=max(1e-4, 16 * ulp(policy)))

    def test_trains_by_default(self) -> None:
        # Keras decides whether to compile, and asks the layers whether it may.
        self.assertEqual(MyLayer(3).supports_jit, tensorflow_custom_ops.build_info()["xla"])
        model = model_of(MyLayer)
        model.compile("sgd", "mse")
        x = self.random((8, 12), tf.float32)
        model.fit(x, x[:, :1], verbose=0)

    def test_functional_model(self) -> None:
        inputs = keras.Input((None, 6))
        hidden = MyLayer(4, activation="relu")(inputs)
        self.assertEqual(hidden.shape, (None, None, 4))
        self.assertEqual(hidden.dtype, "float32")
        layer = MyLayer(6)
        model = keras.Model(inputs, keras.layers.add([inputs, layer(hidden)]))
        x = self.random((2, 3, 6), tf.float32)
        expected = x + layer(model.layers[1](x)).numpy()
        np.testing.assert_allclose(model.predict(x, verbose=0), expected, rtol=1e-6, atol=1e-6)

    def test_takes_arrays_and_integers(self) -> None:
        layer = MyLayer(2, kernel_initializer="ones")
        np.testing.assert_array_equal(layer(np.array([[1, 2]])), [[3, 3]])
        np.testing.assert_array_equal(layer(np.array([[1.5, 2.0]])), [[3.5, 3.5]])

    def test_regularizers_and_constraints(self) -> None:
        layer = MyLayer(
            3,
            kernel_initializer="ones",
            bias_initializer="ones",
            kernel_regularizer=keras.regularizers.L1(0.5),
            bias_regularizer=keras.regularizers.L2(2.0),
            activity_regularizer=keras.regularizers.L1(1.0),
            kernel_constraint=keras.constraints.NonNeg(),
            bias_constraint=keras.constraints.MaxNorm(0.5),
        )
        layer(np.ones([1, 2]))
        self.assertCountEqual([float(loss) for loss in layer.losses], [0.5 * 6, 2.0 * 3, 9.0])
        self.assertIsInstance(layer.kernel.constraint, keras.constraints.NonNeg)
        self.assertIsInstance(layer.bias.constraint, keras.constraints.MaxNorm)

    def test_weights(self) -> None:
        layer = MyLayer(3)
        layer.build((None, 2))
        self.assertEqual([(w.name, tuple(w.shape)) for w in layer.weights], [("kernel", (2, 3)), ("bias", (3,))])
        layer = MyLayer(3, use_bias=False)
        layer.build((None, 2))
        self.assertEqual([w.name for w in layer.weights], ["kernel"])
        self.assertIsNone(layer.bias)

    def test_mixed_precision_keeps_weights_in_float32(self) -> None:
        layer = MyLayer(3, dtype="mixed_float16")
        self.assertEqual(layer(np.ones([1, 2])).dtype, tf.float16)
        self.assertEqual({w.dtype for w in layer.weights}, {"float32"})

    def test_config(self) -> None:
        layer = MyLayer(
            3,
            activation="gelu",
            use_bias=False,
            kernel_initializer=keras.initializers.RandomNormal(stddev=0.5, seed=7),
            bias_initializer="ones",
            kernel_regularizer=keras.regularizers.L1(0.5),
            bias_regularizer="l2",
            activity_regularizer="l1",
            kernel_constraint="non_neg",
            bias_constraint="max_norm",
            dtype="mixed_bfloat16",
            name="layer",
        )
        serialized = keras.saving.serialize_keras_object(layer)
        self.assertEqual(serialized["registered_name"], "tensorflow_custom_ops>MyLayer")
        copy = keras.saving.deserialize_keras_object(serialized)
        self.assertIsInstance(copy, MyLayer)
        self.assertEqual(copy.get_config(), layer.get_config())
        self.assertEqual(copy.name, "layer")
        self.assertEqual(copy.compute_dtype, "bfloat16")
        for name, default in MyLayer(3).get_config().items():
            self.assertTrue(name == "units" or layer.get_config()[name] != default or name == "trainable", name)

    def test_activation_object(self) -> None:
        layer = MyLayer(3, activation=keras.layers.LeakyReLU(0.5), kernel_initializer="ones")
        np.testing.assert_array_equal(layer(np.array([[-1.0, -1.0]])), [[-1.0] * 3])
        copy = MyLayer.from_config(layer.get_config())
        self.assertIsInstance(copy.activation, keras.layers.LeakyReLU)

    @parameterized.parameters(*POLICIES)
    def test_saved_model_is_loaded_elsewhere(self, policy: str) -> None:
        model = model_of(MyLayer, policy)
        model.compile("adam", "mse", jit_compile=False)
        x = self.random((8, 12), tf.float32)
        model.fit(x, x[:, :1], verbose=0)
        directory = self.temporary_directory()
        np.save(directory / "x.npy", x)
        expected = model.predict(x, verbose=0)

        model.save(directory / "model.keras")
        loaded = keras.models.load_model(directory / "model.keras")
        np.testing.assert_array_equal(loaded.predict(x, verbose=0), expected)
        # With the optimizer's state, so that training goes on as it would have.
        losses = [m.fit(x, x[:, :1], verbose=0).history["loss"] for m in (model, loaded)]
        self.assertEqual(*losses)

        model = keras.models.load_model(directory / "model.keras")
        model.export(directory / "exported", verbose=False)
        for program, saved in ((_LOAD, "model.keras"), (_SERVE, "exported")):
            files = [str(directory / name) for name in (saved, "x.npy", "y.npy")]
            self.run_python(program, *files)
            tolerance = ULPS * ulp(policy)
            np.testing.assert_allclose(np.load(files[-1]), expected.astype(np.float64), rtol=tolerance, atol=tolerance)

    def test_weights_file(self) -> None:
        path = self.temporary_directory() / "model.weights.h5"
        model, other = model_of(MyLayer), model_of(MyLayer)
        model.save_weights(path)
        other.load_weights(path)
        x = self.random((8, 12), tf.float32)
        np.testing.assert_array_equal(other.predict(x, verbose=0), model.predict(x, verbose=0))

    @parameterized.parameters(0, -1, 1.5, "3", None, True)
    def test_refuses_units(self, units: Any) -> None:  # noqa: ANN401
        with self.assertRaisesRegex(ValueError, f"MyLayer: units must be a positive integer, but it is {units!r}"):
            MyLayer(units)

    @parameterized.parameters(1, "no", None)
    def test_refuses_use_bias(self, use_bias: Any) -> None:  # noqa: ANN401
        with self.assertRaisesRegex(ValueError, f"MyLayer: use_bias must be a bool, but it is {use_bias!r}"):
            MyLayer(1, use_bias=use_bias)

    @parameterized.parameters("int32", "int8_from_float32")
    def test_refuses_dtype(self, dtype: str) -> None:
        with self.assertRaisesRegex(ValueError, f"MyLayer: dtype must be .* float16, .* but it is '{dtype}'"):
            MyLayer(3, dtype=dtype)

    def test_refuses_inputs(self) -> None:
        with self.assertRaisesRegex(ValueError, r"MyLayer: the last dimension .* must be known, .* \(None, None\)"):
            MyLayer(3)(keras.Input((None,)))
        layer = MyLayer(3)
        layer.build((None, 4))
        with self.assertRaisesRegex(ValueError, "expected axis -1 of input shape to have value 4"):
            layer(np.ones([2, 5]))
        with self.assertRaisesRegex(ValueError, "expected min_ndim=2"):
            layer(np.ones([4]))

    def test_is_imported_on_demand(self) -> None:
        self.run_python("""
import sys
import tensorflow_custom_ops
assert "tensorflow_custom_ops.layers" not in sys.modules
assert tensorflow_custom_ops.layers.MyLayer(3).units == 3
assert "tensorflow_custom_ops.layers" in sys.modules
""")
        with self.assertRaisesRegex(AttributeError, "'tensorflow_custom_ops' has no attribute 'layer'"):
            _ = tensorflow_custom_ops.layer

    def test_refuses_another_backend(self) -> None:
        program = """
import keras
keras.backend.backend = lambda: "jax"
import tensorflow_custom_ops.layers
"""
        result = self.run_python(program, check=False)
        self.assertEqual(result.returncode, 1)
        message = "the layers of tensorflow_custom_ops .* Keras runs on jax: .* KERAS_BACKEND=tensorflow"
        self.assertRegex(result.stderr, rf"\nImportError: {message}\n\Z")

    def test_explains_a_keras_that_cannot_be_imported(self) -> None:
        program = """
import sys
import tensorflow_custom_ops
sys.modules["keras"] = None
import tensorflow_custom_ops.layers
"""
        result = self.run_python(program, check=False)
        self.assertEqual(result.returncode, 1)
        message = r"the layers .* need Keras on TensorFlow \(KERAS_BACKEND=tensorflow\), and Keras cannot be imported: "
        self.assertRegex(result.stderr, rf"\nImportError: {message}.*\n\Z")

    def test_refuses_sparse_and_complex_inputs(self) -> None:
        layer = MyLayer(2)
        layer.build((None, 3))
        for inputs in (tf.sparse.eye(3), tf.ones([2, 3], tf.complex64)):
            with self.assertRaisesRegex(ValueError, "MyLayer: inputs must be a dense tensor of real numbers"):
                layer(inputs)

    def test_units_of_numpy(self) -> None:
        self.assertEqual(MyLayer(np.int64(2)).get_config()["units"], 2)


if __name__ == "__main__":
    absltest.main()
