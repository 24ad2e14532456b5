# SPDX-License-Identifier: Apache-2.0
"""Tests of third_party/py/make_venv.py with a wheel made here and without network."""

import contextlib
import hashlib
import io
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from unittest import mock

from absl.testing import absltest, parameterized

from third_party.py import make_venv

SCRIPT = Path(make_venv.__file__)
TIMEOUT_S = 120


def make_wheel(folder: Path, tag: str) -> str:
    """Makes a wheel of the package `tiny`, version 1.0, and returns its SHA-256 sum."""
    info = "tiny-1.0.dist-info"
    files = {
        "tiny.py": "ANSWER = 42\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n",
        f"{info}/entry_points.txt": "[console_scripts]\ntiny = tiny:main\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    wheel = folder / f"tiny-1.0-{tag}.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


class MakeVenvTestCase(parameterized.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = Path(self.create_tempdir().full_path) / "some folder"
        self.folder.mkdir()
        self.dest = self.folder / "venv"
        self.lock = self.folder / "lock.txt"
        variables = {
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": self.folder.as_uri(),
            "PIP_CONFIG_FILE": os.devnull,
        }
        self.enter_context(mock.patch.dict(os.environ, variables))

    def write_lock(self, text: str) -> None:
        self.lock.write_text(text, encoding="utf-8")

    def start(self) -> "subprocess.Popen[str]":
        """Starts make_venv.py."""
        return subprocess.Popen(
            [sys.executable, SCRIPT, self.dest, self.lock],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            start_new_session=True,
        )

    def make(self) -> tuple[int, str]:
        """Runs make_venv.py and returns its status and output."""
        with self.start() as process:
            return process.wait(TIMEOUT_S), process.communicate()[0]

    def assert_fails(self, *parts: str) -> None:
        """Checks that make_venv.py fails with one line that has `parts`, and leaves no DEST."""
        status, output = self.make()
        self.assertEqual(status, 1)
        self.assertLen(output.splitlines(), 1, output)
        self.assertStartsWith(output, "make_venv: ")
        for part in parts:
            self.assertIn(part, output)
        self.assertFalse(self.dest.exists())


class MakeVenvTest(MakeVenvTestCase):
    def test_makes_and_replaces(self) -> None:
        self.write_lock(f"tiny==1.0 --hash=sha256:{make_wheel(self.folder, 'py3-none-any')}\n")
        # What an interrupted run leaves.
        (self.dest / "lib").mkdir(parents=True)
        (self.dest / "pyvenv.cfg").touch()
        (self.dest / "lib/left_over.py").touch()
        self.assertEqual(self.make(), (0, ""))
        program = "import sys, tiny; print(tiny.ANSWER, tiny.__cached__, sys.version_info[:2], sys.path)"
        python = self.dest / "bin/python"
        output = subprocess.check_output([python, "-I", "-c", program], encoding="utf-8")
        self.assertStartsWith(output, "42 ")
        self.assertIn(str(sys.version_info[:2]), output)
        self.assertTrue(Path(output[3 : output.index(".pyc") + 4]).exists(), output)
        self.assertTrue((self.dest / "bin/tiny").exists())
        self.assertFalse((self.dest / "lib/left_over.py").exists())
        self.assertEqual((self.dest / "requirements.txt").read_text(), self.lock.read_text())
        # The environment is the base interpreter's, whichever environment ran the script.
        home = (self.dest / "pyvenv.cfg").read_text().splitlines()[0]
        self.assertEqual(home, f"home = {Path(sys._base_executable).parent}")

    def test_wrong_hash(self) -> None:
        make_wheel(self.folder, "py3-none-any")
        self.write_lock(f"tiny==1.0 --hash=sha256:{'0' * 64}\n")
        log = self.dest.with_name("venv.log")
        self.assert_fails("does not match the hash in the lock: tiny==1.0 (", str(log))
        self.assertIn("Expected sha256 " + "0" * 64, log.read_text())

    def test_lock_without_hashes(self) -> None:
        make_wheel(self.folder, "py3-none-any")
        self.write_lock("tiny==1.0\n")
        self.assert_fails(f"cannot install {self.lock}: Hashes are required")

    def test_no_wheel_for_this_python(self) -> None:
        digest = make_wheel(self.folder, "cp27-cp27m-win32")
        self.write_lock(f"tiny==1.0 --hash=sha256:{digest}\n")
        python = ".".join(map(str, sys.version_info[:3]))
        self.assert_fails("no wheel of tiny==1.0 for Python " + python)

    def test_interrupted(self) -> None:
        self.write_lock("tiny==1.0\n")
        with self.start() as process:
            deadline = time.monotonic() + TIMEOUT_S
            while not self.dest.exists() and time.monotonic() < deadline:
                time.sleep(0.01)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(TIMEOUT_S), 1)
        self.assertFalse(self.dest.exists())


class BadInputTest(MakeVenvTestCase):
    def test_no_lock(self) -> None:
        self.assert_fails(f"there is no lock file {self.lock}")

    def test_something_else_is_there(self) -> None:
        self.write_lock("tiny==1.0\n")
        self.dest.mkdir()
        (self.dest / "thesis.txt").touch()
        status, output = self.make()
        self.assertEqual(status, 1)
        self.assertIn(f"{self.dest} holds something other than a virtual environment", output)
        self.assertTrue((self.dest / "thesis.txt").exists())

    def test_a_file_is_there(self) -> None:
        self.write_lock("tiny==1.0\n")
        self.dest.touch()
        self.assertEqual(self.make(), (1, f"make_venv: [Errno 20] Not a directory: '{self.dest}'\n"))

    def test_folder_that_cannot_be_written(self) -> None:
        self.write_lock("tiny==1.0\n")
        self.dest = Path("/proc/nowhere/venv")
        self.assert_fails("cannot make /proc/nowhere/venv", "No such file or directory")

    def test_usage(self) -> None:
        result = subprocess.run([sys.executable, SCRIPT], capture_output=True, encoding="utf-8", check=False)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, "usage: make_venv.py DEST LOCK\n")

    def test_old_python(self) -> None:
        errors = io.StringIO()
        with (
            mock.patch.object(sys, "version_info", (3, 9, 2)),
            mock.patch("platform.python_version", lambda: "3.9.2"),
            contextlib.redirect_stderr(errors),
        ):
            self.assertEqual(make_venv.main(), 1)
        self.assertRegex(errors.getvalue(), r"^make_venv: Python 3\.10 or newer .* 3\.9\.2;.*\n$")


