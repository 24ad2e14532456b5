// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/softplus_beta/softplus_beta.h"

#include "tensorflow_custom_ops/core/elementwise/op.h"

namespace tensorflow_custom_ops {

REGISTER_ELEMENTWISE_OP(SoftplusBeta)
    .Input("input")
    .Attribute("beta: float = 1.0")
    .Doc(R"doc(
Softplus of a given sharpness: output = log(1 + exp(beta * input)) / beta.

input: A tensor of any shape.
output: A tensor of the same shape and type.
beta: The sharpness, from 2^-126 to 2^126.
T: The type of the elements.
)doc");

}  // namespace tensorflow_custom_ops
