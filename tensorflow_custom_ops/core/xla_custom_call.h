// SPDX-License-Identifier: Apache-2.0
// Calls from XLA's code to C++: what a lowering needs to emit one. The other
// side, the C++ that is called, is in xla_custom_call_handler.h.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_XLA_CUSTOM_CALL_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_XLA_CUSTOM_CALL_H_

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape.h"

namespace tensorflow_custom_ops {

// The constants of a call, by name. The handler must bind these names with
// these types: bool, int64_t, float, std::string_view.
using XlaAttribute = std::variant<bool, int64_t, float, std::string>;
using XlaAttributes = std::map<std::string, XlaAttribute>;

// A function that XLA's code can call.
struct XlaCustomCall {
  std::string name;
  // Whether XLA accepted the function.
  absl::Status registration;
};

// Emits a call, and returns its results, which have the given shapes. All
// arrays are in row-major order. XLA cannot pass arrays with bounded dynamic
// dimensions to a custom call: such operands are an error.
absl::StatusOr<std::vector<xla::XlaOp>> EmitXlaCustomCall(
    const XlaCustomCall& call, xla::XlaBuilder* builder,
    const std::vector<xla::XlaOp>& operands,
    const std::vector<xla::Shape>& result_shapes,
    const XlaAttributes& attributes);

}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_XLA_CUSTOM_CALL_H_
