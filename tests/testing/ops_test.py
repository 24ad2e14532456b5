# SPDX-License-Identifier: Apache-2.0
"""op_check finds nothing in this package's ops."""

from __future__ import annotations

import os

from absl.testing import absltest, parameterized

import tensorflow_custom_ops as ops
from tensorflow_custom_ops import _build_info
from tensorflow_custom_ops.testing import Sample, samples

_OP_PREFIX = os.environ["OP_PREFIX"]
_SAMPLES = [
    (f"{op}_{name.replace(' ', '_')}", op, sample)
    # MyOp is my_op: the functions are named like the ops, but for a prefix, and like their folders.
    for op in sorted(set(ops.__all__) - {"__version__", "build_info"})
    for name, sample in samples(op).items()
]


class OpsTest(parameterized.TestCase):
    @parameterized.named_parameters(*_SAMPLES)
    def test_has_no_fault(self, op: str, sample: Sample) -> None:
        report = sample.check(getattr(ops, op))
        self.assertEmpty(report.findings, report)

    def test_has_all_ops(self) -> None:
        self.assertContainsSubset(
            {op.removeprefix(_OP_PREFIX).lower() for op in _build_info.OPS if not op.endswith("Grad")},
            {op.replace("_", "") for _, op, _ in _SAMPLES},
        )


if __name__ == "__main__":
    absltest.main()
