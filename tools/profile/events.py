# SPDX-License-Identifier: Apache-2.0
"""Reads what TensorFlow's profiler has written."""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Iterable, Iterator

from tensorflow.tsl.profiler.protobuf import xplane_pb2

# What the profiler calls the processor, and the step that a program traces by this name.
_HOST = "/host:CPU"
STEP = "train"

# The executor's name of a node is its path and the op; XLA's is that of its instruction, with a number.
_NODE = re.compile(r"(?P<path>[\w./-]+):(?P<op>[A-Z]\w*)")
_INSTRUCTION = re.compile(r"(?P<op>[A-Za-z][\w-]*?)(\.\d+)*")


@dataclasses.dataclass(frozen=True)
class Event:
    """What a thread did for some time.

    Attributes:
      thread: The thread's number.
      name: What it did.
      start: When it began, in milliseconds since the first event.
      duration: How long it took, in milliseconds.
    """

    thread: int
    name: str
    start: float
    duration: float


def newest(directory: pathlib.Path) -> pathlib.Path:
    """The newest trace below a directory, which TensorBoard has as its `logdir`.

    Raises:
      FileNotFoundError: there is none.
    """
    traces = sorted(directory.glob("plugins/profile/*/*.xplane.pb"))
    if not traces:
        raise FileNotFoundError(f"there is no trace below {directory}")
    return traces[-1]


def read(path: pathlib.Path) -> list[Event]:
    """What the processor's threads did, by time."""
    space = xplane_pb2.XSpace.FromString(path.read_bytes())
    events = []
    for plane in space.planes:
        if plane.name != _HOST:
            continue
        for thread, line in enumerate(plane.lines):
            for event in line.events:
                start = line.timestamp_ns * 1e-6 + event.offset_ps * 1e-9
                name = plane.event_metadata[event.metadata_id].name
                events.append(Event(thread, name, start, event.duration_ps * 1e-9))
    first = min((event.start for event in events), default=0.0)
    events = [dataclasses.replace(event, start=event.start - first) for event in events]
    return sorted(events, key=lambda event: event.start)


def op_of(name: str, ops: Iterable[str]) -> str | None:
    """The op that an event is about, if it is one: of the executor any, and of XLA's instructions those in `ops`."""
    node = _NODE.fullmatch(name)
    if node:
        return node["op"]
    instruction = _INSTRUCTION.fullmatch(name)
    return instruction["op"] if instruction and instruction["op"] in ops else None


def ops_in(events: Iterable[Event], ops: Iterable[str]) -> Iterator[tuple[str, Event]]:
    """The events that are about ops, with the ops; see op_of."""
    known = set(ops)
    for event in events:
        op = op_of(event.name, known)
        if op:
            yield op, event
