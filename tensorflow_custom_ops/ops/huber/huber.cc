// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/huber/huber.h"

#include "tensorflow_custom_ops/core/elementwise/op.h"

namespace tensorflow_custom_ops {

REGISTER_ELEMENTWISE_OP(Huber)
    .Input("input")
    .Attribute("delta: float = 1.0")
    .Doc(R"doc(
Huber's loss of errors: output = 0.5 * input^2 where |input| <= delta, and
delta * (|input| - 0.5 * delta) elsewhere.

input: A tensor of any shape.
output: A tensor of the same shape and type.
delta: Where the loss changes from quadratic to linear, a positive number.
T: The type of the elements.
)doc");

}  // namespace tensorflow_custom_ops
