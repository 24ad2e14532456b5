#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a virtual environment that holds exactly what a hash-pinned lock file lists.

    python3 make_venv.py DEST LOCK

DEST is made from the interpreter that runs this script. The lock's text is copied to
DEST/requirements.txt as the last step: where that file is, DEST is complete. A virtual environment
that is already there is replaced. The script needs the standard library only, and also runs where
the standard library lacks ensurepip (Debian and Ubuntu without python3-venv).

A failure is reported in one line, with exit status 1; what pip printed is then in DEST.log.
"""

# Up to main(), this file must also compile and load with old interpreters, so that they get the
# message about their version. Hence no `from __future__ import annotations` and no `X | Y`.

import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile

MIN_PYTHON = (3, 10)
COMPLETE = "requirements.txt"


class SetupError(Exception):
    """A failure that its one-line message explains to the user."""


def run(*command: str, cwd: "str | None" = None) -> "subprocess.CompletedProcess[str]":
    """Runs a command and captures stdout and stderr together."""
    return subprocess.run(
        command,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )


def last_line(output: str) -> str:
    """Returns the last line that is not blank."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "no output"


def pip_cause(output: str) -> str:
    """Returns the line of pip's output that says why it failed.

    pip's last line alone misleads in some cases: without network it says that there is no such
    package, and after a hash mismatch it ends with the hash.
    """
    if "No space left on device" in output:
        return "no space left on the disk"
    mismatch = re.search(r"DO NOT MATCH THE HASHES.*?\n\s+(\S+)", output, re.DOTALL)
    if mismatch:
        return f"the download does not match the hash in the lock: {mismatch.group(1)}"
    # For example: connection broken by 'ConnectError('<... object at 0x7f>: No route')': /simple/x/
    broken = re.findall(r"connection broken by '(?:.*>: )?(.*?)(?:'\))?': /", output)
    if broken:
        return f"the package index cannot be reached: {broken[-1]}"
    missing = re.search(r"No matching distribution found for (\S+)", output)
    if missing:
        return (
            f"the package index has no wheel of {missing.group(1)} for Python"
            f" {platform.python_version()} on {sysconfig.get_platform()}"
            f" with {' '.join(platform.libc_ver())}"
        )
    errors = re.findall(r"^ERROR: (.*\S)", output, re.MULTILINE)
    return errors[-1] if errors else last_line(output)


def pip_wheel_from_debian(scratch: pathlib.Path) -> pathlib.Path:
    """Downloads Debian's wheel of pip, as any user: nothing is installed on the system."""
    advice = "install python3-venv (as root: apt-get install python3-venv) and try again"
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise SetupError(f"{sys.executable} has no ensurepip module; {advice}")
    # The system's package lists may be absent or old, and only root may renew them.
    (scratch / "lists" / "partial").mkdir(parents=True)
    options = [
        f"-oDir::State::Lists={scratch}/lists",
        f"-oDir::Cache={scratch}",
        "-oAPT::Sandbox::User=",
        "-oDebug::NoLocking=1",
        "-q",
    ]
    for verb in (["update"], ["download", "python3-pip-whl"]):
        result = run("apt-get", *options, *verb, cwd=str(scratch))
        debs = list(scratch.glob("python3-pip-whl_*.deb"))
    if result.returncode or not debs:
        raise SetupError(
            f"{sys.executable} has no ensurepip module and apt-get cannot download python3-pip-whl"
            f" ({last_line(result.stdout)}); {advice}"
        )
    run("dpkg-deb", "-x", str(debs[0]), str(scratch))
    wheels = list(scratch.glob("usr/share/python-wheels/pip-*.whl"))
    if not wheels:
        raise SetupError(f"{debs[0].name} holds no wheel of pip; {advice}")
    return wheels[0]


def add_pip(python: str) -> None:
    """Installs pip into the virtual environment that `python` belongs to."""
    if run(python, "-I", "-c", "import ensurepip").returncode == 0:
        result = run(python, "-I", "-m", "ensurepip")
    else:
        with tempfile.TemporaryDirectory() as scratch:
            wheel = str(pip_wheel_from_debian(pathlib.Path(scratch)))
            # A wheel of pip can be run in place, and so installs itself.
            result = run(python, "-I", f"{wheel}/pip", "install", "--no-index", wheel)
    if result.returncode:
        raise SetupError(f"cannot install pip: {pip_cause(result.stdout)}")


def make_venv(dest: pathlib.Path, lock: pathlib.Path) -> None:
    """Makes the virtual environment `dest` and installs `lock` into it.

    Raises:
      SetupError: the environment could not be made; nothing is left of it.
    """
    log = dest.with_name(f"{dest.name}.log")
    log.unlink(missing_ok=True)
    if dest.exists():
        if any(dest.iterdir()) and not (dest / "pyvenv.cfg").exists():
            raise SetupError(f"{dest} holds something other than a virtual environment")
        shutil.rmtree(dest)
    python = str(dest / "bin" / "python")
    complete = False
    try:
        # If this is itself a virtual environment, venv takes the interpreter that that is made from.
        result = run(sys.executable, "-I", "-m", "venv", "--without-pip", str(dest))
        if result.returncode:
            raise SetupError(f"cannot make {dest} with {sys.executable}: {last_line(result.stdout)}")
        add_pip(python)
        result = run(
            *(python, "-I", "-m", "pip", "install"),
            *("--require-hashes", "--only-binary=:all:", "--no-deps", "--no-user", "--no-input"),
            *("--disable-pip-version-check", "--no-color", "--progress-bar=off"),
            *("-r", str(lock)),
        )
        if result.returncode:
            cause = pip_cause(result.stdout)
            log.write_text(result.stdout, encoding="utf-8")
            raise SetupError(f"cannot install {lock}: {cause} (pip's output: {log})")
        shutil.copyfile(lock, dest / COMPLETE)
        complete = True
    finally:
        if not complete:
            shutil.rmtree(dest, ignore_errors=True)


def main() -> int:
    """Runs the command line; returns the exit status."""
    if sys.version_info[:2] < MIN_PYTHON:
        needed = ".".join(map(str, MIN_PYTHON))
        found = f"{sys.executable} is {platform.python_version()}"
        print(
            f"make_venv: Python {needed} or newer is needed, and {found};",
            "put a newer python3 first on PATH",
            file=sys.stderr,
        )
        return 1
    if len(sys.argv) != 3:
        print("usage: make_venv.py DEST LOCK", file=sys.stderr)
        return 1
    dest, lock = (pathlib.Path(os.path.abspath(arg)) for arg in sys.argv[1:])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that `finally` clauses run
    try:
        if not lock.is_file():
            raise SetupError(f"there is no lock file {lock}")
        make_venv(dest, lock)
    except (SetupError, OSError) as error:
        print(f"make_venv: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("make_venv: interrupted", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
