// SPDX-License-Identifier: Apache-2.0
// For *.cu.cc: where the elements of inputs that are broadcast are.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_GPU_BROADCAST_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_GPU_BROADCAST_H_

#include <cstdint>

#include "tensorflow_custom_ops/core/elementwise/gpu.h"
#include "tensorflow_custom_ops/core/gpu/device.h"

namespace tensorflow_custom_ops {
namespace elementwise {

// The part of GpuArgs of this name, for so many inputs.
template <int kInputs>
struct Layout {
  int rank;
  int64_t dims[kMaxRank];
  int64_t strides[kInputs][kMaxRank];
};

template <int kInputs>
Layout<kInputs> LayoutOf(const GpuArgs& args) {
  Layout<kInputs> layout = {};
  layout.rank = args.rank;
  for (int d = 0; d < args.rank; ++d) {
    layout.dims[d] = args.dims[d];
    for (int k = 0; k < kInputs; ++k) layout.strides[k][d] = args.strides[k][d];
  }
  return layout;
}

// The elements of the inputs that belong to element i of the outputs.
template <int kInputs>
__device__ inline void FindElements(const Layout<kInputs>& layout, int64_t i,
                                    int64_t* elements) {
  for (int k = 0; k < kInputs; ++k) elements[k] = 0;
  // Divisions of unsigned numbers are faster.
  auto rest = static_cast<uint64_t>(i);
  for (int d = layout.rank - 1; d > 0; --d) {
    const auto size = static_cast<uint64_t>(layout.dims[d]);
    const auto index = static_cast<int64_t>(rest % size);
    rest /= size;
    for (int k = 0; k < kInputs; ++k) {
      elements[k] += index * layout.strides[k][d];
    }
  }
  for (int k = 0; k < kInputs; ++k) {
    elements[k] += static_cast<int64_t>(rest) * layout.strides[k][0];
  }
}

// Whether each `width` elements of the outputs, of which there are
// `num_elements`, belong to as many of this input without a gap, or to one. The
// last ones, fewer than `width`, are not asked for.
inline bool IsVectorizable(const GpuArgs& args, int input, int64_t width) {
  const int last = args.rank - 1;
  const int64_t* strides = args.strides[input];
  if (strides[last] != 0 && strides[last] != 1) return false;
  // Then no vector has elements of two rows, and each is aligned in its own.
  for (int d = 0; d < last; ++d) {
    if (strides[last] == 1 && strides[d] % width != 0) return false;
  }
  return last == 0 || args.dims[last] % width == 0;
}

}  // namespace elementwise
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_GPU_BROADCAST_H_
