// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/my_op/my_op.h"

#include "tensorflow_custom_ops/core/elementwise/op.h"

namespace tensorflow_custom_ops {

REGISTER_ELEMENTWISE_OP(MyOp).Input("input").Doc(R"doc(
Doubles each element: output = 2 * input.

input: A tensor of any shape.
output: A tensor of the same shape and type. An element beyond half of the type's
  largest finite value becomes infinite.
dtype: The type of the elements.
)doc");

}  // namespace tensorflow_custom_ops
