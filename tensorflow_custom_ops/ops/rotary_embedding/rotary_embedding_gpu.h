// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_ROTARY_EMBEDDING_ROTARY_EMBEDDING_GPU_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_ROTARY_EMBEDDING_ROTARY_EMBEDDING_GPU_H_

#include "tensorflow_custom_ops/core/gpu/launch.h"
#include "tensorflow_custom_ops/ops/rotary_embedding/rotary_embedding_problem.h"

namespace tensorflow_custom_ops {
namespace rotary_embedding {

// Solves a problem whose elements have a floating-point type.
gpu::Error LaunchRotaryEmbedding(gpu::Stream stream, gpu::Type type,
                                 const Problem& problem);

}  // namespace rotary_embedding
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_ROTARY_EMBEDDING_ROTARY_EMBEDDING_GPU_H_
