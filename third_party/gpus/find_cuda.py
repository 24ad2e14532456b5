#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds the CUDA toolkit to build GPU kernels with and describes it, as JSON on standard output.

The description:
  root           the toolkit's folder
  version        nvcc's, such as 12.4.131
  architectures  what to compile for, such as sm_80 (its machine code) and compute_90 (that and PTX)
  warning        what the user should know, or null
  watched        paths where another toolkit may appear

Variables of the environment: CUDA_HOME and TF_CUDA_TOOLKIT_PATH (a toolkit's folder),
TF_CUDA_COMPUTE_CAPABILITIES (the architectures), CC (the host compiler).

A failure is reported in one line, with exit status 1.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping

# Where NVIDIA's installers put toolkits.
SYSTEM = pathlib.Path("/usr/local")

# What TensorFlow's own CUDA builds are made for, as far as the version can.
DEFAULT_ARCHITECTURES = {
    12: ["sm_60", "sm_70", "sm_80", "sm_89", "compute_90"],
    13: ["sm_75", "sm_80", "sm_89", "compute_90"],
}
# The version of TensorFlow's CUDA builds.
WANTED = 12

# Programs and headers that a compilation needs.
NEEDED = (
    "bin/nvcc",
    "bin/cudafe++",
    "bin/fatbinary",
    "bin/ptxas",
    "nvvm/bin/cicc",
    "nvvm/libdevice/libdevice.10.bc",
    "include/cuda_runtime.h",
)

ADVICE = "run tools/setup/install_cuda.sh, or set CUDA_HOME to the folder of a CUDA 12 toolkit"
WARNING = (
    "CUDA {version} in {root} is good for a compile check only: TensorFlow's CUDA builds use CUDA 12, beside which"
    " the kernels may not load; they need driver 580 or newer, and there is no sm_60 and sm_70. For kernels to use, "
    + ADVICE
)


class CudaError(Exception):
    """A toolkit that cannot be used; the message is one line."""


@dataclasses.dataclass(frozen=True)
class Toolkit:
    """A toolkit whose nvcc runs.

    Attributes:
      root: its folder.
      version: nvcc's.
    """

    root: pathlib.Path
    version: str

    @property
    def nvcc(self) -> str:
        """The path of nvcc."""
        return str(self.root / "bin/nvcc")

    @property
    def major(self) -> int:
        """The first part of the version."""
        return int(self.version.split(".")[0])

    @property
    def name(self) -> str:
        """The toolkit, as error messages name it."""
        return f"CUDA {self.version} in {self.root}"


def run(*command: str | pathlib.Path) -> subprocess.CompletedProcess[str]:
    """Runs a command and captures stdout and stderr together.

    Raises:
      CudaError: it is not a program for this machine.
    """
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise CudaError(f"{command[0]} does not run: {error.strerror}") from error


def first_line(output: str, pattern: str = "") -> str:
    """The first line that matches the pattern; if none does, the first that is not blank."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return next((line for line in lines if re.search(pattern, line)), (lines or ["no output"])[0])


def nvcc_version(nvcc: str | pathlib.Path) -> str:
    """The version that an nvcc tells.

    Raises:
      CudaError: it does not run.
    """
    result = run(nvcc, "--version")
    match = re.search(r"\bV(\d+\.\d+\.\d+)", result.stdout)
    if result.returncode or not match:
        raise CudaError(f"{nvcc} does not run: {first_line(result.stdout)}")
    return match[1]


def open_toolkit(root: pathlib.Path) -> Toolkit:
    """The toolkit in a folder.

    Raises:
      CudaError: there is none, or its nvcc does not run.
    """
    for name in NEEDED:
        if not (root / name).is_file():
            raise CudaError(f"{root} has no {name}")
    return Toolkit(root, nvcc_version(root / "bin/nvcc"))


def toolkit_on_path(environ: Mapping[str, str]) -> pathlib.Path | None:
    """The folder of the toolkit that the nvcc on PATH belongs to, which may be a link or a script."""
    nvcc = shutil.which("nvcc", path=environ.get("PATH"))
    if not nvcc:
        return None
    try:
        # It tells its folder without doing anything.
        plan = run(os.path.realpath(nvcc), "--dryrun", "-x", "cu", "-c", os.devnull)
    except CudaError:
        return pathlib.Path(nvcc).parent.parent
    match = re.search(r"^#\$ TOP=(.+)$", plan.stdout, re.MULTILINE)
    return pathlib.Path(os.path.realpath(match[1])) if match else pathlib.Path(nvcc).parent.parent


def cache(environ: Mapping[str, str]) -> pathlib.Path | None:
    """The folder that tools/setup/install_cuda.sh installs below."""
    home = environ.get("XDG_CACHE_HOME") or (environ.get("HOME") and environ["HOME"] + "/.cache")
    return pathlib.Path(home) / "tensorflow_custom_ops/cuda" if home else None


def newest_first(folder: pathlib.Path, pattern: str) -> list[pathlib.Path]:
    """The paths in a folder whose names match a pattern, by the numbers in their names."""
    return sorted(folder.glob(pattern), key=lambda path: list(map(int, re.findall(r"\d+", path.name))), reverse=True)


def candidates(environ: Mapping[str, str]) -> Iterator[pathlib.Path]:
    """Folders that may be toolkits, in the order in which those of one version are preferred."""
    on_path = toolkit_on_path(environ)
    if on_path:
        yield on_path
    yield SYSTEM / "cuda"
    yield from newest_first(SYSTEM, "cuda-*")
    prepared = cache(environ)
    if prepared:
        yield from newest_first(prepared, "[0-9]*[0-9]")


def chosen_by_user(environ: Mapping[str, str]) -> Toolkit | None:
    """The toolkit that a variable names, if one is set.

    Raises:
      CudaError: the variable names something else.
    """
    for variable in ("CUDA_HOME", "TF_CUDA_TOOLKIT_PATH"):
        if not environ.get(variable):
            continue
        where = f"{variable} is {environ[variable]}"
        fix = f"set it to the folder of a CUDA {WANTED} toolkit, or unset it"
        try:
            root = pathlib.Path(environ[variable])
            if not root.is_absolute():
                raise CudaError("not an absolute path")
            toolkit = open_toolkit(root)
        except CudaError as error:
            raise CudaError(f"{where}, which is no CUDA toolkit that works here ({error}); {fix}") from error
        if toolkit.major not in DEFAULT_ARCHITECTURES:
            raise CudaError(
                f"{where}, which is CUDA {toolkit.version}; TensorFlow's CUDA builds use CUDA {WANTED}: {fix}"
            )
        return toolkit
    return None


def find_toolkit(environ: Mapping[str, str]) -> tuple[Toolkit, list[str]]:
    """The toolkit to use, and why others are not used.

    Raises:
      CudaError: there is none.
    """
    chosen = chosen_by_user(environ)
    if chosen:
        return chosen, []
    found: dict[int, Toolkit] = {}
    refused = []
    for root in candidates(environ):
        if not (root / "bin/nvcc").exists():
            continue
        try:
            toolkit = open_toolkit(root)
        except CudaError as error:
            refused.append(str(error))
            continue
        found.setdefault(toolkit.major, toolkit)
    for major in DEFAULT_ARCHITECTURES:
        if major in found:
            return found[major], refused
    refused += [f"{toolkit.root} is CUDA {toolkit.version}" for toolkit in found.values()]
    looked = f"nvcc on PATH, {SYSTEM}/cuda* and {cache(environ)}"
    raise CudaError(f"there is no CUDA {WANTED} toolkit among {looked}{because(refused)}; {ADVICE}")


def because(reasons: list[str]) -> str:
    """The reasons, each once, in brackets."""
    return f" ({'; '.join(dict.fromkeys(reasons))})" if reasons else ""


def listed(toolkit: Toolkit, option: str) -> list[str]:
    """The architectures that nvcc lists."""
    return re.findall(r"^(?:sm|compute)_\w+$", run(toolkit.nvcc, option).stdout, re.MULTILINE)


def architectures(toolkit: Toolkit, environ: Mapping[str, str]) -> list[str]:
    """What to compile for.

    Raises:
      CudaError: the variable has what is no architecture, or what this nvcc cannot compile for.
    """
    variable = "TF_CUDA_COMPUTE_CAPABILITIES"
    value = environ.get(variable)
    if not value:
        return DEFAULT_ARCHITECTURES[toolkit.major]
    possible = listed(toolkit, "--list-gpu-code") + listed(toolkit, "--list-gpu-arch")
    result = []
    for part in value.split(","):
        match = re.fullmatch(r"(sm_|compute_)?(\d+)(\.?)(\d[a-z]?)", part.strip())
        # 9.0 has a dot and no prefix, sm_90 the contrary.
        if not match or bool(match[1]) == bool(match[3]):
            raise CudaError(
                f"{variable} has {part.strip()!r}, which is no architecture; write sm_90 (its machine code),"
                " compute_90 or 9.0 (that and PTX), separated by commas"
            )
        name = f"{match[1] or 'compute_'}{match[2]}{match[4]}"
        if name not in possible:
            raise CudaError(
                f"{variable} has {part.strip()}, which {toolkit.name} cannot compile for;"
                f" it can for {', '.join(possible)}"
            )
        result.append(name)
    # compute_90 brings the code of sm_90.
    with_ptx = {name.replace("compute_", "sm_") for name in result if name.startswith("compute_")}
    return [name for name in dict.fromkeys(result) if name not in with_ptx]


def check_host_compiler(toolkit: Toolkit, architecture: str, environ: Mapping[str, str]) -> None:
    """Compiles a kernel with the compiler that Bazel takes.

    Raises:
      CudaError: it cannot be done.
    """
    value = environ.get("CC") or "gcc"
    compiler = shutil.which(value, path=environ.get("PATH"))
    other = "choose another host compiler with CC, such as CC=gcc-12 ./bazelw build --config=cuda ..."
    if not compiler:
        raise CudaError(f"the C++ compiler {value} is not on PATH; {other}")
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "check.cu")
        source.write_text("#include <string>\n__global__ void kernel() {}\nvoid f() { kernel<<<1, 1>>>(); }\n")
        result = run(
            *(toolkit.nvcc, "-ccbin", compiler, "-std=c++17", "-Wno-deprecated-gpu-targets"),
            f"-arch={architecture.replace('compute_', 'sm_')}",
            *("--keep", "--keep-dir", folder, "-c", source, "-o", f"{folder}/check.o"),
        )
    if result.returncode:
        raise CudaError(
            f"the host compiler {compiler} is unsupported by {toolkit.name}"
            f" ({first_line(result.stdout, 'error|fatal')}); {other}"
        )


def watched(toolkit: Toolkit, environ: Mapping[str, str]) -> list[str]:
    """Paths whose change may lead to another answer than a toolkit."""
    roots = [toolkit.root, *candidates(environ)]
    paths = [root / "bin/nvcc" for root in roots] + [SYSTEM, cache(environ)]
    return sorted({str(path) for path in paths if path})


def describe(environ: Mapping[str, str]) -> dict[str, object]:
    """The description.

    Raises:
      CudaError: there is no toolkit that can be used.
    """
    toolkit, refused = find_toolkit(environ)
    chosen = architectures(toolkit, environ)
    check_host_compiler(toolkit, chosen[0], environ)
    warning = WARNING.format(version=toolkit.version, root=toolkit.root) + because(refused)
    return {
        "root": str(toolkit.root),
        "version": toolkit.version,
        "architectures": chosen,
        "warning": None if toolkit.major == WANTED else warning,
        "watched": watched(toolkit, environ),
    }


def main() -> int:
    """Runs the command line; returns the exit status."""
    try:
        json.dump(describe(os.environ), sys.stdout, indent=2)
    except CudaError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
