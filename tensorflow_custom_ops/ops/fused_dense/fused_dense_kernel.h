// SPDX-License-Identifier: Apache-2.0
// What FusedDense's kernels for all devices share.
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_FUSED_DENSE_FUSED_DENSE_KERNEL_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_FUSED_DENSE_FUSED_DENSE_KERNEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow_custom_ops/core/shape.h"
#include "tensorflow_custom_ops/ops/fused_dense/fused_dense_problem.h"
#include "tensorflow_custom_ops/ops/fused_dense/fused_dense_shape.h"

namespace tensorflow_custom_ops {

class FusedDenseKernel : public tensorflow::OpKernel {
 public:
  explicit FusedDenseKernel(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    std::string activation;
    OP_REQUIRES_OK(context, context->GetAttr("activation", &activation));
    activation_ = ActivationOf(activation);
  }

  void Compute(tensorflow::OpKernelContext* context) final {
    const tensorflow::Tensor& input = context->input(0);
    const tensorflow::Tensor& weights = context->input(1);
    const tensorflow::Tensor& bias = context->input(2);
    // Eager mode does not run the shape function.
    OP_REQUIRES_OK(context,
                   fused_dense::CheckShapes(ShapeOf(input), ShapeOf(weights),
                                            ShapeOf(bias)));
    const int64_t in = weights.dim_size(0);
    const int64_t units = weights.dim_size(1);
    tensorflow::TensorShape shape = input.shape();
    OP_REQUIRES_OK(context, shape.SetDimWithStatus(shape.dims() - 1, units));
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &output));
    if (output->NumElements() == 0) return;
    OP_REQUIRES_OK(context, Run(context,
                                {input.data(), weights.data(), bias.data(),
                                 output->data(), in, units, activation_},
                                output->NumElements() / units));
  }

 protected:
  // Computes the output, which is not empty.
  virtual absl::Status Run(tensorflow::OpKernelContext* context,
                           const fused_dense::Problem& problem,
                           int64_t rows) = 0;

 private:
  // For a name that the op's definition allows.
  static fused_dense::Activation ActivationOf(const std::string& name) {
    using fused_dense::Activation;
    if (name == "relu") return Activation::kRelu;
    if (name == "tanh") return Activation::kTanh;
    if (name == "sigmoid") return Activation::kSigmoid;
    return Activation::kLinear;
  }

  static Shape ShapeOf(const tensorflow::Tensor& tensor) {
    const auto sizes = tensor.shape().dim_sizes();
    return std::vector<int64_t>(sizes.begin(), sizes.end());
  }

  fused_dense::Activation activation_;
};

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_FUSED_DENSE_FUSED_DENSE_KERNEL_H_
