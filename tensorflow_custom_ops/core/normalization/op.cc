// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/core/normalization/op.h"

#include <cstddef>
#include <vector>

#include "tensorflow_custom_ops/core/normalization/shape.h"
#include "tensorflow_custom_ops/core/shape_inference.h"

namespace tensorflow_custom_ops {
namespace normalization {
namespace {

using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

absl::Status Check(Norm norm, bool is_gradient, InferenceContext* context) {
  float epsilon;
  absl::Status status = context->GetAttr("epsilon", &epsilon);
  if (!status.ok()) return status;
  status = CheckEpsilon(norm, is_gradient, epsilon);
  if (!status.ok()) return status;
  std::vector<Shape> shapes;
  for (int i = 0; i < context->num_inputs(); ++i) {
    shapes.push_back(InputShape(context, i));
  }
  return CheckShapes(norm, is_gradient, shapes);
}

// The shapes of x, and of one row, from all inputs that have them.
absl::Status Merge(Norm norm, bool is_gradient, InferenceContext* context,
                   ShapeHandle* rows, ShapeHandle* row) {
  *rows = context->UnknownShape();
  DimensionHandle n = context->UnknownDim();
  const std::vector<Input> inputs = Inputs(norm, is_gradient);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ShapeHandle input = context->input(static_cast<int>(i));
    if (inputs[i].is_rows) {
      TF_RETURN_IF_ERROR(context->Merge(*rows, input, rows));
    } else if (context->RankKnown(input)) {
      TF_RETURN_IF_ERROR(context->Merge(n, context->Dim(input, 0), &n));
    }
  }
  if (context->RankKnown(*rows)) {
    TF_RETURN_IF_ERROR(context->Merge(n, context->Dim(*rows, -1), &n));
    TF_RETURN_IF_ERROR(context->ReplaceDim(*rows, -1, n, rows));
  }
  *row = context->Vector(n);
  return absl::OkStatus();
}

}  // namespace

ShapeFunction ForwardShape(Norm norm) {
  return [norm](InferenceContext* context) {
    TF_RETURN_IF_ERROR(Check(norm, false, context));
    ShapeHandle rows, row;
    TF_RETURN_IF_ERROR(Merge(norm, false, context, &rows, &row));
    context->set_output(0, rows);
    if (HasResidual(norm)) context->set_output(1, rows);
    return absl::OkStatus();
  };
}

ShapeFunction GradientShape(Norm norm) {
  return [norm](InferenceContext* context) {
    TF_RETURN_IF_ERROR(Check(norm, true, context));
    ShapeHandle rows, row;
    TF_RETURN_IF_ERROR(Merge(norm, true, context, &rows, &row));
    context->set_output(0, rows);
    context->set_output(1, row);
    if (HasOffset(norm)) context->set_output(2, row);
    return absl::OkStatus();
  };
}

}  // namespace normalization
}  // namespace tensorflow_custom_ops
