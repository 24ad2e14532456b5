# SPDX-License-Identifier: Apache-2.0
# >>> only with tools/benchmark/transformer.py: whole file
"""The benchmark of what transformers are made of compares like with like, and writes its tables."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tensorflow_custom_ops
from tools.benchmark import transformer
from tools.benchmark.transformer_cases import CASES


class TransformerTest(parameterized.TestCase):
    @parameterized.parameters(*CASES)
    def test_computes_the_same(self, name: str) -> None:
        case = CASES[name]
        inputs = [*map(tf.constant, transformer.arrays(case, (24, 16), tf.float32, backward=False))]
        np.testing.assert_allclose(case.ours(*inputs), case.keras(*inputs), rtol=1e-4, atol=1e-5)

    def test_writes_tables(self) -> None:
        # A process of its own, for the number of threads is set before TensorFlow's first op.
        arguments = ("--op", "rms_norm,layer_norm", "--max-elements", "6e5", "--threads", "1", "--seconds", "0.01")
        module = [sys.executable, "-m", "tools.benchmark.transformer"]
        result = subprocess.run([*module, *arguments], capture_output=True, text=True, check=True)
        first, times, memory = result.stdout.split("\n\n")
        self.assertRegex(first, r"\Afloat32, threads: 1, TensorFlow \S+, .*\Z")
        header, *rows = times.splitlines()
        self.assertRegex(header, r"op +pass +size +mode +ours us +Keras us +PyTorch us +limit us")
        modes = ("eager", "graph", "jit") if tensorflow_custom_ops.build_info()["xla"] else ("eager", "graph")
        expected = [
            [op, name, "1024x512", mode]
            for op in ("rms_norm", "layer_norm")
            for name in ("forward", "backward")
            for mode in modes
        ]
        self.assertEqual([row.split()[:4] for row in rows], expected)
        ours, _, keras, _, ratio = rows[0].split()[4:9]
        self.assertAlmostEqual(float(ratio[:-1]), float(keras) / float(ours), delta=0.02)
        limit, _, fraction = rows[0].split()[-3:]
        self.assertAlmostEqual(float(fraction[:-1]), float(limit) / float(ours), delta=0.02)
        self.assertRegex(memory, r"op +size +ours MiB +Keras MiB")

    def test_memory(self) -> None:
        case = CASES["flash_attention"]
        output = io.StringIO()
        # Keras has matrices of 8 heads and 2048 x 2048 numbers.
        with contextlib.redirect_stdout(output):
            transformer.main(["--op", case.name, "--peak", "keras", "--size", "2048", "8"])
        self.assertGreater(float(output.getvalue()), 8 * 2048 * 2048 * 4 / 2**20)

    @parameterized.parameters(
        (("--op", "no_op"), "argument --op: there is no 'no_op'; there are rms_norm,"),
        (("--threads", "0"), "argument --threads: should be a positive int, not '0'"),
        (("--dtype", "int32"), "argument --dtype: invalid choice: 'int32'"),
    )
    def test_refuses(self, arguments: tuple[str, ...], message: str) -> None:
        error = io.StringIO()
        with contextlib.redirect_stderr(error), self.assertRaises(SystemExit):
            transformer.parse(arguments)
        self.assertStartsWith(error.getvalue(), f"transformer: {message}")


if __name__ == "__main__":
    absltest.main()
