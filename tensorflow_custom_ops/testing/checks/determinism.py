# SPDX-License-Identifier: Apache-2.0
"""Checks that equal calls give equal results, to the last bit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tensorflow_custom_ops.testing import compare
from tensorflow_custom_ops.testing.checks.inputs import large_inputs
from tensorflow_custom_ops.testing.subject import NotApplicable, Subject, graph_of

_REPEATS = 8
_THREADS = (1, 2, 5)


def _first_difference(runs: Sequence[Sequence[np.ndarray]]) -> str | None:
    for run, outputs in enumerate(runs):
        for i, (first, output) in enumerate(zip(runs[0], outputs, strict=True)):
            if not compare.same_bits(first, output):
                return f"output {i} of run {run + 1} is another than that of the first"
    return None


def _need_determinism(subject: Subject) -> None:
    if not subject.deterministic:
        raise NotApplicable("the op is stateful, so that calls may differ")


def check_repeat(subject: Subject) -> Iterator[str]:
    """Equal calls give equal results."""
    _need_determinism(subject)
    for jit in (False, True) if subject.jit_works else (False,):
        runs = subject.run_each(subject.traced, [subject.call.inputs] * _REPEATS, jit=jit)
        different = _first_difference(runs)
        if different is not None:
            yield f"{'by XLA, ' if jit else ''}{different}"


def check_threads(subject: Subject) -> Iterator[str]:
    """Results of large inputs depend neither on the number of threads nor on which is first."""
    _need_determinism(subject)
    compared = False
    graph = graph_of(subject.traced_unknown)
    for size, times, inputs in large_inputs(subject):
        if subject.attempt(subject.traced_unknown, inputs).outputs is None:
            continue
        compared = True
        first: list[list[np.ndarray]] = []
        for threads in _THREADS:
            runs = subject.worker("run_with_threads", graph=graph, inputs=inputs, threads=threads, repeats=_REPEATS)
            what = f"with dimensions of {size} made {size * times} and {threads} threads"
            different = _first_difference(runs)
            if different is not None:
                yield f"{what}, {different}"
                break
            first.append(runs[0])
        else:
            if _first_difference(first) is not None:
                yield f"with dimensions of {size} made {size * times}, the results depend on the number of threads"
    if not compared:
        raise NotApplicable("no dimension can be made large alone")
