# SPDX-License-Identifier: Apache-2.0
"""Checks of ops: of this package's, of TensorFlow's, and of your own.

`op_check` is a function, `OpCheckTestCase` the same for tests, and `python -m tensorflow_custom_ops.testing` a command.
"""

from tensorflow_custom_ops.testing.mixin import OpCheckTestCase
from tensorflow_custom_ops.testing.op_check import op_check
from tensorflow_custom_ops.testing.report import Finding, Report, Result
from tensorflow_custom_ops.testing.samples import Sample, samples

__all__ = ["Finding", "OpCheckTestCase", "Report", "Result", "Sample", "op_check", "samples"]
