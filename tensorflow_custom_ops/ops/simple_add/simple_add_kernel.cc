// SPDX-License-Identifier: Apache-2.0
#define EIGEN_USE_THREADS  // Eigen's thread pool device, below.

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "unsupported/Eigen/CXX11/Tensor"

namespace tensorflow_custom_ops {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

template <typename T>
class SimpleAddKernel : public OpKernel {
 public:
  explicit SimpleAddKernel(OpKernelConstruction* context) : OpKernel(context) {}

  void Compute(OpKernelContext* context) override {
    const Tensor& a = context->input(0);
    const Tensor& b = context->input(1);
    // Eager mode does not run the shape function.
    OP_REQUIRES(
        context, a.shape() == b.shape(),
        absl::InvalidArgumentError(absl::StrCat(
            "SimpleAdd: a and b must have the same shape, but a has ",
            a.shape().DebugString(), " and b has ", b.shape().DebugString())));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->forward_input_or_allocate_output(
                                {0, 1}, 0, a.shape(), &output));
    const auto& device = context->eigen_device<Eigen::ThreadPoolDevice>();
    output->flat<T>().device(device) = a.flat<T>() + b.flat<T>();
  }
};

#define REGISTER_SIMPLE_ADD(T)                                                 \
  REGISTER_KERNEL_BUILDER(                                                     \
      Name("SimpleAdd").Device(tensorflow::DEVICE_CPU).TypeConstraint<T>("T"), \
      SimpleAddKernel<T>);
TF_CALL_half(REGISTER_SIMPLE_ADD);
TF_CALL_bfloat16(REGISTER_SIMPLE_ADD);
TF_CALL_float(REGISTER_SIMPLE_ADD);
TF_CALL_double(REGISTER_SIMPLE_ADD);
TF_CALL_int32(REGISTER_SIMPLE_ADD);
TF_CALL_int64(REGISTER_SIMPLE_ADD);
TF_CALL_complex64(REGISTER_SIMPLE_ADD);
TF_CALL_complex128(REGISTER_SIMPLE_ADD);
#undef REGISTER_SIMPLE_ADD

}  // namespace
}  // namespace tensorflow_custom_ops
