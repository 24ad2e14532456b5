# SPDX-License-Identifier: Apache-2.0
"""Prints how many test targets of a Bazel invocation passed, and how many did not.

    python3 count_tests.py EVENTS

EVENTS is what `bazel test --build_event_json_file=EVENTS` wrote. A target that could not be built or
analysed has not passed, one that Bazel skipped as incompatible does not count; no target at all counts as one failure.
"""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

Event = dict[str, Any]


def count(events: list[Event]) -> tuple[int, int]:
    """How many targets passed, and how many did not."""
    passed: set[str] = set()
    failed: set[str] = set()
    finished = False
    for event in events:
        kind = event.get("id", {})
        if "testSummary" in kind:
            status = event["testSummary"]["overallStatus"]
            (passed if status == "PASSED" else failed).add(kind["testSummary"]["label"])
        elif event.get("aborted", {}).get("reason") == "SKIPPED":
            continue
        elif "targetCompleted" in kind and not event.get("completed", {}).get("success"):
            failed.add(kind["targetCompleted"]["label"])
        elif "buildFinished" in kind:
            finished = event["finished"]["exitCode"]["name"] in ("SUCCESS", "TESTS_FAILED")
    if (not finished and not failed) or not passed | failed:
        failed.add("the invocation itself")
    return len(passed - failed), len(failed)


def main() -> None:
    """Reads the events and prints the two numbers."""
    if len(sys.argv) != 2:
        sys.exit("usage: count_tests.py EVENTS")
    path = pathlib.Path(sys.argv[1])
    # There is no file when Bazel itself did not start.
    lines = path.read_text().splitlines() if path.exists() else []
    print(*count([json.loads(line) for line in lines if line.strip()]))


if __name__ == "__main__":
    main()
