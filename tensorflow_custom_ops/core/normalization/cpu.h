// SPDX-License-Identifier: Apache-2.0
// Normalisations on the CPU, for the ops' kernels and for XLA's code.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_CPU_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_CPU_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "tensorflow_custom_ops/core/normalization/cpu_rows.h"
#include "tensorflow_custom_ops/core/normalization/norm.h"
#include "tensorflow_custom_ops/core/type.h"

namespace tensorflow_custom_ops {
namespace normalization {

// Calls body(begin, end) on ranges that cover [0, total), maybe in parallel.
// `cycles` is about what one unit costs.
using ParallelFor =
    absl::FunctionRef<void(int64_t total, int64_t cycles,
                           absl::FunctionRef<void(int64_t, int64_t)> body)>;

// The code for the instruction set that SelectIsa chooses.
absl::StatusOr<const Rows*> SelectRows();

inline const RowFunctions& RowFunctionsOf(const Rows& rows, Type type) {
  return rows.of_type[static_cast<int>(type)];
}

void RunForward(const RowFunctions& functions, const Forward& args,
                ParallelFor parallel_for);

// How many sums RunBackward needs room for, of type double for double and else
// float.
int64_t NumCpuSums(Norm norm, int64_t rows, int64_t n);

void RunBackward(const RowFunctions& functions, const Backward& args,
                 void* sums, int64_t bytes_per_sum, ParallelFor parallel_for);

}  // namespace normalization
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_CPU_H_
