# SPDX-License-Identifier: Apache-2.0
"""Tests of the scripts that stand before nvcc and its programs, with scripts for those."""

from __future__ import annotations

import pathlib
import shutil
import subprocess

from absl.testing import absltest

from tests.gpu.toolchain.fake_toolkit import write_program

GPUS = pathlib.Path(__file__).parents[3] / "third_party/gpus"


class ScriptTestCase(absltest.TestCase):
    """Makes the folders of @local_config_cuda//cuda."""

    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.bin = self.folder / "bin"
        self.bin.mkdir()

    def run_script(self, name: str, *arguments: str) -> tuple[int, list[str]]:
        """Runs a script of the folder bin and returns its status and the lines that it prints."""
        result = subprocess.run(
            [self.bin / name, *arguments], capture_output=True, encoding="utf-8", check=False, cwd=self.folder
        )
        return result.returncode, result.stdout.splitlines()


class NvccTest(ScriptTestCase):
    def setUp(self) -> None:
        super().setUp()
        shutil.copy(GPUS / "nvcc.sh", self.bin)

    def test_folder_for_intermediate_files(self) -> None:
        write_program(self.bin / "nvcc", 'echo "$1 $2"; echo "$3"; echo "$TMPDIR"; touch "$3/kept"; ls "$3"')
        folders = set()
        for _ in range(2):
            status, (options, folder, tmpdir, files) = self.run_script("nvcc.sh", "--host")
            self.assertEqual((status, options, tmpdir, files), (0, "--keep --keep-dir", folder, "kept"))
            self.assertFalse(pathlib.Path(folder).exists())
            folders.add(folder)
        self.assertLen(folders, 2)

    def test_failure(self) -> None:
        write_program(self.bin / "nvcc", 'echo "$3"; exit 3')
        status, (folder,) = self.run_script("nvcc.sh", "--host")
        self.assertEqual(status, 3)
        self.assertFalse(pathlib.Path(folder).exists())

    def test_options(self) -> None:
        write_program(self.bin / "nvcc", "shift 3; printf '%s\\n' \"$@\"")
        options = ["-O2", "-DX=a, b", "-UY", "-Iz", "-Wl,-s", "-nvcc_options=ftz=true", "-D", "--std=c++20"]
        status, lines = self.run_script("nvcc.sh", "-x", "cu", "-O3", "--host", *options)
        self.assertEqual(status, 0)
        self.assertEqual(
            lines,
            [
                *("-x", "cu", "-O3"),
                *("-Xcompiler=-O2", "-DX=a, b", "-UY", "-Iz", "-Xcompiler=-Wl\\,-s", "--ftz=true", "-D"),
                "-Xcompiler=--std=c++20",
            ],
        )


class NameSourceTest(ScriptTestCase):
    def test_path_is_that_of_the_command_line(self) -> None:
        for name, program in (("cicc", "toolkit/nvvm/bin/cicc"), ("cudafe++", "toolkit/bin/cudafe++")):
            with self.subTest(name):
                shutil.copy(GPUS / "name_source.sh", self.bin / name)
                write_program(self.folder / program, "printf '%s\\n' \"$@\"; exit 5")
                before, after = (
                    ["--c++17", "a b", "--orig_src_file_name", "p/k.cu.cc", "--orig_src_path_name"],
                    ["x.ii"],
                )
                status, lines = self.run_script(name, *before, "/somewhere/p/k.cu.cc", *after)
                self.assertEqual((status, lines), (5, [*before, "p/k.cu.cc", *after]))


if __name__ == "__main__":
    absltest.main()
