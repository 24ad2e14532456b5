# SPDX-License-Identifier: Apache-2.0
"""The ops compile under XLA whenever the library is loaded, or say that this build has no XLA kernels."""

from __future__ import annotations

import tensorflow as tf
from absl.testing import absltest, parameterized

from tensorflow_custom_ops import _build_info
from tests import op_test_case

# What happens before the library is loaded, and the flags of TensorFlow's auto-clustering.
ORDERS = {
    "library first": ("", ""),
    "after a tensor": ("tf.constant(1.0) + 1.0", ""),
    "after another compilation": ("tf.function(lambda x: x * 2.0, jit_compile=True)(tf.constant(1.0))", ""),
    "after a failed compilation": (
        """
try:
    # Strings cannot be compiled.
    tf.function(tf.strings.length, jit_compile=True)(tf.constant("a"))
except tf.errors.InvalidArgumentError:
    pass
else:
    raise AssertionError("this was compiled")
""",
        "",
    ),
    "with auto-clustering": ("tf.constant(1.0) + 1.0", "--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit"),
}

_PROGRAM = """
import os
os.environ["TF_XLA_FLAGS"] = "{flags}"
import numpy as np
import tensorflow as tf
{before}
import tensorflow_custom_ops as ops

x = tf.constant([1.0, 2.0, 3.0])
def both(x):
    return ops.my_op(x) + x
np.testing.assert_array_equal(both(x), [3.0, 6.0, 9.0])
np.testing.assert_array_equal(tf.function(both)(x), [3.0, 6.0, 9.0])
compiled = tf.function(both, jit_compile=True)
np.testing.assert_array_equal(compiled(x), [3.0, 6.0, 9.0])
assert compiled.experimental_get_compiler_ir(x)(stage="hlo").count(" add(") == 2
"""

# The function fails for it is compiled before its op is there, and is compiled again when the op is.
_SAME_FUNCTION_FAILED = """
import numpy as np
import sys
import tensorflow as tf

@tf.function(jit_compile=True)
def double(x):
    return sys.modules["tensorflow_custom_ops"].my_op(x)

x = tf.constant([1.0, 2.0])
try:
    double(x)
except KeyError:
    pass
else:
    raise AssertionError("the op was there")
import tensorflow_custom_ops
np.testing.assert_array_equal(double(x), [2.0, 4.0])
"""

_AUTO_CLUSTERED = """
import os
os.environ["TF_XLA_FLAGS"] = "--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit --tf_xla_min_cluster_size=2"
import numpy as np
import tensorflow as tf
import tensorflow_custom_ops as ops
from tensorflow.python.eager import context

@tf.function
def several(x):
    return ops.my_op(ops.my_op(ops.my_op(x)))

context.context().enable_run_metadata()
np.testing.assert_array_equal(several(tf.constant([1.0, 2.0])), [8.0, 16.0])
metadata = context.context().export_run_metadata()
ops_that_ran = {node.op for graph in metadata.partition_graphs for node in graph.node}
assert "_XlaRun" in ops_that_ran or "_XlaCompile" in ops_that_ran, ops_that_ran
"""


class LoadOrderTest(op_test_case.OpTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.xla = _build_info.XLA

    @parameterized.named_parameters((name, *order) for name, order in ORDERS.items())
    def test_compiles(self, before: str, flags: str) -> None:
        result = self.run_python(_PROGRAM.format(before=before, flags=flags), check=self.xla)
        if not self.xla:
            self.assertEqual(result.returncode, 1)
            self.assertIn("has no XLA kernels", result.stderr)

    def test_compiles_after_the_same_function_failed(self) -> None:
        result = self.run_python(_SAME_FUNCTION_FAILED, check=self.xla)
        if not self.xla:
            self.assertIn("has no XLA kernels", result.stderr)

    def test_auto_clustering_takes_the_ops(self) -> None:
        # In a build without XLA kernels TensorFlow fails to compile the cluster, and runs the CPU kernels.
        self.run_python(_AUTO_CLUSTERED)

    def test_build_without_xla_says_so(self) -> None:
        import tensorflow_custom_ops as ops  # noqa: PLC0415 - named as users name it

        self.assertEqual(ops.build_info()["xla"], self.xla)
        compiled = tf.function(ops.my_op, jit_compile=True)
        if self.xla:
            self.assertEqual(compiled(tf.constant(2.0)).numpy(), 4.0)
        else:
            with self.assertRaisesRegex(tf.errors.UnimplementedError, r"MyOp cannot be compiled by XLA .*--xla=true"):
                compiled(tf.constant(2.0))


if __name__ == "__main__":
    absltest.main()
