# SPDX-License-Identifier: Apache-2.0
"""Tests that the emulator, or a sanitizer, finds each bug of planted_bugs.cu.cc, and no other."""

import os
import re
import signal
import subprocess
from pathlib import Path

from absl.testing import absltest, parameterized

FOLDER = Path("tools/cuda_emulator")
SOURCE = FOLDER / "planted_bugs.cu.cc"
ORDERS = ("forward", "reverse", "random")

PLAIN = "planted_bugs"
ADDRESS_UNDEFINED = "planted_bugs_address_undefined"
THREAD = "planted_bugs_thread"

WRONG_RESULT = 1
FAILED_LAUNCH = 2
# The exit statuses of the sanitizers.
REPORTS = {ADDRESS_UNDEFINED: 1, THREAD: 66}

# What the emulator says about a launch, after file and line.
LAUNCHES = {
    "DivergentShuffle": r"__shfl_xor_sync\(\) of thread \(32,0,0\) in block \(\d,0,0\) is a deadlock: it waits for "
    r"thread \(40,0,0\), which is in __syncthreads\(\) at \S*planted_bugs\.cu\.cc:\d+$",
    "DivergentSyncthreads": r"__syncthreads\(\) of thread \(0,0,0\) in block \(\d,0,0\) is a deadlock: it waits for "
    r"thread \(40,0,0\), which has returned$",
    "TwoBarriers": r"__syncthreads\(\) of thread \(0,0,0\) in block \(\d,0,0\) does not meet thread \(32,0,0\), "
    r"which is in __syncthreads\(\) at \S*planted_bugs\.cu\.cc:\d+$",
    "TwoShuffles": r"__shfl_xor_sync\(\) of thread \(\d+,0,0\) in block \(\d,0,0\) does not meet thread "
    r"\(\d+,0,0\), which is in __shfl_xor_sync\(\) with mask 0xffffffff at \S*planted_bugs\.cu\.cc:\d+$",
    "TwoMasks": r"__shfl_xor_sync\(\) of thread \(0,0,0\) in block \(\d,0,0\) is a deadlock: it waits for thread "
    r"\(1,0,0\), which is in __shfl_xor_sync\(\) with mask 0xfffffffe at \S*planted_bugs\.cu\.cc:\d+$",
    "InactiveLane": r"__shfl_xor_sync\(\) of thread \(\d+,0,0\) in block \(\d,0,0\) reads lane \d+, which does not "
    r"take part in it$",
    "ReturnedLane": r"__shfl_sync\(\) of thread \(\d+,0,0\) in block \(\d,0,0\) reads lane 3, which does not take "
    r"part in it$",
    "LaneNotInMask": r"__syncwarp\(\) of thread \(\d+,0,0\) in block \(\d,0,0\) is called by lane [0-3], which is "
    r"not in its mask 0xfffffff0$",
    "InvalidWidth": r"__shfl_sync\(\) of thread \(\d+,0,0\) in block \(\d,0,0\) has the width 12, which is not a "
    r"power of two from 1 to 32$",
    "MisalignedTile": r"load_matrix_sync\(\) of thread \(\d+,0,0\) in block \(\d,0,0\) gets an address that is 16 "
    r"bytes beyond a multiple of 32$",
    "UnevenRowsOfTile": r"store_matrix_sync\(\) of thread \(\d+,0,0\) in block \(\d,0,0\) gets rows \(or columns\) "
    r"that are 72 bytes apart, not a multiple of 16$",
    "TwoTiles": r"store_matrix_sync\(\) of thread \(\d+,0,0\) in block \(\d,0,0\) has other arguments than thread "
    r"\(\d+,0,0\)$",
    "LaneMissingFromTile": r"store_matrix_sync\(\) of thread \(\d+,0,0\) in block \(\d,0,0\) needs all 32 lanes of its "
    r"warp, and has 31$",
    "DivergentTensorCores": r"mma_sync\(\) of thread \(32,0,0\) in block \(\d,0,0\) is a deadlock: it waits for thread "
    r"\(40,0,0\), which is in __syncthreads\(\) at \S*planted_bugs\.cu\.cc:\d+$",
}

# What is wrong in every order.
WRONG_RESULTS = ("MissingSyncthreads", "MissingSecondSyncthreads", "UninitializedShared", "UninitializedFragment")

RACES = (
    "MissingSyncthreads",
    "MissingSecondSyncthreads",
    "MissingSyncwarp",
    "SyncwarpOfTooFewLanes",
    "MissingSyncwarpOfTile",
)

