// SPDX-License-Identifier: Apache-2.0
// The shapes and attributes that RotaryEmbedding takes, for its shape function,
// kernels and lowering.
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_ROTARY_EMBEDDING_ROTARY_EMBEDDING_SHAPE_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_ROTARY_EMBEDDING_ROTARY_EMBEDDING_SHAPE_H_

#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow_custom_ops/core/shape.h"
#include "tensorflow_custom_ops/ops/rotary_embedding/rotary_embedding_problem.h"

namespace tensorflow_custom_ops {
namespace rotary_embedding {

struct Attributes {
  float base;
  int64_t rotary_dim;  // -1: all of a head.
  bool interleaved;
  bool inverse;
};

// Reads the attributes from what has GetAttr(name, pointer).
template <typename Context>
absl::Status GetAttributes(Context& context, Attributes* attributes) {
  absl::Status status = context.GetAttr("base", &attributes->base);
  status.Update(context.GetAttr("rotary_dim", &attributes->rotary_dim));
  status.Update(context.GetAttr("interleaved", &attributes->interleaved));
  status.Update(context.GetAttr("inverse", &attributes->inverse));
  return status;
}

template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(
      absl::StrCat("RotaryEmbedding: ", parts...));
}

inline absl::Status CheckAttributes(const Attributes& attributes) {
  if (!std::isfinite(attributes.base) || attributes.base <= 0) {
    return Invalid("base must be a positive number, but is ", attributes.base);
  }
  if (attributes.rotary_dim > 0 && attributes.rotary_dim % 2 != 0) {
    return Invalid("rotary_dim must be even, but is ", attributes.rotary_dim);
  }
  return absl::OkStatus();
}

inline absl::Status CheckInputShape(const Shape& input,
                                    const Attributes& attributes) {
  if (!input) return absl::OkStatus();
  if (input->size() < 3) {
    return Invalid(
        "input must have shape [..., sequence, heads, head_dim], but it has "
        "shape ",
        DebugString(input));
  }
  const int64_t head_dim = input->back();
  if (head_dim == kUnknown) return absl::OkStatus();
  if (attributes.rotary_dim > head_dim) {
    return Invalid("rotary_dim must be at most the last dimension of input, ",
                   head_dim, ", but is ", attributes.rotary_dim);
  }
  if (attributes.rotary_dim < 0 && head_dim % 2 != 0) {
    return Invalid(
        "the last dimension of input must be even where no rotary_dim is "
        "given, but is ",
        head_dim);
  }
  return absl::OkStatus();
}

// Positions are for the last dimensions of the input, but heads and head_dim.
inline absl::Status CheckPositionsShape(const Shape& input,
                                        const Shape& positions) {
  if (!positions) return absl::OkStatus();
  if (positions->empty()) {
    return Invalid(
        "positions must have shape [sequence] or [..., sequence], but it is a "
        "scalar");
  }
  if (!input) return absl::OkStatus();
  bool fits = positions->size() + 2 <= input->size();
  if (fits) {
    const auto end = input->end() - 2;
    fits =
        !Differ(positions, std::vector<int64_t>(end - positions->size(), end));
  }
  if (fits) return absl::OkStatus();
  return Invalid(
      "positions must have shape [sequence] or [..., sequence], as input, but "
      "input has shape ",
      DebugString(input), " and positions has shape ", DebugString(positions));
}

// Whether inputs fit, as far as their shapes are known. There may be no
// positions.
inline absl::Status Check(const Shape& input,
                          const std::vector<Shape>& positions,
                          const Attributes& attributes) {
  absl::Status status = CheckAttributes(attributes);
  if (status.ok()) status = CheckInputShape(input, attributes);
  if (!status.ok()) return status;
  if (positions.size() > 1) {
    return Invalid("positions must be one tensor or none, but there are ",
                   positions.size());
  }
  for (const Shape& shape : positions) {
    status.Update(CheckPositionsShape(input, shape));
  }
  return status;
}

// The problem without its arrays, for shapes that fit and are known.
inline Problem ProblemOf(const Shape& input,
                         const std::vector<Shape>& positions,
                         const Attributes& attributes) {
  const int rank = static_cast<int>(input->size());
  Problem problem = {};
  problem.heads = (*input)[rank - 2];
  problem.head_dim = (*input)[rank - 1];
  problem.rotary_dim =
      attributes.rotary_dim < 0 ? problem.head_dim : attributes.rotary_dim;
  problem.base = attributes.base;
  problem.interleaved = attributes.interleaved;
  problem.inverse = attributes.inverse;
  const int positions_rank =
      positions.empty() ? 1 : static_cast<int>(positions[0]->size());
  problem.repeats = 1;
  problem.count = 1;
  for (int i = 0; i < rank - 2; ++i) {
    (i < rank - 2 - positions_rank ? problem.repeats : problem.count) *=
        (*input)[i];
  }
  return problem;
}

}  // namespace rotary_embedding
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_ROTARY_EMBEDDING_ROTARY_EMBEDDING_SHAPE_H_
