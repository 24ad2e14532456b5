// SPDX-License-Identifier: Apache-2.0
// What the tests of kernels share.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_GPU_TEST_CASES_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_GPU_TEST_CASES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tensorflow_custom_ops/core/gpu/device.h"
#include "tensorflow_custom_ops/core/gpu/launch.h"
#include "tools/cuda_emulator/gpu_test.h"

namespace tensorflow_custom_ops {
namespace gpu {

// Sizes beside those of vectors, warps and blocks, and more than one block.
constexpr int64_t kTestSizes[] = {0, 1, 2, 3, 7, 8, 9, 31, 33, 255, 257, 2051};

// Small multiples of 1/4, which all types but the integers have, with repeats.
template <typename T>
std::vector<T> TestValues(int64_t n, uint32_t seed) {
  std::vector<T> values;
  for (int64_t i = 0; i < n; ++i) {
    seed = seed * 1664525 + 1013904223;
    values.push_back(static_cast<T>((static_cast<int>(seed >> 25) - 64) / 4.f));
  }
  return values;
}

template <typename T>
double AsDouble(T value) {
  return static_cast<double>(static_cast<ComputeType<T>>(value));
}

}  // namespace gpu
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_GPU_TEST_CASES_H_
