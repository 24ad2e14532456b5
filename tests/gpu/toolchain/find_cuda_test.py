# SPDX-License-Identifier: Apache-2.0
"""Tests of third_party/gpus/find_cuda.py with toolkits made of scripts."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pathlib
from unittest import mock

from absl.testing import absltest, parameterized

from tests.gpu.toolchain.fake_toolkit import make_toolkit, write_program
from third_party.gpus import find_cuda


class FindCudaTestCase(parameterized.TestCase):
    """A machine with no toolkit, whose compiler is a script.

    `system` stands for /usr/local, `home` for the user's, `path` for the folder on PATH.
    """

    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.system = self.folder / "local"
        self.home = self.folder / "a home"
        self.path = self.folder / "bin"
        self.enter_context(mock.patch.object(find_cuda, "SYSTEM", self.system))
        write_program(self.path / "gcc", "")
        self.environ = {"HOME": str(self.home), "PATH": str(self.path)}

    @property
    def prepared(self) -> pathlib.Path:
        """Where tools/setup/install_cuda.sh installs."""
        return self.home / ".cache/tensorflow_custom_ops/cuda"

    def describe(self) -> dict[str, object]:
        """What is found."""
        return find_cuda.describe(self.environ)

    def assert_finds(self, root: pathlib.Path) -> None:
        """Checks which toolkit is found, and that it is one to use without a warning."""
        description = self.describe()
        self.assertEqual(description["root"], str(root))
        self.assertIsNone(description["warning"])

    def assert_error(self, *parts: str) -> None:
        """Checks that finding fails, with one line that has `parts`."""
        with self.assertRaises(find_cuda.CudaError) as caught:
            self.describe()
        message = str(caught.exception)
        self.assertNotIn("\n", message)
        for part in parts:
            self.assertIn(part, message)


class ChoiceTest(FindCudaTestCase):
    def test_the_order(self) -> None:
        thirteen = make_toolkit(self.system / "cuda-13.0", "13.0.88")
        (self.system / "cuda").symlink_to("cuda-13.0")
        on_path = make_toolkit(self.folder / "on path", "12.8.93")
        (self.path / "nvcc").symlink_to(on_path / "bin/nvcc")
        roots = [
            ("CUDA_HOME", make_toolkit(self.folder / "mine", "12.2.91")),
            ("TF_CUDA_TOOLKIT_PATH", make_toolkit(self.folder / "mine, too", "12.3.107")),
            ("PATH", on_path),
            ("system", make_toolkit(self.system / "cuda-12.10", "12.10.1")),
            ("system", make_toolkit(self.system / "cuda-12.9", "12.9.86")),
            ("prepared", make_toolkit(self.prepared / "12.4.131", "12.4.131")),
        ]
        for variable, root in roots[:2]:
            self.environ[variable] = str(root)
        for where, root in roots:
            self.assert_finds(root)
            if where == "PATH":
                (self.path / "nvcc").unlink()
            elif where in self.environ:
                del self.environ[where]
            else:
                (root / "bin/nvcc").unlink()
        description = self.describe()
        self.assertEqual(description["root"], str(self.system / "cuda"))
        (thirteen / "bin/nvcc").unlink()
        self.assert_error("no CUDA 12 toolkit")

    def test_nvcc_on_path_comes_before_the_system(self) -> None:
        make_toolkit(self.system / "cuda", "12.9.86")
        on_path = make_toolkit(self.folder / "on path", "12.4.131")
        (self.path / "nvcc").symlink_to(on_path / "bin/nvcc")
        self.assert_finds(on_path)

    def test_system_link_comes_before_versions(self) -> None:
        make_toolkit(self.system / "cuda-12.4", "12.4.131")
        make_toolkit(self.system / "cuda-12.9", "12.9.86")
        (self.system / "cuda").symlink_to("cuda-12.4")
        self.assert_finds(self.system / "cuda")

    def test_nvcc_on_path_that_is_a_script(self) -> None:
        root = make_toolkit(self.folder / "opt", "12.4.131")
        write_program(self.path / "nvcc", f'exec "{root}/bin/nvcc" "$@"')
        self.assert_finds(root)

    def test_nvcc_on_path_of_an_unknown_layout(self) -> None:
        write_program(self.path / "nvcc", "echo 'Cuda compilation tools, release 12.4, V12.4.131'")
        self.assert_error(f"{self.folder} has no bin/cudafe++")

    def test_xdg_cache_home(self) -> None:
        self.environ["XDG_CACHE_HOME"] = str(self.folder / "xdg")
        root = make_toolkit(self.folder / "xdg/tensorflow_custom_ops/cuda/12.4.131", "12.4.131")
        self.assert_finds(root)

    def test_unfinished_installation(self) -> None:
        make_toolkit(self.prepared / "12.4.131.work/prefix", "12.4.131")
        make_toolkit(self.prepared / "12.4.131.work", "12.4.131")
        self.assert_error("no CUDA 12 toolkit")

    def test_no_toolkit(self) -> None:
        self.assert_error("nvcc on PATH", f"{self.system}/cuda*", str(self.prepared), "tools/setup/install_cuda.sh")

    def test_no_home(self) -> None:
        del self.environ["HOME"]
        self.assert_error("no CUDA 12 toolkit")

    def test_other_version(self) -> None:
        make_toolkit(self.system / "cuda-11.8", "11.8.89")
        self.assert_error(f"{self.system}/cuda-11.8 is CUDA 11.8.89", "install_cuda.sh")

    def test_broken_toolkit_is_passed_over_and_named(self) -> None:
        broken = make_toolkit(self.system / "cuda-12.9", "12.9.86")
        (broken / "nvvm/bin/cicc").unlink()
        reason = f"{broken} has no nvvm/bin/cicc"
        self.assert_error(reason)
        make_toolkit(self.system / "cuda-13.0", "13.0.88")
        self.assertIn(reason, str(self.describe()["warning"]))
        self.assert_finds(make_toolkit(self.prepared / "12.4.131", "12.4.131"))

    @parameterized.parameters("CUDA_HOME", "TF_CUDA_TOOLKIT_PATH", "")
    def test_cuda_13_is_for_a_compile_check(self, variable: str) -> None:
        root = make_toolkit(self.system / "cuda-13.0", "13.0.88")
        if variable:
            self.environ[variable] = str(root)
        warning = str(self.describe()["warning"])
        self.assertNotIn("\n", warning)
        for part in ("CUDA 13.0.88", "compile check only", "driver 580", "sm_60", "install_cuda.sh"):
            self.assertIn(part, warning)

    def test_what_is_watched(self) -> None:
        on_path = make_toolkit(self.folder / "opt", "13.0.88")
        (self.path / "nvcc").symlink_to(on_path / "bin/nvcc")
        self.assertContainsSubset(
            {str(on_path / "bin/nvcc"), str(self.system), str(self.system / "cuda/bin/nvcc"), str(self.prepared)},
            self.describe()["watched"],
        )


@parameterized.parameters("CUDA_HOME", "TF_CUDA_TOOLKIT_PATH")
class WrongVariableTest(FindCudaTestCase):
    def setUp(self) -> None:
        super().setUp()
        # What the variable must not fall through to.
        make_toolkit(self.system / "cuda", "12.4.131")
        self.root = make_toolkit(self.folder / "mine", "12.4.131")

    def assert_refused(self, variable: str, *parts: str) -> None:
        """Checks that the variable's value is refused."""
        self.environ.setdefault(variable, str(self.root))
        self.assert_error(f"{variable} is {self.environ[variable]}", "set it to", "or unset it", *parts)

    def test_no_folder(self, variable: str) -> None:
        self.environ[variable] = "/nowhere"
        self.assert_refused(variable, "/nowhere has no bin/nvcc")

    def test_relative(self, variable: str) -> None:
        self.environ[variable] = os.path.relpath(self.root)
        self.assert_refused(variable, "not an absolute path")

    def test_no_headers(self, variable: str) -> None:
        (self.root / "include/cuda_runtime.h").unlink()
        self.assert_refused(variable, "has no include/cuda_runtime.h")

    def test_nvcc_of_another_machine(self, variable: str) -> None:
        (self.root / "bin/nvcc").write_bytes(b"\x7fELF of another machine")
        self.assert_refused(variable, "bin/nvcc does not run: Exec format error")

    def test_nvcc_that_may_not_run(self, variable: str) -> None:
        (self.root / "bin/nvcc").chmod(0o644)
        self.assert_refused(variable, "bin/nvcc does not run: Permission denied")

    def test_nvcc_that_fails(self, variable: str) -> None:
        write_program(self.root / "bin/nvcc", "echo 'libc.so.6: version GLIBC_2.34 not found'; exit 1")
        self.assert_refused(variable, "does not run: libc.so.6: version GLIBC_2.34 not found")
        write_program(self.root / "bin/nvcc", "echo V12.4.131; exit 1")
        self.assert_refused(variable, "does not run: V12.4.131")

    def test_nvcc_without_version(self, variable: str) -> None:
        write_program(self.root / "bin/nvcc", "echo hello")
        self.assert_refused(variable, "does not run: hello")

    def test_other_version(self, variable: str) -> None:
        for version in ("11.8.89", "14.0.1"):
            make_toolkit(self.root, version)
            self.assert_refused(variable, f"is CUDA {version}", "TensorFlow's CUDA builds use CUDA 12")


