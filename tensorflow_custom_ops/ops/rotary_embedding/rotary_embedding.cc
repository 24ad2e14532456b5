// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "absl/status/status.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow_custom_ops/core/shape.h"
#include "tensorflow_custom_ops/core/shape_inference.h"
#include "tensorflow_custom_ops/ops/rotary_embedding/rotary_embedding_shape.h"

namespace tensorflow_custom_ops {
namespace {

using tensorflow::shape_inference::InferenceContext;

absl::Status RotaryEmbeddingShape(InferenceContext* context) {
  rotary_embedding::Attributes attributes;
  absl::Status status = rotary_embedding::GetAttributes(*context, &attributes);
  if (!status.ok()) return status;
  std::vector<Shape> positions;
  for (int i = 1; i < context->num_inputs(); ++i) {
    positions.push_back(InputShape(context, i));
  }
  status =
      rotary_embedding::Check(InputShape(context, 0), positions, attributes);
  if (!status.ok()) return status;
  context->set_output(0, context->input(0));
  return absl::OkStatus();
}

REGISTER_OP("RotaryEmbedding")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("Tpositions: {int32, int64} = DT_INT32")
    .Attr("num_positions: int >= 0 = 0")
    .Attr("base: float = 10000")
    .Attr("rotary_dim: int >= -1 = -1")
    .Attr("interleaved: bool = false")
    .Attr("inverse: bool = false")
    .Input("input: T")
    .Input("positions: num_positions * Tpositions")
    .Output("output: T")
    .SetShapeFn(RotaryEmbeddingShape)
    .Doc(R"doc(
Turns pairs of elements of each head by angles proportional to the position.

Pair i of the first `rotary_dim` elements turns by
position * base^(-2i / rotary_dim); the elements that follow stay as they are.
Angles are computed in double; half and bfloat16 are turned in float and rounded
once.

input: A tensor of shape [..., sequence, heads, head_dim].
positions: The positions, of shape [sequence] or [..., sequence]. Where there are
  none, they are 0, 1 and so on.
output: A tensor of the shape and type of `input`.
T: The type of the elements.
Tpositions: The type of the positions.
num_positions: 0 or 1.
base: What the angle's powers are of.
rotary_dim: How many elements of each head turn, an even number; -1 is all.
interleaved: Whether elements 2i and 2i + 1 are pair i, or i and
  i + rotary_dim / 2.
inverse: Whether they turn back.
)doc");

}  // namespace
}  // namespace tensorflow_custom_ops
