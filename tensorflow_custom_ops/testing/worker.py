# SPDX-License-Identifier: Apache-2.0
"""Runs tasks in a process that may crash or hang without harm to this one."""

from __future__ import annotations

import atexit
import functools
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from multiprocessing import connection
from typing import IO, Any

from tensorflow_custom_ops.testing import protocol


class TaskError(Exception):
    """A task raised an exception.

    Attributes:
      kind: The name of the exception's class.
      message: Its text.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message


class CrashError(Exception):
    """A task ended its process, or did not end within the time limit."""


class _Server:
    """The process that workers are forked from."""

    def __init__(self, libraries: tuple[str, ...], modules: tuple[str, ...]) -> None:
        self._socket, theirs = socket.socketpair()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the server
        self._process = subprocess.Popen(
            [
                sys.executable,
                *("-m", "tensorflow_custom_ops.testing.child", str(theirs.fileno())),
                *(*libraries, "--", *modules),
            ],
            env={
                "TF_CPP_MIN_LOG_LEVEL": "2",
                **os.environ,
                "PYTHONPATH": os.pathsep.join(sys.path),
                # Each session of a worker has threads of its own, as many as it asks for.
                "TF_OVERRIDE_GLOBAL_THREADPOOL": "1",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._log,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        self._ready = False
        atexit.register(self._stop)

    def _stop(self) -> None:
        self._socket.close()
        self._process.wait()

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            part = self._socket.recv(size - len(data))
            if not part:
                self._log.seek(0)
                raise RuntimeError(f"op_check: the process for tasks ended: {self._log.read().decode()[-2000:]}")
            data += part
        return data

    def fork(self, log: IO[bytes]) -> tuple[int, connection.Connection]:
        """A new worker's process number, and the connection to it."""
        if not self._ready:
            self._read(1)
            self._ready = True
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self._socket, [b"fork"], [theirs.fileno(), log.fileno()])
            worker = int(self._read(protocol.REQUEST_SIZE))
        return worker, connection.Connection(ours.detach())

    def wait(self, worker: int) -> int:
        """How a worker has ended, as os.waitpid tells."""
        self._socket.sendall(protocol.pack(worker))
        return int(self._read(protocol.REQUEST_SIZE))


@functools.cache
def _server(libraries: tuple[str, ...], modules: tuple[str, ...]) -> _Server:
    return _Server(libraries, modules)


class Worker:
    """Runs tasks in a process, which is replaced when it crashes."""

    def __init__(self, libraries: Sequence[str], modules: Sequence[str], time_limit: float) -> None:
        self._time_limit = time_limit
        self._server = _server(tuple(libraries), tuple(modules))
        self._channel: connection.Connection | None = None
        self._process = 0
        self._log: IO[bytes]

    def __call__(self, task: str, **kwargs: Any) -> Any:  # noqa: ANN401 - of any task
        """Runs one of the tasks that child.py has.

        Raises:
          TaskError: The task raised an exception.
          CrashError: It ended the process, or took too long.
        """
        if self._channel is None:
            self._log = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the worker
            self._process, self._channel = self._server.fork(self._log)
        try:
            self._channel.send((task, kwargs))
            if not self._channel.poll(self._time_limit):
                self._end(signal.SIGKILL)
                self._log.close()
                raise CrashError(f"does not end within {self._time_limit:g} s")
            kind, answer = self._channel.recv()
        except (EOFError, ConnectionError):
            status = self._end(None)
            with self._log:
                raise CrashError(f"{_how(status)}{self._last_words()}") from None
        if kind == "error":
            raise TaskError(*answer)
        return answer

    def close(self) -> None:
        """Ends the process."""
        if self._channel is not None:
            self._end(signal.SIGTERM)
            self._log.close()

    def _end(self, with_signal: int | None) -> int:
        assert self._channel is not None
        if with_signal is not None:
            os.kill(self._process, with_signal)
        self._channel.close()
        self._channel = None
        return self._server.wait(self._process)

    def _last_words(self) -> str:
        """What a failed check of TensorFlow's wrote before it ended the process."""
        self._log.seek(0)
        for line in self._log.read().decode(errors="replace").splitlines():
            if line.startswith("F0") or "Check failed" in line:
                return ": " + line.split("] ", 1)[-1]
        return ""


def _how(status: int) -> str:
    if os.WIFSIGNALED(status):
        return f"ends the process by {signal.Signals(os.WTERMSIG(status)).name}"
    return f"ends the process with status {os.waitstatus_to_exitcode(status)}"
