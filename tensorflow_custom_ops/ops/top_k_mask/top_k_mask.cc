// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/top_k_mask/top_k_mask.h"

#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/tensor.h"

namespace tensorflow_custom_ops {
namespace {

using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

absl::Status TopKMaskShape(InferenceContext* context) {
  const ShapeHandle input = context->input(0);
  const ShapeHandle k_shape = context->input(1);
  // What is not known yet passes.
  absl::Status status = CheckTopKMaskRanks(
      context->RankKnown(input) ? context->Rank(input) : 1,
      context->RankKnown(k_shape) ? context->Rank(k_shape) : 0);
  if (!status.ok()) return status;
  if (const tensorflow::Tensor* k = context->input_tensor(1)) {
    // The value may be known where the shape is not.
    status = CheckTopKMaskRanks(1, k->dims());
    if (!status.ok()) return status;
    int64_t n = std::numeric_limits<int64_t>::max();
    if (context->RankKnown(input) &&
        context->ValueKnown(context->Dim(input, -1))) {
      n = context->Value(context->Dim(input, -1));
    }
    status = CheckTopKMaskK(TopKMaskK(*k), n);
    if (!status.ok()) return status;
  }
  context->set_output(0, input);
  context->set_output(1, input);
  return absl::OkStatus();
}

REGISTER_OP("TopKMask")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("Tk: {int32, int64} = DT_INT32")
    .Attr("fill_value: float = 0")
    .Input("input: T")
    .Input("k: Tk")
    .Output("output: T")
    .Output("mask: bool")
    .SetShapeFn(TopKMaskShape)
    .Doc(R"doc(
Keeps the k largest elements of each row, the last dimension, and replaces the others.

Of equal elements the first are kept. NaN counts as larger than every number, and
-0 as equal to 0.

input: A tensor of at least one dimension.
k: A scalar: how many elements of each row to keep, from none to all.
output: A tensor of the shape and type of `input`.
mask: A tensor of the same shape: where `output` is `input`.
T: The type of the elements.
Tk: The type of `k`.
fill_value: What replaces the other elements, rounded to the type.
)doc");

}  // namespace
}  // namespace tensorflow_custom_ops
