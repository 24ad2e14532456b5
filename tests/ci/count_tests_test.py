# SPDX-License-Identifier: Apache-2.0
"""The gate counts what passed and what did not."""

from __future__ import annotations

from absl.testing import absltest, parameterized

from tools.ci import count_tests
from tools.ci.count_tests import Event


def summary(label: str, status: str) -> Event:
    """The end of a test target."""
    return {"id": {"testSummary": {"label": label}}, "testSummary": {"overallStatus": status}}


def completed(label: str, success: bool) -> Event:
    """The end of a target's build. Bazel leaves out what is false."""
    return {
        "id": {"targetCompleted": {"label": label}},
        "completed": {"success": True} if success else {},
    }


def finished(name: str) -> Event:
    """The end of the invocation."""
    return {"id": {"buildFinished": {}}, "finished": {"exitCode": {"name": name}}}


class CountTest(parameterized.TestCase):
    @parameterized.named_parameters(
        (
            "all pass",
            [completed("//:a", True), summary("//:a", "PASSED"), finished("SUCCESS")],
            (1, 0),
        ),
        (
            "one fails",
            [summary("//:a", "PASSED"), summary("//:b", "FAILED"), finished("TESTS_FAILED")],
            (1, 1),
        ),
        ("one times out", [summary("//:a", "TIMEOUT"), finished("TESTS_FAILED")], (0, 1)),
        ("one is flaky", [summary("//:a", "FLAKY"), finished("SUCCESS")], (0, 1)),
        (
            "one does not build",
            [summary("//:a", "PASSED"), completed("//:b", False), finished("BUILD_FAILURE")],
            (1, 1),
        ),
        (
            "one is skipped",
            [
                {"id": {"targetCompleted": {"label": "//:b"}}, "aborted": {"reason": "SKIPPED"}},
                summary("//:a", "PASSED"),
                finished("SUCCESS"),
            ],
            (1, 0),
        ),
        (
            "one counts once",
            [completed("//:a", False), summary("//:a", "NO_STATUS"), finished("BUILD_FAILURE")],
            (0, 1),
        ),
        ("a BUILD file is wrong", [summary("//:a", "PASSED"), finished("PARSING_FAILURE")], (1, 1)),
        ("no test", [finished("SUCCESS")], (0, 1)),
        ("no Bazel", [], (0, 1)),
    )
    def test_count(self, events: list[Event], expected: tuple[int, int]) -> None:
        self.assertEqual(count_tests.count(events), expected)


if __name__ == "__main__":
    absltest.main()
