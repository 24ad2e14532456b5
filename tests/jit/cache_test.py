# SPDX-License-Identifier: Apache-2.0
"""What is compiled once stays compiled, for all processes, until something that it is made of changes."""

from __future__ import annotations

import ctypes
import os
import pathlib
import subprocess
import sys
from typing import IO, cast
from unittest import mock

import tensorflow as tf
from absl.testing import absltest

from tensorflow_custom_ops.jit import _cache, _options, _plan
from tests.jit import jit_test_case

SOURCE = """
#include "value.h"
extern "C" int Value() { return VALUE + kValue; }
"""
HEADER = "constexpr int kValue = 10;\n"

# Compiles the same in another process, slowly.
PROGRAM = """
import sys
from tensorflow_custom_ops.jit import _plan
plan = _plan.Plan("slow", {"slow.cc": 'extern "C" int Value() { return 1; }'}, uses_tensorflow=False)
plan.units = _plan.units_of(["slow.cc"], ("-fvisibility=default",))
print("ready", flush=True)
sys.stdin.readline()
print(plan.find() or plan.make())
"""


class CacheTest(jit_test_case.JitTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.set_variable(_cache.VARIABLE, str(self.folder / "cache"))
        self.header = self.write("a folder/value.h", HEADER)
        self.source = self.write("a folder/source.cc", SOURCE)
        self.calls = self.write_compiler()

    def plan(self, *flags: str, text: str = "") -> _plan.Plan:
        """A plan for a library that does not need TensorFlow."""
        plan = _plan.Plan("value", {"text.cc": text}, compile_flags=flags or ("-DVALUE=1",), uses_tensorflow=False)
        plan.units = _plan.units_of([str(self.source), "text.cc"], ("-fvisibility=default",))
        return plan

    def library(self, *flags: str, text: str = "") -> pathlib.Path:
        """The library, compiled if need be."""
        plan = self.plan(*flags, text=text)
        return plan.find() or plan.make()

    def compilations(self) -> int:
        """How many libraries have been linked since this was asked last."""
        count = sum("-shared" in line for line in self.calls.read_text().splitlines())
        self.calls.write_text("")
        return count

    def assert_compiles_again(self, *flags: str, text: str = "") -> pathlib.Path:
        """Checks that the library is made, and once."""
        library = self.library(*flags, text=text)
        self.assertEqual(self.compilations(), 1)
        self.assertEqual(self.library(*flags, text=text), library)
        self.assertEqual(self.compilations(), 0)
        return library

    def value(self, library: pathlib.Path) -> int:
        """What the function in a library returns."""
        value: int = ctypes.CDLL(str(library)).Value()
        return value

    def test_what_makes_a_difference(self) -> None:
        library = self.assert_compiles_again()
        self.assertEqual(self.value(library), 11)
        with self.subTest("a flag"):
            self.assertEqual(self.value(self.assert_compiles_again("-DVALUE=2")), 12)
        with self.subTest("a string"):
            self.assert_compiles_again(text="int more;")
        with self.subTest("a source"):
            self.source.write_text(SOURCE.replace("+", "-"))
            self.assertEqual(self.value(self.assert_compiles_again()), -9)
        with self.subTest("a header"):
            self.header.write_text(HEADER.replace("10", "20"))
            self.assertEqual(self.value(self.assert_compiles_again()), -19)
        with self.subTest("the compiler's version"):
            self.calls = self.write_compiler("2")
            self.assert_compiles_again()
        with self.subTest("TensorFlow's version"), mock.patch.object(tf, "__version__", "2.99.0"):
            self.assert_compiles_again()
        with self.subTest("the package's library"):
            copy = self.folder / "libcore.a"
            copy.write_bytes(_options.LIBRARY.read_bytes())
            with mock.patch.object(_options, "LIBRARY", copy):
                self.assert_compiles_again()
                copy.write_bytes(b"!<arch>\n")
                self.assert_compiles_again()
        with self.subTest("nothing"):
            self.library()
            self.assertEqual(self.compilations(), 0)
        # What was loaded has not been touched.
        self.assertEqual(self.value(library), 11)

    def test_time_of_a_file_makes_no_difference(self) -> None:
        self.assert_compiles_again()
        self.source.touch()
        self.header.touch()
        self.library()
        self.assertEqual(self.compilations(), 0)

    def test_damage_is_mended(self) -> None:
        library = self.assert_compiles_again()
        manifest = library.with_name("manifest.json")
        for path, content in ((library, b"half"), (manifest, b"{"), (manifest, b"[]"), (manifest, b"{}")):
            path.unlink()
            self.assert_compiles_again()
            path.write_bytes(content)
            self.assertEqual(self.value(self.assert_compiles_again()), 11)

    def test_nothing_is_left_of_a_failure(self) -> None:
        with self.assertRaises(RuntimeError):
            self.library(text="error")
        self.assertEqual([path.name for path in (self.folder / "cache").glob("*/*/*")], ["lock"])
        self.assert_compiles_again(text="")

    def test_processes_at_once(self) -> None:
        # The compiler waits until it may go on.
        go, compiler = self.folder / "go", self.folder / "compiler"
        compiler.write_text(compiler.read_text().replace("\nexec", f"\nwhile [ ! -e {go} ]; do sleep 0.1; done\nexec"))
        first, second = (self.start_process() for _ in range(2))
        self.begin(first)
        self.wait_for(first, "compiling slow (one source) ...")
        self.begin(second)
        self.wait_for(second, "waiting for another process that compiles slow")
        go.touch()
        (library, told), (other, _) = (process.communicate() for process in (first, second))
        self.assertEqual([first.returncode, second.returncode], [0, 0], told)
        self.assertEqual(library, other)
        self.assertEqual(self.value(pathlib.Path(library.strip())), 1)
        self.assertEqual(self.compilations(), 1)
        self.assertIn("slow is compiled, after", told)

    def start_process(self) -> subprocess.Popen[str]:
        """Starts the program, which waits when it has imported TensorFlow."""
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.kill)
        return process

    def begin(self, process: subprocess.Popen[str]) -> None:
        """Lets the program go on."""
        self.assertEqual(cast(IO[str], process.stdout).readline(), "ready\n")
        print(file=process.stdin, flush=True)

    def wait_for(self, process: subprocess.Popen[str], message: str) -> None:
        """Waits until the program has told something."""
        lines = iter(cast(IO[str], process.stderr).readline, "")
        self.assertTrue(any(message in line for line in lines), message)

    def test_folder(self) -> None:
        with mock.patch.dict(os.environ, {"XDG_CACHE_HOME": "/xdg", _cache.VARIABLE: ""}):
            self.assertEqual(_cache.folder(), pathlib.Path("/xdg/tensorflow_custom_ops/jit"))
        with mock.patch.dict(os.environ, {"XDG_CACHE_HOME": "", _cache.VARIABLE: "", "HOME": "/home/me"}):
            self.assertEqual(_cache.folder(), pathlib.Path("/home/me/.cache/tensorflow_custom_ops/jit"))

    def test_folder_that_cannot_be_written(self) -> None:
        self.set_variable(_cache.VARIABLE, str(self.write("file", "")))
        with self.assertRaisesRegex(OSError, f"cannot write to the cache.* Set the variable {_cache.VARIABLE}"):
            self.library()

    def test_rules_of_make(self) -> None:
        rule = "0.o: /a/b.cc text.cc \\\n /a\\ folder/c\\#.h \\\n  /d$$.h\n"
        self.assertEqual(_plan._dependencies(rule), ["/a/b.cc", "/a folder/c#.h", "/d$.h"])


if __name__ == "__main__":
    absltest.main()
