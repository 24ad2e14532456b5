// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/simple_add/simple_add.h"

#include "tensorflow_custom_ops/core/elementwise/op.h"

namespace tensorflow_custom_ops {

REGISTER_ELEMENTWISE_OP(SimpleAdd).Input("a").Input("b").Commutative().Doc(
    R"doc(
Adds two tensors of one shape: output = a + b.

Unlike Add it does not broadcast: other shapes are an InvalidArgument error.
Integers wrap around on overflow.

a: A tensor of any shape.
b: A tensor of the shape and type of `a`.
output: A tensor of the same shape and type.
T: The type of the elements.
)doc");

}  // namespace tensorflow_custom_ops
