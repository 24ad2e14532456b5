# SPDX-License-Identifier: Apache-2.0
"""What the process with the checks and the one that runs what may crash say to each other."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

# Of messages about workers: a process's number, or its status.
REQUEST_SIZE = 16


def pack(number: int) -> bytes:
    """A number as a message of REQUEST_SIZE bytes."""
    return str(number).rjust(REQUEST_SIZE).encode()


@dataclasses.dataclass(frozen=True)
class Graph:
    """A graph to run.

    Attributes:
      graph_def: The serialised GraphDef.
      specs: The shape and the type of each argument.
      input_names, output_names: The tensors of the graph; the last inputs are the captured ones.
      captured: The values of those.
    """

    graph_def: bytes
    specs: tuple[tuple[Any, str], ...]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    captured: tuple[np.ndarray, ...]
