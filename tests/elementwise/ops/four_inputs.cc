// SPDX-License-Identifier: Apache-2.0
#include "tests/elementwise/ops/four_inputs.h"

#include "tensorflow_custom_ops/core/elementwise/op.h"

namespace tensorflow_custom_ops {

REGISTER_ELEMENTWISE_OP(FactorsABCD)
    .Input("a")
    .Input("b")
    .Input("c")
    .Input("d")
    .Attribute("times: int = 2")
    .Doc("output = sigmoid(a) * tanh(b) * sin(c) * cos(d) * times.");

}  // namespace tensorflow_custom_ops
