// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding on the CPU, for TensorFlow's kernel and for XLA's code.
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_ROTARY_EMBEDDING_ROTARY_EMBEDDING_CPU_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_ROTARY_EMBEDDING_ROTARY_EMBEDDING_CPU_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "tensorflow_custom_ops/core/type.h"
#include "tensorflow_custom_ops/ops/rotary_embedding/rotary_embedding_problem.h"

namespace tensorflow_custom_ops {
namespace rotary_embedding {

// Calls body(begin, end) on ranges that cover [0, total), maybe in parallel.
// `cycles` is about what one unit costs.
using ParallelFor =
    absl::FunctionRef<void(int64_t total, int64_t cycles,
                           absl::FunctionRef<void(int64_t, int64_t)> body)>;

// Solves a problem whose elements have a floating-point type.
absl::Status RunOnCpu(const Problem& problem, Type type,
                      ParallelFor parallel_for);

}  // namespace rotary_embedding
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_ROTARY_EMBEDDING_ROTARY_EMBEDDING_CPU_H_
