# SPDX-License-Identifier: Apache-2.0
"""What the user of an op is told when its kernel fails, or cannot be launched."""

from __future__ import annotations

import pathlib

import tensorflow as tf
from absl.testing import absltest


class LaunchErrorTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.launch = tf.load_op_library(str(pathlib.Path(__file__).parent / "_fail.so")).test_fail

    def test_kernel_that_fails(self) -> None:
        # The emulator names the line.
        message = r"TestFail: the GPU kernel failed: cudaErrorLaunchFailure: .*fail\.cu\.cc:11: .*__syncthreads"
        with self.assertRaisesRegex(tf.errors.InternalError, message):
            self.launch(2)

    def test_kernel_that_cannot_be_launched(self) -> None:
        message = "TestFail: the GPU kernel failed: cudaErrorInvalidConfiguration: .+"
        for threads in (0, 1025):
            with self.assertRaisesRegex(tf.errors.InternalError, message):
                self.launch(threads)

    def test_an_error_is_told_once(self) -> None:
        with self.assertRaises(tf.errors.InternalError):
            self.launch(2)
        self.launch(1)


if __name__ == "__main__":
    absltest.main()
