// SPDX-License-Identifier: Apache-2.0
// The other side of the custom calls that flash_attention_xla.cc emits, as far
// as it is the same on all devices: from XLA's arrays to a problem.
#ifndef TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_XLA_H_
#define TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_XLA_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tensorflow_custom_ops/core/xla_custom_call_handler.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_problem.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_shape.h"

#ifdef TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS

namespace tensorflow_custom_ops {
namespace flash_attention {

// By these names XLA's code calls the kernels, whatever the device.
inline constexpr char kForwardCustomCall[] =
    "tensorflow_custom_ops.FlashAttention";
inline constexpr char kBackwardCustomCall[] =
    "tensorflow_custom_ops.FlashAttentionGrad";

struct XlaForward {
  xla::ffi::DataType type;
  Forward problem;
  bool empty;
};

struct XlaBackward {
  xla::ffi::DataType type;
  Backward problem;
  int64_t bias_elements;
};

namespace internal {

// All arguments and all results; those of a call that the lowering has emitted.
template <typename Buffer, typename Rest>
absl::StatusOr<std::vector<Buffer>> Buffers(const Rest& rest, size_t least) {
  std::vector<Buffer> buffers;
  for (size_t i = 0; i < rest.size(); ++i) {
    const auto buffer = rest.template get<xla::ffi::AnyBuffer>(i);
    if (!buffer) return absl::InternalError(buffer.error().message());
    buffers.push_back(*buffer);
  }
  if (buffers.size() < least) {
    return absl::InternalError("FlashAttention: too few arrays");
  }
  return buffers;
}

using Inputs = std::vector<xla::ffi::AnyBuffer>;
using Results = std::vector<xla::ffi::Result<xla::ffi::AnyBuffer>>;

// `bias`: the number of biases, 0 or 1.
inline Forward Problem(const Inputs& inputs, size_t bias,
                       const Attributes& attributes) {
  const auto shape = [&](int i) {
    const auto dimensions = inputs[i].dimensions();
    return std::vector<int64_t>(dimensions.begin(), dimensions.end());
  };
  const Shapes shapes = {shape(0), shape(1), shape(2), {}};
  const Sizes sizes = SizesOf(shapes, attributes);
  Forward problem = {sizes,
                     ScaleOf(sizes, attributes),
                     inputs[0].untyped_data(),
                     inputs[1].untyped_data(),
                     inputs[2].untyped_data(),
                     {},
                     nullptr,
                     nullptr};
  if (bias > 0) problem.bias = BiasOf(shape(3), inputs[3].untyped_data());
  return problem;
}

}  // namespace internal

inline absl::StatusOr<XlaForward> DecodeForward(
    const xla::ffi::RemainingArgs& args, const xla::ffi::RemainingRets& rets,
    const Attributes& attributes) {
  const auto inputs = internal::Buffers<xla::ffi::AnyBuffer>(args, 3);
  if (!inputs.ok()) return inputs.status();
  auto results =
      internal::Buffers<xla::ffi::Result<xla::ffi::AnyBuffer>>(rets, 2);
  if (!results.ok()) return results.status();
  Forward problem = internal::Problem(*inputs, inputs->size() - 3, attributes);
  problem.output = (*results)[0]->untyped_data();
  problem.log_sum_exp = (*results)[1]->untyped_data();
  return XlaForward{(*inputs)[0].element_type(), problem,
                    (*results)[0]->element_count() == 0};
}

inline absl::StatusOr<XlaBackward> DecodeBackward(
    const xla::ffi::RemainingArgs& args, const xla::ffi::RemainingRets& rets,
    const Attributes& attributes) {
  const auto inputs = internal::Buffers<xla::ffi::AnyBuffer>(args, 6);
  if (!inputs.ok()) return inputs.status();
  auto results =
      internal::Buffers<xla::ffi::Result<xla::ffi::AnyBuffer>>(rets, 3);
  if (!results.ok()) return results.status();
  // output, log_sum_exp and output_grad are the last.
  const size_t rest = inputs->size() - 3;
  Forward forward = internal::Problem(*inputs, rest - 3, attributes);
  forward.output = (*inputs)[rest].untyped_data();
  forward.log_sum_exp = (*inputs)[rest + 1].untyped_data();
  const bool bias_grad = results->size() > 3;
  return XlaBackward{
      (*inputs)[0].element_type(),
      {forward, (*inputs)[rest + 2].untyped_data(),
       (*results)[0]->untyped_data(), (*results)[1]->untyped_data(),
       (*results)[2]->untyped_data(),
       bias_grad ? (*results)[3]->untyped_data() : nullptr},
      bias_grad ? static_cast<int64_t>((*results)[3]->element_count()) : 0};
}

}  // namespace flash_attention
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS

#endif  // TENSORFLOW_CUSTOM_OPS_OPS_FLASH_ATTENTION_FLASH_ATTENTION_XLA_H_
