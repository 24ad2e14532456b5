// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_FOCAL_LOGITS_FOCAL_LOGITS_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_FOCAL_LOGITS_FOCAL_LOGITS_H_

#include "tensorflow_custom_ops/core/elementwise/functor.h"

namespace tensorflow_custom_ops {

// Lin et al., "Focal Loss for Dense Object Detection", 2017, of two classes:
//   weight * (1 - p_t)^gamma * (cross entropy of labels and p)
// where p = sigmoid(logits), p_t = labels * p + (1 - labels) * (1 - p), and
// weight = labels * alpha + (1 - labels) * (1 - alpha).
struct FocalLogits : Elementwise</*inputs=*/2, /*attributes=*/2> {
  template <typename A, typename B>
  static FN_INLINE auto Apply(const A& logits, const B& labels,
                              fn::Constant alpha, fn::Constant gamma) {
    // Of the class that the logits favour, and of the other: nothing overflows,
    // and a small probability keeps its digits.
    const auto positive = logits > 0_c;
    const auto others = 1_c - labels;
    const auto right = fn::select(positive, labels, others);
    const auto wrong = fn::select(positive, others, labels);
    const auto minus_abs = fn::select(positive, -logits, logits);
    const auto e = fn::exp(minus_abs);

    const auto cross_entropy = fn::log1p(e) - wrong * minus_abs;
    const auto miss = (wrong + right * e) / (1_c + e);  // 1 - p_t
    const auto weight = alpha * labels + (1_c - alpha) * others;
    return weight * cross_entropy * Modulation(miss, gamma);
  }

  static const char* Check(fn::Constant alpha, fn::Constant gamma) {
    if (!(alpha.value >= 0 && alpha.value <= 1)) {
      return "alpha must be from 0 to 1";
    }
    const bool is_finite = gamma.value - gamma.value == 0;
    return gamma.value >= 0 && is_finite
               ? nullptr
               : "gamma must be at least 0 and finite";
  }

 private:
  // miss^gamma.
  template <typename V>
  static FN_INLINE auto Modulation(const V& miss, fn::Constant gamma) {
    // The usual exponent, for which the general power would take longer than
    // all the rest.
    if (gamma.value == 2) return miss * miss;
    // Other powers have derivatives that are infinite at 0. Where a second one
    // could overflow, the loss is 0 but for rounding.
    const bool is_smooth =
        gamma.value == 0 || gamma.value == 1 || gamma.value >= 2;
    const fn::Constant least{is_smooth ? -1 : gamma.value > 1 ? 1e-36 : 1e-18};
    return fn::select(miss <= least, 0_c, fn::pow(miss, gamma));
  }
};

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_FOCAL_LOGITS_FOCAL_LOGITS_H_
