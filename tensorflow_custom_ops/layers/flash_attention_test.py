# SPDX-License-Identifier: Apache-2.0
# >>> only with flash_attention.py: whole file
"""Tests of the layer FlashAttention."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

from tensorflow_custom_ops.layers import FlashAttention
from tests import layer_test_case, op_test_case

HEADS, HEAD_DIM, KV_HEADS = 4, 6, 2
FEATURES = 10


def same_in_keras(layer: FlashAttention, **arguments: Any) -> keras.layers.Layer:  # noqa: ANN401
    """Keras's layer, with the weights of a built one of ours."""
    theirs = keras.layers.GroupQueryAttention(HEAD_DIM, HEADS, KV_HEADS, dtype=layer.dtype_policy, **arguments)
    theirs.build((None, None, FEATURES), (None, None, FEATURES))
    # Query, key and value with the heads as a dimension of its own, and the output.
    weights = {w.path.split("/", 1)[1]: w for w in theirs.weights}
    for ours, of_theirs in (
        (layer.query_projection, "query"),
        (layer.key_projection, "key"),
        (layer.value_projection, "value"),
        (layer.output_projection, "attention_output"),
    ):
        for name in ("kernel", "bias"):
            target = weights[f"{of_theirs}/{name}"]
            target.assign(np.reshape(getattr(ours, name).numpy(), target.shape))
    return theirs


