// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tensorflow/core/framework/op_kernel.h"

using namespace tensorflow;

template <typename T>
class RunningMaxOp : public OpKernel {
 public:
  explicit RunningMaxOp(OpKernelConstruction* context) : OpKernel(context) {}

  void Compute(OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    OP_REQUIRES(context, TensorShapeUtils::IsVector(input.shape()),
                absl::InvalidArgumentError(absl::StrCat(
                    "RunningMax: values must have one dimension, but have "
                    "shape ",
                    input.shape().DebugString())));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, input.shape(), &output));
    const auto values = input.flat<T>();
    auto maxima = output->flat<T>();
    for (int64_t i = 0; i < values.size(); ++i) {
      maxima(i) = i == 0 ? values(0) : std::max(maxima(i - 1), values(i));
    }
  }
};

REGISTER_KERNEL_BUILDER(
    Name("RunningMax").Device(DEVICE_CPU).TypeConstraint<float>("T"),
    RunningMaxOp<float>);
REGISTER_KERNEL_BUILDER(
    Name("RunningMax").Device(DEVICE_CPU).TypeConstraint<double>("T"),
    RunningMaxOp<double>);
