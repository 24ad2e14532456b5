# SPDX-License-Identifier: Apache-2.0
"""Tests that the sanitizers of this build find each bug of planted_bugs.cc in its kernel, and nothing without a bug."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from absl.testing import absltest, parameterized

FOLDER = Path("tests/sanitizers")
SOURCE = FOLDER / "planted_bugs.cc"

# The sanitizers of this build.
SANITIZERS = {name for name in ("ASAN", "TSAN", "UBSAN") if name in os.environ}

# For each bug the sanitizer that must find it, what that says, and its exit status.
BUGS = {
    "HeapOverflow": ("ASAN", "ERROR: AddressSanitizer: heap-buffer-overflow", 1),
    "UseAfterFree": ("ASAN", "ERROR: AddressSanitizer: heap-use-after-free", 1),
    "SignedOverflow": ("UBSAN", "runtime error: signed integer overflow", 1),
    "ShiftTooFar": ("UBSAN", "runtime error: shift exponent 32 is too large", 1),
    "DataRace": ("TSAN", r"WARNING: ThreadSanitizer: data race[^#]*#0 [^#]*\bCount\(", 66),
}

# Runs the op, alone or, without a bug, in threads of a graph that hand each other their results. argv: a bug.
PROGRAM = """
import sys

import tensorflow as tf

tf.config.threading.set_intra_op_parallelism_threads(4)
tf.config.threading.set_inter_op_parallelism_threads(4)
planted_bug = tf.load_op_library("tests/sanitizers/_planted_bugs.so").planted_bug


@tf.function
def tree(x):
    for _ in range(8):
        x = tf.stack([planted_bug(row) for row in tf.unstack(x)])
    return tf.reduce_max(x)


for _ in range(20):
    if sys.argv[1:]:
        planted_bug(tf.zeros([1000], tf.int32), bug=sys.argv[1])
    else:
        assert tree(tf.zeros([16, 1000], tf.int32)) == 8
"""


def run(*arguments: str) -> tuple[int, str]:
    """Returns the exit status of the program, and what it says."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        check=False,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode, done.stdout


def marked_line(bug: str) -> int:
    """Returns the line of the source that has the bug."""
    lines = SOURCE.read_text().splitlines()
    (number,) = (number for number, line in enumerate(lines, 1) if line.endswith(f"// {bug}"))
    return number


class PlantedBugsTest(parameterized.TestCase):
    def test_finds_nothing_without_bugs(self) -> None:
        status, output = run()
        self.assertEqual(status, 0, output)
        self.assertNotRegex(output, "Sanitizer|runtime error")

    @parameterized.named_parameters(
        (bug, bug, *found) for bug, (sanitizer, *found) in BUGS.items() if sanitizer in SANITIZERS
    )
    def test_finds(self, bug: str, report: str, status: int) -> None:
        found, output = run(bug)
        self.assertRegex(output, report)
        self.assertEqual(found, status)
        # g++ 12's ThreadSanitizer names the function alone.
        if bug == "DataRace":
            return
        named = {int(line) for line in re.findall(r"planted_bugs\.cc:(\d+)", output)}
        self.assertIn(marked_line(bug), named, output)


if __name__ == "__main__":
    absltest.main()
