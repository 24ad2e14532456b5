# SPDX-License-Identifier: Apache-2.0
"""op_check finds each planted fault by the check that is there for it, and nothing in an op without a fault."""

from __future__ import annotations

from absl.testing import absltest, parameterized

from tensorflow_custom_ops.testing import op_check
from tensorflow_custom_ops.testing.checks import CHECKS
from tests.testing import faults


class FaultsTest(parameterized.TestCase):
    @parameterized.named_parameters((name.replace(" ", "_"), fault) for name, fault in faults.FAULTS.items())
    def test_is_found(self, fault: faults.Fault) -> None:
        report = op_check(
            fault.function,
            [faults.SAMPLE],
            fault.kwargs,
            only=[fault.check],
            libraries=[faults.LIBRARY],
            **fault.options,
        )
        self.assertNotEmpty(report.findings, report)
        self.assertRegex("\n".join(map(str, report.findings)).replace("\n", " "), fault.finding)
        self.assertEqual({finding.check for finding in report.findings}, {fault.check})

    def test_every_check_finds_one(self) -> None:
        # Without a GPU nothing can be planted there.
        found = {fault.check for fault in faults.FAULTS.values()} | {"gpu", "jit"}
        self.assertEqual(found, set(CHECKS))

    def test_finds_nothing_without_a_fault(self) -> None:
        report = op_check(faults.sound, [faults.SAMPLE], libraries=[faults.LIBRARY])
        self.assertEmpty(report.findings, report)
        self.assertLen(report.results, len(CHECKS))
        skipped = {result.check for result in report.results if result.skipped}
        # It has no list of types, no XLA kernel, no attribute.
        self.assertEqual(skipped - {"gpu"}, {"dtypes", "jit", "wrong_attributes"})


if __name__ == "__main__":
    absltest.main()
