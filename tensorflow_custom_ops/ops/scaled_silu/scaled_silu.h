// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_SCALED_SILU_SCALED_SILU_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_SCALED_SILU_SCALED_SILU_H_

#include "tensorflow_custom_ops/core/elementwise/functor.h"

namespace tensorflow_custom_ops {

// Elfwing, Uchibe and Doya, "Sigmoid-Weighted Linear Units for Neural Network
// Function Approximation in Reinforcement Learning", 2018 (alpha = 1), and
// Ramachandran, Zoph and Le, "Searching for Activation Functions", 2017.
struct ScaledSilu : Elementwise</*inputs=*/1, /*attributes=*/1> {
  static constexpr int kOrder = 4;

  template <typename V>
  static FN_INLINE auto Apply(const V& x, fn::Constant alpha) {
    // alpha last: alpha * x may be infinite where the sigmoid is 0.
    return alpha * (x * fn::sigmoid(x));
  }
};

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_SCALED_SILU_SCALED_SILU_H_
