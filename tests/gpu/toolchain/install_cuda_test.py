# SPDX-License-Identifier: Apache-2.0
"""Tests of tools/setup/install_cuda.sh with stand-ins for apt, dpkg and the Python package index."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

from absl.testing import absltest, parameterized

from tests.gpu.toolchain.fake_toolkit import write_program

REPOSITORY = pathlib.Path(__file__).parents[3]
SCRIPT = "tools/setup/install_cuda.sh"
FILES = (SCRIPT, "tools/setup/debian.sh", "tools/setup/cuda_requirements_lock.txt")
# What the script may take from a system.
SYSTEM = (
    *("awk", "bash", "cat", "cp", "cut", "df", "dirname", "du", "find", "flock", "ln", "mkdir", "mv", "readlink", "rm"),
    *("rmdir", "sha256sum", "sleep", "tail", "touch"),
)
TEXT = (REPOSITORY / SCRIPT).read_text(encoding="utf-8")
VERSION = re.search(r"VERSION=(.*)", TEXT)[1]  # type: ignore[index]
PACKAGE_VERSION = re.search(r"PACKAGE_VERSION=(.*)", TEXT)[1]  # type: ignore[index]
SHA256 = re.search(r"SHA256=(.*)", TEXT)[1]  # type: ignore[index]
DEB = b"a package"
TIMEOUT_S = 60

APT_GET = """\
case "$*" in
  indextargets*) echo http://mirror/debian ;;
  *" update") ;;
  *" download "*) {before_download}; printf '%s' '{deb}' >nvidia-cuda-toolkit.deb ;;
esac
"""
# Unpacks what the programs of Debian's package are.
DPKG_DEB = """\
[ "$1" = --extract ] || exit 1
mkdir -p "$3/usr/bin" "$3/usr/lib/nvidia-cuda-toolkit/bin" "$3/usr/lib/nvidia-cuda-toolkit/libdevice"
cd "$3/usr"
touch bin/cudafe++ bin/cuobjdump bin/fatbinary bin/nvcc bin/nvdisasm bin/ptxas
cd lib/nvidia-cuda-toolkit
touch bin/cicc libdevice/libdevice.10.bc
ln -s "{nvcc}" bin/nvcc
"""
# As make_venv.py does with the wheels of the headers.
MAKE_VENV = """\
import pathlib, sys
site = pathlib.Path(sys.argv[1], "lib/python3.11/site-packages")
for name in ("cuda_runtime/include/cuda_runtime.h", "cuda_nvcc/include/crt/host_config.h",
             "cuda_nvcc/include/__init__.py", "cuda_cccl/include/nv/target"):
    (site / "nvidia" / name).parent.mkdir(parents=True, exist_ok=True)
    (site / "nvidia" / name).touch()
