// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_GELU_GELU_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_GELU_GELU_H_

#include "tensorflow_custom_ops/core/elementwise/functor.h"

namespace tensorflow_custom_ops {

// Hendrycks and Gimpel, "Gaussian Error Linear Units (GELUs)", 2016.
struct Gelu : Elementwise</*inputs=*/1, /*attributes=*/1> {
  template <typename V>
  static FN_INLINE auto Apply(const V& x, fn::Constant approximate) {
    // Below -40 the result is -0, in double too, where infinite terms would be
    // multiplied by 0.
    if constexpr (fn::kDepth<V> == 0) {
      return Product(fn::max(x, -40_c), approximate);
    } else {
      // For positive x it is x + gelu(-x). So the distribution is taken of what
      // is negative alone, where its derivatives keep their digits. At 0
      // max(x, 0) has the derivative 0 and -|x|, as it is here, the
      // derivative 1.
      const auto minus_abs = fn::select(x > 0_c, -x, x);
      return fn::relu(x) + Product(fn::max(minus_abs, -40_c), approximate);
    }
  }

 private:
  template <typename V>
  static FN_INLINE auto Product(const V& x, fn::Constant approximate) {
    return x * (approximate.value != 0 ? Approximation(x) : Distribution(x));
  }

  // The standard normal distribution function. Not by erf, of which nothing is
  // left where it is near -1.
  template <typename V>
  static FN_INLINE auto Distribution(const V& x) {
    constexpr fn::Constant kSqrtHalf = 0.70710678118654752440_c;
    return 0.5_c * fn::erfc(-kSqrtHalf * x);
  }

  // 0.5 * (1 + tanh(y)) is sigmoid(2 * y), which keeps its digits where that is
  // near 0.
  template <typename V>
  static FN_INLINE auto Approximation(const V& x) {
    // 2 * sqrt(2 / pi)
    constexpr fn::Constant kTwoSlopes = 1.59576912160573071176_c;
    return fn::sigmoid(x * (kTwoSlopes + kTwoSlopes * 0.044715_c * (x * x)));
  }
};

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_GELU_GELU_H_
