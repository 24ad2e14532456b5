// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/logit/logit.h"

#include "tensorflow_custom_ops/core/elementwise/op.h"

namespace tensorflow_custom_ops {

REGISTER_ELEMENTWISE_OP(Logit)
    .Input("input")
    .Attribute("epsilon: float = 1e-7")
    .Doc(R"doc(
The inverse of the logistic function: output = log(x / (1 - x)), where x is
input, but at least epsilon and at most 1 - epsilon.

input: A tensor of any shape, of probabilities.
output: A tensor of the same shape and type.
epsilon: At least 0 and below 0.5.
T: The type of the elements.
)doc");

}  // namespace tensorflow_custom_ops
