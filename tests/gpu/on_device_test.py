# SPDX-License-Identifier: Apache-2.0
"""What run_on_device.sh does where there is no GPU, and how it counts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from absl.testing import absltest, parameterized

HERE = Path(__file__).absolute().parent

NVIDIA_SMI = """#!/bin/sh
echo 'name, driver_version, memory.total [MiB]'
echo 'NVIDIA Fake, 570.1, 1 MiB'
"""

# A Python that does what unpacks the wheel, and writes down what else it is asked to do.
RECORDER = """#!/bin/sh
case "$*" in
  *zipfile*) exec {python} "$@" ;;
esac
echo "$*" >> {record}
case "$*" in
  {failing}) echo "it is broken"; exit 1 ;;
esac
echo "done: $*"
"""


class OnDeviceTest(parameterized.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = Path(self.create_tempdir().full_path)
        self.device = self.folder / "on_device"
        shutil.copytree(HERE / "on_device", self.device)
        self.script = self.device / "tests/gpu/run_on_device.sh"
        self.programs = self.folder / "bin"
        self.programs.mkdir()

    def make_program(self, name: str, text: str) -> Path:
        """Writes a program, which is on the script's PATH."""
        program = self.programs / name
        program.write_text(text)
        program.chmod(0o755)
        return program

    def make_recorder(self, failing: str = "nothing") -> Path:
        """Makes a Python for which all goes well but what matches a pattern of the shell."""
        self.make_program("nvidia-smi", NVIDIA_SMI)
        text = RECORDER.format(python=sys.executable, record=self.folder / "record", failing=failing)
        return self.make_program("recorder", text)

    def run_script(self, *arguments: str | Path, status: int) -> subprocess.CompletedProcess[str]:
        """Runs the script, which is to end with a status."""
        result = subprocess.run(
            [self.script, *arguments],
            env={"PATH": f"{self.programs}{os.pathsep}/usr/bin{os.pathsep}/bin", "TMPDIR": str(self.folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        # The temporary folder is removed.
        self.assertEmpty(list(self.folder.glob("tmp.*")))
        return result

    def make_module(self, name: str, text: str = "") -> str:
        """Writes a Python module; returns its folder."""
        folder = self.folder / name
        folder.mkdir()
        (folder / f"{name}.py").write_text(text)
        return str(folder)

    def make_python(self, *packages: str) -> Path:
        """Makes a virtual environment that has the packages of some folders; returns its interpreter."""
        venv = self.folder / "venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
        (site,) = venv.glob("lib/python3.*/site-packages")
        (site / "packages.pth").write_text("".join(f"{folder}\n" for folder in packages))
        return venv / "bin/python"

    def check_stops(self, python: Path, message: str) -> None:
        """Checks that the script finds something wrong with a Python and runs no test."""
        output = self.run_script(python, status=1).stdout
        self.assertRegex(
            output, rf"\nFAIL TensorFlow fits the wheel.*\n(  .*\n)*  .*(?:{message}).*\n2 passed, 1 failed\n\Z"
        )

    def test_help(self) -> None:
        result = self.run_script("--help", status=0)
        self.assertStartsWith(result.stdout, "Tests the GPU kernels")
        self.assertEndsWith(result.stdout, "2 for wrong arguments.\n")

    @parameterized.parameters(
        (("python3", "python3"), "run_on_device.sh \\[PYTHON\\]"),
        (("--device",), "there is no option --device"),
        (("/no/python",), "there is no program /no/python"),
    )
    def test_refuses_arguments(self, arguments: tuple[str, ...], message: str) -> None:
        result = self.run_script(*arguments, status=2)
        self.assertRegex(result.stderr, message)
        self.assertEmpty(result.stdout)

    def test_refuses_a_folder_without_wheel(self) -> None:
        shutil.rmtree(self.device / "tools")
        result = self.run_script(status=2)
        self.assertIn("run ./bazelw build --config=cuda //tests/gpu:on_device first", result.stderr)

    def test_no_driver(self) -> None:
        output = self.run_script(sys.executable, status=1).stdout
        self.assertIn("\nFAIL there is a GPU with a driver", output)
        self.assertIn("\n  there is no nvidia-smi on PATH", output)
        self.assertEndsWith(output, "\n1 passed, 1 failed\n")

    def test_driver_without_gpu(self) -> None:
        self.make_program("nvidia-smi", "#!/bin/sh\necho No devices were found\nexit 6\n")
        output = self.run_script(sys.executable, status=1).stdout
        self.assertEndsWith(output, "\n  No devices were found\n1 passed, 1 failed\n")

    def test_python_that_lacks_something(self) -> None:
        self.make_program("nvidia-smi", NVIDIA_SMI)
        self.check_stops(self.make_python(), r"has no hypothesis; .*pip install 'tensorflow\[and-cuda\]==2\.\d+\.\*'")
        hypothesis = self.make_module("hypothesis")
        self.check_stops(self.make_python(hypothesis), "has no TensorFlow")
        tensorflow = self.make_module("tensorflow", "__version__ = '2.9.3'")
        self.check_stops(
            self.make_python(hypothesis, tensorflow), r"has TensorFlow 2\.9\.3, and the wheel is for 2\.\d+;"
        )

    def test_tensorflow_without_gpu(self) -> None:
        self.make_program("nvidia-smi", NVIDIA_SMI)
        python = self.make_python(self.make_module("hypothesis"), *sys.path[1:])
        self.check_stops(python, "is built without CUDA|sees no GPU")

    @absltest.skipUnless("CUDA_TENSORFLOW" in os.environ, "this build has no GPU kernels")
    def test_cuda_tensorflow_without_gpu(self) -> None:
        self.make_program("nvidia-smi", NVIDIA_SMI)
        repository = os.environ["CUDA_TENSORFLOW"]
        packages = [str((HERE.parents[2] / repository / "packages").resolve())] if repository else sys.path[1:]
        python = self.make_python(self.make_module("hypothesis"), *packages)
        self.check_stops(python, "sees no GPU")
        parts = self.device / "tests/gpu/device"
        result = subprocess.run(
            [python, parts / "run_kernel_tests.py", parts / "kernel_tests.so"],
            capture_output=True,
            text=True,
            check=False,
        )
        # It is loaded, and asks CUDA for memory.
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"\nDeviceArray: .+\n\Z")

    def test_runs_all_steps(self) -> None:
        output = self.run_script(self.make_recorder(), status=0).stdout
        self.assertNotIn("FAIL", output)
        ran = (self.folder / "record").read_text()
        for test in (HERE / "on_device/tensorflow_custom_ops").rglob("*_test.py"):
            module = ".".join(test.relative_to(HERE / "on_device").with_suffix("").parts)
            self.assertIn(f"\n-m {module}\n", ran)
        for part in (
            "check_machine.py",
            "kernel_tests.so",
            "--device CPU",
            "--device GPU",
            "--compare",
            "bandwidth.py",
        ):
            self.assertIn(part, ran)
        self.assertRegex(output, rf"\n{len(re.findall('^PASS ', output, re.MULTILINE))} passed, 0 failed\n\Z")

    def test_has_what_its_tests_import(self) -> None:
        folder = HERE / "on_device"
        tests = list((folder / "tensorflow_custom_ops").rglob("*_test.py"))
        self.assertNotEmpty(tests)
        for test in tests:
            for modules in re.findall(r"^from tests import (.*)$|^from tests\.(\w+) import", test.read_text(), re.M):
                for module in "".join(modules).split(", "):
                    self.assertTrue((folder / "tests" / f"{module}.py").exists(), f"{test.name}: tests.{module}")

    @parameterized.parameters("*kernel_tests*", "*my_op_test", "*--compare*", "*--out*", "*bandwidth*")
    def test_goes_on_after_a_failure(self, failing: str) -> None:
        output = self.run_script(self.make_recorder(failing), status=1).stdout
        passed = len(re.findall("^PASS ", output, re.MULTILINE))
        self.assertRegex(output, r"(?m)^FAIL .*\n(  .*\n)*  it is broken$")
        self.assertGreater(passed, 8)
        self.assertEndsWith(output, f"\n{passed} passed, 1 failed\n")

    def test_stops_where_the_kernels_are_not_loaded(self) -> None:
        output = self.run_script(self.make_recorder("*build_info*"), status=1).stdout
        self.assertIn("FAIL the package loads its GPU kernels", output)
        self.assertEndsWith(output, "\n3 passed, 1 failed\n")

    def test_bandwidth_program(self) -> None:
        program = HERE / "device/bandwidth.py"
        arguments = [
            "--device",
            "CPU",
            "--elements",
            "2500",
            "--dtype",
            "float32",
            "half",
            "--rounds",
            "2",
            "--seconds",
            "0.001",
        ]
        result = subprocess.run(
            [sys.executable, program, *arguments],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = re.findall(r"^ *(\w+) +2500  (\S.*\S) +[\d.]+ +\d+% +[\d.]+ +([\d.]+)$", result.stdout, re.MULTILINE)
        names = ["copy", "MyOp"]
        # >>> only with simple_add
        names += ["SimpleAdd"]
        # <<<
        # >>> only with top_k_mask
        names += ["TopKMask", "TopKMask, by 8", "TopKMask, one row"]
        # <<<
        # >>> only with fused_dense
        names += ["FusedDense", "FusedDense, bias"]
        # <<<
        self.assertEqual([row[:2] for row in rows], [(t, name) for t in ("float32", "float16") for name in names])
        self.assertEqual([row[2] for row in rows if row[1] == "copy"], ["1.00"] * 2)


if __name__ == "__main__":
    absltest.main()
