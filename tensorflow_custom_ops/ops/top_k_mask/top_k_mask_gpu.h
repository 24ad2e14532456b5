// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_TOP_K_MASK_TOP_K_MASK_GPU_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_TOP_K_MASK_TOP_K_MASK_GPU_H_

#include <cstdint>

#include "tensorflow_custom_ops/core/gpu/launch.h"

namespace tensorflow_custom_ops {

// A block takes one row, and then another. Not more blocks than this: no GPU
// runs as many at a time (32 on each of 148 multiprocessors, or 24 on 188).
constexpr int64_t kTopKMaskMostBlocks = 5120;

// TopKMask of `rows` rows of n elements, of which there are k at least and
// 2^32 - 1 at most: they are counted in 32 bits, for which GPUs have fast
// atomic operations in shared memory. `fill_value` points to a value of the
// type. `output` may be `input`.
gpu::Error LaunchTopKMask(gpu::Stream stream, gpu::Type type, int64_t rows,
                          int64_t n, int64_t k, const void* fill_value,
                          const void* input, void* output, bool* mask);

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_TOP_K_MASK_TOP_K_MASK_GPU_H_
