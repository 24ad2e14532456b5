// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/core/normalization/shape.h"

#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace tensorflow_custom_ops {
namespace normalization {
namespace {

absl::Status CheckRows(const char* op, const char* name, const Shape& shape) {
  if (!shape) return absl::OkStatus();
  if (shape->empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(op, ": ", name,
                     " must have at least one dimension, but it is a scalar"));
  }
  if (shape->back() == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        op, ": the last dimension of ", name,
        " must have at least one element, but ", name, " has shape ",
        DebugString(shape), ": empty rows have no mean"));
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<Input> Inputs(Norm norm, bool is_gradient) {
  std::vector<Input> inputs = {{"x", true}};
  if (is_gradient) {
    inputs.push_back({"scale", false});
    inputs.push_back({"grad", true});
    if (HasResidual(norm)) inputs.push_back({"sum_grad", true});
  } else {
    if (HasResidual(norm)) inputs.push_back({"residual", true});
    inputs.push_back({"scale", false});
    if (HasOffset(norm)) inputs.push_back({"offset", false});
  }
  return inputs;
}

absl::Status CheckShapes(Norm norm, bool is_gradient,
                         const std::vector<Shape>& shapes) {
  const char* const op = OpName(norm, is_gradient);
  const std::vector<Input> inputs = Inputs(norm, is_gradient);
  // What is known of the shape of x, from all inputs of this shape.
  Shape x;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Shape& shape = shapes[i];
    if (!inputs[i].is_rows || !shape) continue;
    const char* const name = inputs[i].name;
    absl::Status status = CheckRows(op, name, shape);
    if (!status.ok()) return status;
    if (Differ(shape, x)) {
      return absl::InvalidArgumentError(absl::StrCat(
          op, ": ", name, " must have the shape of x, ", DebugString(x),
          ", but it has shape ", DebugString(shape)));
    }
    if (!x) x = shape;
    for (size_t d = 0; d < shape->size(); ++d) {
      if ((*x)[d] == kUnknown) (*x)[d] = (*shape)[d];
    }
  }
  int64_t n = x ? x->back() : kUnknown;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Shape& shape = shapes[i];
    if (inputs[i].is_rows || !shape) continue;
    if (shape->size() != 1 || Differ(n, shape->front())) {
      return absl::InvalidArgumentError(absl::StrCat(
          op, ": ", inputs[i].name,
          " must have shape [n], where n is the last dimension of x",
          n == kUnknown ? "" : absl::StrCat(", ", n), ", but it has shape ",
          DebugString(shape)));
    }
    if (n == kUnknown) n = shape->front();
  }
  return absl::OkStatus();
}

absl::Status CheckEpsilon(Norm norm, bool is_gradient, float epsilon) {
  if (std::isfinite(epsilon) && epsilon >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      OpName(norm, is_gradient),
      ": epsilon must be finite and not negative, but it is ", epsilon));
}

}  // namespace normalization
}  // namespace tensorflow_custom_ops
