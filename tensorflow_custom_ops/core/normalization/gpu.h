// SPDX-License-Identifier: Apache-2.0
// Normalisations on a GPU. Neither TensorFlow nor CUDA is included.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_GPU_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_GPU_H_

#include <cstdint>

#include "tensorflow_custom_ops/core/gpu/launch.h"
#include "tensorflow_custom_ops/core/normalization/norm.h"

namespace tensorflow_custom_ops {
namespace normalization {

// Some blocks of threads for each of a GPU's multiprocessors.
constexpr int64_t kEnoughGpuBlocks = 1024;

// How many sums LaunchBackward needs room for, of type double for double and
// else float.
constexpr int64_t NumGpuSums(Norm norm, int64_t rows, int64_t n) {
  return Blocks(rows, kEnoughGpuBlocks).count() * NumSums(norm) * n;
}

gpu::Error LaunchForward(gpu::Stream stream, Type type, const Forward& args);

gpu::Error LaunchBackward(gpu::Stream stream, Type type, const Backward& args,
                          void* sums);

}  // namespace normalization
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_GPU_H_
