// SPDX-License-Identifier: Apache-2.0
#include "examples/by_hand/my_op/my_op_gpu.h"

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow_custom_ops/core/gpu/kernel.h"

namespace tensorflow_custom_ops {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

template <typename T>
class MyOpGpuKernel : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->forward_input_or_allocate_output(
                                {0}, 0, input.shape(), &output));
    const gpu::Error error =
        LaunchMyOp(gpu::StreamOf(context), gpu::kTypeOf<T>, input.NumElements(),
                   input.data(), output->data());
    OP_REQUIRES_OK(context, gpu::LaunchStatus(type_string(), error));
  }
};

#define REGISTER_MY_OP(T)                                           \
  REGISTER_KERNEL_BUILDER(                                          \
      Name("MyOp").Device(gpu::kDevice).TypeConstraint<T>("dtype"), \
      MyOpGpuKernel<T>);
TF_CALL_half(REGISTER_MY_OP);
TF_CALL_bfloat16(REGISTER_MY_OP);
TF_CALL_float(REGISTER_MY_OP);
TF_CALL_double(REGISTER_MY_OP);
#undef REGISTER_MY_OP

}  // namespace
}  // namespace tensorflow_custom_ops
