// SPDX-License-Identifier: Apache-2.0
// What normalisations check, for their shape functions, kernels and lowerings.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_SHAPE_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_SHAPE_H_

#include <vector>

#include "absl/status/status.h"
#include "tensorflow_custom_ops/core/normalization/norm.h"
#include "tensorflow_custom_ops/core/shape.h"

namespace tensorflow_custom_ops {
namespace normalization {

// An input of an op: an array of the shape of x, or of one row.
struct Input {
  const char* name;
  bool is_rows;
};

// The inputs of an op, or of its gradient.
std::vector<Input> Inputs(Norm norm, bool is_gradient);

// Whether the inputs fit, as far as their shapes are known.
absl::Status CheckShapes(Norm norm, bool is_gradient,
                         const std::vector<Shape>& shapes);

absl::Status CheckEpsilon(Norm norm, bool is_gradient, float epsilon);

}  // namespace normalization
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_SHAPE_H_
