# SPDX-License-Identifier: Apache-2.0
"""What the tests of Keras layers share."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any

import keras
import ml_dtypes
import numpy as np
import tensorflow as tf

from tests import op_test_case

POLICIES = ("float32", "float64", "mixed_bfloat16", "mixed_float16")


def ulp(policy: str) -> float:
    """The last place of 1 in the type in which a policy computes."""
    return float(ml_dtypes.finfo(keras.DTypePolicy(policy).compute_dtype).eps)


class LayerTestCase(op_test_case.OpTestCase):
    """A test case of a layer."""

    def setUp(self) -> None:
        super().setUp()
        keras.utils.set_random_seed(1)

    def assert_near(self, actual: tf.Tensor, expected: tf.Tensor, policy: str, ulps: float = 8) -> None:
        """Checks for the same type and shape, and for values that are as near as the policy's type has them."""
        self.assertEqual((actual.dtype, actual.shape), (expected.dtype, expected.shape))
        tolerance = ulps * ulp(policy)
        np.testing.assert_allclose(
            actual.numpy().astype(np.float64), expected.numpy().astype(np.float64), rtol=tolerance, atol=tolerance
        )

    def assert_config(self, layer: keras.layers.Layer, unchanged: Sequence[str] = ()) -> None:
        """Checks that a layer can be made again of its configuration.

        Args:
          layer: A layer whose arguments are all other than the defaults.
          unchanged: What has no default, or is as it is by default.
        """
        serialized = keras.saving.serialize_keras_object(layer)
        self.assertEqual(serialized["registered_name"], f"tensorflow_custom_ops>{type(layer).__name__}")
        copy = keras.saving.deserialize_keras_object(serialized)
        self.assertIs(type(copy), type(layer))
        self.assertEqual(copy.get_config(), layer.get_config())
        required = {name: layer.get_config()[name] for name in unchanged if name != "trainable"}
        for name, default in type(layer)(**required).get_config().items():
            self.assertTrue(name in unchanged or name == "trainable" or layer.get_config()[name] != default, name)

    def assert_model_saves(self, inputs: Any, outputs: Any, *arrays: np.ndarray) -> None:  # noqa: ANN401 - as Keras
        """Checks that a model of symbolic inputs and outputs is the same after it has been saved."""
        model = keras.Model(inputs, outputs)
        path = pathlib.Path(self.create_tempdir().full_path, "model.keras")
        model.save(path)
        loaded = keras.models.load_model(path)
        expected, actual = (keras.tree.flatten(m(list(arrays))) for m in (model, loaded))
        for a, b in zip(actual, expected, strict=True):
            self.assertFalse(np.any(np.isnan(a.numpy())))
            np.testing.assert_array_equal(a, b)
