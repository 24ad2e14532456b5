// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CUSTOM_OPS_TESTS_MIGRATE_ADDONS_LECUN_TANH_H_
#define TENSORFLOW_CUSTOM_OPS_TESTS_MIGRATE_ADDONS_LECUN_TANH_H_

#include "tensorflow_custom_ops/core/elementwise/functor.h"

namespace tensorflow_custom_ops {

// LeCun, Bottou, Orr and Müller, "Efficient BackProp", 1998.
struct LecunTanh : Elementwise</*inputs=*/1, /*attributes=*/2> {
  template <typename V>
  static FN_INLINE auto Apply(const V& x, fn::Constant scale,
                              fn::Constant slope) {
    return scale * fn::tanh(slope * x);
  }
};

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_TESTS_MIGRATE_ADDONS_LECUN_TANH_H_
