// SPDX-License-Identifier: Apache-2.0
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow_custom_ops/core/shape.h"
#include "tensorflow_custom_ops/core/shape_inference.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_shape.h"

namespace tensorflow_custom_ops {
namespace {

using flash_attention::Shapes;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// The first three inputs, and the biases that follow.
Shapes InputShapes(InferenceContext* context, int num_bias) {
  Shapes shapes = {InputShape(context, 0),
                   InputShape(context, 1),
                   InputShape(context, 2),
                   {}};
  for (int i = 0; i < num_bias; ++i) {
    shapes.biases.push_back(InputShape(context, 3 + i));
  }
  return shapes;
}

absl::Status CheckAttributes(absl::string_view op, InferenceContext* context) {
  flash_attention::Attributes attributes;
  absl::Status status =
      flash_attention::GetAttributes(op, *context, &attributes);
  if (!status.ok()) return status;
  tensorflow::DataType type, sum_type;
  TF_RETURN_IF_ERROR(context->GetAttr("T", &type));
  TF_RETURN_IF_ERROR(context->GetAttr("Tsum", &sum_type));
  return flash_attention::CheckSumType(op, type, sum_type);
}

absl::Status FlashAttentionShape(InferenceContext* context) {
  absl::Status status = CheckAttributes("FlashAttention", context);
  if (!status.ok()) return status;
  status = flash_attention::CheckShapes(
      "FlashAttention", InputShapes(context, context->num_inputs() - 3));
  if (!status.ok()) return status;
  const ShapeHandle query = context->input(0);
  context->set_output(0, query);
  if (!context->RankKnown(query)) {
    context->set_output(1, context->UnknownShapeOfRank(3));
  } else {
    context->set_output(
        1, context->MakeShape({context->Dim(query, 0), context->Dim(query, 2),
                               context->Dim(query, 1)}));
  }
  return absl::OkStatus();
}

absl::Status FlashAttentionGradShape(InferenceContext* context) {
  absl::Status status = CheckAttributes("FlashAttentionGrad", context);
  if (!status.ok()) return status;
  // output, log_sum_exp and output_grad are the last.
  const int rest = context->num_inputs() - 3;
  status = flash_attention::CheckGradShapes(
      "FlashAttentionGrad", InputShapes(context, rest - 3),
      InputShape(context, rest), InputShape(context, rest + 1),
      InputShape(context, rest + 2), context->num_outputs() - 3);
  if (!status.ok()) return status;
  // The gradients of the first inputs.
  for (int i = 0; i < context->num_outputs(); ++i) {
    context->set_output(i, context->input(i));
  }
  return absl::OkStatus();
}

REGISTER_OP("FlashAttention")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("Tsum: {float, double} = DT_FLOAT")
    .Attr("num_bias: int >= 0")
    .Attr("causal: bool = false")
    .Attr("scale: float = 0")
    .Attr("window: int >= 0 = 0")
    .Input("query: T")
    .Input("key: T")
    .Input("value: T")
    .Input("bias: num_bias * T")
    .Output("output: T")
    .Output("log_sum_exp: Tsum")
    .SetShapeFn(FlashAttentionShape)
    .Doc(R"doc(
Attention without the matrix of scores in memory.

output = softmax(scale * query @ transpose(key) + bias) @ value, for each head.
A query that sees no key, or whose scores are all -inf, gives zeros.

query: A tensor of shape [batch, q_length, heads, head_dim].
key: A tensor of shape [batch, kv_length, kv_heads, head_dim]. heads is a multiple
  of kv_heads; as many query heads as that share a head of `key` and `value`.
value: A tensor of the shape of `key`.
bias: None or one tensor, of a shape that broadcasts to
  [batch, heads, q_length, kv_length].
output: A tensor of the shape of `query`.
log_sum_exp: The logarithms of the sums of the scores' exponentials, of shape
  [batch, heads, q_length].
causal: Whether a query sees only the keys up to its own position. The last query
  is at the position of the last key.
scale: What products are multiplied by; 0 is the inverse of the square root of
  head_dim.
window: Unless 0, how many keys a query sees to its left, with that of its own
  position, and unless causal also to its right.
T: The type of the elements.
Tsum: double where T is double, otherwise float.
num_bias: 0 or 1.
)doc");

REGISTER_OP("FlashAttentionGrad")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("Tsum: {float, double} = DT_FLOAT")
    .Attr("num_bias: int >= 0")
    .Attr("num_bias_grad: int >= 0")
    .Attr("causal: bool = false")
    .Attr("scale: float = 0")
    .Attr("window: int >= 0 = 0")
    .Input("query: T")
    .Input("key: T")
    .Input("value: T")
    .Input("bias: num_bias * T")
    .Input("output: T")
    .Input("log_sum_exp: Tsum")
    .Input("output_grad: T")
    .Output("query_grad: T")
    .Output("key_grad: T")
    .Output("value_grad: T")
    .Output("bias_grad: num_bias_grad * T")
    .SetShapeFn(FlashAttentionGradShape)
    .Doc(R"doc(
The gradients of FlashAttention.

query: As for FlashAttention, like the following and the attributes.
key: As for FlashAttention.
value: As for FlashAttention.
bias: As for FlashAttention.
output: What FlashAttention has given.
log_sum_exp: What FlashAttention has given.
output_grad: The gradient with respect to `output`.
query_grad: The gradient with respect to `query`.
key_grad: The gradient with respect to `key`.
value_grad: The gradient with respect to `value`.
bias_grad: The gradient with respect to `bias`, if wanted.
num_bias_grad: Whether the gradient with respect to `bias` is wanted: 0 or 1, and
  at most num_bias.
)doc");

}  // namespace
}  // namespace tensorflow_custom_ops
