// SPDX-License-Identifier: Apache-2.0
// Shapes as shape functions, kernels and lowerings all have them, for what
// these check in the same way.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_SHAPE_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_SHAPE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

namespace tensorflow_custom_ops {

// The size of a dimension that is not known yet.
constexpr int64_t kUnknown = -1;

// The dimensions of a shape, where known; nullopt is an unknown rank.
using Shape = std::optional<std::vector<int64_t>>;

inline std::string DebugString(const Shape& shape) {
  if (!shape) return "<unknown>";
  const auto append = [](std::string* out, int64_t size) {
    absl::StrAppend(out, size == kUnknown ? "?" : absl::StrCat(size));
  };
  return absl::StrCat("[", absl::StrJoin(*shape, ",", append), "]");
}

// Dimension `index` of a shape, from the end if negative.
inline int64_t Size(const Shape& shape, int index) {
  if (!shape) return kUnknown;
  return index < 0 ? shape->at(shape->size() + index) : shape->at(index);
}

// Whether sizes are known, and not the same.
inline bool Differ(int64_t a, int64_t b) {
  return a != kUnknown && b != kUnknown && a != b;
}

// Whether shapes are known not to be the same.
inline bool Differ(const Shape& a, const Shape& b) {
  if (!a || !b) return false;
  if (a->size() != b->size()) return true;
  for (size_t i = 0; i < a->size(); ++i) {
    if (Differ((*a)[i], (*b)[i])) return true;
  }
  return false;
}

// Whether there can be a tensor of a shape. TensorFlow and XLA end the process
// for some that there cannot be, instead of returning an error.
inline absl::Status CheckNumElements(absl::string_view op,
                                     absl::string_view name,
                                     const Shape& shape) {
  if (!shape) return absl::OkStatus();
  int64_t count = 1;
  // As TensorFlow counts: a 0 that follows does not help.
  for (const int64_t size : *shape) {
    if (size == kUnknown) return absl::OkStatus();
    if (size > 0 && count > std::numeric_limits<int64_t>::max() / size) {
      return absl::InvalidArgumentError(absl::StrCat(
          op, ": ", name, " must have less than 2^63 elements, but ",
          "it would have shape ", DebugString(shape)));
    }
    count *= size;
  }
  return absl::OkStatus();
}

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_SHAPE_H_
