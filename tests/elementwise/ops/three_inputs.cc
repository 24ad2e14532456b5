// SPDX-License-Identifier: Apache-2.0
#include "tests/elementwise/ops/three_inputs.h"

#include "tensorflow_custom_ops/core/elementwise/op.h"

namespace tensorflow_custom_ops {

REGISTER_ELEMENTWISE_OP(ThreeInputs)
    .Input("a")
    .Input("b")
    .Input("c")
    .Doc("output = sigmoid(a) * tanh(b) * sin(c).");

}  // namespace tensorflow_custom_ops
