// SPDX-License-Identifier: Apache-2.0
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow_custom_ops {
namespace {

using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

absl::Status SimpleAddShape(InferenceContext* context) {
  ShapeHandle a = context->input(0);
  ShapeHandle b = context->input(1);
  ShapeHandle output;
  if (!context->Merge(a, b, &output).ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "SimpleAdd: a and b must have the same shape, but a has ",
        context->DebugString(a), " and b has ", context->DebugString(b)));
  }
  context->set_output(0, output);
  return absl::OkStatus();
}

REGISTER_OP("SimpleAdd")
    .Attr(
        "T: {half, bfloat16, float, double, int32, int64, complex64, "
        "complex128}")
    .Input("a: T")
    .Input("b: T")
    .Output("output: T")
    .SetIsCommutative()
    .SetShapeFn(SimpleAddShape)
    .Doc(R"doc(
Adds two tensors of one shape: output = a + b.

Unlike Add it does not broadcast: other shapes are an InvalidArgument error.
Integers wrap around on overflow.

a: A tensor of any shape.
b: A tensor of the shape and type of `a`.
output: A tensor of the same shape and type.
T: The type of the elements.
)doc");

}  // namespace
}  // namespace tensorflow_custom_ops
