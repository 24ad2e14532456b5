# SPDX-License-Identifier: Apache-2.0
"""CUDA toolkits made of scripts, for tests of how one is found and used."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence

# Compiling is to run the host compiler, whose failure is nvcc's.
_NVCC = """\
case $1 in
  --version) echo "Cuda compilation tools, release {release}, V{version}" ;;
  --list-gpu-code) printf 'sm_%s\\n' {architectures} ;;
  --list-gpu-arch) printf 'compute_%s\\n' {architectures} ;;
  --dryrun) echo '#$ TOP={root}/bin/..' >&2 ;;
  -ccbin) exec "$2" --version ;;
  *) exit 1 ;;
esac
"""


def write_program(path: pathlib.Path, script: str) -> None:
    """Writes a shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


def make_toolkit(root: pathlib.Path, version: str, architectures: Sequence[str] = ("60", "80", "90")) -> pathlib.Path:
    """Makes what looks like a CUDA toolkit.

    Args:
      root: the folder.
      version: what its nvcc tells.
      architectures: what its nvcc can compile for.

    Returns:
      The folder.
    """
    for name in ("bin/cudafe++", "bin/fatbinary", "bin/ptxas", "nvvm/bin/cicc"):
        write_program(root / name, "exit 1")
    for name in ("include/cuda_runtime.h", "nvvm/libdevice/libdevice.10.bc"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    nvcc = _NVCC.format(
        architectures=" ".join(architectures), release=version.rpartition(".")[0], root=root, version=version
    )
    write_program(root / "bin/nvcc", nvcc)
    return root
