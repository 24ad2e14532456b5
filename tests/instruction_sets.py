# SPDX-License-Identifier: Apache-2.0
"""The instruction sets that kernels are compiled for."""

from __future__ import annotations

import pathlib
import platform

# From the plainest to the best, with what Linux calls what they need; as in core/isa.cc.
_AVX2 = {"avx2", "fma", "f16c"}
_AVX512 = _AVX2 | {f"avx512{part}" for part in ("f", "cd", "bw", "dq", "vl")}
_FLAGS = {
    "baseline": set(),
    "avx2": _AVX2,
    "avx512": _AVX512,
}
# Those for which only some kernels have code of their own.
_MORE_FLAGS = {
    "avx512_bf16": _AVX512 | {"avx512_bf16"},
}


def of_processor(*, more: bool = False) -> list[str]:
    """Those that this processor has, from the plainest to the best, which is what kernels choose.

    They are those for which all kernels have code, or if `more` is true, also those for which some have.
    """
    if platform.machine() != "x86_64":
        return ["baseline"]
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    flags = set(next(line for line in lines if line.startswith("flags")).split())
    wanted = _FLAGS | _MORE_FLAGS if more else _FLAGS
    return [name for name, of_name in wanted.items() if of_name <= flags]
