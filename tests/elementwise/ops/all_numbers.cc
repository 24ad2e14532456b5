// SPDX-License-Identifier: Apache-2.0
#include "tests/elementwise/ops/all_numbers.h"

#include "tensorflow_custom_ops/core/elementwise/op.h"

namespace tensorflow_custom_ops {

REGISTER_ELEMENTWISE_OP(AllNumbers)
    .Input("a")
    .Input("b")
    .Attribute("offset: int = 5")
    .Doc("output = 2 * a * b - a + offset, but -3 where a == b.");

}  // namespace tensorflow_custom_ops
