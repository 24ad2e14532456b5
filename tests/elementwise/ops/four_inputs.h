// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CUSTOM_OPS_TESTS_ELEMENTWISE_OPS_FOUR_INPUTS_H_
#define TENSORFLOW_CUSTOM_OPS_TESTS_ELEMENTWISE_OPS_FOUR_INPUTS_H_

#include "tensorflow_custom_ops/core/elementwise/functor.h"

namespace tensorflow_custom_ops {

// Its name is not that of its folder's op in CamelCase.
struct FactorsABCD : Elementwise</*inputs=*/4, /*attributes=*/1> {
  template <typename A, typename B, typename C, typename D>
  static FN_INLINE auto Apply(const A& a, const B& b, const C& c, const D& d,
                              fn::Constant times) {
    return fn::sigmoid(a) * fn::tanh(b) * fn::sin(c) * fn::cos(d) * times;
  }

  static const char* Check(fn::Constant times) {
    return times.value != 0 ? nullptr : "times must not be 0";
  }
};

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_TESTS_ELEMENTWISE_OPS_FOUR_INPUTS_H_
