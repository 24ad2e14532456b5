// SPDX-License-Identifier: Apache-2.0
// Attention on the CPU, for TensorFlow's kernels and for XLA's code.
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_CPU_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_CPU_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_problem.h"

namespace tensorflow_custom_ops {
namespace flash_attention {

// Calls body(begin, end) on ranges that cover [0, total), maybe in parallel.
// `cycles` is about what one unit costs.
using ParallelFor =
    absl::FunctionRef<void(int64_t total, int64_t cycles,
                           absl::FunctionRef<void(int64_t, int64_t)> body)>;

// For arrays of T: Eigen::half, Eigen::bfloat16, float or double. Results do
// not depend on how the work is divided. It is an error if the environment asks
// for instructions that the processor lacks, or if memory is short.
template <typename T>
absl::Status RunForward(const Forward& problem, ParallelFor parallel_for);

// If it is wanted, the bias's gradient has so many elements.
template <typename T>
absl::Status RunBackward(const Backward& problem, int64_t bias_elements,
                         ParallelFor parallel_for);

}  // namespace flash_attention
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_CPU_H_
