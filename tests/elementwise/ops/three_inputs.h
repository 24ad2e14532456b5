// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CUSTOM_OPS_TESTS_ELEMENTWISE_OPS_THREE_INPUTS_H_
#define TENSORFLOW_CUSTOM_OPS_TESTS_ELEMENTWISE_OPS_THREE_INPUTS_H_

#include "tensorflow_custom_ops/core/elementwise/functor.h"

namespace tensorflow_custom_ops {

struct ThreeInputs : Elementwise</*inputs=*/3> {
  static constexpr int kOrder = 1;

  template <typename A, typename B, typename C>
  static FN_INLINE auto Apply(const A& a, const B& b, const C& c) {
    return fn::sigmoid(a) * fn::tanh(b) * fn::sin(c);
  }
};

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_TESTS_ELEMENTWISE_OPS_THREE_INPUTS_H_
