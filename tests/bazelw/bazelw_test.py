# SPDX-License-Identifier: Apache-2.0
"""Tests of bazelw and tools/setup with stand-ins for Bazel, its releases and the system's tools."""

import hashlib
import http.server
import os
import platform
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path

from absl.testing import absltest, parameterized

REPOSITORY = Path(__file__).parents[2]
FILES = (
    ".bazelversion",
    "bazelw",
    "third_party/py/make_venv.py",
    "tools/setup/debian.sh",
    "tools/setup/download_bazel.py",
    "tools/setup/install_bazel.sh",
    "tools/setup/requirements_lock.txt",
)
# What bazelw may take from a system, beside Python and a compiler.
SYSTEM = (
    "awk",
    "bash",
    "cat",
    "chmod",
    "df",
    "dirname",
    "dpkg",
    "find",
    "flock",
    "mkdir",
    "mv",
    "readlink",
    "rm",
    "sleep",
)
VERSION = (REPOSITORY / ".bazelversion").read_text(encoding="utf-8").strip()
MINOR = VERSION.rpartition(".")[0]
TIMEOUT_S = 60

Arguments = tuple[str | Path, ...]


def bazel_script(name: str, version: str = VERSION) -> str:
    """Returns a stand-in for Bazel that prints its name and arguments."""
    return textwrap.dedent(f"""\
        #!/bin/sh
        if [ "$*" = --version ]; then echo "bazel {version}"; exit; fi
        printf '%s' "{name}"; printf ' <%s>' "$@"; echo
        [ "$1" != fail ] || exit 37
        """)


class Releases(http.server.ThreadingHTTPServer):
    """A server of Bazel releases on this machine.

    Attributes:
      binary: the release.
      checksum: the text of the file with its SHA-256 sum.
      downloads: how often the release was asked for.
      before_binary: is called before the release is sent.
    """

    def __init__(self) -> None:
        self.binary = bazel_script("release").encode()
        self.checksum = f"{hashlib.sha256(self.binary).hexdigest()}  bazel\n"
        self.downloads = 0
        self.before_binary: Callable[[], object] = lambda: None
        super().__init__(("127.0.0.1", 0), ReleasesHandler)

    def handle_error(self, *args: object) -> None:
        """Prints nothing: some tests kill the client."""

    @property
    def url(self) -> str:
        """The value for BAZELISK_BASE_URL."""
        return f"http://127.0.0.1:{self.server_port}/mirror"


class ReleasesHandler(http.server.BaseHTTPRequestHandler):
    """Answers a request for a release, under the names that bazelisk asks for too."""

    server: Releases

    def do_GET(self) -> None:
        """Sends a file."""
        architecture = {"x86_64": "x86_64", "aarch64": "arm64"}[platform.machine()]
        binary = f"/mirror/{VERSION}/bazel-{VERSION}-linux-{architecture}"
        if self.path == binary:
            self.server.downloads += 1
            self.server.before_binary()
            content = self.server.binary
        elif self.path == f"{binary}.sha256":
            content = self.server.checksum.encode()
        else:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        """Prints nothing."""


