# SPDX-License-Identifier: Apache-2.0
"""The GPU kernels, emulated in every order of their threads, compute what the CPU kernels do."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from absl.testing import absltest, parameterized

from tests.gpu.emulated import run_emulated

PROGRAM = Path(__file__).absolute().parent / "compare_kernels.py"


def run(*arguments: str | Path, package: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs compare_kernels.py.

    Args:
      *arguments: the command line.
      package: a folder with another copy of the package than the build's.
      **variables: for the environment.
    """
    path = os.pathsep.join([str(package)] * (package is not None) + sys.path)
    return subprocess.run(
        [sys.executable, PROGRAM, *arguments],
        env={**os.environ, **variables, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


class CompareKernelsTest(parameterized.TestCase):
    cpu: Path

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.cpu = Path(absltest.get_default_test_tmpdir(), "cpu.npz")
        cls.compute(cls.cpu)

    @classmethod
    def compute(cls, out: Path, package: Path | None = None, **variables: str) -> None:
        """Writes the results of all cases; the emulated package has no XLA kernels."""
        result = run("--out", out, "--modes", "eager", "graph", package=package, **variables)
        if result.returncode:
            raise AssertionError(result.stdout + result.stderr)

    def setUp(self) -> None:
        super().setUp()
        self.folder = Path(self.create_tempdir().full_path)

    @parameterized.parameters("forward", "reverse", "random")
    def test_emulated_kernels_agree(self, order: str) -> None:
        run_emulated.make_package(self.folder)
        emulated = self.folder / "emulated.npz"
        self.compute(emulated, self.folder, CUDA_EMULATOR_ORDER=order)
        result = run("--compare", self.cpu, emulated)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertRegex(result.stdout, r"\A[1-9]\d{2,} arrays compared, 0 differ\n\Z")

    def test_the_emulator_is_asked(self) -> None:
        run_emulated.make_package(self.folder)
        result = run("--out", self.folder / "emulated.npz", package=self.folder, CUDA_EMULATOR_ORDER="upward")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("CUDA_EMULATOR_ORDER must be forward, reverse or random", result.stderr)

    def change(self, start: str, value: float) -> subprocess.CompletedProcess[str]:
        """Compares with a file in which one value of one array is another.

        Args:
          start: with which the array's name starts.
          value: takes the place of the last element; NaN: of the next number.
        """
        with np.load(self.cpu) as file:
            arrays = dict(file)
        name = next(name for name in arrays if name.startswith(start))
        last = arrays[name].reshape(-1)[-1:]
        last[:] = np.nextafter(last, np.inf) if np.isnan(value) else value
        changed = self.folder / "changed.npz"
        np.savez(changed, **arrays)
        return run("--compare", self.cpu, changed)

    @parameterized.parameters(
        ("MyOp float32 (33,), eager: output 0", np.nan),
        ("MyOp float16 (33,), graph: gradient 0", np.nan),
        ("MyOp float64 special, eager: output 0", np.inf),
        # >>> only with simple_add
        ("SimpleAdd int32 (33,), eager: output 0", 7),
        ("SimpleAdd complex64 (33,), graph: output 0", 1j),
        # <<<
        # >>> only with top_k_mask
        ("TopKMask float32 5 x 33, k 4, fill_value 0.0, eager: output 0", -0.0),
        ("TopKMask float32 5 x 33, k 4, fill_value 0.0, eager: output 1", True),
        # <<<
        # >>> only with fused_dense
        ("FusedDense float64 tanh (7, 33) x 17, eager: output 0", 0.5),
        ("FusedDense float32 sigmoid special, eager: output 0", np.inf),
        ("FusedDense float16 relu with gradients, graph: gradient 2", np.inf),
        # <<<
        # >>> only with layer_norm, rms_norm, rms_norm_residual
        ("RmsNorm float32 (66, 130), eager: output 0", 0.5),
        ("RmsNormResidual float64 (66, 130), eager: output 1", 0.5),
        ("LayerNorm float16 (66, 130), graph: gradient 1", 0.5),
        # <<<
        # >>> only with flash_attention
        ("FlashAttention bfloat16 (2, 5, 4, 8) (2, 7, 2, 8) (2, 1, 1, 7) True None, eager: gradient 3", np.inf),
        # <<<
    )
    def test_finds_a_difference(self, start: str, value: float) -> None:
        result = self.change(start, value)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stdout, rf"\A{re.escape(start)}: \d+ of \d+ differ, first ")
        self.assertRegex(result.stdout, r"\d+ arrays compared, 1 differ\n\Z")

    def test_refuses_results_of_other_cases(self) -> None:
        np.savez(self.folder / "other.npz", x=np.zeros(1))
        result = run("--compare", self.cpu, self.folder / "other.npz")
        self.assertEqual(result.returncode, 1)
        self.assertIn("have results of different cases", result.stdout)


if __name__ == "__main__":
    absltest.main()
