// SPDX-License-Identifier: Apache-2.0
// Shapes as shape functions, kernels and lowerings all have them, for what
// these check in the same way.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_SHAPE_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_SHAPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

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

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_SHAPE_H_
