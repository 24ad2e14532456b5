// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/gelu/gelu.h"

#include "tensorflow_custom_ops/core/elementwise/op.h"

namespace tensorflow_custom_ops {

REGISTER_ELEMENTWISE_OP(Gelu)
    .Input("input")
    .Attribute("approximate: bool = false")
    .Doc(R"doc(
The Gaussian error linear unit: output = input * P(X <= input) for a standard
normal X.

input: A tensor of any shape.
output: A tensor of the same shape and type.
approximate: Whether to compute it with tanh, as
  0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))), or else as
  0.5 * x * erfc(-x / sqrt(2)).
T: The type of the elements.
)doc");

}  // namespace tensorflow_custom_ops