class ArchitecturesTest(FindCudaTestCase):
    def architectures(self, value: str, version: str = "12.4.131") -> object:
        """What is compiled for where the variable has a value."""
        make_toolkit(self.system / "cuda", version, ("50", "60", "80", "90", "90a"))
        self.environ["TF_CUDA_COMPUTE_CAPABILITIES"] = value
        return self.describe()["architectures"]

    def test_defaults(self) -> None:
        self.assertEqual(self.architectures(""), ["sm_60", "sm_70", "sm_80", "sm_89", "compute_90"])
        self.assertEqual(self.architectures("", "13.0.88"), ["sm_75", "sm_80", "sm_89", "compute_90"])

    @parameterized.parameters(
        ("sm_80", ["sm_80"]),
        ("compute_80", ["compute_80"]),
        ("8.0", ["compute_80"]),
        (" sm_60 , 9.0a", ["sm_60", "compute_90a"]),
        ("sm_80,sm_60,sm_80", ["sm_80", "sm_60"]),
        ("sm_90,sm_80,compute_90", ["sm_80", "compute_90"]),
    )
    def test_formats_of_tensorflow(self, value: str, expected: list[str]) -> None:
        self.assertEqual(self.architectures(value), expected)

    @parameterized.parameters("90", "sm_9.0", "sm90", "turing", "sm_80;sm_90", "9", "sm_90 compute_90", "-1.0")
    def test_nonsense(self, value: str) -> None:
        with self.assertRaisesRegex(find_cuda.CudaError, "no architecture; write sm_90"):
            self.architectures(value)

    def test_empty_part(self) -> None:
        with self.assertRaisesRegex(find_cuda.CudaError, "TF_CUDA_COMPUTE_CAPABILITIES has '',"):
            self.architectures("sm_80,")

    @parameterized.parameters("sm_120", "compute_120", "12.0", "sm_89")
    def test_what_nvcc_cannot_do(self, value: str) -> None:
        with self.assertRaisesRegex(
            find_cuda.CudaError,
            f"has {value}, which CUDA 12.4.131 in .* cannot compile for; it can for sm_50, sm_60, .*compute_90a$",
        ):
            self.architectures(f"sm_80,{value}")


