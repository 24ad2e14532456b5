// SPDX-License-Identifier: Apache-2.0
// Functors on single numbers: in CUDA kernels, for a GPU and in emulation.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_SCALAR_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_SCALAR_H_

#include <cmath>
#include <cstdint>

#include "tensorflow_custom_ops/core/elementwise/value.h"

namespace tensorflow_custom_ops {
namespace fn {

template <typename T>
struct Scalar {
  T value;
};

// The type in which to add, subtract and multiply: integers wrap around if they
// are unsigned; what signed ones do is not defined.
template <typename T>
struct WrappingOf {
  using Type = T;
};
template <>
struct WrappingOf<int64_t> {
  using Type = uint64_t;
};

template <typename T>
struct Math<Scalar<T>> {
  using V = Scalar<T>;
  using W = typename WrappingOf<T>::Type;
  using MaskBits = bool;

  template <typename Like>
  static FN_INLINE V Constant(const Like&, double value) {
    return {static_cast<T>(value)};
  }
  static FN_INLINE V Negate(V x) { return {T(-W(x.value))}; }
  static FN_INLINE V Add(V a, V b) { return {T(W(a.value) + W(b.value))}; }
  static FN_INLINE V Subtract(V a, V b) { return {T(W(a.value) - W(b.value))}; }
  static FN_INLINE V Multiply(V a, V b) { return {T(W(a.value) * W(b.value))}; }
  static FN_INLINE V Divide(V a, V b) { return {a.value / b.value}; }

  static FN_INLINE bool Less(V a, V b) { return a.value < b.value; }
  static FN_INLINE bool LessEqual(V a, V b) { return a.value <= b.value; }
  static FN_INLINE bool Equal(V a, V b) { return a.value == b.value; }
  static FN_INLINE V Select(bool mask, V a, V b) { return mask ? a : b; }

  // NaN where a is NaN, for the comparison is false, and where b is.
  static FN_INLINE V Max(V a, V b) {
    return a.value > b.value || a.value != a.value ? a : b;
  }
  static FN_INLINE V Min(V a, V b) {
    return a.value < b.value || a.value != a.value ? a : b;
  }
  static FN_INLINE V Abs(V x) { return {std::fabs(x.value)}; }
  static FN_INLINE V Sign(V x) {
    return {x.value > 0 ? T(1) : x.value < 0 ? T(-1) : x.value};
  }
  static FN_INLINE V Floor(V x) { return {std::floor(x.value)}; }
  static FN_INLINE V Round(V x) { return {std::rint(x.value)}; }

  static FN_INLINE V Exp(V x) { return {std::exp(x.value)}; }
  static FN_INLINE V Expm1(V x) { return {std::expm1(x.value)}; }
  static FN_INLINE V Log(V x) { return {std::log(x.value)}; }
  static FN_INLINE V Log1p(V x) { return {std::log1p(x.value)}; }
  static FN_INLINE V Sqrt(V x) { return {std::sqrt(x.value)}; }
  static FN_INLINE V Rsqrt(V x) {
#ifdef __CUDA_ARCH__
    return {::rsqrt(x.value)};
#else
    return {T(1) / std::sqrt(x.value)};
#endif
  }
  static FN_INLINE V Pow(V x, double exponent) {
    return {std::pow(x.value, static_cast<T>(exponent))};
  }
  static FN_INLINE V Tanh(V x) { return {std::tanh(x.value)}; }
  static FN_INLINE V Sigmoid(V x) {
    return {T(1) / (T(1) + std::exp(-x.value))};
  }
  static FN_INLINE V Sin(V x) { return {std::sin(x.value)}; }
  static FN_INLINE V Cos(V x) { return {std::cos(x.value)}; }
  static FN_INLINE V Erf(V x) { return {std::erf(x.value)}; }
  static FN_INLINE V Erfc(V x) { return {std::erfc(x.value)}; }
};

}  // namespace fn
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_SCALAR_H_
