# SPDX-License-Identifier: Apache-2.0
"""What goes wrong is told."""

from __future__ import annotations

import os
import pathlib
import shutil
from typing import Any
from unittest import mock

import tensorflow as tf
from absl.testing import absltest, parameterized

from tensorflow_custom_ops import jit
from tensorflow_custom_ops.jit import _find_cuda
from tests.jit import jit_test_case

FUNCTOR = """struct JitGood : Elementwise<1> {
  template <typename V>
  static FN_INLINE auto Apply(const V& x) {
    return x;
  }
};"""
WITH_ATTRIBUTE = FUNCTOR.replace("const V& x", "const V& x, fn::Constant alpha")


class ArgumentsTest(jit_test_case.JitTestCase):
    @parameterized.named_parameters(
        ("name", {"name": "no name", "cpp_source": ""}, ValueError, "name must be a Python identifier.*'no name'"),
        ("name is a path", {"name": "../x", "cpp_source": ""}, ValueError, "name must be a Python identifier"),
        ("nothing", {}, ValueError, "give cpp_source, functor, or both"),
        ("no string", {"cpp_source": 1}, TypeError, "cpp_source must be a string, but is 1"),
        ("flags", {"cpp_source": "", "compile_flags": "-O3"}, TypeError, "compile_flags must be a list.*'-O3'"),
        ("inputs without functor", {"cpp_source": "", "inputs": ["x"]}, ValueError, "inputs is of a functor"),
        ("attributes without functor", {"cpp_source": "", "attributes": {}}, ValueError, "attributes is of a functor"),
        ("no functor", {"functor": "int x;"}, ValueError, "one struct that derives from Elementwise.* it has none"),
        (
            "two functors",
            {"functor": FUNCTOR + FUNCTOR.replace("Good", "Other")},
            ValueError,
            "it has JitGood, JitOther",
        ),
        ("its name", {"functor": FUNCTOR.replace("JitGood", "jit_good")}, ValueError, "CamelCase, but it is jit_good"),
        ("include", {"functor": "#include <cmath>\n" + FUNCTOR}, ValueError, "JitGood alone, without #include"),
        ("no Apply", {"functor": FUNCTOR.replace("Apply", "Run")}, ValueError, "JitGood has no function Apply"),
        (
            "too few inputs",
            {"functor": FUNCTOR, "inputs": []},
            ValueError,
            r"JitGood::Apply takes 1 inputs \(x\), but inputs has 0",
        ),
        (
            "no default",
            {"functor": WITH_ATTRIBUTE},
            ValueError,
            r'takes the attributes alpha.* but attributes has none.* attributes=\{"alpha": 1.0\}',
        ),
        (
            "no such attribute",
            {"functor": FUNCTOR, "attributes": {"beta": 1}},
            ValueError,
            "JitGood::Apply takes no attributes, but attributes has beta",
        ),
        (
            "default",
            {"functor": WITH_ATTRIBUTE, "attributes": {"alpha": "1"}},
            TypeError,
            "the default of JitGood's attribute alpha must be a bool, int or float, but is '1'",
        ),
        ("keyword", {"functor": FUNCTOR, "inputs": ["lambda"]}, ValueError, "'lambda' cannot be the name"),
        ("taken", {"functor": FUNCTOR, "inputs": ["grad"]}, ValueError, "'grad' cannot be the name"),
        (
            "twice",
            {"functor": WITH_ATTRIBUTE, "inputs": ["alpha"], "attributes": {"alpha": 1}},
            ValueError,
            "must differ, but are alpha, alpha",
        ),
        (
            "unnamed",
            {"functor": FUNCTOR.replace("& x", "& x, fn::Constant")},
            ValueError,
            "parameter 2 .* a name",
        ),
        ("op of TensorFlow", {"functor": FUNCTOR.replace("JitGood", "Relu")}, ValueError, "has an op Relu, ReluGrad"),
        ("op of ours", {"cpp_source": 'REGISTER_OP("MyOp")'}, ValueError, "has an op MyOp already"),
    )
    def test_of_load_inline(self, arguments: dict[str, Any], error: type[Exception], message: str) -> None:
        calls = self.write_compiler()
        with self.assertRaisesRegex(error, message):
            jit.load_inline(**{"name": "name", **arguments})
        self.assertEmpty(calls.read_text())

    def test_of_load(self) -> None:
        with self.assertRaisesRegex(FileNotFoundError, "there is no source .*/nowhere.cc"):
            jit.load("name", "nowhere.cc")
        with self.assertRaisesRegex(ValueError, "sources is empty"):
            jit.load("name", [])
        with self.assertRaisesRegex(ValueError, r"source .*/source.py must be called \*.cc, "):
            jit.load("name", [self.write("source.py", "")])

    def test_of_load_library(self) -> None:
        with self.assertRaisesRegex(FileNotFoundError, "there is no library .*/nowhere.so"):
            jit.load_library("nowhere.so")
        with self.assertRaisesRegex(ImportError, f"TensorFlow {tf.__version__} cannot load .*/lib.so: .*too short"):
            jit.load_library(self.write("lib.so", "text"))


