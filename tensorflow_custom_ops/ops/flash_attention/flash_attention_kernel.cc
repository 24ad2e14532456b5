// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_kernel.h"

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/util/work_sharder.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_cpu.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_problem.h"

namespace tensorflow_custom_ops {
namespace {

using flash_attention::Backward;
using flash_attention::FlashAttentionGradKernel;
using flash_attention::FlashAttentionKernel;
using flash_attention::Forward;
using tensorflow::OpKernelContext;

// A flash_attention::ParallelFor on the threads of the op.
auto OpThreads(OpKernelContext* context) {
  return [context](int64_t total, int64_t cycles,
                   absl::FunctionRef<void(int64_t, int64_t)> body) {
    const auto& workers = *context->device()->tensorflow_cpu_worker_threads();
    tensorflow::Shard(workers.num_threads, workers.workers, total, cycles,
                      body);
  };
}

template <typename T>
class FlashAttentionCpuKernel : public FlashAttentionKernel {
 public:
  using FlashAttentionKernel::FlashAttentionKernel;

 protected:
  absl::Status Run(OpKernelContext* context, const Forward& problem) override {
    return flash_attention::RunForward<T>(problem, OpThreads(context));
  }
};

template <typename T>
class FlashAttentionGradCpuKernel : public FlashAttentionGradKernel {
 public:
  using FlashAttentionGradKernel::FlashAttentionGradKernel;

 protected:
  absl::Status Run(OpKernelContext* context, const Backward& problem,
                   int64_t bias_elements) override {
    return flash_attention::RunBackward<T>(problem, bias_elements,
                                           OpThreads(context));
  }
};

REGISTER_FLASH_ATTENTION(tensorflow::DEVICE_CPU, FlashAttentionCpuKernel,
                         FlashAttentionGradCpuKernel);

}  // namespace
}  // namespace tensorflow_custom_ops
