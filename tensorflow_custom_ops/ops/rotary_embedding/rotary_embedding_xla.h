// SPDX-License-Identifier: Apache-2.0
// The custom call of RotaryEmbedding, for each platform that XLA compiles for.
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_ROTARY_EMBEDDING_ROTARY_EMBEDDING_XLA_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_ROTARY_EMBEDDING_ROTARY_EMBEDDING_XLA_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tensorflow_custom_ops/core/xla_custom_call_handler.h"
#include "tensorflow_custom_ops/ops/rotary_embedding/rotary_embedding_problem.h"
#include "tensorflow_custom_ops/ops/rotary_embedding/rotary_embedding_shape.h"

#ifdef TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS

namespace tensorflow_custom_ops {
namespace rotary_embedding {

struct XlaCall {
  Problem problem;
  xla::ffi::DataType type;
};

// What the lowering has written as a call, which it has checked.
inline absl::StatusOr<XlaCall> DecodeXlaCall(
    xla::ffi::RemainingArgs args, xla::ffi::Result<xla::ffi::AnyBuffer> output,
    const Attributes& attributes) {
  const auto input = args.get<xla::ffi::AnyBuffer>(0);
  if (input.has_error()) return Invalid("the custom call has no input");
  const auto dimensions = [](const xla::ffi::AnyBuffer& buffer) -> Shape {
    return std::vector<int64_t>(buffer.dimensions().begin(),
                                buffer.dimensions().end());
  };
  std::vector<Shape> positions_shapes;
  const auto positions = args.get<xla::ffi::AnyBuffer>(1);
  if (args.size() > 1) positions_shapes.push_back(dimensions(*positions));
  XlaCall call = {ProblemOf(dimensions(*input), positions_shapes, attributes),
                  input->element_type()};
  call.problem.input = input->untyped_data();
  call.problem.output = output->untyped_data();
  if (args.size() > 1) {
    if (positions->element_type() == xla::ffi::S64) {
      call.problem.positions64 = positions->typed_data<int64_t>();
    } else {
      call.problem.positions32 = positions->typed_data<int32_t>();
    }
  }
  return call;
}

// Binds the arguments of a handler that follow what the platform needs.
template <typename Binding>
auto BindXlaCall(Binding binding) {
  return std::move(binding)
      .RemainingArgs()
      .template Ret<xla::ffi::AnyBuffer>()
      .template Attr<float>("base")
      .template Attr<int64_t>("rotary_dim")
      .template Attr<bool>("interleaved")
      .template Attr<bool>("inverse");
}

}  // namespace rotary_embedding
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_ROTARY_EMBEDDING_ROTARY_EMBEDDING_XLA_H_
