# SPDX-License-Identifier: Apache-2.0
"""The fuzzer finds planted faults, and nothing in an op without one."""

from __future__ import annotations

import pathlib

import tensorflow as tf
from absl.testing import absltest, parameterized

from tests.fuzz import fuzz
from tests.fuzz.cases import Template
from tests.fuzz.targets import OpTarget
from tests.fuzz.watched import FaultError, watched

tf.load_op_library(str(pathlib.Path(__file__).absolute().parent / "_faults.so"))

_TEMPLATE = Template(shapes=((3, 5),), attrs={"limit": 8})


def _fuzz(op: str) -> fuzz.Counts:
    # XLA has no kernels of these.
    settings = fuzz.Settings(examples=500, jit_examples=0)
    return watched(lambda note: fuzz.fuzz(OpTarget(op, [_TEMPLATE]), settings, note), time_limit=5)


class FaultsTest(parameterized.TestCase):
    @parameterized.parameters(
        ("FuzzCrash", r"ends the process by SIGABRT: eagerly, Case\(.*\('limit', -"),
        ("FuzzHang", r"does not end within 5 s: eagerly, Case\(.*\('limit', -"),
        ("FuzzUnclear", r"does not begin with the op's name.*InvalidArgumentError when it runs: .*bad x"),
        ("FuzzWrongClass", "InternalError is not the class of a refusal"),
        ("FuzzLeak", "memory leaks: each of .* calls leaves [0-9]{5} bytes behind"),
        ("FuzzWrongShape", r"of output 0 the shape \(.*1\) was foretold, and it is \("),
        ("FuzzStrictShape", "eagerly it gives outputs of shape .* in a graph ValueError while the graph is made"),
        ("FuzzCrashingShape", r"ends the process by SIGABRT: in a graph where .* is known, Case\("),
    )
    def test_is_found(self, op: str, message: str) -> None:
        with self.assertRaises(FaultError) as caught:
            _fuzz(op)
        self.assertRegex(str(caught.exception).replace("\n", " "), message)

    def test_finds_nothing_without_a_fault(self) -> None:
        counts = _fuzz("FuzzSound")
        self.assertGreater(counts.results, 0.2 * counts.eager)
        self.assertLess(counts.results, 0.9 * counts.eager)


if __name__ == "__main__":
    absltest.main()
