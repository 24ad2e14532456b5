// SPDX-License-Identifier: Apache-2.0
#include "tests/migrate/addons/lecun_tanh.h"

#include "tensorflow_custom_ops/core/elementwise/op.h"

namespace tensorflow_custom_ops {

REGISTER_ELEMENTWISE_OP(LecunTanh)
    .Input("input")
    .Attribute("scale: float = 1.7159")
    .Attribute("slope: float = 0.666667")
    .Doc("output = scale * tanh(slope * input).");

}  // namespace tensorflow_custom_ops
