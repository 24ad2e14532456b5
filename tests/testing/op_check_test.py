# SPDX-License-Identifier: Apache-2.0
"""op_check's report, options and command, and what it is for ops that take no, several, or other than float inputs."""

from __future__ import annotations

import unittest

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tensorflow_custom_ops as ops
from tensorflow_custom_ops.testing import Finding, OpCheckTestCase, Sample, op_check, samples
from tests import op_test_case
from tests.testing import faults

_SAMPLE = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 1.0]], np.float32)
_COMMAND = "import runpy, sys; sys.argv[0] = ''; runpy.run_module('tensorflow_custom_ops.testing', run_name='__main__')"


class OpCheckTest(op_test_case.OpTestCase):
    def test_reports_everything(self) -> None:
        report = op_check(
            faults.OPS.fault_loses_shape,
            [_SAMPLE],
            only=["lost_shapes", "gradient", "eager", "gpu", "alignment"],
            skip={"alignment": "a matter for another day"},
            libraries=[faults.LIBRARY],
        )
        self.assertFalse(report.ok)
        self.assertEqual([finding.check for finding in report.findings], ["lost_shapes", "gradient"])
        self.assertIsInstance(report.findings[0], Finding)
        self.assertStartsWith(str(report), "op_check of FaultLosesShape: 1 passed, ")
        rows = {line.split()[0]: line for line in str(report).splitlines()[1:] if line[2] != " "}
        self.assertRegex(rows["lost_shapes"], "FAULT +output 0 is said to have shape <unknown>, though every input's")
        self.assertRegex(rows["eager"], "passed$")
        self.assertRegex(rows["alignment"], "skipped +a matter for another day$")

    def test_a_sample_that_crashes_is_the_only_finding(self) -> None:
        report = op_check(faults.OPS.fault_aborts_if_empty, [_SAMPLE[:0]], only=["eager"], libraries=[faults.LIBRARY])
        (finding,) = report.findings
        self.assertEqual(finding.check, "sample")
        self.assertRegex(finding.message, "the sample fails: ends the process by SIGABRT")

    def test_inputs_in_lists_and_tensors(self) -> None:
        only = ["eager", "static_shapes", "gradient", "jit"]
        report = op_check(tf.concat, [[_SAMPLE, tf.constant(_SAMPLE)], 1], only=only)
        self.assertTrue(report.ok, report)
        self.assertEqual(report.op, "ConcatV2")

    def test_ops_without_floats(self) -> None:
        report = op_check(tf.strings.length, [np.array([b"a", b"bcd"], object)], only=["eager", "gradient", "repeat"])
        self.assertEqual([result.outcome for result in report.results], ["passed", "skipped", "passed"])

    def test_a_random_op_need_not_repeat(self) -> None:
        report = op_check(tf.random.normal, [np.array([2, 3])], only=["static_shapes", "repeat", "saved_model"])
        self.assertTrue(report.ok, report)
        (repeat,) = (result for result in report.results if result.check == "repeat")
        self.assertRegex(repeat.skipped or "", "stateful")

    def test_captured_values(self) -> None:
        addend = tf.constant(_SAMPLE)
        report = op_check(lambda x: tf.raw_ops.Add(x=x, y=addend), [_SAMPLE], only=["eager", "repeat", "saved_model"])
        self.assertTrue(report.ok, report)

    @parameterized.parameters(
        ({"only": ["speed"]}, "no check is named speed; there are kernels, "),
        ({"skip": {"speed": "slow"}}, "no check is named speed"),
        ({"skip": {"jit": ""}}, "skip tells no reason for jit"),
    )
    def test_refuses_options(self, options: dict[str, object], message: str) -> None:
        with self.assertRaisesRegex(ValueError, f"op_check: {message}"):
            op_check(tf.nn.relu, [_SAMPLE], **options)  # type: ignore[arg-type]

    def test_refuses_what_it_cannot_check(self) -> None:
        with self.assertRaisesRegex(ValueError, "does not know the op FaultNone: pass the op library in `libraries`"):
            op_check(faults.sound, [_SAMPLE])
        with self.assertRaisesRegex(ValueError, "op_check: the function cannot be traced: TypeError"):
            op_check(ops.my_op, [np.array(["text"], object)])
        with self.assertRaisesRegex(ValueError, "op_check: the function's output comes from no op"):
            op_check(tf.identity, [_SAMPLE])
        with self.assertRaisesRegex(ValueError, "tensorflow_custom_ops has no op 'build_info'"):
            samples("build_info")

    def test_mixin(self) -> None:
        class Test(OpCheckTestCase, absltest.TestCase):
            def runTest(self) -> None:  # noqa: N802 - unittest's name
                self.assert_op(ops.my_op, [_SAMPLE], only=["eager"])
                self.assert_op(
                    faults.OPS.fault_loses_shape, [_SAMPLE], only=["lost_shapes"], libraries=[faults.LIBRARY]
                )

        result = unittest.TestResult()
        Test().run(result)
        ((_, text),) = result.failures
        self.assertRegex(text, r"op_check finds 1 faults:\nop_check of FaultLosesShape: 0 passed, ")

    def test_sample(self) -> None:
        sample = Sample((_SAMPLE,), options={"only": ["eager"]})
        self.assertLen(sample.check(ops.my_op).results, 1)
        self.assertLen(sample.check(ops.my_op, only=["eager", "jit"]).results, 2)


class CommandTest(op_test_case.OpTestCase):
    # >>> only with gelu
    def test_an_op_of_the_package(self) -> None:
        result = self.run_python(_COMMAND, "gelu", "--only", "eager", "kernels", "--skip", "kernels=known")
        self.assertRegex(result.stdout, r"(?s)exact: op_check of Gelu: 1 passed, 1 skipped.*known.*tanh: op_check of")

    # <<<

    def test_an_op_of_tensorflow(self) -> None:
        result = self.run_python(
            _COMMAND, "tf.linalg.matmul", "--args", "normal(3, 5), normal(5, 7)", "--only", "gradient", "--order", "3"
        )
        self.assertStartsWith(result.stdout, "op_check of ")
        self.assertIn("gradient  passed", result.stdout)

    def test_status_tells_of_findings(self) -> None:
        arguments = ("tf.nn.relu", "--only", "alignment")
        result = self.run_python(_COMMAND, *arguments, check=False)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stdout, "alignment  FAULT .*SIGABRT")

    def test_help_lists_the_checks(self) -> None:
        result = self.run_python(_COMMAND, "--help")
        self.assertRegex(result.stdout, "alignment +Inputs whose buffers begin at any element")


if __name__ == "__main__":
    absltest.main()
