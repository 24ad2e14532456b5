# SPDX-License-Identifier: Apache-2.0
"""op_check in tests."""

from __future__ import annotations

import unittest
from collections.abc import Callable, Sequence
from typing import Any

from tensorflow_custom_ops.testing.op_check import op_check
from tensorflow_custom_ops.testing.report import Report


class OpCheckTestCase(unittest.TestCase):
    """A test case, or a base class beside another such as absltest.TestCase, that has an assertion for ops."""

    def assert_op(self, fn: Callable[..., Any], args: Sequence[Any], *more: Any, **options: Any) -> Report:  # noqa: ANN401
        """Fails, with the table of all findings, if op_check finds something; takes op_check's arguments."""
        report = op_check(fn, args, *more, **options)
        if not report.ok:
            self.fail(f"op_check finds {len(report.findings)} faults:\n{report}")
        return report
