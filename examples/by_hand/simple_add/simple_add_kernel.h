// SPDX-License-Identifier: Apache-2.0
#ifndef EXAMPLES_BY_HAND_SIMPLE_ADD_SIMPLE_ADD_KERNEL_H_
#define EXAMPLES_BY_HAND_SIMPLE_ADD_SIMPLE_ADD_KERNEL_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "unsupported/Eigen/CXX11/Tensor"

namespace tensorflow_custom_ops {

// For kernels: eager mode does not run the shape function.
inline absl::Status CheckSimpleAddShapes(const tensorflow::TensorShape& a,
                                         const tensorflow::TensorShape& b) {
  if (a == b) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("SimpleAdd: a and b must have the same shape, but a has ",
                   a.DebugString(), " and b has ", b.DebugString()));
}

// The kernel for inputs in host memory. It needs EIGEN_USE_THREADS, defined
// before the first header.
template <typename T>
class SimpleAddKernel : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& a = context->input(0);
    const tensorflow::Tensor& b = context->input(1);
    OP_REQUIRES_OK(context, CheckSimpleAddShapes(a.shape(), b.shape()));
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->forward_input_or_allocate_output(
                                {0, 1}, 0, a.shape(), &output));
    const auto& device = context->eigen_device<Eigen::ThreadPoolDevice>();
    // Not flat: buffers that other programs made may begin anywhere.
    output->unaligned_flat<T>().device(device) =
        a.unaligned_flat<T>() + b.unaligned_flat<T>();
  }
};

}  // namespace tensorflow_custom_ops

#endif  // EXAMPLES_BY_HAND_SIMPLE_ADD_SIMPLE_ADD_KERNEL_H_
