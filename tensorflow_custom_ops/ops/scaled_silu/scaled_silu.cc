// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/scaled_silu/scaled_silu.h"

#include "tensorflow_custom_ops/core/elementwise/op.h"

namespace tensorflow_custom_ops {

REGISTER_ELEMENTWISE_OP(ScaledSilu)
    .Input("input")
    .Attribute("alpha: float = 1.0")
    .Doc(R"doc(
The scaled sigmoid linear unit: output = alpha * input * sigmoid(input).

input: A tensor of any shape.
output: A tensor of the same shape and type.
alpha: The factor.
T: The type of the elements.
)doc");

}  // namespace tensorflow_custom_ops
