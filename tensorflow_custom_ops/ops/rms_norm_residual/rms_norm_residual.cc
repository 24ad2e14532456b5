// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/core/framework/op.h"
#include "tensorflow_custom_ops/core/normalization/norm.h"
#include "tensorflow_custom_ops/core/normalization/op.h"

namespace tensorflow_custom_ops {
namespace normalization {
namespace {

REGISTER_OP("RmsNormResidual")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("epsilon: float = 1e-6")
    .Input("x: T")
    .Input("residual: T")
    .Input("scale: T")
    .Output("y: T")
    .Output("sum: T")
    .SetShapeFn(ForwardShape(Norm::kRmsResidual))
    .Doc(R"doc(
Adds a residual, and divides each row of the sum, the last dimension, by its root
mean square: y = sum / sqrt(mean(sum^2) + epsilon) * scale, sum = x + residual.

Half and bfloat16 are computed in float. The sum is rounded, and so is `y`.

x: A tensor of shape [..., n], with n > 0.
residual: A tensor of the shape of `x`.
scale: A vector of shape [n].
y: A tensor of the shape of `x`.
sum: A tensor of the shape of `x`.
epsilon: A finite number, 0 at least.
T: The type of the elements.
)doc");

REGISTER_OP("RmsNormResidualGrad")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("epsilon: float = 1e-6")
    .Input("x: T")
    .Input("scale: T")
    .Input("grad: T")
    .Input("sum_grad: T")
    .Output("x_grad: T")
    .Output("scale_grad: T")
    .SetShapeFn(GradientShape(Norm::kRmsResidual))
    .Doc(R"doc(
The gradient of RmsNormResidual, by all its inputs.

x: The sum that RmsNormResidual returned.
scale: As in RmsNormResidual.
grad: The gradient with respect to RmsNormResidual's output `y`.
sum_grad: The gradient with respect to its output `sum`.
x_grad: The gradient with respect to its input `x`, and with respect to `residual`.
scale_grad: The gradient with respect to its input `scale`.
epsilon: As in RmsNormResidual.
T: The type of the elements.
)doc");

}  // namespace
}  // namespace normalization
}  // namespace tensorflow_custom_ops
