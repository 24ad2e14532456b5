// SPDX-License-Identifier: Apache-2.0
// What RotaryEmbedding's kernels for all devices share.
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_ROTARY_EMBEDDING_ROTARY_EMBEDDING_KERNEL_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_ROTARY_EMBEDDING_ROTARY_EMBEDDING_KERNEL_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow_custom_ops/core/shape.h"
#include "tensorflow_custom_ops/ops/rotary_embedding/rotary_embedding_problem.h"
#include "tensorflow_custom_ops/ops/rotary_embedding/rotary_embedding_shape.h"

namespace tensorflow_custom_ops {

class RotaryEmbeddingKernel : public tensorflow::OpKernel {
 public:
  explicit RotaryEmbeddingKernel(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context,
                   rotary_embedding::GetAttributes(*context, &attributes_));
  }

  void Compute(tensorflow::OpKernelContext* context) final {
    const tensorflow::Tensor& input = context->input(0);
    std::vector<Shape> positions_shapes;
    for (int i = 1; i < context->num_inputs(); ++i) {
      positions_shapes.push_back(ShapeOf(context->input(i)));
    }
    const Shape shape = ShapeOf(input);
    // Eager mode does not run the shape function.
    OP_REQUIRES_OK(
        context, rotary_embedding::Check(shape, positions_shapes, attributes_));
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->forward_input_or_allocate_output(
                                {0}, 0, input.shape(), &output));
    if (output->NumElements() == 0) return;
    rotary_embedding::Problem problem =
        rotary_embedding::ProblemOf(shape, positions_shapes, attributes_);
    problem.input = input.data();
    problem.output = output->data();
    if (!positions_shapes.empty()) {
      const tensorflow::Tensor& positions = context->input(1);
      if (positions.dtype() == tensorflow::DT_INT64) {
        problem.positions64 = static_cast<const int64_t*>(positions.data());
      } else {
        problem.positions32 = static_cast<const int32_t*>(positions.data());
      }
    }
    OP_REQUIRES_OK(context, Run(context, problem));
  }

 protected:
  // Computes the output, which is not empty.
  virtual absl::Status Run(tensorflow::OpKernelContext* context,
                           const rotary_embedding::Problem& problem) = 0;

 private:
  static Shape ShapeOf(const tensorflow::Tensor& tensor) {
    const auto sizes = tensor.shape().dim_sizes();
    return std::vector<int64_t>(sizes.begin(), sizes.end());
  }

  rotary_embedding::Attributes attributes_;
};

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_ROTARY_EMBEDDING_ROTARY_EMBEDDING_KERNEL_H_
