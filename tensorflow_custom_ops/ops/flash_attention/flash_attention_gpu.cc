// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_gpu.h"

#include <cstdint>

#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow_custom_ops/core/gpu/kernel.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_kernel.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_problem.h"

namespace tensorflow_custom_ops {
namespace {

using flash_attention::Backward;
using flash_attention::FlashAttentionGradKernel;
using flash_attention::FlashAttentionKernel;
using flash_attention::Forward;
using tensorflow::OpKernelContext;

template <typename T>
class FlashAttentionGpuKernel : public FlashAttentionKernel {
 public:
  using FlashAttentionKernel::FlashAttentionKernel;

 protected:
  absl::Status Run(OpKernelContext* context, const Forward& problem) override {
    return gpu::LaunchStatus(
        type_string(), flash_attention::LaunchForward(
                           gpu::StreamOf(context), gpu::kTypeOf<T>, problem));
  }
};

template <typename T>
class FlashAttentionGradGpuKernel : public FlashAttentionGradKernel {
 public:
  using FlashAttentionGradKernel::FlashAttentionGradKernel;

 protected:
  absl::Status Run(OpKernelContext* context, const Backward& problem,
                   int64_t /*bias_elements*/) override {
    return gpu::LaunchStatus(
        type_string(), flash_attention::LaunchBackward(
                           gpu::StreamOf(context), gpu::kTypeOf<T>, problem));
  }
};

#define REGISTER_FLASH_ATTENTION(T, Sum)                    \
  REGISTER_KERNEL_BUILDER(Name("FlashAttention")            \
                              .Device(gpu::kDevice)         \
                              .TypeConstraint<T>("T")       \
                              .TypeConstraint<Sum>("Tsum"), \
                          FlashAttentionGpuKernel<T>);      \
  REGISTER_KERNEL_BUILDER(Name("FlashAttentionGrad")        \
                              .Device(gpu::kDevice)         \
                              .TypeConstraint<T>("T")       \
                              .TypeConstraint<Sum>("Tsum"), \
                          FlashAttentionGradGpuKernel<T>)
REGISTER_FLASH_ATTENTION(Eigen::half, float);
REGISTER_FLASH_ATTENTION(Eigen::bfloat16, float);
REGISTER_FLASH_ATTENTION(float, float);
REGISTER_FLASH_ATTENTION(double, double);
#undef REGISTER_FLASH_ATTENTION

}  // namespace
}  // namespace tensorflow_custom_ops
