// SPDX-License-Identifier: Apache-2.0
// The shapes that FusedDense takes, for its shape function, kernel and
// lowering.
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_FUSED_DENSE_FUSED_DENSE_SHAPE_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_FUSED_DENSE_FUSED_DENSE_SHAPE_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow_custom_ops/core/shape.h"

namespace tensorflow_custom_ops {
namespace fused_dense {

// The shape of the output, for shapes that fit.
inline Shape OutputShape(const Shape& input, const Shape& weights,
                         const Shape& bias) {
  if (!input) return std::nullopt;
  Shape output = input;
  output->back() =
      Size(weights, 1) == kUnknown ? Size(bias, 0) : Size(weights, 1);
  return output;
}

// Whether input, weights and bias fit, as far as their shapes are known.
inline absl::Status CheckShapes(const Shape& input, const Shape& weights,
                                const Shape& bias) {
  if (input && input->empty()) {
    return absl::InvalidArgumentError(
        "FusedDense: input must have shape [..., in], but it is a scalar");
  }
  if (weights && weights->size() != 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("FusedDense: weights must have shape [in, units], but it "
                     "has shape ",
                     DebugString(weights)));
  }
  if (bias && bias->size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "FusedDense: bias must have shape [units], but it has shape ",
        DebugString(bias)));
  }
  if (Differ(Size(input, -1), Size(weights, 0))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "FusedDense: weights must have as many rows as input has columns, ",
        Size(input, -1), ", but input has shape ", DebugString(input),
        " and weights has shape ", DebugString(weights)));
  }
  if (Differ(Size(weights, 1), Size(bias, 0))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "FusedDense: bias must have as many elements as weights has columns, ",
        Size(weights, 1), ", but weights has shape ", DebugString(weights),
        " and bias has shape ", DebugString(bias)));
  }
  return CheckNumElements("FusedDense", "the output",
                          OutputShape(input, weights, bias));
}

}  // namespace fused_dense
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_FUSED_DENSE_FUSED_DENSE_SHAPE_H_
