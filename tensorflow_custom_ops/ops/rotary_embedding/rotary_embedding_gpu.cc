// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/rotary_embedding/rotary_embedding_gpu.h"

#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow_custom_ops/core/gpu/kernel.h"
#include "tensorflow_custom_ops/ops/rotary_embedding/rotary_embedding_kernel.h"

namespace tensorflow_custom_ops {
namespace {

using tensorflow::OpKernelContext;

template <typename T>
class RotaryEmbeddingGpuKernel : public RotaryEmbeddingKernel {
 public:
  using RotaryEmbeddingKernel::RotaryEmbeddingKernel;

 protected:
  absl::Status Run(OpKernelContext* context,
                   const rotary_embedding::Problem& problem) override {
    return gpu::LaunchStatus(
        type_string(), rotary_embedding::LaunchRotaryEmbedding(
                           gpu::StreamOf(context), gpu::kTypeOf<T>, problem));
  }
};

#define REGISTER_ROTARY_EMBEDDING(T)                                       \
  REGISTER_KERNEL_BUILDER(                                                 \
      Name("RotaryEmbedding").Device(gpu::kDevice).TypeConstraint<T>("T"), \
      RotaryEmbeddingGpuKernel<T>);
TF_CALL_half(REGISTER_ROTARY_EMBEDDING);
TF_CALL_bfloat16(REGISTER_ROTARY_EMBEDDING);
TF_CALL_float(REGISTER_ROTARY_EMBEDDING);
TF_CALL_double(REGISTER_ROTARY_EMBEDDING);
#undef REGISTER_ROTARY_EMBEDDING

}  // namespace
}  // namespace tensorflow_custom_ops
