// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_LOGIT_LOGIT_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_LOGIT_LOGIT_H_

#include "tensorflow_custom_ops/core/elementwise/functor.h"

namespace tensorflow_custom_ops {

// log(x / (1 - x)) of x between epsilon and 1 - epsilon, the inverse of the
// logistic function.
struct Logit : Elementwise</*inputs=*/1, /*attributes=*/1> {
  template <typename V>
  static FN_INLINE auto Apply(const V& x, fn::Constant epsilon) {
    // Both are bounded, for 1 - epsilon may be rounded to 1.
    const fn::Constant most = 1_c - epsilon;
    const auto rest = 1_c - x;
    const auto y = fn::log(fn::clamp(x, epsilon, most)) -
                   fn::log(fn::clamp(rest, epsilon, most));
    // Outside the derivative is 0, also where that of y is infinite: with an
    // epsilon of 0, at 0 and 1.
    const auto constant = fn::Primal(y);
    return fn::select(x < epsilon, constant,
                      fn::select(rest < epsilon, constant, y));
  }

  static const char* Check(fn::Constant epsilon) {
    return epsilon.value >= 0 && epsilon.value < 0.5
               ? nullptr
               : "epsilon must be at least 0 and below 0.5";
  }
};

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_LOGIT_LOGIT_H_
