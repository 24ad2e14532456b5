// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/core/normalization/kernel.h"

#include <vector>

#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow_custom_ops/core/normalization/shape.h"

namespace tensorflow_custom_ops {
namespace normalization {

using tensorflow::OpKernelContext;
using tensorflow::Tensor;

namespace {

// For those that the ops' definitions allow.
Type TypeOf(tensorflow::DataType type) {
  switch (type) {
    case tensorflow::DT_HALF:
      return Type::kHalf;
    case tensorflow::DT_BFLOAT16:
      return Type::kBFloat16;
    case tensorflow::DT_DOUBLE:
      return Type::kDouble;
    default:
      return Type::kFloat;
  }
}

}  // namespace

Kernel::Kernel(tensorflow::OpKernelConstruction* context, Norm norm)
    : OpKernel(context),
      norm_(norm),
      is_gradient_(context->def().op() == OpName(norm, true)),
      type_(TypeOf(context->input_type(0))) {
  OP_REQUIRES_OK(context, context->GetAttr("epsilon", &epsilon_));
  OP_REQUIRES_OK(context, CheckEpsilon(norm_, is_gradient_, epsilon_));
}

void Kernel::Compute(OpKernelContext* context) {
  // Eager mode does not run the shape function.
  std::vector<Shape> shapes;
  for (int i = 0; i < context->num_inputs(); ++i) {
    const auto sizes = context->input(i).shape().dim_sizes();
    shapes.push_back(std::vector<int64_t>(sizes.begin(), sizes.end()));
  }
  OP_REQUIRES_OK(context, CheckShapes(norm_, is_gradient_, shapes));
  OP_REQUIRES_OK(context, is_gradient_ ? ComputeBackward(context)
                                       : ComputeForward(context));
}

tensorflow::DataType Kernel::sum_type() const {
  return type_ == Type::kDouble ? tensorflow::DT_DOUBLE : tensorflow::DT_FLOAT;
}

absl::Status Kernel::ComputeForward(OpKernelContext* context) {
  const Tensor& x = context->input(0);
  Tensor* y = nullptr;
  TF_RETURN_IF_ERROR(
      context->forward_input_or_allocate_output({0}, 0, x.shape(), &y));
  Forward args = {};
  args.norm = norm_;
  args.n = x.dim_size(x.dims() - 1);
  args.rows = x.NumElements() / args.n;
  args.epsilon = epsilon_;
  args.x = x.data();
  args.y = y->data();
  int next = 1;
  if (HasResidual(norm_)) {
    Tensor* sum = nullptr;
    TF_RETURN_IF_ERROR(
        context->forward_input_or_allocate_output({next}, 1, x.shape(), &sum));
    args.residual = context->input(next++).data();
    args.sum = sum->data();
  }
  args.scale = context->input(next++).data();
  if (HasOffset(norm_)) args.offset = context->input(next).data();
  return Run(context, args);
}

absl::Status Kernel::ComputeBackward(OpKernelContext* context) {
  const Tensor& x = context->input(0);
  const Tensor& scale = context->input(1);
  Tensor* x_grad = nullptr;
  TF_RETURN_IF_ERROR(context->forward_input_or_allocate_output(
      HasResidual(norm_) ? std::vector<int>{0, 2, 3} : std::vector<int>{0, 2},
      0, x.shape(), &x_grad));
  Tensor* scale_grad = nullptr;
  TF_RETURN_IF_ERROR(context->allocate_output(1, scale.shape(), &scale_grad));
  Backward args = {};
  args.norm = norm_;
  args.n = x.dim_size(x.dims() - 1);
  args.rows = x.NumElements() / args.n;
  args.epsilon = epsilon_;
  args.x = x.data();
  args.scale = scale.data();
  args.grad = context->input(2).data();
  if (HasResidual(norm_)) args.sum_grad = context->input(3).data();
  args.x_grad = x_grad->data();
  args.scale_grad = scale_grad->data();
  if (HasOffset(norm_)) {
    Tensor* offset_grad = nullptr;
    TF_RETURN_IF_ERROR(
        context->allocate_output(2, scale.shape(), &offset_grad));
    args.offset_grad = offset_grad->data();
  }
  Tensor sums;
  TF_RETURN_IF_ERROR(context->allocate_temp(
      sum_type(), {NumSums(norm_, args.rows, args.n)}, &sums));
  return Run(context, args, sums.data());
}

}  // namespace normalization
}  // namespace tensorflow_custom_ops
