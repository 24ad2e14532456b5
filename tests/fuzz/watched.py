# SPDX-License-Identifier: Apache-2.0
"""Runs a function in a process that may crash or hang, and knows what it was doing then.

The process is a fork of this one: in this one no TensorFlow runtime may have started threads.
"""

from __future__ import annotations

import mmap
import os
import pickle
import resource
import signal
import tempfile
import time
import traceback
from collections.abc import Callable
from typing import IO, TypeVar

_Result = TypeVar("_Result")

# A case that takes longer hangs. XLA's first compilation takes some seconds.
TIME_LIMIT = 60.0

_NOTE_SIZE = 1 << 16
_COUNT_SIZE = 8


class FaultError(AssertionError):
    """What was run failed, crashed or hung."""


class _Note:
    """A text that another process can read after this one has crashed."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _NOTE_SIZE)
        self._written = 0

    def write(self, text: str) -> None:
        self._written += 1
        data = text.encode()[: _NOTE_SIZE - 2 * _COUNT_SIZE]
        self._memory.seek(0)
        for number in (self._written, len(data)):
            self._memory.write(number.to_bytes(_COUNT_SIZE, "little"))
        self._memory.write(data)

    def count(self) -> int:
        """How many have been written."""
        return int.from_bytes(self._memory[:_COUNT_SIZE], "little")

    def read(self) -> str:
        size = int.from_bytes(self._memory[_COUNT_SIZE : 2 * _COUNT_SIZE], "little")
        return self._memory[2 * _COUNT_SIZE : 2 * _COUNT_SIZE + size].decode(errors="replace")


def watched(function: Callable[[Callable[[str], None]], _Result], time_limit: float = TIME_LIMIT) -> _Result:
    """What function(note) returns, in another process.

    Args:
      function: Calls `note` with what it is about to do.
      time_limit: For how many seconds it may do one thing.

    Raises:
      FaultError: It raised an exception, ended the process, or hung; with what it was doing.
    """
    note = _Note()
    with tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as log:
        process = os.fork()
        if process == 0:
            _work(function, note, answer, log)
        status = _wait(process, note, time_limit)
        if status is None:
            raise FaultError(f"does not end within {time_limit:g} s: {note.read()}")
        if os.WIFSIGNALED(status) or os.WEXITSTATUS(status):
            how = f"status {status}"
            if os.WIFSIGNALED(status):
                how = signal.Signals(os.WTERMSIG(status)).name
            raise FaultError(f"ends the process by {how}: {note.read()}\n{_last_words(log)}")
        answer.seek(0)
        result, error = pickle.load(answer)
    if error is not None:
        raise FaultError(error)
    returned: _Result = result
    return returned


def _work(function: Callable[[Callable[[str], None]], object], note: _Note, answer: IO[bytes], log: IO[bytes]) -> None:
    os.dup2(log.fileno(), 1)
    os.dup2(log.fileno(), 2)
    # Nobody asked for core files.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    result, error = None, None
    try:
        result = function(note.write)
    except BaseException:
        error = traceback.format_exc()
    pickle.dump((result, error), answer)
    answer.flush()
    os._exit(0)


def _wait(process: int, note: _Note, time_limit: float) -> int | None:
    """The status by which a process ends; None if it had to be ended."""
    count, since = -1, time.monotonic()
    while True:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return status
        if note.count() != count:
            count, since = note.count(), time.monotonic()
        elif time.monotonic() - since > time_limit:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return None
        time.sleep(0.05)


def _last_words(log: IO[bytes]) -> str:
    """What was written last, such as by a failed check of TensorFlow's or by a sanitizer."""
    log.seek(0)
    return log.read().decode(errors="replace")[-4000:]
