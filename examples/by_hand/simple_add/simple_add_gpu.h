// SPDX-License-Identifier: Apache-2.0
#ifndef EXAMPLES_BY_HAND_SIMPLE_ADD_SIMPLE_ADD_GPU_H_
#define EXAMPLES_BY_HAND_SIMPLE_ADD_SIMPLE_ADD_GPU_H_

#include <cstdint>

#include "tensorflow_custom_ops/core/gpu/launch.h"

namespace tensorflow_custom_ops {

// output[i] = a[i] + b[i] for n elements. `output` may be `a` or `b`.
gpu::Error LaunchSimpleAdd(gpu::Stream stream, gpu::Type type, int64_t n,
                           const void* a, const void* b, void* output);

}  // namespace tensorflow_custom_ops

#endif  // EXAMPLES_BY_HAND_SIMPLE_ADD_SIMPLE_ADD_GPU_H_
