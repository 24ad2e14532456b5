// SPDX-License-Identifier: Apache-2.0
// What lowerings check about sizes of which XLA knows only a bound while it
// compiles.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_XLA_DYNAMIC_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_XLA_DYNAMIC_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla/shape.h"
#include "xla/shape_util.h"

namespace tensorflow_custom_ops {

// XLA makes constants of empty arrays and forgets their sizes, and what runs
// the code then reads sizes that nobody has written.
inline absl::Status CheckNotEmptyIfDynamic(absl::string_view op,
                                           absl::string_view name,
                                           const xla::Shape& shape) {
  if (!shape.is_dynamic() || !xla::ShapeUtil::IsZeroElementArray(shape)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      op,
      ": under XLA, all sizes must be known while it compiles where arrays "
      "are empty, but ",
      name, " has ", xla::ShapeUtil::HumanString(shape)));
}

// For inputs that must have the same size: if it is known of one only, it may
// be another.
inline absl::Status CheckSameIsDynamic(absl::string_view op,
                                       absl::string_view name,
                                       const xla::Shape& shape,
                                       absl::string_view other_name,
                                       const xla::Shape& other, size_t axis) {
  if (shape.is_dynamic_dimension(axis) == other.is_dynamic_dimension(axis)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      op, ": under XLA, dimension ", axis, " of ", name, " and ", other_name,
      " must be known while it compiles for both or for neither, but ", name,
      " has ", xla::ShapeUtil::HumanString(shape), " and ", other_name, " has ",
      xla::ShapeUtil::HumanString(other)));
}

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_XLA_DYNAMIC_H_
