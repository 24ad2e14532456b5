// SPDX-License-Identifier: Apache-2.0
// An op in one source: its definition and its CPU kernel.
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace {

REGISTER_OP("Cube")
    .Attr("T: {float, double}")
    .Input("input: T")
    .Output("output: T")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape)
    .Doc("Cubes each element: output = input**3.");

template <typename T>
class CubeKernel : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& input = context->input(0);
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->forward_input_or_allocate_output(
                                {0}, 0, input.shape(), &output));
    const auto x = input.flat<T>();
    output->flat<T>() = x * x * x;
  }
};

#define REGISTER_CUBE(T)                                                  \
  REGISTER_KERNEL_BUILDER(                                                \
      Name("Cube").Device(tensorflow::DEVICE_CPU).TypeConstraint<T>("T"), \
      CubeKernel<T>);
REGISTER_CUBE(float);
REGISTER_CUBE(double);
#undef REGISTER_CUBE

}  // namespace
