// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CUSTOM_OPS_TESTS_ELEMENTWISE_OPS_ALL_NUMBERS_H_
#define TENSORFLOW_CUSTOM_OPS_TESTS_ELEMENTWISE_OPS_ALL_NUMBERS_H_

#include "tensorflow_custom_ops/core/elementwise/functor.h"

namespace tensorflow_custom_ops {

struct AllNumbers : Elementwise</*inputs=*/2, /*attributes=*/1> {
  static constexpr elementwise::TypeSet kTypes = elementwise::kNumberTypes;
  static constexpr int kOrder = 0;

  template <typename A, typename B>
  static FN_INLINE auto Apply(const A& a, const B& b, fn::Constant offset) {
    return fn::select(a == b, -3_c, 2_c * a * b - a + offset);
  }
};

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_TESTS_ELEMENTWISE_OPS_ALL_NUMBERS_H_
