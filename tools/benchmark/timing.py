# SPDX-License-Identifier: Apache-2.0
"""Times functions in turns, so that what slows the machine for a while slows all of them.

A function is the faster for running after one like it, which leaves code and data in the caches. Hence a turn is a call
that is not timed and one that is, and the order is another one each round.
"""

from __future__ import annotations

import gc
import random
import statistics
import time
from collections.abc import Callable, Sequence

_WARM_UP_CALLS = 3
_MIN_TURNS = 5


def in_turns(functions: Sequence[Callable[[], object]], seconds: float) -> list[list[float]]:
    """The times of functions, in microseconds, in turns for some seconds, five turns each at least."""
    times: list[list[float]] = [[] for _ in functions]
    pairs = list(zip(functions, times, strict=True))
    order = random.Random(0)
    for function in functions:
        for _ in range(_WARM_UP_CALLS):
            function()
    # A collection would be charged to the function that happens to run.
    collects = gc.isenabled()
    gc.disable()
    try:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end or len(times[0]) < _MIN_TURNS:
            for function, of_function in order.sample(pairs, len(pairs)):
                function()
                start = time.perf_counter()
                function()
                of_function.append((time.perf_counter() - start) * 1e6)
    finally:
        if collects:
            gc.enable()
    return times


def medians(functions: Sequence[Callable[[], object]], seconds: float) -> list[float]:
    """The median times of functions, in microseconds, in turns for some seconds."""
    return [statistics.median(times) for times in in_turns(functions, seconds)]
