// SPDX-License-Identifier: Apache-2.0
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow_custom_ops {
namespace {

using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

absl::Status RowDistanceShape(InferenceContext* context) {
  const ShapeHandle a = context->input(0);
  const ShapeHandle b = context->input(1);
  ShapeHandle both;
  if (!context->Merge(a, b, &both).ok() ||
      !context->WithRankAtLeast(both, 1, &both).ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "RowDistance: a and b must have one shape, of one dimension or more, "
        "but a has ",
        context->DebugString(a), " and b has ", context->DebugString(b)));
  }
  ShapeHandle output = context->UnknownShape();
  if (context->RankKnown(both)) {
    absl::Status status = context->Subshape(both, 0, -1, &output);
    if (!status.ok()) return status;
  }
  context->set_output(0, output);
  return absl::OkStatus();
}

REGISTER_OP("RowDistance")
    .Attr("T: {float, double}")
    .Input("a: T")
    .Input("b: T")
    .Output("distance: T")
    .SetShapeFn(RowDistanceShape)
    .Doc(R"doc(
Computes the squared distance between rows: of a - b the sum of the squares over
the last dimension.

a: A tensor of one dimension or more.
b: A tensor of the shape and type of `a`.
distance: A tensor of that type, and of that shape without the last dimension.
T: The type of the elements.
)doc");

}  // namespace
}  // namespace tensorflow_custom_ops