class BazelwTestCase(parameterized.TestCase):
    """Makes a clone, a home, a PATH and a server of releases, and runs bazelw with them.

    `clone` and `home` have a space in their path.
    """

    def setUp(self) -> None:
        super().setUp()
        folder = Path(self.create_tempdir().full_path)
        self.clone = folder / "a clone"
        for name in FILES:
            (self.clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, self.clone / name)
        self.home = folder / "a home"
        self.home.mkdir()
        self.cache = self.home / ".cache/tensorflow_custom_ops/bazel"
        self.path = folder / "bin"
        self.path.mkdir()
        for name in SYSTEM:
            if program := shutil.which(name):
                (self.path / name).symlink_to(program)
        self.add_program("python3", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        self.add_program("gcc", "#!/bin/sh\n")
        self.releases = Releases()
        threading.Thread(target=self.releases.serve_forever, args=[0.01], daemon=True).start()
        self.addCleanup(self.releases.server_close)
        self.addCleanup(self.releases.shutdown)
        self.variables = {
            "HOME": str(self.home),
            "PATH": str(self.path),
            "BAZELISK_BASE_URL": self.releases.url,
            "no_proxy": "*",
        }

    def add_program(self, name: str, script: str) -> Path:
        """Puts a script on PATH."""
        program = self.path / name
        program.unlink(missing_ok=True)  # a link to the system's program, which must stay as it is
        program.write_text(script, encoding="utf-8")
        program.chmod(0o755)
        return program

    def start(self, *arguments: str, program: Path | None = None, cwd: Path | None = None) -> "subprocess.Popen[str]":
        """Starts bazelw in a process group of its own."""
        bash = shutil.which("bash")
        assert bash
        process = subprocess.Popen(
            [bash, program or self.clone / "bazelw", *arguments],
            cwd=cwd or self.clone,
            env=self.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
        )
        self.addCleanup(process.stdout.close)  # type: ignore[union-attr]
        self.addCleanup(process.stderr.close)  # type: ignore[union-attr]
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def run_bazelw(
        self, *arguments: str, program: Path | None = None, cwd: Path | None = None
    ) -> tuple[int, str, list[str]]:
        """Runs bazelw and returns exit status, output and the lines of standard error."""
        process = self.start(*arguments, program=program, cwd=cwd)
        output, errors = process.communicate(timeout=TIMEOUT_S)
        return process.returncode, output, errors.splitlines()

    def assert_runs(self, bazel: str) -> None:
        """Checks that bazelw hands over to the stand-in `bazel` without a word."""
        self.assertEqual(self.run_bazelw("build", "//..."), (0, f"{bazel} <build> <//...>\n", []))

    def assert_error(self, *parts: str) -> list[str]:
        """Checks that bazelw fails, with a last line that has `parts`; returns all lines."""
        status, output, errors = self.run_bazelw("build", "//...")
        self.assertEqual((status, output), (1, ""), errors)
        self.assertStartsWith(errors[-1], "bazelw: ")
        for part in parts:
            self.assertIn(part, errors[-1])
        self.assertNotIn("Traceback", "\n".join(errors))
        return errors


class ChoiceTest(BazelwTestCase):
    def test_bazel_variable_comes_first(self) -> None:
        self.add_program("bazelisk", bazel_script("bazelisk"))
        self.variables["BAZEL"] = str(self.add_program("mine", bazel_script("mine", "9.9.9")))
        self.assert_runs("mine")

    def test_bazel_variable_may_name_a_program_on_path(self) -> None:
        self.add_program("mine", bazel_script("mine"))
        self.variables["BAZEL"] = "mine"
        self.assert_runs("mine")

    @parameterized.parameters("/nowhere/bazel", "/etc/passwd", "/")
    def test_bazel_variable_must_name_a_program(self, value: str) -> None:
        self.variables["BAZEL"] = value
        errors = self.assert_error(f"BAZEL is set to {value}", "not an executable file")
        self.assertLen(errors, 1)

    def test_bazelisk_comes_before_bazel(self) -> None:
        self.add_program("bazelisk", bazel_script("bazelisk"))
        self.add_program("bazel", bazel_script("bazel"))
        self.assert_runs("bazelisk")

    @parameterized.parameters(f"{MINOR}.0", f"{MINOR}.99", f"{VERSION}- (@non-git)")
    def test_bazel_on_path_of_the_same_minor_version(self, version: str) -> None:
        self.add_program("bazel", bazel_script("bazel", version))
        self.assert_runs("bazel")

    @parameterized.parameters("4.2.3", "8.0.0", f"{MINOR}0.1", "no_version")
    def test_bazel_on_path_of_another_version(self, version: str) -> None:
        self.add_program("bazel", bazel_script("bazel", version))
        status, output, _ = self.run_bazelw("build")
        self.assertEqual((status, output), (0, "release <build>\n"))

    def test_bazel_on_path_that_is_bazelw(self) -> None:
        (self.path / "bazel").symlink_to(self.clone / "bazelw")
        status, output, _ = self.run_bazelw("build")
        self.assertEqual((status, output), (0, "release <build>\n"))

    def test_version_comes_from_bazelversion(self) -> None:
        (self.clone / ".bazelversion").write_text("8.4.2", encoding="utf-8")
        self.add_program("bazel", bazel_script("bazel", "8.4.0"))
        self.assert_runs("bazel")

    def test_arguments_and_exit_status(self) -> None:
        self.add_program("bazel", bazel_script("bazel"))
        arguments = ("fail", "--x=a b", "", "*", "--help", "it's")
        output = "bazel" + "".join(f" <{argument}>" for argument in arguments) + "\n"
        self.assertEqual(self.run_bazelw(*arguments), (37, output, []))

    def test_from_another_folder_through_links(self) -> None:
        self.add_program("bazel", f'#!/bin/sh\n[ "$1" != --version ] || echo bazel {VERSION}\npwd\n')
        (self.home / "link 1").symlink_to(self.clone / "bazelw")
        (self.home / "link 2").symlink_to("link 1")
        package = self.clone / "some package"
        package.mkdir()
        result = self.run_bazelw("build", program=self.home / "link 2", cwd=package)
        self.assertEqual(result, (0, f"{package}\n", []))


class MissingToolTest(BazelwTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.add_program("bazel", bazel_script("bazel"))

    @parameterized.parameters("python3", "gcc")
    def test_missing(self, tool: str) -> None:
        (self.path / tool).unlink()
        self.assertLen(self.assert_error(tool, "is not on PATH; install"), 1)

    def test_compiler_without_cxx(self) -> None:
        self.add_program("gcc", "#!/bin/sh\necho 'cannot execute cc1plus' >&2\nexit 1\n")
        self.assertLen(self.assert_error("gcc cannot compile C++; install g++"), 1)

    def test_compiler_of_ones_own(self) -> None:
        (self.path / "gcc").rename(self.path / "my-cc")
        self.variables["CC"] = "my-cc"
        self.assert_runs("bazel")
        self.variables["CC"] = "/nowhere/cc"
        self.assert_error("/nowhere/cc is not on PATH")


class InstallTest(BazelwTestCase):
    def installed(self) -> list[str]:
        """Returns the names of what lies in the folder for installed Bazels."""
        return sorted(str(p.relative_to(self.cache)) for p in self.cache.rglob("*") if p.is_file())

    def unreachable(self) -> None:
        """Makes the releases' server one that nobody listens at."""
        self.releases.shutdown()
        self.releases.server_close()

    def test_installs_once_and_says_so(self) -> None:
        status, output, errors = self.run_bazelw("info", "release")
        self.assertEqual((status, output), (0, "release <info> <release>\n"), errors)
        self.assertRegex(
            "\n".join(errors),
            f"installing Bazel {VERSION} into {self.cache}/{VERSION} .*delete that folder"
            f"(?s:.)*downloading {self.releases.url}(?s:.)*installed Bazel {VERSION}",
        )
        self.assertEqual(self.installed(), [f"{VERSION}/bazel", "lock"])
        self.assert_runs("release")
        self.assertEqual(self.releases.downloads, 1)

    def test_xdg_cache_home(self) -> None:
        del self.variables["HOME"]
        self.variables["XDG_CACHE_HOME"] = str(self.home / "xdg")
        self.assertEqual(self.run_bazelw("build")[0], 0)
        self.assertTrue((self.home / f"xdg/tensorflow_custom_ops/bazel/{VERSION}/bazel").exists())

    def test_no_folder_for_a_cache(self) -> None:
        del self.variables["HOME"]
        self.assertLen(self.assert_error("neither HOME nor XDG_CACHE_HOME is set"), 1)

    def test_cache_that_cannot_be_written(self) -> None:
        (self.home / ".cache").touch()
        self.assertLen(self.assert_error(f"cannot write to {self.cache}", "XDG_CACHE_HOME"), 1)

    def test_installed_bazel_needs_no_writable_cache(self) -> None:
        self.assertEqual(self.run_bazelw("build")[0], 0)
        (self.cache / "lock").unlink()
        (self.cache / "lock").mkdir()
        self.assert_runs("release")

    def test_too_little_room(self) -> None:
        table = "Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/x 9 9 20480 99% /x"
        self.add_program("df", f"#!/bin/sh\necho '{table}'\n")
        self.assertLen(self.assert_error("needs 1024 MiB", f"{self.cache} has 20 MiB free"), 1)
        self.assertEqual(self.releases.downloads, 0)

    def test_wrong_checksum(self) -> None:
        right = self.releases.checksum
        self.releases.checksum = f"{'0' * 64}  bazel\n"
        self.assert_error(hashlib.sha256(self.releases.binary).hexdigest(), f"not {'0' * 64}")
        self.assertEqual(self.installed(), ["lock"])
        self.releases.checksum = right
        self.assertEqual(self.run_bazelw("build")[:2], (0, "release <build>\n"))

    @parameterized.parameters(bazel_script("other", "6.1.0"), "#!/no/such/loader\n", "\x7fELF of another machine")
    def test_release_that_does_not_run(self, script: str) -> None:
        self.releases.binary = script.encode()
        self.releases.checksum = hashlib.sha256(self.releases.binary).hexdigest()
        self.assert_error(f"no Bazel {MINOR} that runs on this machine")
        self.assertEqual(self.installed(), ["lock"])

    def test_unreachable_without_debian(self) -> None:
        self.unreachable()
        errors = self.assert_error("there is no apt-get", "install bazelisk", MINOR)
        self.assertIn("bazelw: cannot download it: [Errno 111] Connection refused", errors)
        self.assertEqual(self.installed(), ["lock"])

    def test_release_that_is_not_there(self) -> None:
        self.variables["BAZELISK_BASE_URL"] = f"{self.releases.url}/elsewhere"
        errors = self.assert_error("there is no apt-get", "install bazelisk")
        self.assertIn("bazelw: cannot download it: Not Found", errors)

    def test_base_url_that_is_none(self) -> None:
        self.variables["BAZELISK_BASE_URL"] = "elsewhere"
        self.assert_error("unknown url type", "elsewhere")

    @parameterized.parameters(
        ("", "no repository is configured"),
        ("http://mirror/ubuntu", "Failed to fetch http://mirror/ubuntu"),
    )
    def test_unreachable_on_debian_without_a_mirror(self, mirror: str, cause: str) -> None:
        self.unreachable()
        self.add_program("dpkg-deb", "#!/bin/sh\n")
        self.add_program("apt-cache", "#!/bin/sh\n")
        self.add_program(
            "apt-get",
            f"#!/bin/sh\n[ $1 = indextargets ] && echo '{mirror}' && exit\n"
            f"echo Err:1\necho 'W: Failed to fetch {mirror}'\necho 'E: Others failed'\n",
        )
        if list(Path("/usr/share/keyrings").glob("debian-archive-keyring.*")):
            self.assert_error(cause, "install bazelisk")
        else:
            self.assert_error("does not know Debian's archive", "install bazelisk")

    def test_debians_bazel_needs_ascii(self) -> None:
        self.unreachable()
        self.variables["XDG_CACHE_HOME"] = str(self.home / "Jürgen")
        self.assert_error("Jürgen", "whose name is not ASCII; set XDG_CACHE_HOME")

    def test_two_at_once(self) -> None:
        started, go_on = threading.Event(), threading.Event()

        def wait() -> None:
            started.set()
            go_on.wait(TIMEOUT_S)

        self.addCleanup(go_on.set)
        self.releases.before_binary = wait
        first = self.start("first")
        self.assertTrue(started.wait(TIMEOUT_S))
        second = self.start("second")
        assert second.stderr
        self.assertIn("waiting for another bazelw", second.stderr.readline())
        go_on.set()
        self.assertEqual(first.communicate(timeout=TIMEOUT_S)[0], "release <first>\n")
        self.assertEqual(second.communicate(timeout=TIMEOUT_S), ("release <second>\n", ""))
        self.assertEqual(self.releases.downloads, 1)

    @parameterized.parameters(signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
    def test_interrupted(self, how: signal.Signals) -> None:
        started, go_on = threading.Event(), threading.Event()

        def wait() -> None:
            started.set()
            go_on.wait(TIMEOUT_S)

        self.addCleanup(go_on.set)
        self.releases.before_binary = wait
        process = self.start("build")
        self.assertTrue(started.wait(TIMEOUT_S))
        os.killpg(process.pid, how)
        self.assertNotEqual(process.wait(TIMEOUT_S), 0)
        go_on.set()
        self.assertNotIn(f"{VERSION}/bazel", self.installed())
        left_over = self.cache / VERSION / "usr/left over"
        left_over.mkdir(parents=True, exist_ok=True)

        self.releases.before_binary = lambda: None
        self.assertEqual(self.run_bazelw("build")[:2], (0, "release <build>\n"))
        self.assertFalse(left_over.exists())

    def test_server_does_not_hold_the_lock(self) -> None:
        # As Bazel's server does, this one outlives the command.
        server = f'#!/bin/sh\n[ "$1" = --version ] && echo bazel {VERSION} && exit\n'
        self.releases.binary = (server + "sleep 60 >&- 2>&- & echo $!\n").encode()
        self.releases.checksum = hashlib.sha256(self.releases.binary).hexdigest()
        status, output, errors = self.run_bazelw("build")
        self.assertEqual(status, 0, errors)
        try:
            flock = subprocess.run(["flock", "-n", self.cache / "lock", "true"], check=False)
            self.assertEqual(flock.returncode, 0)
        finally:
            os.kill(int(output), signal.SIGKILL)


if __name__ == "__main__":
    absltest.main()
