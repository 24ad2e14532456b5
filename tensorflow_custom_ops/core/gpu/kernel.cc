// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/core/gpu/kernel.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tensorflow_custom_ops/core/gpu/launch.h"

namespace tensorflow_custom_ops {
namespace gpu {

absl::Status LaunchStatus(absl::string_view op, Error error) {
  if (error == 0) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat(op, ": the GPU kernel failed: ", ErrorName(error), ": ",
                   ErrorDescription(error)));
}

}  // namespace gpu
}  // namespace tensorflow_custom_ops
