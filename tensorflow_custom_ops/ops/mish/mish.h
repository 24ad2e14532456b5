// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_MISH_MISH_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_MISH_MISH_H_

#include "tensorflow_custom_ops/core/elementwise/functor.h"

namespace tensorflow_custom_ops {

// Misra, "Mish: A Self Regularized Non-Monotonic Activation Function", 2019:
// x * tanh(log(1 + e^x)).
struct Mish : Elementwise</*inputs=*/1> {
  template <typename V>
  static FN_INLINE auto Apply(const V& x) {
    // tanh(log(1 + u)) is (2u + u^2) / (2 + 2u + u^2): one exponential instead
    // of three such functions. Where u = e^x is large, the fraction is that of
    // e^-x, so nothing overflows.
    const auto positive = x > 0_c;
    const auto e = fn::exp(fn::select(positive, -x, x));
    const auto square = e * e;
    const auto numerator = 2_c * e + fn::select(positive, 1_c, square);
    const auto rest = fn::select(positive, square, 1_c);
    return x * (numerator / (numerator + 2_c * rest));
  }
};

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_MISH_MISH_H_
