# SPDX-License-Identifier: Apache-2.0
# >>> only with rotary_embedding.py: whole file
"""Tests of the layer RotaryEmbedding."""

from __future__ import annotations

import pathlib
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tensorflow_custom_ops as ops
from tensorflow_custom_ops.layers import RotaryEmbedding
from tests import op_test_case

POLICIES = ("float32", "float64", "mixed_bfloat16", "mixed_float16")
JIT = tuple(mode == "jit" for mode in op_test_case.MODES if mode != "eager")

_LOAD = """
import sys
import keras
import numpy as np
import tensorflow_custom_ops.layers
y = keras.models.load_model(sys.argv[1]).predict(np.load(sys.argv[2]), verbose=0)
np.save(sys.argv[3], y)
"""


class RotaryEmbeddingLayerTest(op_test_case.OpTestCase):
    @parameterized.product(policy=POLICIES, mode=op_test_case.MODES, interleaved=(False, True))
    def test_is_the_op(self, policy: str, mode: str, interleaved: bool) -> None:
        layer = RotaryEmbedding(base=100.0, rotary_dim=4, interleaved=interleaved, dtype=policy)
        x = tf.constant(self.random((2, 5, 3, 6), tf.float32))
        for positions in (None, tf.range(3, 8), tf.constant(np.arange(10).reshape(2, 5))):
            y = self.in_mode(mode, layer)(x, positions)
            self.assertEqual(y.dtype.name, layer.compute_dtype)
            expected = self.in_mode(mode, ops.rotary_embedding)(
                tf.cast(x, layer.compute_dtype), positions, base=100.0, rotary_dim=4, interleaved=interleaved
            )
            self.assert_same(expected.numpy(), y)

    def test_has_no_weights(self) -> None:
        layer = RotaryEmbedding()
        layer(np.ones([1, 2, 1, 4]))
        self.assertEmpty(layer.weights)

    @parameterized.product(policy=POLICIES, jit_compile=JIT)
    def test_trains_in_a_model(self, policy: str, jit_compile: bool) -> None:
        keras.utils.set_random_seed(1)
        inputs, positions = keras.Input((None, 8)), keras.Input((None,), dtype="int32")
        heads = keras.layers.Reshape((-1, 2, 4))(keras.layers.Dense(8, dtype=policy)(inputs))
        turned = RotaryEmbedding(dtype=policy)(heads, positions=positions)
        self.assertEqual(tuple(turned.shape), (None, None, 2, 4))
        outputs = keras.layers.Dense(1, dtype="float32")(keras.layers.Reshape((-1, 8))(turned))
        model = keras.Model([inputs, positions], outputs)
        model.compile(keras.optimizers.SGD(0.1), "mse", jit_compile=jit_compile)
        x, p = self.random((32, 5, 8), tf.float32), np.tile(np.arange(5), (32, 1))
        losses = model.fit([x, p], x[..., :1], epochs=12, verbose=0).history["loss"]
        self.assertLess(losses[-1], 0.9 * losses[0])

    def test_symbolic_shape_and_type(self) -> None:
        y = RotaryEmbedding(dtype="mixed_float16")(keras.Input((None, 8, 64)))
        self.assertEqual((tuple(y.shape), y.dtype), ((None, None, 8, 64), "float16"))

    def test_output_shape(self) -> None:
        shape = (None, None, 8, 64)
        self.assertEqual(RotaryEmbedding().compute_output_shape(shape), shape)
        self.assertEqual(RotaryEmbedding().compute_output_shape(shape, (None, None)), shape)

    def test_config(self) -> None:
        layer = RotaryEmbedding(base=5.0, rotary_dim=2, interleaved=True, dtype="mixed_bfloat16", name="turn")
        serialized = keras.saving.serialize_keras_object(layer)
        self.assertEqual(serialized["registered_name"], "tensorflow_custom_ops>RotaryEmbedding")
        copy = keras.saving.deserialize_keras_object(serialized)
        self.assertIsInstance(copy, RotaryEmbedding)
        self.assertEqual(copy.get_config(), layer.get_config())
        self.assertEqual((copy.base, copy.rotary_dim, copy.interleaved), (5.0, 2, True))
        self.assertEqual((copy.name, copy.compute_dtype), ("turn", "bfloat16"))

    def test_saved_model_is_loaded_elsewhere(self) -> None:
        model = keras.Sequential([keras.Input((None, 2, 8)), RotaryEmbedding(rotary_dim=4)])
        directory = pathlib.Path(self.create_tempdir().full_path)
        x = self.random((3, 5, 2, 8), tf.float32)
        np.save(directory / "x.npy", x)
        model.save(directory / "model.keras")
        files = [str(directory / name) for name in ("model.keras", "x.npy", "y.npy")]
        self.run_python(_LOAD, *files)
        np.testing.assert_array_equal(np.load(files[-1]), model.predict(x, verbose=0))

    @parameterized.parameters(
        ({"base": 0.0}, ValueError, "base must be a positive number, but is 0"),
        ({"base": "1"}, TypeError, "base must be a number, but is '1'"),
        ({"rotary_dim": 3}, ValueError, "rotary_dim must be even, but is 3"),
        ({"rotary_dim": -2}, ValueError, "rotary_dim must not be negative, but is -2"),
        ({"interleaved": "yes"}, TypeError, "interleaved must be a bool, but is 'yes'"),
        ({"dtype": "int32"}, ValueError, "RotaryEmbedding: dtype must be .* float16, .* but it is 'int32'"),
    )
    def test_refuses_arguments(self, arguments: dict[str, Any], error: type[Exception], message: str) -> None:
        with self.assertRaisesRegex(error, message):
            RotaryEmbedding(**arguments)

    def test_refuses_inputs(self) -> None:
        with self.assertRaisesRegex(ValueError, "RotaryEmbedding: .*last dimension of input must be even"):
            RotaryEmbedding()(keras.Input((3, 2, 5)))
        for inputs in (tf.sparse.from_dense(tf.ones([1, 1, 2])), tf.ones([1, 1, 2], tf.complex64)):
            with self.assertRaisesRegex(ValueError, "RotaryEmbedding: inputs must be a dense tensor of real numbers"):
                RotaryEmbedding()(inputs)


if __name__ == "__main__":
    absltest.main()
