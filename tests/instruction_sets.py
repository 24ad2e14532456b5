# SPDX-License-Identifier: Apache-2.0
"""The instruction sets that kernels are compiled for."""

from __future__ import annotations

import pathlib
import platform

# From the plainest to the best, with what Linux calls what they need; as in core/isa.cc.
_AVX2 = {"avx2", "fma", "f16c"}
_FLAGS = {
    "baseline": set(),
    "avx2": _AVX2,
    "avx512": _AVX2 | {f"avx512{part}" for part in ("f", "cd", "bw", "dq", "vl")},
}


def of_processor() -> list[str]:
    """Those that this processor has, from the plainest to the best, which is what kernels choose."""
    if platform.machine() != "x86_64":
        return ["baseline"]
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    flags = set(next(line for line in lines if line.startswith("flags")).split())
    return [name for name, wanted in _FLAGS.items() if wanted <= flags]