class FlashAttentionTest(layer_test_case.LayerTestCase):
    def made(self, **arguments: Any) -> FlashAttention:  # noqa: ANN401
        """A built layer with random weights."""
        layer = FlashAttention(HEADS, HEAD_DIM, KV_HEADS, bias_initializer="random_normal", **arguments)
        layer.build((None, None, FEATURES))
        return layer

    @parameterized.product(mode=op_test_case.MODES, policy=layer_test_case.POLICIES, causal=(False, True))
    def test_same_as_keras(self, mode: str, policy: str, causal: bool) -> None:
        layer = self.made(causal=causal, dtype=policy)
        x = tf.constant(self.random((2, 7, FEATURES), tf.float32))
        y = self.in_mode(mode, layer)(x)
        # Keras scales by a float32.
        precision = "float32" if policy == "float64" else policy
        self.assert_near(y, same_in_keras(layer)(x, x, use_causal_mask=causal), precision, ulps=16)

    @parameterized.parameters(*op_test_case.MODES)
    def test_cross_attention(self, mode: str) -> None:
        layer = self.made()
        x, value = (tf.constant(self.random((2, n, FEATURES), tf.float32, seed=n)) for n in (3, 7))
        self.assert_near(self.in_mode(mode, layer)(x, value), same_in_keras(layer)(x, value), "float32", ulps=16)

    @parameterized.parameters(*op_test_case.MODES)
    def test_masks(self, mode: str) -> None:
        layer = self.made(causal=True)
        x = self.random((2, 5, FEATURES), tf.float32)
        mask = np.array([[True] * 5, [True, True, True, False, False]])
        y = self.in_mode(mode, layer)(tf.constant(x), mask=tf.constant(mask))
        np.testing.assert_allclose(y[0], layer(x[:1])[0], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(y[1, :3], layer(x[1:, :3])[0], rtol=1e-5, atol=1e-6)
        with self.subTest("of the value"):
            y = self.in_mode(mode, layer)(tf.constant(x), tf.constant(x[:, 1:]), value_mask=tf.constant(mask[:, 1:]))
            np.testing.assert_allclose(y[0], layer(x[:1], x[:1, 1:])[0], rtol=1e-5, atol=1e-6)

    def test_takes_and_passes_on_the_masks_of_keras(self) -> None:
        layer = self.made()
        tokens = np.array([[1, 2, 3, 0, 0]])
        embedding = keras.layers.Embedding(5, FEATURES, mask_zero=True)
        x = embedding(tokens)
        y = layer(x)
        np.testing.assert_array_equal(keras.src.backend.get_keras_mask(y), tokens != 0)
        np.testing.assert_allclose(y[:, :3], layer(embedding(tokens[:, :3])), rtol=1e-5, atol=1e-6)

    def test_window(self) -> None:
        layer = self.made(causal=True, window=2)
        x = self.random((1, 6, FEATURES), tf.float32)
        np.testing.assert_allclose(layer(x)[0, 5], layer(x[:, 4:])[0, 1], rtol=1e-5, atol=1e-6)

    def test_rotary_embedding_tells_distances(self) -> None:
        layer = self.made(causal=True, window=3, rotary_base=10000.0)
        x = self.random((1, 8, FEATURES), tf.float32)
        y = layer(x)
        # Positions are relative: what is seen is the same from another start.
        np.testing.assert_allclose(y[0, 7], layer(x[:, 5:])[0, 2], rtol=1e-5, atol=1e-6)
        with self.subTest("the order of keys matters"):
            self.assertGreater(np.max(np.abs(y[0, 7] - layer(x[:, [6, 5, 7]])[0, 2])), 1e-3)

    @parameterized.product(mode=op_test_case.MODES, rotary_base=(None, 10000.0), window=(None, 3))
    def test_decodes(self, mode: str, rotary_base: float | None, window: int | None) -> None:
        layer = self.made(causal=True, rotary_base=rotary_base, window=window)
        x = tf.constant(self.random((2, 8, FEATURES), tf.float32))
        expected = layer(x)
        for count in (1, 3, 8):
            with self.subTest(count=count):
                y = self.in_mode(mode, layer)(x[:, -count:], x)
                np.testing.assert_allclose(y, expected[:, -count:], rtol=1e-5, atol=1e-6)

    @parameterized.parameters(*[mode == "jit" for mode in op_test_case.MODES if mode != "eager"])
    def test_trains(self, jit: bool) -> None:
        model = keras.Sequential(
            [keras.Input((None, FEATURES)), FlashAttention(2, 4, 1, causal=True, rotary_base=10.0)]
        )
        model.compile(keras.optimizers.Adam(0.02), "mse", jit_compile=jit)
        x = self.random((32, 5, FEATURES), tf.float32)
        losses = model.fit(x, np.roll(x, 1, axis=1), epochs=8, verbose=0).history["loss"]
        self.assertLess(losses[-1], losses[0])

    def test_projections_begin_differently(self) -> None:
        layer = FlashAttention(2, FEATURES // 2, kernel_initializer=keras.initializers.GlorotUniform(seed=None))
        layer.build((None, None, FEATURES))
        kernels = [projection.get_weights()[0] for projection in (layer.query_projection, layer.key_projection)]
        self.assertGreater(np.max(np.abs(kernels[0] - kernels[1])), 0.01)

    def test_functional_model(self) -> None:
        inputs = keras.Input((None, FEATURES)), keras.Input((None, FEATURES))
        outputs = FlashAttention(2, 4, causal=True)(*inputs)
        self.assertEqual((outputs.shape, outputs.dtype), ((None, None, FEATURES), "float32"))
        arrays = [self.random((2, n, FEATURES), tf.float32, seed=n) for n in (3, 5)]
        self.assert_model_saves(list(inputs), outputs, *arrays)

    def test_output_shape(self) -> None:
        layer = FlashAttention(2, 4, rotary_base=100.0)
        for shape in ((None, None, FEATURES), (3, None, FEATURES), (None, 5, FEATURES)):
            self.assertEqual(layer.compute_output_shape(shape, (None, 7, 3)), shape)
            self.assertEqual(FlashAttention(2, 4, rotary_base=100.0)(keras.Input(shape[1:], shape[0])).shape, shape)

    def test_config(self) -> None:
        layer = FlashAttention(
            4,
            8,
            2,
            causal=True,
            window=3,
            rotary_base=500.0,
            use_bias=False,
            kernel_initializer="he_normal",
            bias_initializer="ones",
            kernel_regularizer="l1",
            bias_regularizer="l2",
            kernel_constraint="non_neg",
            bias_constraint="max_norm",
            name="layer",
            dtype="mixed_bfloat16",
        )
        self.assert_config(layer, unchanged=["num_heads", "head_dim"])
        self.assertEqual(layer.query_projection.dtype_policy, layer.dtype_policy)

    def test_refuses(self) -> None:
        for name in ("num_heads", "head_dim", "num_kv_heads", "window"):
            arguments: dict[str, Any] = {"num_heads": 4, "head_dim": 4, name: 0}
            with self.assertRaisesRegex(ValueError, f"FlashAttention: {name} must be a positive integer, but it is 0"):
                FlashAttention(**arguments)
        message = "FlashAttention: num_heads must be a multiple of num_kv_heads, but they are 4 and 3"
        with self.assertRaisesRegex(ValueError, message):
            FlashAttention(4, 4, 3)
        with self.assertRaisesRegex(ValueError, "FlashAttention: the last dimension of the inputs must be known"):
            FlashAttention(4, 4)(keras.Input((None, None)))

    @parameterized.parameters(
        ({"causal": 1}, "causal must be a bool, but it is 1"),
        ({"causal": None}, "causal must be a bool, but it is None"),
        ({"use_bias": "no"}, "use_bias must be a bool, but it is 'no'"),
        ({"window": 2.0}, "window must be a positive integer, but it is 2.0"),
        ({"rotary_base": "1"}, "rotary_base must be a number, but it is '1'"),
        ({"rotary_base": True}, "rotary_base must be a number, but it is True"),
        ({"rotary_base": 0.0}, "rotary_base must be a positive number, but it is 0.0"),
        ({"rotary_base": -1}, "rotary_base must be a positive number, but it is -1"),
        ({"rotary_base": float("nan")}, "rotary_base must be a positive number, but it is nan"),
        ({"rotary_base": float("inf")}, "rotary_base must be a positive number, but it is inf"),
        # 0 and infinity in float32.
        ({"rotary_base": 1e-50}, "rotary_base must be a positive number, but it is 1e-50"),
        ({"rotary_base": 1e50}, r"rotary_base must be a positive number, but it is 1e\+50"),
        ({"rotary_base": 10.0, "head_dim": 5}, "head_dim must be even with a rotary_base, but it is 5"),
    )
    def test_refuses_arguments(self, arguments: dict[str, Any], message: str) -> None:
        with self.assertRaisesRegex(ValueError, f"FlashAttention: {message}"):
            FlashAttention(**{"num_heads": 4, "head_dim": 4, **arguments})

    def test_refuses_symbolic_inputs(self) -> None:
        with self.assertRaisesRegex(ValueError, "FlashAttention: .* batch size of query, 2, "):
            FlashAttention(2, 4)(keras.Input((5, 3), 2), keras.Input((5, 3), 1))


if __name__ == "__main__":
    absltest.main()
