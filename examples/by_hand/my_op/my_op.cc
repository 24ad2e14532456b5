// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"

namespace tensorflow_custom_ops {
namespace {

REGISTER_OP("MyOp")
    .Attr("dtype: {half, bfloat16, float, double}")
    .Input("input: dtype")
    .Output("output: dtype")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape)
    .Doc(R"doc(
Doubles each element: output = 2 * input.

input: A tensor of any shape.
output: A tensor of the same shape and type. An element beyond half of the type's
  largest finite value becomes infinite.
dtype: The type of the elements.
)doc");

}  // namespace
}  // namespace tensorflow_custom_ops
