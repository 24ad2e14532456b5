// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/rotary_embedding/rotary_embedding_kernel.h"

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow/core/util/work_sharder.h"
#include "tensorflow_custom_ops/core/type.h"
#include "tensorflow_custom_ops/ops/rotary_embedding/rotary_embedding_cpu.h"

namespace tensorflow_custom_ops {
namespace {

using tensorflow::OpKernelContext;

template <typename T>
class RotaryEmbeddingCpuKernel : public RotaryEmbeddingKernel {
 public:
  using RotaryEmbeddingKernel::RotaryEmbeddingKernel;

 protected:
  absl::Status Run(OpKernelContext* context,
                   const rotary_embedding::Problem& problem) override {
    const auto& threads = *context->device()->tensorflow_cpu_worker_threads();
    return rotary_embedding::RunOnCpu(
        problem, kTypeOf<T>,
        [&](int64_t total, int64_t cycles,
            absl::FunctionRef<void(int64_t, int64_t)> body) {
          tensorflow::Shard(threads.num_threads, threads.workers, total, cycles,
                            body);
        });
  }
};

#define REGISTER_ROTARY_EMBEDDING(T)                          \
  REGISTER_KERNEL_BUILDER(Name("RotaryEmbedding")             \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<T>("T"),        \
                          RotaryEmbeddingCpuKernel<T>);
TF_CALL_half(REGISTER_ROTARY_EMBEDDING);
TF_CALL_bfloat16(REGISTER_ROTARY_EMBEDDING);
TF_CALL_float(REGISTER_ROTARY_EMBEDDING);
TF_CALL_double(REGISTER_ROTARY_EMBEDDING);
#undef REGISTER_ROTARY_EMBEDDING

}  // namespace
}  // namespace tensorflow_custom_ops
