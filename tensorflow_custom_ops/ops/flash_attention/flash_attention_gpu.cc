// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_gpu.h"

#include <cstdint>

#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"
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

REGISTER_FLASH_ATTENTION(gpu::kDevice, FlashAttentionGpuKernel,
                         FlashAttentionGradGpuKernel);

}  // namespace
}  // namespace tensorflow_custom_ops