class PipCauseTest(parameterized.TestCase):
    @parameterized.named_parameters(
        (
            "no_network",
            "Collecting tiny\n"
            "WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by"
            " 'NewConnectionError('<pip.HTTPSConnection object at 0x7f>: Failed to establish a new"
            " connection: [Errno -3] Temporary failure in name resolution')': /simple/tiny/\n"
            "ERROR: Could not find a version that satisfies the requirement tiny (from versions:)\n"
            "ERROR: No matching distribution found for tiny==1.0\n",
            "the package index cannot be reached: Failed to establish a new connection: [Errno -3]"
            " Temporary failure in name resolution",
        ),
        (
            "disk_full",
            "Installing collected packages: tiny\n"
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on"
            " device\n\n",
            "no space left on the disk",
        ),
        (
            "syntax_of_the_lock",
            "ERROR: Invalid requirement: 'tiny=1.0' (from line 1 of lock.txt)\n"
            "Hint: = is not a valid operator. Did you mean == ?\n",
            "Invalid requirement: 'tiny=1.0' (from line 1 of lock.txt)",
        ),
        ("something_else", "Traceback:\n  File x\nMemoryError\n\n", "MemoryError"),
        ("silence", "", "no output"),
    )
    def test_cause(self, output: str, cause: str) -> None:
        self.assertEqual(make_venv.pip_cause(output), cause)


class WithoutEnsurepipTest(parameterized.TestCase):
    """Tests of the way to pip on Debian without python3-venv, with stand-ins for Debian's tools."""

    def setUp(self) -> None:
        super().setUp()
        folder = Path(self.create_tempdir().full_path)
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.scratch = folder / "scratch"
        self.scratch.mkdir()
        self.enter_context(mock.patch.dict(os.environ, {"PATH": f"{self.bin}:/usr/bin:/bin"}))
        self.add_program("apt-get", 'case "$*" in *download*) : >python3-pip-whl_1_all.deb;; esac')
        self.add_program(
            "dpkg-deb",
            'wheels="$3/usr/share/python-wheels"; mkdir -p "$wheels"; : >"$wheels/pip-1-any.whl"',
        )

    def add_program(self, name: str, script: str) -> None:
        program = self.bin / name
        program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        program.chmod(0o755)

    def assert_fails(self, *parts: str) -> None:
        with self.assertRaises(make_venv.SetupError) as raised:
            make_venv.pip_wheel_from_debian(self.scratch)
        for part in (*parts, "has no ensurepip module", "apt-get install python3-venv"):
            self.assertIn(part, str(raised.exception))

    def test_takes_pip_from_its_package(self) -> None:
        wheel = make_venv.pip_wheel_from_debian(self.scratch)
        self.assertEqual(wheel.name, "pip-1-any.whl")
        self.assertTrue(wheel.exists())

    def test_not_debian(self) -> None:
        os.environ["PATH"] = str(self.bin)
        (self.bin / "apt-get").unlink()
        self.assert_fails()

    @parameterized.parameters("exit 100", "exit 0")
    def test_no_network(self, end: str) -> None:
        message = "E: Failed to fetch http://mirror: Temporary failure resolving 'mirror'"
        self.add_program("apt-get", f'echo Err:1; echo "{message}"; {end}')
        self.assert_fails(message)


if __name__ == "__main__":
    absltest.main()
