// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_SIMPLE_ADD_SIMPLE_ADD_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_SIMPLE_ADD_SIMPLE_ADD_H_

#include "tensorflow_custom_ops/core/elementwise/functor.h"

namespace tensorflow_custom_ops {

struct SimpleAdd : Elementwise</*inputs=*/2> {
  static constexpr elementwise::TypeSet kTypes = elementwise::kNumberTypes;
  static constexpr bool kBroadcasts = false;
  // Its gradient passes through; see simple_add.py.
  static constexpr int kOrder = 0;

  template <typename A, typename B>
  static FN_INLINE auto Apply(const A& a, const B& b) {
    return a + b;
  }
};

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_SIMPLE_ADD_SIMPLE_ADD_H_
