# SPDX-License-Identifier: Apache-2.0
"""Tests of custom calls from XLA's code, by ops made for it."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

from tests import op_test_case

LIBRARY = pathlib.Path(__file__).absolute().parent / "_xla_custom_call_test_ops.so"
ops = tf.load_op_library(str(LIBRARY))

# What test_fails_with_code sends through XLA: all but UnavailableError, which TensorFlow itself makes an InternalError.
CODES = (
    tf.errors.CancelledError,
    tf.errors.UnknownError,
    tf.errors.InvalidArgumentError,
    tf.errors.DeadlineExceededError,
    tf.errors.NotFoundError,
    tf.errors.AlreadyExistsError,
    tf.errors.PermissionDeniedError,
    tf.errors.ResourceExhaustedError,
    tf.errors.FailedPreconditionError,
    tf.errors.AbortedError,
    tf.errors.OutOfRangeError,
    tf.errors.UnimplementedError,
    tf.errors.InternalError,
    tf.errors.DataLossError,
    tf.errors.UnauthenticatedError,
)

# Pools that are smaller than this machine's.
_RUN_WITH_THREADS = """
import sys
import numpy as np
import tensorflow as tf
tf.config.threading.set_intra_op_parallelism_threads(int(sys.argv[2]))
ops = tf.load_op_library(sys.argv[1])

@tf.function(jit_compile=True)
def many(x):
    # Independent of one another, so that XLA may run them at the same time.
    return [ops.test_parallel_for(x + i, cycles=10**6, nested=True).output - i for i in range(8)]

x = np.zeros(1000, np.float32)
for _ in range(20):
    for y in many(x):
        np.testing.assert_array_equal(y, x + 1)
"""


def jit(op: Callable[..., tuple[tf.Tensor, ...]], x: float | np.ndarray, **attributes: object) -> tuple[tf.Tensor, ...]:
    """The outputs of an op under XLA."""
    outputs: tuple[tf.Tensor, ...] = tf.function(lambda x: op(x, **attributes), jit_compile=True)(
        tf.constant(x, tf.float32)
    )
    return outputs


class XlaCustomCallTest(op_test_case.OpTestCase):
    def echo(self, **attributes: object) -> dict[str, np.ndarray]:
        """What the handler gets, by the name of the attribute."""
        names = ("flag", "integer", "number", "text")
        defaults = dict(zip(names, (False, 0, 0.0, ""), strict=True))
        outputs = jit(ops.test_echo, 0.0, **{**defaults, **attributes})
        return {name: output.numpy() for name, output in zip(names, outputs, strict=True)}

    @parameterized.parameters(False, True)
    def test_bool(self, flag: bool) -> None:
        self.assertEqual(self.echo(flag=flag)["flag"], flag)

    @parameterized.parameters(0, 1, -1, 2**63 - 1, -(2**63))
    def test_integer(self, integer: int) -> None:
        self.assertEqual(self.echo(integer=integer)["integer"], integer)

    def test_float_keeps_every_bit(self) -> None:
        finfo = np.finfo(np.float32)
        numbers = [0.0, -0.0, 0.1, -1 / 3, 1e-45, finfo.tiny, finfo.max, finfo.min, np.inf, -np.inf, np.nan]
        for number in np.array(numbers, np.float32):
            with self.subTest(number=number):
                self.assertEqual(self.echo(number=float(number))["number"].tobytes(), number.tobytes())

    @parameterized.parameters(
        b"",
        b"plain",
        b'"quoted" and \\escaped\\ and \\22 that is no escape',
        b"line\nfeed\ttab\r\v\f\x7f",
        b"} : i64, {k = 1}",
        "größer \N{SNOWMAN}".encode(),
        bytes(range(256)),
    )
    def test_string_keeps_every_byte(self, text: bytes) -> None:
        self.assertEqual(self.echo(text=text)["text"].tobytes(), text)

    @parameterized.parameters(*CODES)
    def test_fails_with_code(self, error: type[tf.errors.OpError]) -> None:
        code = error(None, None, "").error_code
        with self.assertRaisesRegex(error, "said by a handler"):
            jit(ops.test_fail, 0.0, how="status", code=code)

    @parameterized.parameters(
        ("throw", tf.errors.InternalError, "thrown by a handler"),
        ("throw_other", tf.errors.InternalError, "an exception of unknown type"),
        ("throw_in_block", tf.errors.InternalError, "thrown by a block"),
        ("no_memory", tf.errors.ResourceExhaustedError, "out of memory"),
    )
    def test_exceptions_become_errors(self, how: str, error: type[tf.errors.OpError], message: str) -> None:
        with self.assertRaisesRegex(error, message):
            jit(ops.test_fail, 0.0, how=how)

    @parameterized.product(size=(0, 1, 7, 1000, 1_000_003), cycles=(0, 1, 1000, 2**62))
    def test_parallel_for_visits_each_element_once(self, size: int, cycles: int) -> None:
        output, _ = jit(ops.test_parallel_for, np.zeros(size), cycles=cycles)
        np.testing.assert_array_equal(output, np.ones(size))

    def test_parallel_for_uses_the_pool(self) -> None:
        _, threads = jit(ops.test_parallel_for, np.zeros(1000), cycles=10**6, threads=2)
        self.assertGreaterEqual(threads.numpy(), 2)

    def test_parallel_for_runs_little_work_in_one_thread(self) -> None:
        _, threads = jit(ops.test_parallel_for, np.zeros(1000), cycles=1)
        self.assertEqual(threads.numpy(), 1)

    @parameterized.parameters(1, 2, 3)
    def test_parallel_for_does_not_hang(self, threads: int) -> None:
        self.run_python(_RUN_WITH_THREADS, str(LIBRARY), str(threads))

    def test_refuses_dynamic_dimensions(self) -> None:
        function = tf.function(lambda x: ops.test_fail(tf.boolean_mask(x, x > 0.0), how="status"), jit_compile=True)
        with self.assertRaisesRegex(
            tf.errors.UnimplementedError,
            r"test.Fail is a custom call, to which XLA cannot pass arrays with dynamic dimensions, but operand 0 has "
            r"shape f32\[<=3\]",
        ):
            function(tf.constant([1.0, -1.0, 2.0]))

    def test_reports_a_failed_registration(self) -> None:
        for _ in range(2):
            with self.assertRaisesRegex(
                tf.errors.FailedPreconditionError,
                "XLA did not accept the custom call test.Echo on Host: .*[Dd]uplicate",
            ):
                jit(ops.test_name_taken, 0.0)


if __name__ == "__main__":
    absltest.main()
