# SPDX-License-Identifier: Apache-2.0
"""Options are those of the package's build and of TensorFlow, in each form in which they are told."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import subprocess
from unittest import mock

import tensorflow as tf
from absl.testing import absltest, parameterized

from tensorflow_custom_ops import build, jit
from tensorflow_custom_ops.jit import _compiler, _cuda, _find_cuda, _options, _plan
from tests import instruction_sets
from tests.jit import jit_test_case


class FlagsTest(jit_test_case.JitTestCase):
    def test_compile_flags(self) -> None:
        flags = jit.get_compile_flags()
        # As TensorFlow says, but its headers have no warnings.
        self.assertContainsSubset({flag for flag in tf.sysconfig.get_compile_flags() if flag[:2] != "-I"}, flags)
        self.assertIn(f"-isystem{tf.sysconfig.get_include()}", flags)
        # As the build says, in .bazelrc, copts.bzl and tensorflow.bzl.
        self.assertContainsSubset({"-DNDEBUG", "-fvisibility=hidden", "-fwrapv", "-DEIGEN_AVOID_STL_ARRAY"}, flags)
        self.assertNotIn("-Werror", flags)
        self.assertLen(set(flags), len(flags))

    def test_link_flags(self) -> None:
        flags = jit.get_link_flags()
        self.assertContainsSubset(tf.sysconfig.get_link_flags(), flags)
        self.assertContainsSubset({"-shared", "-l:libtensorflow_cc.so.2", "-Wl,-z,defs"}, flags)

    def test_instruction_set(self) -> None:
        for name in instruction_sets.of_processor():
            self.set_variable("TF_CUSTOM_OPS_ISA", name)
            self.assertEqual(_options.instruction_set()[0], name)
        with mock.patch.dict(os.environ):
            del os.environ["TF_CUSTOM_OPS_ISA"]
            self.assertEqual(_options.instruction_set()[0], instruction_sets.of_processor()[-1])

    def test_cuda(self) -> None:
        toolkit = _find_cuda.Toolkit(self.folder, "12.5.1")
        self.enter_context(mock.patch.object(_find_cuda, "find_toolkit", return_value=(toolkit, [])))
        self.enter_context(mock.patch.object(_find_cuda, "architectures", return_value=["sm_60", "compute_90"]))
        plan = _plan.Plan("gpu", {"a.cu.cc": "", "b.cc": ""}, cuda_flags=("--maxrregcount=32",))
        plan.units = _plan.units_of(["a.cu.cc", "b.cc"])
        (cuda, host), link = plan._commands
        self.assertEqual(cuda[0], f"{self.folder}/bin/nvcc")
        line = shlex.join(cuda)
        self.assertIn("-ccbin " + _compiler.find_compiler().command[0], line)
        self.assertIn("-gencode arch=compute_60,code=sm_60 -gencode 'arch=compute_90,code=[sm_90,compute_90]'", line)
        self.assertContainsSubset(
            {"-x", "cu", "-std=c++17", "-Xcompiler=-fPIC,-fvisibility=hidden", "--maxrregcount=32", "a.cu.cc"}, cuda
        )
        self.assertNotIn("--maxrregcount=32", host)
        self.assertIn(_cuda.LINK_FLAG, link)


class BuildTest(jit_test_case.JitTestCase):
    def text(self, form: str) -> str:
        """What the command prints."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            self.assertEqual(build.main([f"--format={form}"]), 0)
        return output.getvalue()

    def assert_are_the_flags(self, compile_flags: list[str], link_flags: list[str]) -> None:
        """Checks flags that came through a build system."""
        self.assertEqual(compile_flags, jit.get_compile_flags())
        self.assertEqual(link_flags, jit.get_link_flags())

    def test_json(self) -> None:
        self.assert_are_the_flags(**json.loads(self.text("json")))

    def test_shell(self) -> None:
        script = self.text("shell") + 'printf "%s\\n" "$CUSTOM_OP_CXXFLAGS" "$CUSTOM_OP_LDFLAGS"'
        printed = subprocess.run(["sh", "-euc", script], capture_output=True, text=True, check=True).stdout
        self.assert_are_the_flags(*map(shlex.split, printed.splitlines()))

    def test_file(self) -> None:
        file = self.folder / "flags.mk"
        self.assertEqual(build.main(["--format=make", f"--out={file}"]), 0)
        self.assertEqual(file.read_text(), self.text("make"))

    @parameterized.parameters("-DA='b c'", "$(x) #", "a;b")
    def test_quotes(self, flag: str) -> None:
        script = build._shell([flag], []) + 'printf "%s" "$CUSTOM_OP_CXXFLAGS"'
        printed = subprocess.run(["sh", "-euc", script], capture_output=True, text=True, check=True).stdout
        self.assertEqual(shlex.split(printed), [flag])

    def test_no_compiler(self) -> None:
        self.set_variable("CXX", "no-such-compiler")
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            self.assertEqual(build.main(["--format=json"]), 1)
        self.assertIn("CXX is 'no-such-compiler'", errors.getvalue())


if __name__ == "__main__":
    absltest.main()
