// SPDX-License-Identifier: Apache-2.0
// An op whose kernel fails.
#include "tests/gpu/launch_error/fail.h"

#include <cstdint>

#include "absl/status/status.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow_custom_ops/core/gpu/kernel.h"

namespace gpu = tensorflow_custom_ops::gpu;

namespace {

class FailKernel : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const int threads = context->input(0).scalar<int32_t>()();
    OP_REQUIRES_OK(context, gpu::LaunchStatus(
                                type_string(),
                                LaunchFail(gpu::StreamOf(context), threads)));
  }
};

REGISTER_OP("TestFail")
    .Input("threads: int32")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::NoOutputs);
REGISTER_KERNEL_BUILDER(Name("TestFail").Device(gpu::kDevice), FailKernel);

}  // namespace
