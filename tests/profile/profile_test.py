# SPDX-License-Identifier: Apache-2.0
"""The trace of a training step shows our ops by their names."""

from __future__ import annotations

import contextlib
import io
import pathlib

from absl.testing import absltest, parameterized

from tensorflow_custom_ops import _build_info
from tools.profile import events, trace_step

# What the model's forward and backward pass are made of. Under XLA elementwise ops are parts of what XLA makes.
_CUSTOM_CALLS = {"FlashAttention", "FlashAttentionGrad"}
_OPS = {
    *_CUSTOM_CALLS,
    "FusedDense",
    "LayerNorm",
    "LayerNormGrad",
    "RmsNorm",
    "RmsNormResidual",
    "RmsNormResidualGrad",
    "RotaryEmbedding",
    "SwiGluGate",
    "SwiGluGateGrad",
}


class ProfileTest(parameterized.TestCase):
    def run_profile(self, *arguments: str) -> tuple[str, pathlib.Path]:
        """Runs the program, and returns what it printed and the directory of the trace."""
        directory = pathlib.Path(self.create_tempdir().full_path)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            trace_step.main(["--logdir", str(directory), "--batch", "2", "--length", "16", "--steps", "2", *arguments])
        return output.getvalue(), directory

    @parameterized.parameters(*[(False, _OPS), (True, _CUSTOM_CALLS)][: 1 + _build_info.XLA])
    def test_shows_our_ops(self, jit: bool, expected: set[str]) -> None:
        image = pathlib.Path(self.create_tempdir().full_path, "step.png")
        output, directory = self.run_profile("--plot", str(image), *["--jit"] * jit)
        self.assertStartsWith(output, "2 steps of ")
        printed = {line.split()[0] for line in output.splitlines() if line.endswith("of tensorflow_custom_ops")}
        self.assertContainsSubset(expected, printed)
        path = events.newest(directory)
        self.assertIn(f"the trace is {path}\n", output)
        recorded = events.read(path)
        self.assertLen([event for event in recorded if event.name == events.STEP], 2)
        self.assertTrue(all(event.start >= 0 and event.duration >= 0 for event in recorded))
        self.assertStartsWith(image.read_bytes()[:8].decode("latin-1"), "\x89PNG")

    def test_shows_only_theirs(self) -> None:
        output, _ = self.run_profile("--layers", "keras")
        self.assertNotIn("of tensorflow_custom_ops", output)
        # The products are what takes least of so small a model, and only the first lines are printed.
        self.assertRegex(output, r"(?m)^Mul +\d")

    @parameterized.parameters(
        ("model/dense_1/MatMul:MatMul", "MatMul"),
        ("FusedDense.13", "FusedDense"),
        ("FusedDense", "FusedDense"),
        ("MatMul.4", None),
        ("EagerLocalExecute: MatMul", None),
        ("ThunkExecutor::Execute", None),
    )
    def test_op_of_event(self, name: str, op: str | None) -> None:
        self.assertEqual(events.op_of(name, {"FusedDense"}), op)

    def test_no_trace(self) -> None:
        with self.assertRaisesRegex(FileNotFoundError, "there is no trace below"):
            events.newest(pathlib.Path(self.create_tempdir().full_path))


if __name__ == "__main__":
    absltest.main()
