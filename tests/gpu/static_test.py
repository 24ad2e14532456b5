# SPDX-License-Identifier: Apache-2.0
"""Looks at the library of GPU kernels without loading it: its machine code, and the symbols that it needs."""

from __future__ import annotations

import collections
import functools
import io
import itertools  # only with flash_attention
import os
import pathlib
import re
import subprocess
from collections.abc import Iterator

from absl import logging
from absl.testing import absltest

from tests.wheel import shared_library

REPOSITORY = pathlib.Path(__file__).absolute().parents[2]
LIBRARY = REPOSITORY / "tensorflow_custom_ops/_ops_gpu.so"
# Beside the programs that compiled it.
CUOBJDUMP = (REPOSITORY.parent / "local_config_cuda/cuda/toolkit/bin/ptxas").resolve().with_name("cuobjdump")
# >>> only with flash_attention
# Which cuobjdump calls to print machine code.
NVDISASM = CUOBJDUMP.with_name("nvdisasm")
# <<<
ARCHITECTURES = os.environ["CUDA_ARCHITECTURES"].split(",")
# The repository that has TensorFlow's CUDA build. Without one, this Python has it.
CUDA_TENSORFLOW = os.environ["CUDA_TENSORFLOW"]

# Every GPU's multiprocessor has so many registers for its threads, of which it holds 2048 at most. With three blocks of
# 256 it can still hide what it waits for.
REGISTERS = 65536
THREADS = 768

# The bytes that kernels may keep on the stack: those with the longest functions of doubles, a power and erf; gradients
# of normalisations; and attention, whose tiles of products are in registers.
STACKS = {
    # >>> only with focal_logits
    re.compile(r"FocalLogits.*d(EE)?v"): 64,
    # <<<
    # >>> only with gelu
    re.compile(r"Gelu.*d(EE)?v"): 64,
    # <<<
    re.compile("normalization.*BackwardKernel"): 8,
    # >>> only with flash_attention
    re.compile("flash_attention"): 144,
    # <<<
}
# Blocks of other sizes.
THREADS_OF: dict[re.Pattern[str], int] = {
    # >>> only with flash_attention
    re.compile("flash_attention"): 256,
    # <<<
}
# >>> only with flash_attention
# The first architecture that has tensor cores for the type of elements, which is the kernel's first template argument.
TENSOR_CORES_FROM = {"6__half": 70, "13__nv_bfloat16": 80}
# Some of attention's kernels, with that type: printing the machine code of all takes long.
SOME_TILES = re.compile(r"flash_attention\w*(?:Forward|KeyGrad)KernelI(\w+?)Li1E")
# <<<
# The kernels made from functors, of doubles. Their functions have branches, between which elements are stored singly.
OF_DOUBLES = re.compile(r"dEEvNS0_10KernelArgs")


def cuobjdump(*arguments: str) -> str:
    """What NVIDIA's tool prints of the library."""
    return subprocess.run([CUOBJDUMP, *arguments, LIBRARY], check=True, capture_output=True, text=True).stdout


def codes(kind: str, *arguments: str) -> Iterator[tuple[str, str]]:
    """The parts of what cuobjdump prints that are about "elf" or "ptx", each with its architecture."""
    for part in re.split(r"^Fatbin (?=\w+ code:$)", cuobjdump(*arguments), flags=re.MULTILINE)[1:]:
        if part.startswith(kind):
            (architecture,) = re.findall(r"^arch = (\w+)$", part, re.MULTILINE)
            yield architecture, part


@functools.cache
def resources() -> dict[str, dict[str, dict[str, int]]]:
    """What each kernel needs, such as REG: 32, by the architecture and the kernel's symbol."""
    found: dict[str, dict[str, dict[str, int]]] = collections.defaultdict(dict)
    for architecture, code in codes("elf", "--dump-resource-usage"):
        for kernel, usage in re.findall(r"^ Function (\w+):\n(.*)$", code, re.MULTILINE):
            found[architecture][kernel] = {name: int(value) for name, value in re.findall(r"(\w+\S*):(\d+)", usage)}
    return found


@functools.cache
def ptx() -> dict[str, dict[str, str]]:
    """The PTX of each kernel, by the architecture and the kernel's symbol."""
    found: dict[str, dict[str, str]] = collections.defaultdict(dict)
    for architecture, code in codes("ptx", "--dump-ptx"):
        kernels = re.findall(r"^(?:\.visible )?\.entry (\w+)\((.*?)^}", code, re.MULTILINE | re.DOTALL)
        found[architecture].update(kernels)
    return found


# >>> only with flash_attention
def has_tensor_cores(architecture: str, element: str) -> bool:
    """Whether the GPUs of an architecture such as sm_90 have them for a type of elements, as it is in symbols."""
    (number,) = re.findall(r"\d+", architecture)
    return element in TENSOR_CORES_FROM and int(number) >= TENSOR_CORES_FROM[element]


