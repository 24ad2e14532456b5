// SPDX-License-Identifier: Apache-2.0
// The types of elements, for code that shares no header with TensorFlow.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_TYPE_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_TYPE_H_

#include <complex>
#include <cstdint>

namespace Eigen {
struct bfloat16;
struct half;
}  // namespace Eigen

namespace tensorflow_custom_ops {

enum class Type {
  kHalf,
  kBFloat16,
  kFloat,
  kDouble,
  kInt32,
  kInt64,
  kComplex64,
  kComplex128,
};
constexpr int kNumTypes = 8;

// The Type of a C++ type. CUDA's half types have theirs in gpu/device.h.
template <typename T>
constexpr Type kTypeOf = T::HasNoType;
template <>
inline constexpr Type kTypeOf<Eigen::half> = Type::kHalf;
template <>
inline constexpr Type kTypeOf<Eigen::bfloat16> = Type::kBFloat16;
template <>
inline constexpr Type kTypeOf<float> = Type::kFloat;
template <>
inline constexpr Type kTypeOf<double> = Type::kDouble;
template <>
inline constexpr Type kTypeOf<int32_t> = Type::kInt32;
template <>
inline constexpr Type kTypeOf<int64_t> = Type::kInt64;
template <>
inline constexpr Type kTypeOf<std::complex<float>> = Type::kComplex64;
template <>
inline constexpr Type kTypeOf<std::complex<double>> = Type::kComplex128;

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_TYPE_H_
