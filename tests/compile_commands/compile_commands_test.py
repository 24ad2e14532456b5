# SPDX-License-Identifier: Apache-2.0
"""Tests of //tools/compile_commands with commands such as Bazel's. The program :check tests it with Bazel."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pathlib
from typing import Any
from unittest import mock

from absl.testing import absltest, parameterized

from tools.compile_commands import compile_commands

FOLDERS = compile_commands.Folders("/repository", "/base/external", "/base/execroot/bazel-out")

# A bazelw that prints what these files have.
BAZELW = """#!/bin/sh
echo "$@" >>calls
case $1 in
  aquery) cat actions.json ;;
  info) printf 'output_base: /base\\noutput_path: /base/execroot/bazel-out\\n' ;;
esac
exit "$(cat status)"
"""


def gcc(file: str, *options: str) -> list[str]:
    """A command of Bazel's for g++."""
    output = f"bazel-out/bin/{file}.{len(options)}.o"
    return ["/usr/bin/gcc", *options, "-MD", "-MF", "x.d", f"-frandom-seed={output}", "-c", file, "-o", output]


def nvcc(file: str, *options: str, host: tuple[str, ...] = ()) -> list[str]:
    """A command of Bazel's for nvcc."""
    fixed = ["-ccbin", "/usr/bin/gcc", "-x", "cu", "-std=c++17", "-Xfatbin=-compress-all"]
    return ["external/cuda/bin/nvcc.sh", *fixed, *options, "-c", file, "-o", f"bazel-out/{file}.o", "--host", *host]


class EntryTest(parameterized.TestCase):
    def arguments(self, command: list[str]) -> list[str]:
        arguments = compile_commands.entry(command, FOLDERS)["arguments"]
        self.assertIsInstance(arguments, list)
        return list(arguments)

    def test_an_entry(self) -> None:
        entry = compile_commands.entry(gcc("a/b.cc", "-O2"), FOLDERS)
        expected = {
            "directory": "/repository",
            "file": "a/b.cc",
            "output": "/base/execroot/bazel-out/bin/a/b.cc.1.o",
            "arguments": ["/usr/bin/gcc", "-O2", "-c", "a/b.cc"],
        }
        self.assertEqual(entry, expected)

    @parameterized.parameters(
        (["-iquote", "external/a"], ["-iquote", "/base/external/a"]),
        (["-isystem", "bazel-out/bin/external/a"], ["-isystem", "/base/execroot/bazel-out/bin/external/a"]),
        (["-Iexternal/a"], ["-I/base/external/a"]),
        (["-iquote", "."], ["-iquote", "."]),
        (['-DHEADER="external/a.h"'], ['-DHEADER="external/a.h"']),
        (["-Wall", "-Werror", "-Wextra"], ["-Wall", "-Wextra"]),
        (["-fno-canonical-system-headers", "-Wno-free-nonheap-object"], []),
    )
    def test_options(self, given: list[str], expected: list[str]) -> None:
        self.assertEqual(self.arguments(gcc("a.cc", *given)), ["/usr/bin/gcc", *expected, "-c", "a.cc"])

    def test_a_generated_source(self) -> None:
        entry = compile_commands.entry(gcc("bazel-out/bin/a.cc"), FOLDERS)
        self.assertEqual(entry["file"], "/base/execroot/bazel-out/bin/a.cc")
        self.assertEqual(entry["arguments"][-1], entry["file"])

    def test_nvcc_becomes_clang(self) -> None:
        options = ("-gencode", "arch=compute_90,code=[sm_90,compute_90]", "-gencode", "arch=compute_60,code=sm_60")
        host = ("-Wall", "-Werror", "-nvcc_options=expt-relaxed-constexpr", "-fwrapv")
        command = nvcc("a.cu.cc", *options, "-Xcompiler=-fPIC", "-Xcompiler=-fno-canonical-system-headers", host=host)
        expected = ["clang++", "-x", "cuda", "--cuda-path=/base/external/cuda/toolkit", "--cuda-gpu-arch=sm_90"]
        expected += ["-std=c++17", "-fPIC", "-c", "a.cu.cc", "-Wall", "-fwrapv"]
        self.assertEqual(self.arguments(command), expected)


class WriteTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.workspace = pathlib.Path(self.create_tempdir().full_path)
        (self.workspace / "bazelw").write_text(BAZELW)
        (self.workspace / "bazelw").chmod(0o755)
        self.enter_context(mock.patch.dict(os.environ, {"BUILD_WORKSPACE_DIRECTORY": str(self.workspace)}))

    def run_main(self, *options: str, commands: list[list[str]], status: int = 0) -> int:
        actions = {"actions": [{"mnemonic": "CppCompile", "arguments": command} for command in commands]}
        (self.workspace / "actions.json").write_text(json.dumps(actions))
        (self.workspace / "status").write_text(str(status))
        with mock.patch("sys.argv", ["compile_commands", *options]):
            return compile_commands.main()

    def written(self) -> list[dict[str, Any]]:
        return list(json.loads((self.workspace / "compile_commands.json").read_text()))

    def test_the_plainest_of_a_file_is_first_and_cuda_before_all(self) -> None:
        commands = [
            gcc("a.cu.cc"),
            gcc("a.cu.cc", "-fsanitize=thread"),
            nvcc("a.cu.cc", "-gencode", "arch=compute_90,code=sm_90"),
            gcc("b.cc", "-mavx2", "-mfma"),
            gcc("b.cc"),
        ]
        self.assertEqual(self.run_main(commands=commands), 0)
        compilers = [(each["file"], each["arguments"][0]) for each in self.written()]
        gcc_path = "/usr/bin/gcc"
        expected = [("a.cu.cc", "clang++"), ("a.cu.cc", gcc_path), ("a.cu.cc", gcc_path)]
        self.assertEqual(compilers, [*expected, ("b.cc", gcc_path), ("b.cc", gcc_path)])
        self.assertNotIn("-fsanitize=thread", self.written()[1]["arguments"])
        self.assertNotIn("-mavx2", self.written()[3]["arguments"])

    def test_bazel_gets_the_options(self) -> None:
        self.assertEqual(self.run_main("--config=cuda", commands=[]), 0)
        aquery, _ = (self.workspace / "calls").read_text().splitlines()
        self.assertStartsWith(aquery, "aquery --config=cuda ")
        self.assertEqual(self.written(), [])

    def test_a_failure_of_bazel_leaves_the_file(self) -> None:
        self.run_main(commands=[gcc("a.cc")])
        self.assertEqual(self.run_main(commands=[], status=7), 7)
        self.assertLen(self.written(), 1)

    def test_says_how_to_run_it(self) -> None:
        del os.environ["BUILD_WORKSPACE_DIRECTORY"]
        with contextlib.redirect_stderr(io.StringIO()) as error:
            self.assertEqual(self.run_main(commands=[]), 2)
        self.assertRegex(error.getvalue(), r"\Acompile_commands: .*bazel run //tools/compile_commands.*\n\Z")


if __name__ == "__main__":
    absltest.main()
