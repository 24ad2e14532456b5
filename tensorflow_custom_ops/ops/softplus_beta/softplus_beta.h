// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_SOFTPLUS_BETA_SOFTPLUS_BETA_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_SOFTPLUS_BETA_SOFTPLUS_BETA_H_

#include "tensorflow_custom_ops/core/elementwise/functor.h"

namespace tensorflow_custom_ops {

// log(1 + e^(beta * x)) / beta.
struct SoftplusBeta : Elementwise</*inputs=*/1, /*attributes=*/1> {
  template <typename V>
  static FN_INLINE auto Apply(const V& x, fn::Constant beta) {
    if constexpr (fn::kDepth<V> == 0) {
      // beta * x may be infinite: then the result is max(x, 0). A product with
      // 1 / beta, for a division takes longer than the logarithm.
      return fn::relu(x) +
             fn::log1p(fn::exp(beta * MinusAbs(x))) * (1_c / beta);
    } else {
      return fn::Chain(Apply(x.value, beta), Slope(x.value, beta), x.tangents);
    }
  }

  static const char* Check(fn::Constant beta) {
    // beta and 1 / beta are normal floats.
    return beta.value >= 0x1p-126 && beta.value <= 0x1p126
               ? nullptr
               : "beta must be from 2^-126 to 2^126";
  }

 private:
  template <typename V>
  static FN_INLINE auto MinusAbs(const V& x) {
    return fn::select(x > 0_c, -x, x);
  }

  // The derivative sigmoid(beta * x). beta and 1 / beta cancel each other out
  // here: multiplied by one after the other, small numbers would be flushed to
  // zero between. Where it is near 1, its derivative keeps its digits.
  template <typename V>
  static FN_INLINE auto Slope(const V& x, fn::Constant beta) {
    const auto below = fn::sigmoid(beta * MinusAbs(x));
    return fn::select(x > 0_c, 1_c - below, below);
  }
};

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_SOFTPLUS_BETA_SOFTPLUS_BETA_H_
