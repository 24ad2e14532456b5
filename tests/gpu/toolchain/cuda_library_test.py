# SPDX-License-Identifier: Apache-2.0
"""Tests of what nvcc makes of a source with the toolkit that was found."""

from __future__ import annotations

import os
import pathlib
import shutil
import struct
import subprocess
from collections.abc import Iterator

from absl.testing import absltest

HERE = pathlib.Path(__file__).parent
OBJECT = HERE / "_objs/sample/sample.cu.pic.o"
SAME = HERE / "_objs/same_sample/sample.cu.pic.o"
CUDA = HERE.parents[3] / "local_config_cuda/cuda"
ARCHITECTURES = os.environ["CUDA_ARCHITECTURES"].split(",")

# A fat binary has this header and then, each with a header of its own, code for one architecture.
FAT_BINARY = struct.Struct("<IHHQ")
FAT_BINARY_MAGIC = 0xBA55ED50
CODE = struct.Struct("<HHIQIIHHI")
PREFIX_OF_KIND = {1: "compute_", 2: "sm_"}


def code_in(content: bytes) -> Iterator[str]:
    """What the fat binaries in an object have code for: sm_ is machine code, compute_ is PTX."""
    start = content.find(struct.pack("<I", FAT_BINARY_MAGIC))
    while start >= 0:
        _, _, header_size, size = FAT_BINARY.unpack_from(content, start)
        position, end = start + header_size, start + header_size + size
        while position < end:
            kind, _, header_size, code_size, _, _, _, _, architecture = CODE.unpack_from(content, position)
            yield f"{PREFIX_OF_KIND[kind]}{architecture}"
            position += header_size + code_size
        start = content.find(struct.pack("<I", FAT_BINARY_MAGIC), end)


class CudaLibraryTest(absltest.TestCase):
    def test_architectures(self) -> None:
        asked = {name for name in ARCHITECTURES if name.startswith("compute_")}
        asked |= {name.replace("compute_", "sm_") for name in ARCHITECTURES}
        self.assertCountEqual(code_in(OBJECT.read_bytes()), asked)

    def test_same_object_from_another_action(self) -> None:
        self.assertEqual(OBJECT.read_bytes(), SAME.read_bytes())

    def test_no_path_of_the_build(self) -> None:
        content = OBJECT.read_bytes()
        self.assertIn(b"LaunchDouble", content)
        for path in (b"tmpxft", b"/tmp", b"execroot", b"sandbox", b"bazel-out", b"external/", b"/home", b"/root"):
            self.assertNotIn(path, content)

    def test_debugging_is_off(self) -> None:
        self.assertNotIn(b"__assert", OBJECT.read_bytes())

    def test_two_folders_at_once(self) -> None:
        """The same source in two folders gives one object, though both nvcc run at once."""
        folders = [pathlib.Path(self.create_tempdir().full_path) for _ in range(2)]
        for folder in folders:
            package = folder / "tests/gpu/toolchain"
            package.mkdir(parents=True)
            for name in ("sample.cu.cc", "sample.h"):
                shutil.copy(HERE / name, package)
        command = [
            *(
                str(CUDA / "bin/nvcc.sh"),
                "-x",
                "cu",
                "-std=c++17",
                f"-arch={ARCHITECTURES[0].replace('compute_', 'sm_')}",
            ),
            *("-I.", "-Wno-deprecated-gpu-targets", "-c", "tests/gpu/toolchain/sample.cu.cc", "-o", "sample.o"),
            *("--host", "-DNDEBUG"),
        ]
        for process in [subprocess.Popen(command, cwd=folder) for folder in folders]:
            self.assertEqual(process.wait(), 0)
        first, second = (folder / "sample.o" for folder in folders)
        self.assertEqual(first.read_bytes(), second.read_bytes())


if __name__ == "__main__":
    absltest.main()