ADDRESS_AND_UNDEFINED = {
    "GlobalOutOfBounds": "AddressSanitizer: heap-buffer-overflow",
    "SharedOutOfBounds": "AddressSanitizer: heap-buffer-overflow",
    "StaticSharedOutOfBounds": r"runtime error: index 64 out of bounds for type 'int \[64\]'",
    "SignedOverflow": "runtime error: signed integer overflow",
    "MisalignedAccess": "runtime error: store to misaligned address",
}


def run(program: str, order: str, *arguments: str, **environment: str) -> tuple[int, str]:
    """Returns the exit status of a program, and what it says."""
    variables = {
        **os.environ,
        "CUDA_EMULATOR_ORDER": order,
        "ASAN_OPTIONS": "detect_leaks=0",
        "TSAN_OPTIONS": "halt_on_error=1",
        **environment,
    }
    done = subprocess.run(
        [str(FOLDER / program), *arguments],
        check=False,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode, done.stdout


def marked_lines(name: str) -> set[int]:
    """Returns the lines of the source that a report of the bug may name."""
    lines = SOURCE.read_text().splitlines()
    return {number for number, line in enumerate(lines, 1) if line.endswith(f"// {name}")}


class PlantedBugsTest(parameterized.TestCase):
    def assert_names_line(self, name: str, output: str) -> None:
        """Checks that the output names a marked line."""
        named = {int(line) for line in re.findall(r"planted_bugs\.cu\.cc:(\d+)", output)}
        self.assertTrue(named & marked_lines(name), f"{output}\nnames none of the lines {marked_lines(name)}")

    @parameterized.product(program=(PLAIN, ADDRESS_UNDEFINED, THREAD), order=ORDERS)
    def test_finds_nothing_without_bugs(self, program: str, order: str) -> None:
        self.assertEqual(run(program, order), (0, ""))

    # Whose fake stacks for the variables of functions move with the fibers.
    @parameterized.parameters(*ORDERS)
    def test_finds_nothing_with_checks_of_use_after_return(self, order: str) -> None:
        self.assertEqual(run(ADDRESS_UNDEFINED, order, ASAN_OPTIONS="detect_stack_use_after_return=1"), (0, ""))

    @parameterized.product(name=tuple(LAUNCHES), order=ORDERS)
    def test_emulator_reports(self, name: str, order: str) -> None:
        place = rf"\S*planted_bugs\.cu\.cc:(?:{'|'.join(map(str, marked_lines(name)))})"
        for program in (PLAIN, ADDRESS_UNDEFINED, THREAD):
            status, output = run(program, order, name)
            self.assertEqual(status, FAILED_LAUNCH, output)
            self.assertRegex(output, rf"\A{name}: cudaErrorLaunchFailure: {place}: {LAUNCHES[name]}")

    @parameterized.product(name=WRONG_RESULTS, order=ORDERS)
    def test_result_is_wrong(self, name: str, order: str) -> None:
        status, output = run(PLAIN, order, name)
        self.assertEqual(status, WRONG_RESULT, output)
        self.assertIn(f"{name}: wrong result", output)

    @parameterized.product(name=RACES, order=ORDERS)
    def test_thread_sanitizer_reports(self, name: str, order: str) -> None:
        status, output = run(THREAD, order, name)
        self.assertEqual(status, REPORTS[THREAD], output)
        self.assertIn("ThreadSanitizer: data race", output)
        self.assert_names_line(name, output)

    @parameterized.product(name=tuple(ADDRESS_AND_UNDEFINED), order=ORDERS)
    def test_address_and_undefined_behaviour_sanitizers_report(self, name: str, order: str) -> None:
        status, output = run(ADDRESS_UNDEFINED, order, name)
        self.assertEqual(status, REPORTS[ADDRESS_UNDEFINED], output)
        self.assertRegex(output, ADDRESS_AND_UNDEFINED[name])
        self.assert_names_line(name, output)

    def test_stack_overflow_ends_the_program(self) -> None:
        self.assertEqual(run(PLAIN, "forward", "StackOverflow"), (-signal.SIGSEGV, ""))
        status, output = run(ADDRESS_UNDEFINED, "forward", "StackOverflow")
        self.assertEqual(status, REPORTS[ADDRESS_UNDEFINED], output)
        self.assertRegex(output, r"SUMMARY: AddressSanitizer: stack-overflow .*planted_bugs\.cu\.cc:\d+ in Recurse")

    def test_refuses_an_unknown_order(self) -> None:
        status, output = run(PLAIN, "sideways")
        self.assertEqual(status, -signal.SIGABRT)
        self.assertIn("must be forward, reverse or random, and is 'sideways'", output)


if __name__ == "__main__":
    absltest.main()