(site / "nvidia_cuda_nvcc_cu12-12.4.131.dist-info").mkdir()
(site / "nvidia_cuda_nvcc_cu12-12.4.131.dist-info/License.txt").write_text("EULA")
"""


class InstallCudaTest(parameterized.TestCase):
    """Makes a clone and a home with spaces in their paths, and a PATH."""

    def setUp(self) -> None:
        super().setUp()
        if not list(pathlib.Path("/usr/share/keyrings").glob("debian-archive-keyring.*")):
            self.skipTest("this system does not know Debian's archive")
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.clone = self.folder / "a clone"
        for name in FILES:
            (self.clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, self.clone / name)
        (self.clone / SCRIPT).write_text(TEXT.replace(SHA256, hashlib.sha256(DEB).hexdigest()), encoding="utf-8")
        self.write_make_venv(MAKE_VENV)
        self.home = self.folder / "a home"
        self.home.mkdir()
        self.parent = self.home / ".cache/tensorflow_custom_ops/cuda"
        self.dest = self.parent / VERSION
        self.path = self.folder / "bin"
        self.path.mkdir()
        for name in SYSTEM:
            (self.path / name).symlink_to(str(shutil.which(name)))
        self.add_program("python3", f'exec "{sys.executable}" "$@"')
        self.add_program("uname", "echo Linux x86_64")
        self.add_program("dpkg", "echo amd64")
        self.add_apt()
        self.add_program("apt-cache", f"echo '  Candidate: {PACKAGE_VERSION}'")
        self.add_nvcc(f"echo 'release 12.4, V{VERSION}'")
        self.variables = {"HOME": str(self.home), "PATH": str(self.path)}

    def add_program(self, name: str, script: str) -> None:
        """Puts a script on PATH."""
        (self.path / name).unlink(missing_ok=True)  # a link to the system's program, which must stay as it is
        write_program(self.path / name, script)

    def add_apt(self, before_download: str = ":", deb: bytes = DEB) -> None:
        """Puts an apt-get on PATH, which has a mirror of Debian."""
        self.add_program("apt-get", APT_GET.format(before_download=before_download, deb=deb.decode()))

    def add_nvcc(self, script: str) -> None:
        """Makes the nvcc that is in Debian's package."""
        write_program(self.folder / "nvcc", script)
        self.add_program("dpkg-deb", DPKG_DEB.format(nvcc=self.folder / "nvcc"))

    def write_make_venv(self, script: str) -> None:
        """Replaces the clone's make_venv.py."""
        path = self.clone / "third_party/py/make_venv.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script, encoding="utf-8")

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Starts the script in a process group of its own."""
        process = subprocess.Popen(
            [str(shutil.which("bash")), self.clone / SCRIPT, *arguments],
            cwd=self.folder,
            env=self.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
        )
        self.addCleanup(process.communicate)
        self.addCleanup(self.kill, process)
        return process

    def kill(self, process: subprocess.Popen[str], how: signal.Signals = signal.SIGKILL) -> None:
        """Ends the script and what it runs."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, how)

    def install(self, *arguments: str) -> tuple[int, list[str]]:
        """Runs the script; returns its status and the lines of standard error."""
        output, errors = (process := self.start(*arguments)).communicate(timeout=TIMEOUT_S)
        self.assertEqual(output, "")
        return process.returncode, errors.splitlines()

    def assert_installed(self, dest: pathlib.Path) -> None:
        """Checks that a folder has what the packages have, where a toolkit has it, and nothing else."""
        files = {str(path.relative_to(dest)) for path in dest.rglob("*") if not path.is_dir()}
        self.assertEqual(
            files,
            {
                *("bin/cudafe++", "bin/cuobjdump", "bin/fatbinary", "bin/nvcc", "bin/nvcc.profile"),
                *("bin/nvdisasm", "bin/ptxas"),
                *("nvvm/bin/cicc", "nvvm/libdevice/libdevice.10.bc", "EULA.txt"),
                *("include/cuda_runtime.h", "include/crt/host_config.h", "include/nv/target"),
            },
        )
        self.assertEqual((dest / "bin/nvcc").readlink(), self.folder / "nvcc")
        self.assertCountEqual(dest.parent.iterdir(), [dest, dest.with_name(f"{dest.name}.lock")])

    def assert_error(self, *parts: str, arguments: tuple[str, ...] = ()) -> list[str]:
        """Checks that the script fails with a last line that has `parts` and leaves no toolkit."""
        status, errors = self.install(*arguments)
        self.assertEqual(status, 1, errors)
        for part in parts:
            self.assertIn(part, errors[-1])
        self.assertFalse(self.dest.exists())
        self.assertFalse((self.parent / f"{VERSION}.work").exists())
        return errors

    def test_installs_once_and_says_so(self) -> None:
        status, errors = self.install()
        self.assertEqual(status, 0, errors)
        self.assert_installed(self.dest)
        self.assertRegex(
            "\n".join(errors),
            f"installing .* {VERSION} into {self.dest} .*delete that folder.*NVIDIA's licence, https:"
            f"(?s:.)*from http://mirror/debian(?s:.)*installed CUDA {VERSION}",
        )
        self.add_program("apt-get", "exit 1")
        self.assertEqual(self.install(), (0, [f"install_cuda.sh: CUDA {VERSION} is in {self.dest} already"]))

    def test_folder_of_ones_own(self) -> None:
        del self.variables["HOME"]
        status, errors = self.install("some/where")
        self.assertEqual(status, 0, errors)
        self.assert_installed(self.folder / "some/where")

    def test_xdg_cache_home(self) -> None:
        self.variables["XDG_CACHE_HOME"] = str(self.folder / "xdg")
        self.assertEqual(self.install()[0], 0)
        self.assert_installed(self.folder / "xdg/tensorflow_custom_ops/cuda" / VERSION)

    def test_no_folder_for_a_cache(self) -> None:
        del self.variables["HOME"]
        self.assertLen(self.assert_error("neither HOME nor XDG_CACHE_HOME", "give a DEST"), 1)

    def test_wrong_arguments(self) -> None:
        for arguments in (("a", "b"), ("",), ("--prefix=a",)):
            self.assertLen(self.assert_error("usage: install_cuda.sh [DEST]", arguments=arguments), 1)

    def test_help(self) -> None:
        with self.start("--help") as process:
            output, errors = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual((process.returncode, errors), (0, ""))
        self.assertIn("usage: install_cuda.sh [DEST]", output)

    def test_folder_that_cannot_be_written(self) -> None:
        (self.home / ".cache").touch()
        self.assertLen(self.assert_error(f"cannot write to {self.parent}"), 1)

    def test_folder_with_something_else(self) -> None:
        self.dest.mkdir(parents=True)
        (self.dest / "thesis.tex").touch()
        status, errors = self.install()
        self.assertEqual(status, 1)
        self.assertIn(f"{self.dest} holds something else", errors[-1])
        self.assertEqual(list(self.dest.iterdir()), [self.dest / "thesis.tex"])

    @parameterized.parameters("Linux aarch64", "Darwin x86_64")
    def test_other_machine(self, machine: str) -> None:
        self.add_program("uname", f"echo {machine}")
        self.assertLen(self.assert_error("Linux on x86_64", f"this machine is {machine}", "CUDA_HOME"), 1)

    @parameterized.parameters("python3", "dpkg", "apt-get", "apt-cache", "dpkg-deb")
    def test_missing_tool(self, name: str) -> None:
        (self.path / name).unlink()
        self.assert_error(f"there is no {name} ", "install a CUDA 12 toolkit", "CUDA_HOME")

    def test_too_little_room(self) -> None:
        table = "Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/x 9 9 20480 99% /x"
        self.add_program("df", f"echo '{table}'")
        self.assertLen(self.assert_error(f"{self.parent} has 20 MiB free"), 1)

    def test_no_mirror(self) -> None:
        self.add_program("apt-get", "")
        self.assert_error("no repository is configured", "CUDA_HOME")

    def test_no_network(self) -> None:
        self.add_program("apt-cache", "")
        self.add_program(
            "apt-get",
            "[ $1 = indextargets ] && echo http://mirror && exit; echo 'W: Failed to fetch http://mirror'",
        )
        self.assert_error("(Failed to fetch http://mirror)", "CUDA_HOME")

    def test_other_package_version(self) -> None:
        self.add_program("apt-cache", "echo '  Candidate: 13.0.1-1'")
        self.assert_error(f"its nvcc is 13.0.1-1, not {PACKAGE_VERSION}", "CUDA_HOME")

    def test_download_that_fails(self) -> None:
        self.add_apt(before_download="echo 'E: Failed to fetch it'; exit 100")
        self.assert_error("cannot download", "Failed to fetch it")

    def test_wrong_checksum(self) -> None:
        other = b"another package"
        self.add_apt(deb=other)
        self.assert_error(hashlib.sha256(other).hexdigest(), f"not {hashlib.sha256(DEB).hexdigest()}")

    def test_headers_that_cannot_be_had(self) -> None:
        self.write_make_venv(
            "import pathlib, sys\n"
            "pathlib.Path(sys.argv[1] + '.log').write_text('long')\n"
            "sys.exit('make_venv: the package index cannot be reached')\n"
        )
        status, errors = self.install()
        self.assertEqual((status, errors[-1]), (1, "make_venv: the package index cannot be reached"))
        self.assertFalse(self.dest.exists())
        work = self.parent / f"{VERSION}.work"
        self.assertEqual(list(work.iterdir()), [work / "wheels.log"])

    def test_nvcc_that_does_not_run(self) -> None:
        self.add_nvcc("echo 'GLIBC_2.34 not found' >&2; exit 1")
        self.assert_error("nvcc does not run here: GLIBC_2.34 not found", "CUDA_HOME")

    def start_and_wait_for_the_download(self) -> subprocess.Popen[str]:
        """Starts the script, and returns when it downloads, which then lasts until `go on` exists."""
        folder = f"'{self.folder}'"
        self.add_apt(before_download=f"touch {folder}/started; until [ -e {folder}/go ]; do sleep 0.05; done")
        process = self.start()
        deadline = time.monotonic() + TIMEOUT_S
        while not (self.folder / "started").exists():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        return process

    @parameterized.parameters(signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
    def test_interrupted(self, how: signal.Signals) -> None:
        process = self.start_and_wait_for_the_download()
        self.kill(process, how)
        self.assertNotEqual(process.wait(TIMEOUT_S), 0)
        self.assertFalse(self.dest.exists())
        self.add_apt()
        self.assertEqual(self.install()[0], 0)
        self.assert_installed(self.dest)

    def test_two_at_once(self) -> None:
        first = self.start_and_wait_for_the_download()
        second = self.start()
        assert second.stderr
        self.assertIn("waiting for another install_cuda.sh", second.stderr.readline())
        (self.folder / "go").touch()
        first.communicate(timeout=TIMEOUT_S)
        self.assertEqual(first.returncode, 0)
        _, errors = second.communicate(timeout=TIMEOUT_S)
        self.assertEqual(
            (second.returncode, errors), (0, f"install_cuda.sh: CUDA {VERSION} is in {self.dest} already\n")
        )
        self.assert_installed(self.dest)


if __name__ == "__main__":
    absltest.main()
