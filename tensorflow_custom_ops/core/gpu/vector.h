// SPDX-License-Identifier: Apache-2.0
// For *.cu.cc: several elements that are loaded or stored at once.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_GPU_VECTOR_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_GPU_VECTOR_H_

#include <cstdint>

namespace tensorflow_custom_ops {
namespace gpu {

// What one instruction of a GPU loads or stores at most.
constexpr int kVectorBytes = 16;

// How many elements of type T that is.
template <typename T>
constexpr int kVectorWidth = kVectorBytes / sizeof(T);

// A wider one takes several instructions.
template <typename T, int kWidth>
struct alignas(kWidth * sizeof(T) < kVectorBytes ? kWidth * sizeof(T)
                                                 : kVectorBytes) Vector {
  T values[kWidth];
};

inline bool IsVectorAligned(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer) % kVectorBytes == 0;
}

}  // namespace gpu
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_GPU_VECTOR_H_
