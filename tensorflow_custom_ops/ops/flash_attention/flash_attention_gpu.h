// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_GPU_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_GPU_H_

#include <cstdint>

#include "tensorflow_custom_ops/core/gpu/launch.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_problem.h"

namespace tensorflow_custom_ops {
namespace flash_attention {

// More tiles than that are taken by so many blocks, one after another.
constexpr int64_t kGpuMostBlocks = 1 << 9;

// Both for arrays in the GPU's memory, of elements of `type`; log_sum_exp is
// double where that is double, otherwise float.
gpu::Error LaunchForward(gpu::Stream stream, gpu::Type type,
                         const Forward& problem);

// The gradient of the bias has the type of the bias, and need not be zeros.
gpu::Error LaunchBackward(gpu::Stream stream, gpu::Type type,
                          const Backward& problem);

}  // namespace flash_attention
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_GPU_H_
