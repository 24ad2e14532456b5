// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_SOFTPLUS_BETA_SOFTPLUS_BETA_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_SOFTPLUS_BETA_SOFTPLUS_BETA_H_

#include "tensorflow_custom_ops/core/elementwise/functor.h"

namespace tensorflow_custom_ops {

// log(1 + e^(beta * x)) / beta.
struct SoftplusBeta : Elementwise</*inputs=*/1, /*attributes=*/1> {
  template <typename V>
  static FN_INLINE auto Apply(const V& x, fn::Constant beta) {
    // beta * x may be infinite: then the result is max(x, 0). At 0 that has the
    // derivative 0 and -|x|, as it is here, the derivative 1: together 1/2.
    const auto minus_abs = fn::select(x > 0_c, -x, x);
    // A product, for a division takes longer than the logarithm.
    return fn::relu(x) + fn::log1p(fn::exp(beta * minus_abs)) * (1_c / beta);
  }

  static const char* Check(fn::Constant beta) {
    // Nothing else: infinity times 0 is NaN, and 1 / beta is infinite for a
    // denormal.
    return beta.value >= 0x1p-126 && beta.value < 0x1p128
               ? nullptr
               : "beta must be positive, finite and no denormal";
  }
};

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_SOFTPLUS_BETA_SOFTPLUS_BETA_H_
