// SPDX-License-Identifier: Apache-2.0
// What is compiled once for each instruction set. Plain types only: that code
// shares no header with TensorFlow.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_CPU_ROWS_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_CPU_ROWS_H_

#include <cstdint>

#include "tensorflow_custom_ops/core/normalization/norm.h"

namespace tensorflow_custom_ops {
namespace normalization {

// All for elements of one type. Sums are double for double, and else float.
struct RowFunctions {
  // Normalises the rows from `begin` to `end`.
  void (*forward)(const Forward& args, int64_t begin, int64_t end);
  // Computes the gradient of x for these rows, and sums up those of scale and
  // offset over them: NumSums arrays of n sums.
  void (*backward)(const Backward& args, int64_t begin, int64_t end,
                   void* sums);
  // Sums up what all blocks have, for the columns from `begin` to `end`, and
  // writes the gradients of scale and offset. Overwrites the sums.
  void (*reduce)(const Backward& args, int64_t blocks, int64_t begin,
                 int64_t end, void* sums);
};

// The functions for one instruction set.
struct Rows {
  const char* isa;
  // In the order of Type, whose first ones these are.
  RowFunctions of_type[4];
};

}  // namespace normalization
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_CPU_ROWS_H_
