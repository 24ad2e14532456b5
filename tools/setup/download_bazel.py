#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Downloads the official release of Bazel for this machine and checks its SHA-256 sum.

    python3 download_bazel.py VERSION DEST

BAZELISK_BASE_URL overrides where releases come from, as it does for bazelisk. The exit status is 1
for an error, and 3 if the release cannot be reached.
"""

# Runs with Pythons that are too old for the build: it is the build that says which it needs.

import hashlib
import http.client
import os
import pathlib
import platform
import sys
import urllib.request
from collections.abc import Iterator

RELEASES = "https://github.com/bazelbuild/bazel/releases/download"
ARCHITECTURES = {"x86_64": "x86_64", "aarch64": "arm64"}
TIMEOUT_S = 15  # of a connection attempt, and without data
UNREACHABLE = 3


def say(message: str) -> None:
    """Prints a line for the user."""
    print(f"bazelw: {message}", file=sys.stderr, flush=True)


def fetch(url: str) -> "Iterator[bytes]":
    """Yields the content of `url` in blocks.

    Raises:
      ConnectionError: it cannot be reached.
    """
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as response:
            yield from iter(lambda: response.read(1 << 20), b"")
    except (OSError, http.client.HTTPException) as error:
        raise ConnectionError(getattr(error, "reason", error)) from error


def download(url: str, dest: pathlib.Path) -> None:
    """Downloads `url` as the executable file `dest`.

    Raises:
      ConnectionError: it cannot be reached.
      ValueError: it does not have the checksum that the file beside it tells.
      OSError: `dest` cannot be written.
    """
    expected = b"".join(fetch(f"{url}.sha256")).decode("ascii", "replace").split(" ")[0].strip()
    digest = hashlib.sha256()
    with dest.open("wb") as file:
        for block in fetch(url):
            digest.update(block)
            file.write(block)
    if digest.hexdigest() != expected:
        raise ValueError(f"the SHA-256 sum of {url} is {digest.hexdigest()}, not {expected}")
    dest.chmod(0o755)


def main(version: str, dest: str) -> int:
    """Downloads Bazel `version` as the file `dest`; returns the exit status."""
    architecture = ARCHITECTURES.get(platform.machine())
    if platform.system() != "Linux" or architecture is None:
        say(f"Bazel has no release for {platform.system()} on {platform.machine()}")
        return UNREACHABLE
    base = os.environ.get("BAZELISK_BASE_URL") or RELEASES
    url = f"{base}/{version}/bazel-{version}-linux-{architecture}"
    say(f"downloading {url}")
    try:
        download(url, pathlib.Path(dest))
    except ConnectionError as error:
        say(f"cannot download it: {error}")
        return UNREACHABLE
    except (ValueError, OSError) as error:
        say(f"cannot install Bazel: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