# <<<
@absltest.skipUnless(CUOBJDUMP.is_file(), "this CUDA toolkit has no cuobjdump")
class CodeTest(absltest.TestCase):
    def test_every_kernel_is_there_for_every_architecture(self) -> None:
        with_ptx = {name.replace("compute_", "sm_") for name in ARCHITECTURES if name.startswith("compute_")}
        self.assertCountEqual(resources(), {name.replace("compute_", "sm_") for name in ARCHITECTURES})
        self.assertCountEqual(ptx(), with_ptx)
        kernels = set(next(iter(resources().values())))
        self.assertNotEmpty(kernels)
        for architecture, of_architecture in {
            **resources(),
            **{f"PTX of {name}": ptx()[name] for name in ptx()},
        }.items():
            self.assertSameElements(of_architecture, kernels, architecture)

    def test_every_object_has_the_same_architectures(self) -> None:
        names = re.findall(r"\.(sm_\w+)\.(cubin|ptx)$", cuobjdump("--list-elf", "--list-ptx"), re.MULTILINE)
        counts = collections.Counter(names)
        self.assertLen(set(counts.values()), 1, counts)

    def test_no_kernel_keeps_variables_in_memory(self) -> None:
        for architecture, kernels in resources().items():
            for kernel, usage in kernels.items():
                logging.info(
                    "%s: %d registers, %d bytes shared: %s", architecture, usage["REG"], usage["SHARED"], kernel
                )
                # Registers that are spilled are on the stack.
                self.assertEqual(usage["LOCAL"], 0, f"{architecture}: {kernel}")
                allowed = next((stack for pattern, stack in STACKS.items() if pattern.search(kernel)), 0)
                self.assertLessEqual(usage["STACK"], allowed, f"{architecture}: {kernel}")

    def test_registers_suffice_for_many_threads(self) -> None:
        for architecture, kernels in resources().items():
            for kernel, usage in kernels.items():
                threads = next((of for pattern, of in THREADS_OF.items() if pattern.search(kernel)), THREADS)
                self.assertLessEqual(usage["REG"], REGISTERS // threads, f"{architecture}: {kernel}")

    def test_elementwise_kernels_load_and_store_vectors(self) -> None:
        bodies = [
            (kernel, body)
            for kernels in ptx().values()
            for kernel, body in kernels.items()
            if "ElementwiseKernel" in kernel
        ]
        self.assertNotEmpty(bodies)
        for kernel, body in bodies:
            if OF_DOUBLES.search(kernel):
                continue
            self.assertRegex(body, r"\bld\.global\.v[24]\.", kernel)
            self.assertRegex(body, r"\bst\.global\.v[24]\.", kernel)

    # >>> only with flash_attention
    def test_ptx_of_attention_has_tensor_cores_for_half_types(self) -> None:
        found = set()
        for architecture, kernels in ptx().items():
            for kernel, body in kernels.items():
                if "flash_attention" not in kernel:
                    continue
                (element,) = re.findall(r"KernelI(\d+__\w+?|[fd])(?:Li\d+)?E", kernel)
                found.add(element)
                uses = re.search(r"^\s*wmma\.mma\.sync\.", body, re.MULTILINE) is not None
                self.assertEqual(uses, has_tensor_cores(architecture, element), f"{architecture}: {kernel}")
        if found:
            self.assertCountEqual(found, {*TENSOR_CORES_FROM, "f", "d"})

    @absltest.skipUnless(NVDISASM.is_file(), "this CUDA toolkit has no nvdisasm")
    def test_code_of_attention_has_tensor_cores_for_half_types(self) -> None:
        names = {kernel for kernels in resources().values() for kernel in kernels if SOME_TILES.search(kernel)}
        found = set()
        for architecture, code in codes("elf", "--dump-sass", "--function", ",".join(names)):
            for kernel, body in re.findall(r"Function : (\w+)\n(.*?)(?=Function :|\Z)", code, re.DOTALL):
                (element,) = SOME_TILES.findall(kernel)
                found.add((architecture, element))
                self.assertEqual(" HMMA." in body, has_tensor_cores(architecture, element), f"{architecture}: {kernel}")
        self.assertCountEqual(
            found, itertools.product(resources(), (*TENSOR_CORES_FROM, "f", "d")), "not all kernels were printed"
        )

    # <<<
    def test_names_no_folder_of_the_build(self) -> None:
        # Unpacked, for in the library the code is compressed.
        folder = self.create_tempdir().full_path
        subprocess.run([CUOBJDUMP, "-xelf", "all", "-xptx", "all", LIBRARY], cwd=folder, check=True)
        files = list(pathlib.Path(folder).iterdir())
        self.assertNotEmpty(files)
        for file in files:
            self.assertNotRegex(file.read_bytes(), rb"bazel-out|execroot|sandbox|tmpxft|/(tmp|home|root)/", file.name)


class SymbolsTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        with LIBRARY.open("rb") as file:
            self.shared_library = shared_library.SharedLibrary(io.BytesIO(file.read()))

    def test_needs_tensorflow_and_the_system(self) -> None:
        needed = self.shared_library.needed()
        system = needed - shared_library.TENSORFLOW_LIBRARIES
        self.assertContainsSubset(shared_library.TENSORFLOW_LIBRARIES, needed)
        self.assertContainsSubset(system, {"libc.so.6", "libgcc_s.so.1", "libm.so.6", "libstdc++.so.6"})
        self.assertContainsSubset({asked for asked in self.shared_library.undefined().values() if asked}, needed)

    def test_tensorflow_has_what_it_needs(self) -> None:
        packages = REPOSITORY.parent / CUDA_TENSORFLOW / "packages"
        tensorflow = packages / "tensorflow" if CUDA_TENSORFLOW else shared_library.own_tensorflow()
        self.assertEmpty(self.shared_library.missing(tensorflow))

    @absltest.skipUnless(CUDA_TENSORFLOW, "this TensorFlow has CUDA")
    def test_without_cuda_only_its_runtime_is_missing(self) -> None:
        missing = self.shared_library.missing(shared_library.own_tensorflow())
        self.assertContainsSubset({"__cudaRegisterFatBinary", "cudaLaunchKernel"}, missing)
        self.assertEmpty([name for name in missing if not re.match("(__)?cuda[A-Z]", name)])


if __name__ == "__main__":
    absltest.main()
