# SPDX-License-Identifier: Apache-2.0
"""The benchmark of elementwise ops compares like with like, and writes its table and its plot."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tensorflow_custom_ops
from tools.benchmark import elementwise
from tools.benchmark.elementwise_cases import CASES

PNG = b"\x89PNG\r\n"
# Some of the ops.
OPS = list(CASES)[:2]


class ElementwiseTest(parameterized.TestCase):
    @parameterized.parameters(*CASES)
    def test_computes_the_same(self, name: str) -> None:
        case = CASES[name]
        generator = np.random.default_rng(1)
        arrays = [draw(generator, 1000).astype(np.float32) for draw in case.inputs]
        ours = case.ours(*map(tf.constant, arrays))
        self.assertEqual(ours.shape, (1000,))
        np.testing.assert_allclose(ours, case.tensorflow(*map(tf.constant, arrays)), rtol=1e-3, atol=1e-5)
        if case.numpy:
            np.testing.assert_allclose(ours, case.numpy(*arrays), rtol=1e-3, atol=1e-5)

    def test_bytes_that_must_move(self) -> None:
        # x, y; and dy, dx.
        self.assertEqual(CASES["my_op"].arrays(backward=False), 2)
        self.assertEqual(CASES["my_op"].arrays(backward=True), 4)
        # >>> only with simple_add
        # a, b, c; da and db are dc.
        self.assertEqual(CASES["simple_add"].arrays(backward=True), 3)
        # <<<

    def test_writes_table_and_plot(self) -> None:
        plot = Path(self.create_tempdir().full_path) / "plot.png"
        # A process of its own, for the number of threads is set before TensorFlow's first op.
        arguments = ("--op", ",".join(OPS), "--sizes", "10,1e3", "--threads", "1", "--seconds", "0.01")
        module = [sys.executable, "-m", "tools.benchmark.elementwise"]
        result = subprocess.run([*module, *arguments, "--plot", plot], capture_output=True, text=True, check=True)
        first, overhead, comparison = result.stdout.split("\n\n")
        self.assertRegex(first, r"\Afloat32, threads: 1, TensorFlow \S+, NumPy \S+, .*\Z")
        # Of each op, two sizes and modes.
        self.assertLen(overhead.splitlines(), 2 + len(OPS) * 2 * 2)
        modes = ("eager", "graph", "jit") if tensorflow_custom_ops.build_info()["xla"] else ("eager", "graph")
        _, header, *rows = comparison.splitlines()
        self.assertRegex(
            header, r"op +pass +elements +mode +ours us +GB/s +TensorFlow us +TensorFlow jit us +NumPy us +PyTorch us"
        )
        expected = [
            [op, name, size, mode]
            for op in OPS
            for name in ("forward", "backward")
            for size in ("10", "1000")
            for mode in modes
        ]
        self.assertEqual([row.split()[:4] for row in rows], expected)
        ours, ours_spread, gbps, theirs, their_spread, ratio = rows[0].split()[4:10]
        self.assertGreater(float(ours), 0)
        # Two arrays of ten float32.
        self.assertAlmostEqual(float(gbps), 80 / float(ours) / 1e3, delta=0.06)
        self.assertAlmostEqual(float(ratio[:-1]), float(theirs) / float(ours), delta=0.02)
        self.assertTrue(ours_spread.endswith("%") and their_spread.endswith("%"))
        self.assertStartsWith(plot.read_bytes(), PNG)

    @parameterized.parameters(
        (("--op", "my_op,no_op"), "argument --op: there is no 'no_op'; there are my_op,"),
        (("--op", ""), "argument --op: there is no ''"),
        (("--sizes", "1e3,x"), "argument --sizes: sizes are whole numbers from 1 such as 1e3,1e6, not '1e3,x'"),
        (("--sizes", "0"), "argument --sizes: sizes are whole numbers"),
        (("--sizes", "1.5"), "argument --sizes: sizes are whole numbers"),
        (("--sizes", "inf"), "argument --sizes: sizes are whole numbers"),
        (("--threads", "0"), "argument --threads: should be a positive int, not '0'"),
        (("--seconds", "nan"), "argument --seconds: should be a positive float, not 'nan'"),
        (("--dtype", "int32"), "argument --dtype: invalid choice: 'int32'"),
        (("--plot", "/tmp/plot.txt"), "argument --plot: a plot's name ends in .pdf, .png, .svg"),
        (("--plot", "/no/such/folder/plot.png"), "argument --plot: cannot write '/no/such/folder/plot.png'"),
        (("what",), "unrecognized arguments: what"),
    )
    def test_refuses_in_one_line(self, arguments: tuple[str, ...], message: str) -> None:
        with contextlib.redirect_stderr(io.StringIO()) as err, self.assertRaises(SystemExit) as caught:
            elementwise.parse(arguments)
        self.assertEqual(caught.exception.code, 2)
        self.assertStartsWith(err.getvalue(), f"elementwise: {message}")
        self.assertEqual(err.getvalue().count("\n"), 1)


if __name__ == "__main__":
    absltest.main()
