// SPDX-License-Identifier: Apache-2.0
// C++ that XLA's code calls: what a handler needs beside XLA's own
// interface for it, xla/ffi/api/ffi.h. TensorFlow's wheel has that since 2.20;
// TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS says whether it is there.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_XLA_CUSTOM_CALL_HANDLER_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_XLA_CUSTOM_CALL_HANDLER_H_

#if __has_include("xla/ffi/api/ffi.h")
#define TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS 1

#include <cstdint>
#include <string>

#include "Eigen/Core"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tensorflow_custom_ops/core/xla_custom_call.h"
#include "xla/ffi/api/ffi.h"

namespace tensorflow_custom_ops {

// XLA's names of the platforms that a handler can be for.
inline constexpr char kXlaCpu[] = "Host";
inline constexpr char kXlaCuda[] = "CUDA";

// Registers a handler, made by XLA_FFI_DEFINE_HANDLER, for a platform. Call it
// while the library is loaded: for the value of a constant at namespace scope.
XlaCustomCall RegisterXlaCustomCall(std::string name, const char* platform,
                                    XLA_FFI_Handler* handler);

// Runs the body of a handler. Its status, or the exception that it ends with,
// becomes the error that TensorFlow's caller sees, with code and message.
xla::ffi::Error RunXlaHandler(absl::FunctionRef<absl::Status()> body);

// Returns function(T()), where T is the C++ type of a floating-point type. `op`
// is named where it is another type.
template <typename Function>
absl::Status ForXlaFloatingPoint(absl::string_view op, xla::ffi::DataType type,
                                 Function function) {
  switch (type) {
    case xla::ffi::F16:
      return function(Eigen::half());
    case xla::ffi::BF16:
      return function(Eigen::bfloat16());
    case xla::ffi::F32:
      return function(float());
    case xla::ffi::F64:
      return function(double());
    default:
      return absl::InternalError(
          absl::StrCat(op, ": the custom call has no code for this type"));
  }
}

// Calls `body(begin, end)` on ranges that cover [0, total) once, in the calling
// thread and in those of the pool, and returns when all calls have. It does not
// wait for a thread of the pool to become free, so it also works where the
// caller occupies the only one. `cycles` is about what one unit costs. An
// exception of `body` becomes an error.
absl::Status XlaParallelFor(xla::ffi::ThreadPool& pool, int64_t total,
                            int64_t cycles,
                            absl::FunctionRef<void(int64_t, int64_t)> body);

}  // namespace tensorflow_custom_ops

#endif  // __has_include("xla/ffi/api/ffi.h")

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_XLA_CUSTOM_CALL_HANDLER_H_
