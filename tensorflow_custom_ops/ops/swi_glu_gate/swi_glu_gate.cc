// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/swi_glu_gate/swi_glu_gate.h"

#include "tensorflow_custom_ops/core/elementwise/op.h"

namespace tensorflow_custom_ops {

REGISTER_ELEMENTWISE_OP(SwiGluGate).Input("a").Input("b").Doc(R"doc(
The gate of SwiGLU: output = a * sigmoid(a) * b. It broadcasts its inputs.

a: A tensor.
b: A tensor of the same type.
output: A tensor of the shape to which the inputs are broadcast.
T: The type of the elements.
)doc");

}  // namespace tensorflow_custom_ops
