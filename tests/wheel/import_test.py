# SPDX-License-Identifier: Apache-2.0
"""Imports the package from many threads, in forked processes, and in several interpreters at once."""

from __future__ import annotations

import concurrent.futures
import sys

from absl.testing import absltest

from tests.wheel import wheel_test_case

THREADS = """
import sys
import threading

sys.path.insert(0, sys.argv[1])
barrier = threading.Barrier(16)
results = []


def use():
    barrier.wait()
    import tensorflow_custom_ops as ops

    results.append((ops, float(ops.my_op(21.0))))


threads = [threading.Thread(target=use) for _ in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(results) == 16, results
assert all(result == (sys.modules["tensorflow_custom_ops"], 42.0) for result in results), results
"""

# TensorFlow allows no fork once it has run an op: then its threads are missing.
FORK = """
import os
import sys

sys.path.insert(0, sys.argv[1])
import tensorflow

if sys.argv[2] == "after":
    import tensorflow_custom_ops

children = []
for number in range(4):
    child = os.fork()
    if not child:
        import tensorflow_custom_ops as ops

        os._exit(int(ops.my_op(float(number))))
    children.append(child)
statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
assert statuses == [0, 2, 4, 6], statuses
"""

USE = """
import sys

sys.path.insert(0, sys.argv[1])
import tensorflow_custom_ops as ops

assert float(ops.my_op(21.0)) == 42.0
"""


class ImportTest(wheel_test_case.WheelTestCase):
    def test_from_many_threads_at_once(self) -> None:
        self.run_command(sys.executable, "-c", THREADS, self.unpack())

    def test_in_processes_forked_before_and_after_it(self) -> None:
        for order in ("before", "after"):
            with self.subTest(order):
                self.run_command(sys.executable, "-c", FORK, self.unpack(), order)

    def test_in_several_interpreters_at_once(self) -> None:
        # None has written its bytecode yet.
        folder = self.unpack()
        with concurrent.futures.ThreadPoolExecutor(3) as executor:
            list(executor.map(lambda _: self.run_command(sys.executable, "-c", USE, folder), range(3)))


if __name__ == "__main__":
    absltest.main()
