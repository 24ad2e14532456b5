# SPDX-License-Identifier: Apache-2.0
"""The example learns, as the same model of Keras's own layers does."""

from __future__ import annotations

import json
import pathlib
import subprocess

import keras
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

from examples.char_transformer import corpus, train
from examples.char_transformer.keras_layers import KERAS
from examples.char_transformer.model import OURS, Size, build, generate
from tests import op_test_case

SIZE = Size(width=32, depth=2, heads=4, kv_heads=2)
LENGTH = 24

# Of the losses of two models that differ in the order of their sums, relative. Steps add up the differences.
TOLERANCE = 2e-4


class CharTransformerTest(op_test_case.OpTestCase):
    @parameterized.parameters(*[mode == "jit" for mode in op_test_case.MODES if mode != "eager"])
    def test_learns_as_the_same_model_of_keras(self, jit: bool) -> None:
        keras.utils.set_random_seed(3)
        weights = build(SIZE, len(corpus.ALPHABET)).get_weights()
        losses = [
            train.train(of, SIZE, steps=30, batch=8, length=LENGTH, jit=jit, weights=weights)[1] for of in (OURS, KERAS)
        ]
        self.assertLess(np.mean(losses[0][-5:]), 0.85 * np.mean(losses[0][:5]))
        np.testing.assert_allclose(losses[0], losses[1], rtol=TOLERANCE)

    def test_weights_are_those_of_keras(self) -> None:
        models = [build(SIZE, len(corpus.ALPHABET), of) for of in (OURS, KERAS)]
        models[1].set_weights(models[0].get_weights())
        tokens = corpus.encode("Return the")[np.newaxis]
        np.testing.assert_allclose(*(model(tokens) for model in models), rtol=1e-4, atol=1e-5)

    def test_a_character_sees_only_those_before_it(self) -> None:
        model = build(SIZE, len(corpus.ALPHABET))
        tokens = corpus.encode("Return the index")[np.newaxis]
        other = tokens.copy()
        other[0, 10:] = 0
        np.testing.assert_allclose(model(tokens)[:, :10], model(other)[:, :10], rtol=1e-5, atol=1e-6)

    def test_sample(self) -> None:
        model = build(SIZE, len(corpus.ALPHABET))
        prompt = corpus.encode("Return")
        first, again, other = (generate(model, prompt, 20, length=8, k=5, seed=seed) for seed in (1, 1, 2))
        self.assertLen(corpus.decode(first), 20)
        np.testing.assert_array_equal(first, again)
        self.assertTrue(np.any(first != other))
        with self.subTest("of one, the likeliest"):
            tokens = list(prompt)
            for token in generate(model, prompt, 5, length=8, k=1):
                self.assertEqual(token, np.argmax(model(np.array([tokens[-8:]]))[0, -1]))
                tokens.append(token)

    def test_saved_model(self) -> None:
        model = build(SIZE, len(corpus.ALPHABET))
        path = pathlib.Path(self.create_tempdir().full_path, "model.keras")
        model.save(path)
        tokens = corpus.encode("Return the")[np.newaxis]
        np.testing.assert_array_equal(keras.models.load_model(path)(tokens), model(tokens))

    def test_corpus(self) -> None:
        text = corpus.text()
        self.assertGreater(len(text), 100_000)
        self.assertEqual(corpus.decode(corpus.encode("A\tb\n")), "Ab\n")
        x, y = corpus.windows(corpus.encode(text), 3, 10, seed=0)
        self.assertEqual((x.shape, y.shape), ((3, 10), (3, 10)))
        np.testing.assert_array_equal(x[:, 1:], y[:, :-1])

    def test_plot(self) -> None:
        path = pathlib.Path(self.create_tempdir().full_path, "loss.png")
        content = json.dumps({"title": "a title", "losses": [3.0, 2.0, 1.5]})
        subprocess.run([train.PLOT, path], input=content, text=True, check=True)
        self.assertStartsWith(path.read_bytes()[:8].decode("latin-1"), "\x89PNG")


if __name__ == "__main__":
    tf.config.experimental.enable_op_determinism()
    absltest.main()
