# SPDX-License-Identifier: Apache-2.0
"""What checks find, and the table of it."""

from __future__ import annotations

import collections
import dataclasses
import textwrap
from collections.abc import Iterator

_WIDTH = 100


class Note(str):
    """What a check says that is no fault."""

    __slots__ = ()


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing that an op does wrong.

    Attributes:
      check: The name of the check that found it.
      message: What is wrong.
    """

    check: str
    message: str

    def __str__(self) -> str:
        return f"{self.check}: {self.message}"


@dataclasses.dataclass
class Result:
    """What came of one check.

    Attributes:
      check: Its name.
      findings: What it found.
      notes: What is no fault, but worth knowing.
      skipped: Why it was not done, if so.
    """

    check: str
    findings: list[Finding] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)
    skipped: str | None = None

    @property
    def outcome(self) -> str:
        """The outcome in a word."""
        if self.findings:
            return "FAULT"
        return "passed" if self.skipped is None else "skipped"

    def texts(self) -> Iterator[str]:
        """What there is to say."""
        yield from (finding.message for finding in self.findings)
        if self.skipped is not None:
            yield self.skipped
        yield from (f"note: {note}" for note in self.notes)


@dataclasses.dataclass
class Report:
    """What op_check found. Printed it is a table with a row for each check.

    Attributes:
      op: The name of the op.
      results: Of each check the result.
      seconds: How long it took.
    """

    op: str
    results: list[Result]
    seconds: float

    @property
    def findings(self) -> list[Finding]:
        """Everything that is wrong."""
        return [finding for result in self.results for finding in result.findings]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    def __str__(self) -> str:
        counts = collections.Counter(result.outcome for result in self.results)
        summary = ", ".join(f"{counts[outcome]} {outcome}" for outcome in ("passed", "skipped", "FAULT"))
        column = max((len(result.check) for result in self.results), default=0)
        lines = [f"op_check of {self.op}: {summary} ({self.seconds:.1f} s)"]
        for result in self.results:
            head = f"  {result.check:{column}}  {result.outcome:7}  "
            for text in list(result.texts()) or [""]:
                wrapped = textwrap.wrap(" ".join(text.split()), _WIDTH, break_on_hyphens=False) or [""]
                lines += [head + wrapped[0], *(" " * len(head) + line for line in wrapped[1:])]
                head = " " * len(head)
        return "\n".join(line.rstrip() for line in lines)
