// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/core/framework/op.h"
#include "tensorflow_custom_ops/core/normalization/norm.h"
#include "tensorflow_custom_ops/core/normalization/op.h"

namespace tensorflow_custom_ops {
namespace normalization {
namespace {

REGISTER_OP("LayerNorm")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("epsilon: float = 1e-3")
    .Input("x: T")
    .Input("scale: T")
    .Input("offset: T")
    .Output("y: T")
    .SetShapeFn(ForwardShape(Norm::kLayer))
    .Doc(R"doc(
Subtracts from each row, the last dimension, its mean, and divides it by its
standard deviation: y = (x - mean(x)) / sqrt(var(x) + epsilon) * scale + offset.

Half and bfloat16 are computed in float, and rounded once.

x: A tensor of shape [..., n], with n > 0.
scale: A vector of shape [n].
offset: A vector of shape [n].
y: A tensor of the shape of `x`.
epsilon: A finite number, 0 at least.
T: The type of the elements.
)doc");

REGISTER_OP("LayerNormGrad")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("epsilon: float = 1e-3")
    .Input("x: T")
    .Input("scale: T")
    .Input("grad: T")
    .Output("x_grad: T")
    .Output("scale_grad: T")
    .Output("offset_grad: T")
    .SetShapeFn(GradientShape(Norm::kLayer))
    .Doc(R"doc(
The gradient of LayerNorm, by all its inputs.

x: As in LayerNorm.
scale: As in LayerNorm.
grad: The gradient with respect to LayerNorm's output.
x_grad: The gradient with respect to `x`.
scale_grad: The gradient with respect to `scale`.
offset_grad: The gradient with respect to `offset`.
epsilon: As in LayerNorm.
T: The type of the elements.
)doc");

}  // namespace
}  // namespace normalization
}  // namespace tensorflow_custom_ops
