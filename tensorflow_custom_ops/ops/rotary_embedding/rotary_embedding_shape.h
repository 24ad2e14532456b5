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
#include "tensorflow/core/framework/tensor_shape.h"
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

using Shape = tensorflow::PartialTensorShape;

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
  if (input.unknown_rank()) return absl::OkStatus();
  if (input.dims() < 3) {
    return Invalid(
        "input must have shape [..., sequence, heads, head_dim], but it has "
        "shape ",
        input.DebugString());
  }
  const int64_t head_dim = input.dim_size(input.dims() - 1);
  if (head_dim < 0) return absl::OkStatus();
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
  if (positions.unknown_rank()) return absl::OkStatus();
  if (positions.dims() == 0) {
    return Invalid(
        "positions must have shape [sequence] or [..., sequence], but it is a "
        "scalar");
  }
  if (input.unknown_rank()) return absl::OkStatus();
  bool fits = positions.dims() <= input.dims() - 2;
  if (fits) {
    std::vector<int64_t> sizes;
    for (int i = input.dims() - 2 - positions.dims(); i < input.dims() - 2;
         ++i) {
      sizes.push_back(input.dim_size(i));
    }
    fits = positions.IsCompatibleWith(Shape(sizes));
  }
  if (fits) return absl::OkStatus();
  return Invalid(
      "positions must have shape [sequence] or [..., sequence], as input, but "
      "input has shape ",
      input.DebugString(), " and positions has shape ",
      positions.DebugString());
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
  const int rank = input.dims();
  Problem problem = {};
  problem.heads = input.dim_size(rank - 2);
  problem.head_dim = input.dim_size(rank - 1);
  problem.rotary_dim =
      attributes.rotary_dim < 0 ? problem.head_dim : attributes.rotary_dim;
  problem.base = attributes.base;
  problem.interleaved = attributes.interleaved;
  problem.inverse = attributes.inverse;
  const int positions_rank = positions.empty() ? 1 : positions[0].dims();
  problem.repeats = 1;
  problem.count = 1;
  for (int i = 0; i < rank - 2; ++i) {
    (i < rank - 2 - positions_rank ? problem.repeats : problem.count) *=
        input.dim_size(i);
  }
  return problem;
}

}  // namespace rotary_embedding
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_ROTARY_EMBEDDING_ROTARY_EMBEDDING_SHAPE_H_
