# SPDX-License-Identifier: Apache-2.0
"""probe.py describes the TensorFlow of an interpreter, or says what is wrong with it."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import tensorflow as tf
from absl.testing import absltest, parameterized

PROBE = pathlib.Path("third_party/tensorflow/probe.py").absolute()


def run_probe(*path: str, python: str = sys.executable) -> subprocess.CompletedProcess[str]:
    """Runs the probe with some directories before the others on the import path."""
    return subprocess.run(
        [python, str(PROBE)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        capture_output=True,
        text=True,
        check=False,
    )


class ProbeTest(parameterized.TestCase):
    def test_describes_this_tensorflow(self) -> None:
        result = run_probe()
        self.assertEqual(result.returncode, 0, result.stderr)
        info = json.loads(result.stdout)
        self.assertEqual(info["python"], sys.executable)
        self.assertEqual(info["version"], tf.__version__)
        self.assertEqual(os.path.realpath(tf.sysconfig.get_lib()), info["lib_dir"])
        flags = {f"-D{define}" for define in info["defines"]} | set(info["cxx_flags"])
        self.assertEqual(flags, {f for f in tf.sysconfig.get_compile_flags() if not f.startswith("-I")})
        self.assertEqual(info["is_cuda_build"], tf.test.is_built_with_cuda())
        self.assertRegex(info["content_hash"], "^[0-9a-f]{64}$")
        record = pathlib.Path(info["record"]).read_text()
        self.assertIn("tensorflow/libtensorflow_framework.so.2", record)

    def test_no_tensorflow(self) -> None:
        base = pathlib.Path(sys.base_prefix) / "bin" / "python3"
        # Isolated from the packages of the interpreter.
        result = subprocess.run([str(base), "-I", "-S", str(PROBE)], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(
            result.stderr,
            r"^\S+ \(Python 3\.\d+\.\S+\) has no TensorFlow; TensorFlow 2\.19 or newer is needed\n$",
        )

    @parameterized.parameters(
        ("__version__ = '2.15.1'", "has TensorFlow 2.15.1; TensorFlow 2.19 or newer is needed"),
        (
            "raise ImportError('no libfoo.so')",
            "import tensorflow fails: ImportError('no libfoo.so')",
        ),
        ("", "import tensorflow fails: AttributeError"),
    )
    def test_other_tensorflow(self, source: str, message: str) -> None:
        directory = self.create_tempdir()
        directory.create_file("tensorflow/__init__.py", source)
        result = run_probe(directory.full_path)
        self.assertEqual(result.returncode, 1)
        self.assertIn(message, result.stderr.splitlines()[-1])
        self.assertNotIn("Traceback", result.stderr)

    def test_tensorflow_without_headers(self) -> None:
        directory = self.create_tempdir()
        source = f"""
__version__ = '2.21.0'
class sysconfig:
    get_lib = staticmethod(lambda: {directory.full_path!r})
    get_include = get_lib
    get_compile_flags = staticmethod(list)
"""
        directory.create_file("tensorflow/__init__.py", source)
        result = run_probe(directory.full_path)
        self.assertEqual(result.returncode, 1)
        self.assertIn("TensorFlow 2.21.0 has no ", result.stderr)
        self.assertIn("libtensorflow_framework.so.2", result.stderr)


if __name__ == "__main__":
    absltest.main()
