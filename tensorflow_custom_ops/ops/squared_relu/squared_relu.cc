// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/squared_relu/squared_relu.h"

#include "tensorflow_custom_ops/core/elementwise/op.h"

namespace tensorflow_custom_ops {

REGISTER_ELEMENTWISE_OP(SquaredRelu).Input("input").Doc(R"doc(
The square of the rectifier: output = max(input, 0)^2.

input: A tensor of any shape.
output: A tensor of the same shape and type.
T: The type of the elements.
)doc");

}  // namespace tensorflow_custom_ops
