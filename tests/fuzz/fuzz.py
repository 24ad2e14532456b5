# SPDX-License-Identifier: Apache-2.0
"""Fuzzes one target: in a process that may crash."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import os
import pathlib
import resource
from collections.abc import Callable, Sequence

import hypothesis

from tests.fuzz import modes, verdicts
from tests.fuzz.cases import VARIANTS, Case, StaticShape, cases
from tests.fuzz.targets import Target

# Beyond what the process has: what does not get memory must say so.
_MEMORY = 2 << 30

# What each case may leave behind in all: TensorFlow keeps much of what belongs to graphs.
_BYTES_PER_CASE = 40_000

# How often some calls are repeated to see whether they leak, and what each may leave behind: TensorFlow leaks some 650
# bytes for each error that a kernel returns eagerly.
_REPEATED = 64
_REPEATS = 20
_BYTES_PER_CALL = 20_000


@dataclasses.dataclass(frozen=True)
class Settings:
    """How much is fuzzed.

    Attributes:
      examples: How many calls are drawn. Each is run eagerly, as are six variants, run in a graph, and put into three
        further graphs: 11 cases.
      jit_examples: How many of them are compiled, too.
      seed: None: the same calls each time.
    """

    examples: int = 1000
    jit_examples: int = 20
    seed: int | None = None


@dataclasses.dataclass
class Counts:
    """How many cases there were, and how many of them gave results."""

    eager: int = 0
    graph: int = 0
    jit: int = 0
    results: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.eager + self.graph + self.jit


class Fuzzer:
    """Runs cases of a target."""

    def __init__(self, target: Target, note: Callable[[str], None]) -> None:
        self.counts = Counts()
        self._target = target
        self._note = note
        self._graphs = modes.Graphs(target)

    def _check(self, outcome: modes.Outcome, how: str) -> None:
        if outcome.error is None:
            return
        problem = verdicts.unclear(self._target.name, self._target.op_def, outcome.error)
        if problem is not None:
            raise AssertionError(f"{how}, {problem}: {outcome}")

    def _eager(self, case: Case) -> modes.Outcome:
        self._note(f"eagerly, {case}")
        outcome = modes.eagerly(self._target, case)
        self.counts.eager += 1
        self.counts.results += not outcome.refused
        self._check(outcome, "eagerly")
        return outcome

    def _graph(self, case: Case, expected: modes.Outcome) -> None:
        """A graph that is run must give what the op gives eagerly."""
        shapes = case.static_shapes()
        made, run = self._make(case, shapes)
        try:
            outcome = made if made.refused else run()
        except modes.ImpossibleError:
            return
        self._check(outcome, "in a graph")
        problem = verdicts.differs(expected, outcome, "in a graph") or (
            None if outcome.refused else verdicts.untrue(made.shapes, outcome.shapes)
        )
        if problem is not None:
            raise AssertionError(f"in a graph where {shapes} is known, {problem}")

    def _make(self, case: Case, shapes: Sequence[StaticShape]) -> tuple[modes.Outcome, Callable[[], modes.Outcome]]:
        self._note(f"in a graph where {shapes} is known, {case}")
        self.counts.graph += 1
        made, run = self._graphs.make(case, shapes)
        self._check(made, f"in a graph where {shapes} is known")
        return made, run

    def jit(self, case: Case) -> None:
        """The case compiled by XLA must give what the op gives eagerly."""
        try:
            expected = self._eager(case)
            shapes = case.static_shapes()
            self._note(f"by XLA where {shapes} is known, {case}")
            outcome = modes.by_xla(self._target, case, shapes)
        except modes.ImpossibleError:
            hypothesis.reject()
        self.counts.jit += 1
        self._check(outcome, "by XLA")
        if problem := verdicts.differs(expected, outcome, "by XLA"):
            raise AssertionError(problem)

    def run(self, case: Case) -> None:
        """The case in all modes but XLA."""
        try:
            expected = self._eager(case)
        except modes.ImpossibleError:
            hypothesis.reject()
        for variant in case.variants():
            with contextlib.suppress(modes.ImpossibleError):
                self._eager(variant)
        self._graph(case, expected)
        for shapes in case.claims():
            self._make(case, shapes)

    def again(self, case: Case) -> None:
        """What may leak: nothing else than the call."""
        self._note(f"again and again, {case}")
        modes.eagerly(self._target, case)


class _Growth:
    """By how much the process grows while something is done so many times."""

    begun = False

    def begin(self, count: int) -> None:
        """So many have been done."""
        self.begun = True
        self._count, self._size = count, self._resident()

    def check(self, count: int, most: float) -> None:
        """Meanwhile that many; each may leave so many bytes behind."""
        if not self.begun:
            return
        grown = (self._resident() - self._size) / (count - self._count)
        if grown > most:
            raise AssertionError(f"memory leaks: each of {count - self._count} calls leaves {grown:.0f} bytes behind")

    @staticmethod
    def _resident() -> int:
        gc.collect()
        return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def limit_memory() -> None:
    """Lets allocations that are much larger than the machine's memory fail."""
    size = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (size + _MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _examples(
    run: Callable[[Case], None],
    strategy: hypothesis.strategies.SearchStrategy[Case],
    count: int,
    seed: int | None,
) -> None:
    """Runs examples of a strategy, and of those that fail the simplest."""

    @hypothesis.settings(
        max_examples=count,
        derandomize=seed is None,
        database=None,
        deadline=None,
        phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(strategy)
    def examples(case: Case) -> None:
        run(case)

    (examples if seed is None else hypothesis.seed(seed)(examples))()


def fuzz(target: Target, settings: Settings, note: Callable[[str], None]) -> Counts:
    """Fuzzes a target.

    Args:
      target: What is called.
      settings: How often.
      note: Is told of each case before that runs.

    Raises:
      AssertionError: A case has an outcome that it must not have, or memory leaks.
    """
    limit_memory()
    fuzzer = Fuzzer(target, note)
    strategy = cases(target.op_def, target.templates, huge=target.takes_huge)
    kept: list[Case] = []
    growth = _Growth()

    def run(case: Case) -> None:
        fuzzer.run(case)
        if len(kept) < _REPEATED * fuzzer.counts.eager / (settings.examples * (1 + VARIANTS)):
            kept.append(case)
        # What is kept for later is allocated by then.
        if not growth.begun and len(kept) > _REPEATED // 4:
            growth.begin(fuzzer.counts.total)

    _examples(run, strategy, settings.examples, settings.seed)
    growth.check(fuzzer.counts.total, _BYTES_PER_CASE)
    growth = _Growth()
    for repeat in range(_REPEATS):
        if repeat == _REPEATS // 4:
            growth.begin(repeat * len(kept))
        for case in kept:
            fuzzer.again(case)
    growth.check(_REPEATS * len(kept), _BYTES_PER_CALL)
    if settings.jit_examples:
        # XLA itself ends the process for some empty arrays with huge dimensions.
        strategy = cases(target.op_def, target.templates, huge=False)
        _examples(fuzzer.jit, strategy, settings.jit_examples, settings.seed)
    return fuzzer.counts
