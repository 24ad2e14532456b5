# SPDX-License-Identifier: Apache-2.0
"""Keeps compiled libraries on disk, by what they were made of, for all processes.

An entry is a folder, named after a hash of all that is known before a compiler runs. It has a manifest, which names a
library and the hashes of the files that the compilers read besides: if one has changed, the entry is made anew. The
manifest is replaced at once, so that who reads it needs no lock; who writes it holds one.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

VARIABLE = "TF_CUSTOM_OPS_JIT_CACHE"


def folder() -> pathlib.Path:
    """The folder that has all entries: that of the variable, or one in the user's cache."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return pathlib.Path(chosen).absolute()
    home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(home) / "tensorflow_custom_ops" / "jit"


def hash_of(value: Any) -> str:  # noqa: ANN401 - whatever JSON can have
    """A hash of a value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _hash_of_file(path: str) -> str | None:
    """A hash of a file's content; None if it cannot be read."""
    try:
        return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
    except OSError:
        return None


class Entry:
    """One entry.

    Attributes:
      folder: where it is.
    """

    def __init__(self, name: str, key: str) -> None:
        self.name = name
        self.folder = folder() / name / key[:32]

    def find(self) -> pathlib.Path | None:
        """The library, if there is one and nothing that it was made of has changed."""
        try:
            manifest = json.loads((self.folder / "manifest.json").read_text())
            library = self.folder / str(manifest["library"])
            if library.stat().st_size != manifest["size"]:
                return None
            dependencies = manifest["dependencies"].items()
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            # There is none yet, or somebody has damaged it.
            return None
        return library if all(_hash_of_file(path) == sha256 for path, sha256 in dependencies) else None

    def make(
        self, build: Callable[[pathlib.Path], tuple[pathlib.Path, list[str]]], waits: Callable[[], None]
    ) -> pathlib.Path:
        """Makes the library, unless another process does or has.

        Args:
          build: makes it in the folder that it is given; returns its path and the files that compilers have read.
          waits: is called if another process has to be waited for.

        Returns:
          The library.

        Raises:
          OSError: the cache cannot be written.
        """
        with self._lock(waits):
            found = self.find()
            if found:
                return found
            work = pathlib.Path(tempfile.mkdtemp(prefix="work_", dir=self.folder))
            try:
                built, read = build(work)
                dependencies = {path: _hash_of_file(path) for path in read}
                content = built.read_bytes()
                # Another content is another file: one that a process has loaded must not change.
                library = self.folder / f"{self.name}_{hashlib.sha256(content).hexdigest()[:16]}.so"
                built.replace(library)
                manifest = {"library": library.name, "size": len(content), "dependencies": dependencies}
                (work / "manifest.json").write_text(json.dumps(manifest, indent=1))
                (work / "manifest.json").replace(self.folder / "manifest.json")
            finally:
                shutil.rmtree(work, ignore_errors=True)
            return library

    @contextlib.contextmanager
    def _lock(self, waits: Callable[[], None]) -> Iterator[None]:
        """Holds the entry's lock, which the system releases when a process ends, however it does."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            file = (self.folder / "lock").open("w")
        except OSError as error:
            raise OSError(
                f"cannot write to the cache of compiled ops: {error}. Set the variable {VARIABLE} to a folder that can "
                "be written"
            ) from error
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waits()
                fcntl.flock(file, fcntl.LOCK_EX)
            yield
