// SPDX-License-Identifier: Apache-2.0
// What ops with planted faults are made of. Right, each would double the
// elements of a float tensor.
#ifndef TENSORFLOW_CUSTOM_OPS_TESTS_TESTING_FAULTS_FAULT_H_
#define TENSORFLOW_CUSTOM_OPS_TESTS_TESTING_FAULTS_FAULT_H_

#include <cstdint>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace tensorflow_custom_ops {

using tensorflow::OpKernelContext;
using tensorflow::Tensor;

// A kernel of one function.
template <void (*compute)(OpKernelContext*)>
class FunctionKernel : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override { compute(context); }
};

inline const float* Data(const Tensor& tensor) {
  return static_cast<const float*>(tensor.data());
}

// A new output of the shape of the input; null if that fails.
inline float* NewOutput(OpKernelContext* context) {
  Tensor* output = nullptr;
  context->SetStatus(
      context->allocate_output(0, context->input(0).shape(), &output));
  return output == nullptr ? nullptr : static_cast<float*>(output->data());
}

// Doubles the first n elements.
inline void Double(OpKernelContext* context, int64_t n) {
  const float* input = Data(context->input(0));
  float* output = NewOutput(context);
  for (int64_t i = 0; output != nullptr && i < n; ++i) output[i] = 2 * input[i];
}

}  // namespace tensorflow_custom_ops

#define REGISTER_FAULT(name, compute)                           \
  REGISTER_OP(#name)                                            \
      .Input("x: float")                                        \
      .Output("y: float")                                       \
      .SetShapeFn(tensorflow::shape_inference::UnchangedShape); \
  REGISTER_FAULTY_KERNEL(name, compute)
#define REGISTER_FAULTY_KERNEL(name, compute)                         \
  REGISTER_KERNEL_BUILDER(Name(#name).Device(tensorflow::DEVICE_CPU), \
                          FunctionKernel<compute>)

#endif  // TENSORFLOW_CUSTOM_OPS_TESTS_TESTING_FAULTS_FAULT_H_
