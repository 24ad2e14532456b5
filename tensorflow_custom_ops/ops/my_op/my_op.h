// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_MY_OP_MY_OP_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_MY_OP_MY_OP_H_

#include "tensorflow_custom_ops/core/elementwise/functor.h"

namespace tensorflow_custom_ops {

struct MyOp : Elementwise</*inputs=*/1> {
  // It is its own derivative; see my_op.py.
  static constexpr int kOrder = 0;
  static constexpr const char* kTypeAttribute = "dtype";

  template <typename V>
  static FN_INLINE auto Apply(const V& x) {
    return x + x;
  }
};

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_MY_OP_MY_OP_H_
