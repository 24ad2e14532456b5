// SPDX-License-Identifier: Apache-2.0
// How the CPU kernel reads an input that is broadcast.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_CPU_GATHER_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_CPU_GATHER_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "tensorflow_custom_ops/core/elementwise/kernel_common.h"

namespace tensorflow_custom_ops {
namespace elementwise {

// Walks through the elements of one input in the order of the output.
class Gatherer {
 public:
  // `begin` is the element of the output to begin with.
  Gatherer(const Broadcast& broadcast, int input, int64_t element_bytes,
           int64_t begin);

  // The next n elements: where they are, if they follow each other there, or
  // else copied to `to`.
  const void* Next(const void* array, char* to, int64_t n);

 private:
  const Broadcast& broadcast_;
  const absl::InlinedVector<int64_t, 4>& strides_;
  const int64_t element_bytes_;
  // The next element of the output, by dimension, and where its input is.
  absl::InlinedVector<int64_t, 4> index_;
  int64_t position_ = 0;
};

}  // namespace elementwise
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_CPU_GATHER_H_
