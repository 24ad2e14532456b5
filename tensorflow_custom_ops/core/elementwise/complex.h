// SPDX-License-Identifier: Apache-2.0
// Complex numbers in CUDA kernels, for std::complex is not for a GPU.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_COMPLEX_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_COMPLEX_H_

#include "tensorflow_custom_ops/core/elementwise/value.h"

namespace tensorflow_custom_ops {
namespace fn {

// In memory as std::complex<T> is.
template <typename T>
struct alignas(2 * sizeof(T)) Complex {
  T real;
  T imaginary;

  Complex() = default;
  FN_INLINE Complex(T real, T imaginary) : real(real), imaginary(imaginary) {}
  explicit FN_INLINE Complex(double real)
      : Complex(static_cast<T>(real), T(0)) {}

  friend FN_INLINE Complex operator-(Complex a) {
    return {-a.real, -a.imaginary};
  }
  friend FN_INLINE Complex operator+(Complex a, Complex b) {
    return {a.real + b.real, a.imaginary + b.imaginary};
  }
  friend FN_INLINE Complex operator-(Complex a, Complex b) {
    return {a.real - b.real, a.imaginary - b.imaginary};
  }
  friend FN_INLINE Complex operator*(Complex a, Complex b) {
    return {a.real * b.real - a.imaginary * b.imaginary,
            a.real * b.imaginary + a.imaginary * b.real};
  }
  friend FN_INLINE bool operator==(Complex a, Complex b) {
    return a.real == b.real && a.imaginary == b.imaginary;
  }
};

}  // namespace fn
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_COMPLEX_H_
