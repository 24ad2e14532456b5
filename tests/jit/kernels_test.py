# SPDX-License-Identifier: Apache-2.0
"""Ops with kernels of their own, from files and from strings."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from absl.testing import absltest

from tensorflow_custom_ops import _build_info, jit
from tensorflow_custom_ops.jit import _cache
from tests import op_test_case
from tests.jit import jit_test_case

HEADER = """
constexpr double kFactor = 3;
"""

SOURCE = """
#include "factor.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

REGISTER_OP("JitTriple")
    .Input("input: double")
    .Output("output: double")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

class TripleKernel : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& input = context->input(0);
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->forward_input_or_allocate_output({0}, 0, input.shape(), &output));
    output->flat<double>() = input.flat<double>() * (kFactor * JIT_TEST_FACTOR);
  }
};
REGISTER_KERNEL_BUILDER(Name("JitTriple").Device(tensorflow::DEVICE_CPU), TripleKernel);
"""

# The program by which another process uses what the first has compiled.
AGAIN = """
import time, sys, tensorflow as tf
from tensorflow_custom_ops import jit
start = time.perf_counter()
module = jit.load("jit_triple", sys.argv[1], include_dirs=[sys.argv[2]], compile_flags=["-DJIT_TEST_FACTOR=1"])
print(time.perf_counter() - start)
print(module.jit_triple(tf.constant([2.0], tf.float64)).numpy())
"""

XLA_SOURCE = """
#include "tensorflow_custom_ops/core/xla_lowering.h"

absl::Status Lower(tensorflow_custom_ops::XlaLoweringContext& context) {
  const xla::XlaOp x = context.Input(0);
  context.SetOutput(0, xla::Add(x, xla::Add(x, x)));
  return absl::OkStatus();
}
REGISTER_XLA_LOWERING("JitInline", Lower);
"""


class KernelsTest(jit_test_case.JitTestCase):
    def test_files_and_their_cache(self) -> None:
        source = self.write("a folder/triple.cc", SOURCE)
        header = self.write("headers/factor.h", HEADER)
        calls = self.write_compiler()

        def load() -> object:
            return jit.load("jit_triple", source, include_dirs=[header.parent], compile_flags=["-DJIT_TEST_FACTOR=1"])

        module = load()
        self.assertEqual(module.jit_triple(tf.constant([2.0], tf.float64)), [6.0])
        self.assertIs(load(), module)
        count = len(calls.read_text().splitlines())
        printed = self.run_python(AGAIN, str(source), str(header.parent)).stdout.splitlines()
        self.assertEqual(printed[1], "[6.]")
        self.assertLess(float(printed[0]), 0.5)
        self.assertLen(calls.read_text().splitlines(), count)
        # TensorFlow cannot replace an op.
        header.write_text(HEADER.replace("3", "4"))
        with self.assertRaisesRegex(ValueError, "this process has an op JitTriple already.* restart Python"):
            load()

        other = self.folder / "libtriple.so"
        (library,) = (_cache.folder() / "jit_triple").glob("*/*.so")
        other.write_bytes(library.read_bytes())
        with self.assertRaisesRegex(ImportError, "libtriple.so registers no op that is new"):
            jit.load_library(other)

    @absltest.skipUnless(_build_info.XLA, "the package is built without XLA")
    def test_strings_and_xla(self) -> None:
        source = SOURCE.replace('#include "factor.h"', "constexpr double kFactor = 3;").replace("JIT_TEST_FACTOR", "1")
        module = jit.load_inline(
            "jit_inline", source.replace("JitTriple", "JitInline"), xla_source=XLA_SOURCE, verbose=True
        )
        x = self.random((7,), tf.float64)
        for mode in op_test_case.MODES:
            np.testing.assert_allclose(self.in_mode(mode, module.jit_inline)(tf.constant(x)), 3 * x, rtol=1e-15)


if __name__ == "__main__":
    absltest.main()
