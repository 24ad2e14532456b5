// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_HUBER_HUBER_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_HUBER_HUBER_H_

#include "tensorflow_custom_ops/core/elementwise/functor.h"

namespace tensorflow_custom_ops {

// Huber, "Robust Estimation of a Location Parameter", 1964.
struct Huber : Elementwise</*inputs=*/1, /*attributes=*/1> {
  template <typename V>
  static FN_INLINE auto Apply(const V& x, fn::Constant delta) {
    const auto abs = fn::abs(x);
    return fn::select(abs <= delta, 0.5_c * x * x,
                      delta * (abs - 0.5_c * delta));
  }

  static const char* Check(fn::Constant delta) {
    return delta.value > 0 ? nullptr : "delta must be positive";
  }
};

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_HUBER_HUBER_H_
