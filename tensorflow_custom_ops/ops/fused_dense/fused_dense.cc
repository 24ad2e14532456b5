// SPDX-License-Identifier: Apache-2.0
#include "absl/status/status.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow_custom_ops/core/shape.h"
#include "tensorflow_custom_ops/core/shape_inference.h"
#include "tensorflow_custom_ops/ops/fused_dense/fused_dense_shape.h"

namespace tensorflow_custom_ops {
namespace {

using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

absl::Status FusedDenseShape(InferenceContext* context) {
  const Shape input = InputShape(context, 0);
  const Shape weights = InputShape(context, 1);
  const Shape bias = InputShape(context, 2);
  absl::Status status = fused_dense::CheckShapes(input, weights, bias);
  if (!status.ok()) return status;
  const Shape output = fused_dense::OutputShape(input, weights, bias);
  if (!output) {
    context->set_output(0, context->UnknownShape());
    return absl::OkStatus();
  }
  // The leading dimensions are those of input itself, known or not.
  ShapeHandle shape;
  status = context->ReplaceDim(context->input(0), -1,
                               context->MakeDim(output->back()), &shape);
  if (!status.ok()) return status;
  context->set_output(0, shape);
  return absl::OkStatus();
}

REGISTER_OP("FusedDense")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("activation: {'linear', 'relu', 'tanh', 'sigmoid'} = 'linear'")
    .Input("input: T")
    .Input("weights: T")
    .Input("bias: T")
    .Output("output: T")
    .SetShapeFn(FusedDenseShape)
    .Doc(R"doc(
A dense layer in one op: output = activation(input @ weights + bias).

Sums of half and bfloat16 are formed in float, and rounded once, after the
activation.

input: A tensor of shape [..., in].
weights: A matrix of shape [in, units].
bias: A vector of shape [units].
output: A tensor of shape [..., units].
activation: What is applied to each element.
T: The type of the elements.
)doc");

}  // namespace
}  // namespace tensorflow_custom_ops
