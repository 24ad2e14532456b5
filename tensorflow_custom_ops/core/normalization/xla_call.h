// SPDX-License-Identifier: Apache-2.0
// The custom calls by which XLA's code runs the kernels: their names, and what
// the handlers for all devices share.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_XLA_CALL_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_XLA_CALL_H_

#include "tensorflow_custom_ops/core/xla_custom_call_handler.h"

#ifdef TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "tensorflow_custom_ops/core/normalization/norm.h"
#include "tensorflow_custom_ops/core/type.h"
#include "xla/ffi/api/ffi.h"

namespace tensorflow_custom_ops {
namespace normalization {

inline constexpr char kForwardCall[] = "tensorflow_custom_ops.Normalization";
inline constexpr char kBackwardCall[] =
    "tensorflow_custom_ops.NormalizationGrad";

inline int64_t BytesPerSum(Type type) {
  return type == Type::kDouble ? sizeof(double) : sizeof(float);
}

// Arguments and results are the inputs and outputs of the op, or of its
// gradient, as the lowering has checked them.
class XlaCall {
 public:
  XlaCall(xla::ffi::RemainingArgs inputs, xla::ffi::RemainingRets outputs,
          int64_t norm, float epsilon)
      : inputs_(inputs),
        outputs_(outputs),
        norm_(static_cast<Norm>(norm)),
        epsilon_(epsilon),
        x_(inputs.get<xla::ffi::AnyBuffer>(0).value()) {}

  // Calls body(type, args).
  template <typename Args, typename Body>
  absl::Status Run(Args (XlaCall::*args)() const, Body body) const {
    return ForXlaFloatingPoint(
        OpName(norm_), x_.element_type(), [&](auto zero) {
          return body(kTypeOf<decltype(zero)>, (this->*args)());
        });
  }

  Forward ForwardArgs() const {
    Forward args = Sizes<Forward>();
    size_t next = 0;
    args.x = Input(next++);
    args.y = Output(0);
    if (HasResidual(norm_)) {
      args.residual = Input(next++);
      args.sum = Output(1);
    }
    args.scale = Input(next++);
    if (HasOffset(norm_)) args.offset = Input(next);
    return args;
  }

  Backward BackwardArgs() const {
    Backward args = Sizes<Backward>();
    args.x = Input(0);
    args.scale = Input(1);
    args.grad = Input(2);
    if (HasResidual(norm_)) args.sum_grad = Input(3);
    args.x_grad = Output(0);
    args.scale_grad = Output(1);
    if (HasOffset(norm_)) args.offset_grad = Output(2);
    return args;
  }

 private:
  template <typename Args>
  Args Sizes() const {
    Args args = {};
    args.norm = norm_;
    args.n = x_.dimensions().back();
    args.rows = static_cast<int64_t>(x_.element_count()) / args.n;
    args.epsilon = epsilon_;
    return args;
  }

  const void* Input(size_t index) const {
    return inputs_.get<xla::ffi::AnyBuffer>(index).value().untyped_data();
  }
  void* Output(size_t index) const {
    return outputs_.get<xla::ffi::AnyBuffer>(index).value()->untyped_data();
  }

  const xla::ffi::RemainingArgs inputs_;
  const xla::ffi::RemainingRets outputs_;
  const Norm norm_;
  const float epsilon_;
  const xla::ffi::AnyBuffer x_;
};

}  // namespace normalization
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_NORMALIZATION_XLA_CALL_H_