class HostCompilerTest(FindCudaTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.root = make_toolkit(self.system / "cuda", "12.4.131")

    def test_the_one_of_bazel(self) -> None:
        write_program(self.path / "gcc", "exit 1")
        self.assert_error(f"the host compiler {self.path}/gcc is unsupported by CUDA 12.4.131 in {self.root}", "CC=")
        write_program(self.path / "my-gcc", "")
        self.environ["CC"] = "my-gcc"
        self.assert_finds(self.root)
        self.environ["CC"] = str(self.path / "my-gcc")
        self.assert_finds(self.root)

    def test_the_reason(self) -> None:
        write_program(
            self.path / "gcc",
            "echo In file included from host_config.h:1: >&2\n"
            "echo 'host_config.h:143:2: error: #error -- unsupported GNU version!' >&2\n"
            "exit 1",
        )
        self.assert_error("(host_config.h:143:2: error: #error -- unsupported GNU version!)")

    @parameterized.parameters("gcc-99", "/nowhere/gcc")
    def test_that_is_not_there(self, value: str) -> None:
        self.environ["CC"] = value
        self.assert_error(f"the C++ compiler {value} is not on PATH", "CC=")


class CommandLineTest(FindCudaTestCase):
    def run_main(self) -> tuple[int, str, str]:
        """Runs the command line and returns status, output and errors."""
        output, errors = io.StringIO(), io.StringIO()
        with (
            mock.patch.dict(os.environ, self.environ, clear=True),
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(errors),
        ):
            return find_cuda.main(), output.getvalue(), errors.getvalue()

    def test_description(self) -> None:
        root = make_toolkit(self.system / "cuda", "12.4.131")
        status, output, errors = self.run_main()
        self.assertEqual((status, errors), (0, ""))
        description = json.loads(output)
        self.assertEqual((description["root"], description["version"]), (str(root), "12.4.131"))

    def test_error(self) -> None:
        status, output, errors = self.run_main()
        self.assertEqual((status, output), (1, ""))
        self.assertLen(errors.splitlines(), 1)


if __name__ == "__main__":
    absltest.main()
