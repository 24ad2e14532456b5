// SPDX-License-Identifier: Apache-2.0
#define EIGEN_USE_THREADS  // Eigen's thread pool device, below.

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
class MyOpKernel : public OpKernel {
 public:
  explicit MyOpKernel(OpKernelConstruction* context) : OpKernel(context) {}

  void Compute(OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->forward_input_or_allocate_output(
                                {0}, 0, input.shape(), &output));
    const auto& device = context->eigen_device<Eigen::ThreadPoolDevice>();
    // Not flat: buffers that other programs made may begin anywhere.
    output->unaligned_flat<T>().device(device) =
        input.unaligned_flat<T>() * static_cast<T>(2);
  }
};

#define REGISTER_MY_OP(T)                                                     \
  REGISTER_KERNEL_BUILDER(                                                    \
      Name("MyOp").Device(tensorflow::DEVICE_CPU).TypeConstraint<T>("dtype"), \
      MyOpKernel<T>);
TF_CALL_half(REGISTER_MY_OP);
TF_CALL_bfloat16(REGISTER_MY_OP);
TF_CALL_float(REGISTER_MY_OP);
TF_CALL_double(REGISTER_MY_OP);
#undef REGISTER_MY_OP

}  // namespace
}  // namespace tensorflow_custom_ops
