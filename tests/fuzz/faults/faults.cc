// SPDX-License-Identifier: Apache-2.0
// Ops with faults that the fuzzer must find. Right, each would copy x, where
// its size is at most that of the attribute.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow_custom_ops {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::shape_inference::InferenceContext;

absl::Status Copy(OpKernelContext* context) {
  Tensor* output = nullptr;
  const Tensor& input = context->input(0);
  absl::Status status = context->allocate_output(0, input.shape(), &output);
  if (!status.ok()) return status;
  std::memcpy(output->data(), input.data(), input.TotalBytes());
  return status;
}

// With the fault in a function of the kernel's context and the limit.
template <absl::Status (*compute)(OpKernelContext* context, int64_t limit)>
class Kernel : public tensorflow::OpKernel {
 public:
  explicit Kernel(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("limit", &limit_));
  }
  void Compute(OpKernelContext* context) override {
    OP_REQUIRES_OK(context, compute(context, limit_));
  }

 private:
  int64_t limit_;
};

#define REGISTER_FAULT(name, compute, shape_function)                 \
  REGISTER_OP(#name)                                                  \
      .Attr("limit: int = 8")                                         \
      .Input("x: float")                                              \
      .Output("y: float")                                             \
      .SetShapeFn(shape_function);                                    \
  REGISTER_KERNEL_BUILDER(Name(#name).Device(tensorflow::DEVICE_CPU), \
                          Kernel<compute>)

using tensorflow::shape_inference::UnchangedShape;

absl::Status Sound(OpKernelContext* context, int64_t limit) {
  for (const int64_t size : context->input(0).shape().dim_sizes()) {
    if (size <= limit) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("FuzzSound: x must have dimensions of at most limit, ",
                     limit, ", but one is ", size));
  }
  return Copy(context);
}
REGISTER_FAULT(FuzzSound, Sound, UnchangedShape);

absl::Status Crash(OpKernelContext* context, int64_t limit) {
  if (context->input(0).dims() == 4 && limit < 0) std::abort();
  return Copy(context);
}
REGISTER_FAULT(FuzzCrash, Crash, UnchangedShape);

absl::Status Hang(OpKernelContext* context, int64_t limit) {
  const volatile bool hangs = context->input(0).NumElements() == 0 && limit < 0;
  while (hangs) {
  }
  return Copy(context);
}
REGISTER_FAULT(FuzzHang, Hang, UnchangedShape);

absl::Status Unclear(OpKernelContext* context, int64_t /*limit*/) {
  if (context->input(0).dims() == 0) {
    return absl::InvalidArgumentError("bad x");
  }
  return Copy(context);
}
REGISTER_FAULT(FuzzUnclear, Unclear, UnchangedShape);

absl::Status WrongClass(OpKernelContext* context, int64_t /*limit*/) {
  if (context->input(0).dims() == 0) {
    return absl::InternalError(
        "FuzzWrongClass: x must have a dimension, but it is a scalar");
  }
  return Copy(context);
}
REGISTER_FAULT(FuzzWrongClass, WrongClass, UnchangedShape);

absl::Status Leak(OpKernelContext* context, int64_t /*limit*/) {
  static char* volatile last = nullptr;
  constexpr size_t kSize = 1 << 16;
  last = new char[kSize];
  std::fill(last, last + kSize, 1);
  return Copy(context);
}
REGISTER_FAULT(FuzzLeak, Leak, UnchangedShape);

absl::Status NoFault(OpKernelContext* context, int64_t /*limit*/) {
  return Copy(context);
}

// Without what it knows of the last dimension, it thinks that is 1.
absl::Status WrongShape(InferenceContext* context) {
  const auto input = context->input(0);
  context->set_output(0, input);
  if (!context->RankKnown(input) || context->Rank(input) == 0 ||
      context->ValueKnown(context->Dim(input, -1))) {
    return absl::OkStatus();
  }
  tensorflow::shape_inference::ShapeHandle output;
  absl::Status status =
      context->ReplaceDim(input, -1, context->MakeDim(1), &output);
  context->set_output(0, output);
  return status;
}
REGISTER_FAULT(FuzzWrongShape, NoFault, WrongShape);

// Refuses what the kernel takes.
absl::Status StrictShape(InferenceContext* context) {
  context->set_output(0, context->input(0));
  if (context->RankKnown(context->input(0)) &&
      context->Rank(context->input(0)) == 0) {
    return absl::InvalidArgumentError(
        "FuzzStrictShape: x must have a dimension, but it is a scalar");
  }
  return absl::OkStatus();
}
REGISTER_FAULT(FuzzStrictShape, NoFault, StrictShape);

// Ends the process for shapes that no tensor can have.
absl::Status CrashingShape(InferenceContext* context) {
  tensorflow::TensorShapeProto proto;
  context->ShapeHandleToProto(context->input(0), &proto);
  const tensorflow::PartialTensorShape shape(proto);
  context->set_output(0, context->input(0));
  return absl::OkStatus();
}
REGISTER_FAULT(FuzzCrashingShape, NoFault, CrashingShape);

}  // namespace
}  // namespace tensorflow_custom_ops
