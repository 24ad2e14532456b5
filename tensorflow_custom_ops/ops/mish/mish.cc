// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/mish/mish.h"

#include "tensorflow_custom_ops/core/elementwise/op.h"

namespace tensorflow_custom_ops {

REGISTER_ELEMENTWISE_OP(Mish).Input("input").Doc(R"doc(
Mish: output = input * tanh(log(1 + exp(input))).

input: A tensor of any shape.
output: A tensor of the same shape and type.
T: The type of the elements.
)doc");

}  // namespace tensorflow_custom_ops
