// SPDX-License-Identifier: Apache-2.0
#ifndef EXAMPLES_BY_HAND_MY_OP_MY_OP_GPU_H_
#define EXAMPLES_BY_HAND_MY_OP_MY_OP_GPU_H_

#include <cstdint>

#include "tensorflow_custom_ops/core/gpu/launch.h"

namespace tensorflow_custom_ops {

// output[i] = 2 * input[i] for n elements. `output` may be `input`.
gpu::Error LaunchMyOp(gpu::Stream stream, gpu::Type type, int64_t n,
                      const void* input, void* output);

}  // namespace tensorflow_custom_ops

#endif  // EXAMPLES_BY_HAND_MY_OP_MY_OP_GPU_H_
