// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/core/framework/op.h"
#include "tensorflow_custom_ops/core/normalization/norm.h"
#include "tensorflow_custom_ops/core/normalization/op.h"

namespace tensorflow_custom_ops {
namespace normalization {
namespace {

REGISTER_OP("RmsNorm")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("epsilon: float = 1e-6")
    .Input("x: T")
    .Input("scale: T")
    .Output("y: T")
    .SetShapeFn(ForwardShape(Norm::kRms))
    .Doc(R"doc(
Divides each row, the last dimension, by its root mean square:
y = x / sqrt(mean(x^2) + epsilon) * scale.

Half and bfloat16 are computed in float, and rounded once.

x: A tensor of shape [..., n], with n > 0.
scale: A vector of shape [n].
y: A tensor of the shape of `x`.
epsilon: A finite number, 0 at least.
T: The type of the elements.
)doc");

REGISTER_OP("RmsNormGrad")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("epsilon: float = 1e-6")
    .Input("x: T")
    .Input("scale: T")
    .Input("grad: T")
    .Output("x_grad: T")
    .Output("scale_grad: T")
    .SetShapeFn(GradientShape(Norm::kRms))
    .Doc(R"doc(
The gradient of RmsNorm, by all its inputs.

x: As in RmsNorm.
scale: As in RmsNorm.
grad: The gradient with respect to RmsNorm's output.
x_grad: The gradient with respect to `x`.
scale_grad: The gradient with respect to `scale`.
epsilon: As in RmsNorm.
T: The type of the elements.
)doc");

}  // namespace
}  // namespace normalization
}  // namespace tensorflow_custom_ops