class CompilerTest(jit_test_case.JitTestCase):
    def compile(self, source: str, **arguments: Any) -> jit.CompileError:  # noqa: ANN401 - those of load_inline
        """Compiles what has an error; returns that."""
        with self.assertRaises(jit.CompileError) as raised:
            jit.load_inline("wrong", source, **arguments)
        error: jit.CompileError = raised.exception
        return error

    def test_line_of_the_string(self) -> None:
        error = self.compile('REGISTER_OP("JitWrong");\n\nint x = undeclared;\n')
        message = str(error)
        self.assertStartsWith(message, "wrong cannot be compiled: ")
        self.assertRegex(message, r"cpp_source.cc:3:9: error: .?undeclared.? was not declared")
        self.assertIn("    3 | int x = undeclared;", message)
        self.assertIn("-std=c++17", " ".join(error.command))
        self.assertIn("cpp_source.cc:1:", error.output)

    def test_line_of_a_functor(self) -> None:
        with self.assertRaisesRegex(jit.CompileError, r"functor.h:4:12: error: .?y.? was not declared"):
            jit.load_inline("wrong", functor=FUNCTOR.replace("return x", "return y"))

    def test_long_output_is_cut(self) -> None:
        error = self.compile("\n".join(f"int x{i} = undeclared{i};" for i in range(100)))
        self.assertRegex(str(error), r"and \d+ lines more, in the exception's `output`")
        self.assertIn("cpp_source.cc:100:", error.output)
        self.assertNotIn("cpp_source.cc:100:", str(error))

    def test_undefined_symbol(self) -> None:
        error = self.compile("int Missing(int x);\nint Present() { return Missing(1); }")
        self.assertRegex(str(error), r"undefined (reference to|symbol:) .?Missing\(int\)")

    def test_no_op(self) -> None:
        with self.assertRaisesRegex(ImportError, "registers no op that is new: it has no REGISTER_OP"):
            jit.load_inline("empty", "int x;")

    def test_definition_that_tensorflow_refuses(self) -> None:
        wrong = FUNCTOR.replace("JitGood", "JitMany").replace("<1>", "<2>")
        with self.assertRaisesRegex(
            (ImportError, jit.CompileError), "JitMany: its functor takes 2 inputs|no matching function"
        ):
            jit.load_inline("many", functor=wrong)

    def test_no_compiler(self) -> None:
        self.set_variable("PATH", str(self.folder))
        with mock.patch.dict(os.environ):
            os.environ.pop("CXX", None)
            self.assertIn("none of g++, clang++, c++ is on PATH", str(self.compile("")))
            os.environ["CXX"] = "no-such-compiler"
            self.assertIn("CXX is 'no-such-compiler', and there is no such compiler", str(self.compile("")))

    def test_compiler_that_does_not_run(self) -> None:
        program = self.write("broken", "#!/nowhere/sh\n")
        program.chmod(0o755)
        self.set_variable("CXX", str(program))
        self.assertIn(f"{program} cannot be run: No such file", str(self.compile("")))


class CudaTest(jit_test_case.JitTestCase):
    def load(self) -> None:
        """Compiles a kernel."""
        jit.load_inline("gpu", 'REGISTER_OP("JitGpu");', cuda_source="__global__ void Kernel() {}")

    def test_no_nvcc(self) -> None:
        self.enter_context(mock.patch.dict(os.environ))
        for name in ("CUDA_HOME", "TF_CUDA_TOOLKIT_PATH"):
            os.environ.pop(name, None)
        self.set_variable("XDG_CACHE_HOME", str(self.folder))
        programs = pathlib.Path(self.create_tempdir().full_path)
        (programs / "g++").symlink_to(str(shutil.which("g++")))
        self.set_variable("PATH", str(programs))
        self.enter_context(mock.patch.object(_find_cuda, "SYSTEM", self.folder))
        with self.assertRaisesRegex(
            jit.CompileError, "CUDA sources need nvcc, of CUDA 12: there is no CUDA 12 toolkit"
        ):
            self.load()

    def test_tensorflow_without_cuda(self) -> None:
        toolkit = _find_cuda.Toolkit(self.folder, "12.5.1")
        self.enter_context(mock.patch.object(_find_cuda, "find_toolkit", return_value=(toolkit, [])))
        if tf.sysconfig.get_build_info()["is_cuda_build"]:
            self.skipTest("this TensorFlow is built with CUDA")
        with self.assertRaisesRegex(RuntimeError, "GPU kernels need a TensorFlow that is built with CUDA"):
            self.load()


if __name__ == "__main__":
    absltest.main()
