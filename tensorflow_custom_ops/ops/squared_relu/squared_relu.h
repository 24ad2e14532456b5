// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_SQUARED_RELU_SQUARED_RELU_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_SQUARED_RELU_SQUARED_RELU_H_

#include "tensorflow_custom_ops/core/elementwise/functor.h"

namespace tensorflow_custom_ops {

// So et al., "Primer: Searching for Efficient Transformers for Language
// Modeling", 2021.
struct SquaredRelu : Elementwise</*inputs=*/1> {
  template <typename V>
  static FN_INLINE auto Apply(const V& x) {
    // Not a comparison with 0, which would make 0 of NaN.
    const auto positive_part = fn::relu(x);
    return positive_part * positive_part;
  }
};

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_SQUARED_RELU_SQUARED_RELU_H_
