// SPDX-License-Identifier: Apache-2.0
// What the kernels for all devices share.
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_KERNEL_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_KERNEL_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_problem.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_shape.h"

namespace tensorflow_custom_ops {
namespace flash_attention {

class KernelBase : public tensorflow::OpKernel {
 public:
  explicit KernelBase(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context,
                   GetAttributes(type_string(), *context, &attributes_));
    OP_REQUIRES_OK(context, context->GetAttr("num_bias", &num_bias_));
    tensorflow::DataType type, sum_type;
    OP_REQUIRES_OK(context, context->GetAttr("T", &type));
    OP_REQUIRES_OK(context, context->GetAttr("Tsum", &sum_type));
    OP_REQUIRES_OK(context, CheckSumType(type_string(), type, sum_type));
  }

 protected:
  static Shape ShapeOf(const tensorflow::Tensor& tensor) {
    const auto sizes = tensor.shape().dim_sizes();
    return std::vector<int64_t>(sizes.begin(), sizes.end());
  }

  // The shapes of the first inputs.
  Shapes InputShapes(tensorflow::OpKernelContext* context) const {
    Shapes shapes = {ShapeOf(context->input(0)),
                     ShapeOf(context->input(1)),
                     ShapeOf(context->input(2)),
                     {}};
    for (int i = 0; i < num_bias_; ++i) {
      shapes.biases.push_back(ShapeOf(context->input(3 + i)));
    }
    return shapes;
  }

  // The problem of inputs whose shapes fit.
  Forward ProblemOf(tensorflow::OpKernelContext* context, const Shapes& shapes,
                    void* output, void* log_sum_exp) const {
    const Sizes sizes = SizesOf(shapes, attributes_);
    Bias bias = {};
    if (num_bias_ > 0) {
      bias = BiasOf(*shapes.biases[0], context->input(3).data());
    }
    return {sizes,
            ScaleOf(sizes, attributes_),
            context->input(0).data(),
            context->input(1).data(),
            context->input(2).data(),
            bias,
            output,
            log_sum_exp};
  }

  int num_bias() const { return num_bias_; }

 private:
  Attributes attributes_;
  int num_bias_;
};

class FlashAttentionKernel : public KernelBase {
 public:
  using KernelBase::KernelBase;

  void Compute(tensorflow::OpKernelContext* context) final {
    // Eager mode does not run the shape function.
    const Shapes shapes = InputShapes(context);
    OP_REQUIRES_OK(context, CheckShapes(type_string(), shapes));
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(
                                0, context->input(0).shape(), &output));
    tensorflow::Tensor* log_sum_exp = nullptr;
    OP_REQUIRES_OK(
        context, context->allocate_output(
                     1, tensorflow::TensorShape(*LogSumExpShape(shapes.query)),
                     &log_sum_exp));
    if (output->NumElements() == 0) return;
    OP_REQUIRES_OK(context,
                   Run(context, ProblemOf(context, shapes, output->data(),
                                          log_sum_exp->data())));
  }

 protected:
  // Computes the outputs, which are not empty.
  virtual absl::Status Run(tensorflow::OpKernelContext* context,
                           const Forward& problem) = 0;
};

class FlashAttentionGradKernel : public KernelBase {
 public:
  explicit FlashAttentionGradKernel(tensorflow::OpKernelConstruction* context)
      : KernelBase(context) {
    OP_REQUIRES_OK(context, context->GetAttr("num_bias_grad", &num_bias_grad_));
  }

  void Compute(tensorflow::OpKernelContext* context) final {
    const int rest = 3 + num_bias();
    const tensorflow::Tensor& output = context->input(rest);
    const tensorflow::Tensor& log_sum_exp = context->input(rest + 1);
    const tensorflow::Tensor& output_grad = context->input(rest + 2);
    const Shapes shapes = InputShapes(context);
    OP_REQUIRES_OK(context,
                   CheckGradShapes(type_string(), shapes, ShapeOf(output),
                                   ShapeOf(log_sum_exp), ShapeOf(output_grad),
                                   num_bias_grad_));
    tensorflow::Tensor* grads[4] = {};
    for (int i = 0; i < 3 + num_bias_grad_; ++i) {
      OP_REQUIRES_OK(context, context->allocate_output(
                                  i, context->input(i).shape(), &grads[i]));
    }
    const Forward forward =
        ProblemOf(context, shapes, output.data(), log_sum_exp.data());
    OP_REQUIRES_OK(
        context,
        Run(context,
            {forward, output_grad.data(), grads[0]->data(), grads[1]->data(),
             grads[2]->data(), num_bias_grad_ > 0 ? grads[3]->data() : nullptr},
            num_bias_grad_ > 0 ? grads[3]->NumElements() : 0));
  }

 protected:
  // Computes the gradients, of which some or all may be empty.
  virtual absl::Status Run(tensorflow::OpKernelContext* context,
                           const Backward& problem, int64_t bias_elements) = 0;

 private:
  int num_bias_grad_;
};

}  // namespace flash_attention
}  // namespace tensorflow_custom_ops

// Registers the kernels Kernel<T> and GradKernel<T> for all types. (Tsum is no
// part of that: the kernels tell what is wrong with it.)
#define REGISTER_FLASH_ATTENTION(device, Kernel, GradKernel)                  \
  REGISTER_FLASH_ATTENTION_TYPE(device, Kernel, GradKernel, Eigen::half);     \
  REGISTER_FLASH_ATTENTION_TYPE(device, Kernel, GradKernel, Eigen::bfloat16); \
  REGISTER_FLASH_ATTENTION_TYPE(device, Kernel, GradKernel, float);           \
  REGISTER_FLASH_ATTENTION_TYPE(device, Kernel, GradKernel, double)
#define REGISTER_FLASH_ATTENTION_TYPE(device, Kernel, GradKernel, T)    \
  REGISTER_KERNEL_BUILDER(                                              \
      Name("FlashAttention").Device(device).TypeConstraint<T>("T"),     \
      Kernel<T>);                                                       \
  REGISTER_KERNEL_BUILDER(                                              \
      Name("FlashAttentionGrad").Device(device).TypeConstraint<T>("T"), \
      GradKernel<T>)

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_KERNEL_H_
