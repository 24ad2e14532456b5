# SPDX-License-Identifier: Apache-2.0
"""What a library is to be compiled from, and its compilation."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import re
import shlex
import sys
import threading
import time
from collections.abc import Sequence

from tensorflow_custom_ops.jit import _cache, _compiler, _cuda, _options

# What takes longer is told, in seconds.
_SHORT = 1.0


@dataclasses.dataclass(frozen=True)
class Unit:
    """A source that is compiled alone.

    Attributes:
      source: an absolute path, or a name in Plan.texts.
      flags: of this source alone.
      is_cuda: whether nvcc compiles it.
    """

    source: str
    flags: tuple[str, ...] = ()
    is_cuda: bool = False


@dataclasses.dataclass
class Plan:
    """What a library is made of.

    Attributes:
      name: its name.
      texts: files that are written where the compilers run, by their names.
      units: the sources.
      compile_flags: of all C++ sources, beside those of all op libraries.
      cuda_flags: of all CUDA sources.
      link_flags: after the objects and the package's library.
      uses_tensorflow: whether the sources call TensorFlow, so that its libraries are linked. Those of a functor do not,
        and linking takes seconds.
      verbose: whether commands, and what compilers print, are shown.
    """

    name: str
    texts: dict[str, str] = dataclasses.field(default_factory=dict)
    units: list[Unit] = dataclasses.field(default_factory=list)
    compile_flags: tuple[str, ...] = ()
    cuda_flags: tuple[str, ...] = ()
    link_flags: tuple[str, ...] = ()
    uses_tensorflow: bool = True
    verbose: bool = False

    def find(self) -> pathlib.Path | None:
        """The library, if the cache has it.

        Raises:
          CompileError: there is no compiler.
        """
        return self._entry.find()

    def make(self) -> pathlib.Path:
        """Makes the library.

        Raises:
          CompileError: it cannot be compiled.
          OSError: the cache cannot be written.
        """
        return self._entry.make(self._build, lambda: _tell(f"waiting for another process that compiles {self.name}"))

    @functools.cached_property
    def _commands(self) -> tuple[list[list[str]], list[str]]:
        """The commands that compile, and the one that links."""
        compiler = _compiler.find_compiler()
        flags = [*_options.compile_flags(), *self.compile_flags]
        commands = []
        for i, unit in enumerate(self.units):
            if unit.is_cuda:
                start = [*_cuda.command(compiler), *_options.preprocessor_flags(), *self.cuda_flags]
            else:
                start = [*compiler.command, *flags]
            files = ["-MMD", "-MF", f"{i}.d", "-c", unit.source, "-o", f"{i}.o"]
            commands.append([*start, *unit.flags, *files])
        objects = [f"{i}.o" for i in range(len(self.units))]
        link = [*compiler.command, *objects, "-o", _LIBRARY]
        # Without TensorFlow's libraries symbols come from the process, which has them.
        link += _options.link_flags() if self.uses_tensorflow else ["-shared", str(_options.LIBRARY)]
        if any(unit.is_cuda for unit in self.units):
            link.append(_cuda.LINK_FLAG)
        return commands, [*link, *self.link_flags]

    @functools.cached_property
    def _entry(self) -> _cache.Entry:
        identity = [self.texts, self._commands, _compiler.find_compiler().version, _options.tensorflow_identity()]
        return _cache.Entry(self.name, _cache.hash_of(identity))

    def _build(self, folder: pathlib.Path) -> tuple[pathlib.Path, list[str]]:
        """Compiles and links in a folder; returns the library and the files that the compilers have read."""
        commands, link = self._commands
        if self.uses_tensorflow:
            # Not in the key: what is linked is the same, and to ask for linkers takes time.
            link = [*link, *_compiler.linker_flags(_compiler.find_compiler())]
        for name, text in self.texts.items():
            (folder / name).write_text(text)
        with _Progress(self.name, len(commands)):
            try:
                output = _compiler.run_all(commands, folder)
                output += _compiler.run(link, folder)
            except _compiler.CompileError as error:
                error.args = (f"{self.name} cannot be compiled: {error}",)
                raise
        if self.verbose:
            print(*map(shlex.join, [*commands, link]), output, sep="\n", file=sys.stderr, flush=True)
        read = {file for path in folder.glob("*.d") for file in _dependencies(path.read_text())}
        return folder / _LIBRARY, sorted({str(_options.LIBRARY), *read})


_LIBRARY = "library.so"


def _dependencies(rule: str) -> list[str]:
    """The files that a rule for make names, as compilers write it, but for those that a Plan brings."""
    _, _, files = rule.replace("\\\n", " ").partition(": ")
    paths = [re.sub(r"\\(.)", r"\1", path).replace("$$", "$") for path in re.findall(r"(?:\\.|\S)+", files)]
    return [path for path in paths if pathlib.Path(path).is_absolute()]


def _tell(message: str) -> None:
    print(f"tensorflow_custom_ops.jit: {message}", file=sys.stderr, flush=True)


class _Progress:
    """Tells, while the `with` takes long, that something is compiled."""

    def __init__(self, name: str, count: int) -> None:
        sources = "one source" if count == 1 else f"{count} sources"
        self._message = f"compiling {name} ({sources}) ..."
        self._name = name
        self._timer = threading.Timer(_SHORT, self._begin)
        self._timer.daemon = True
        self._told = False

    def _begin(self) -> None:
        self._told = True
        _tell(self._message)

    def __enter__(self) -> None:
        self._start = time.monotonic()
        self._timer.start()

    def __exit__(self, exception: object, *_: object) -> None:
        self._timer.cancel()
        if self._told:
            result = "failed" if exception else "is compiled"
            _tell(f"{self._name} {result}, after {time.monotonic() - self._start:.1f} s")


def units_of(sources: Sequence[str], flags: tuple[str, ...] = ()) -> list[Unit]:
    """The units of sources: CUDA by their suffixes .cu and .cu.cc, else C++."""
    return [Unit(source, flags, is_cuda=source.endswith((".cu", ".cu.cc"))) for source in sources]
