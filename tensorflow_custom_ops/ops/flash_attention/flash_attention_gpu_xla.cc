// SPDX-License-Identifier: Apache-2.0
// The custom calls of flash_attention_xla.cc, for a GPU.
#include <cstdint>

#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tensorflow_custom_ops/core/gpu/kernel.h"
#include "tensorflow_custom_ops/core/xla_custom_call_handler.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_gpu.h"
#include "tensorflow_custom_ops/ops/flash_attention/flash_attention_xla.h"

#ifdef TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS

namespace tensorflow_custom_ops {
namespace {

namespace ffi = xla::ffi;

ffi::Error HandleForward(gpu::Stream stream, ffi::RemainingArgs args,
                         ffi::RemainingRets rets, bool causal, float scale,
                         int64_t window) {
  return RunXlaHandler([&]() -> absl::Status {
    const absl::StatusOr<flash_attention::XlaForward> call =
        flash_attention::DecodeForward(args, rets, {causal, scale, window});
    if (!call.ok()) return call.status();
    if (call->empty) return absl::OkStatus();
    return ForXlaFloatingPoint("FlashAttention", call->type, [&](auto zero) {
      return gpu::LaunchStatus(
          "FlashAttention",
          flash_attention::LaunchForward(stream, gpu::kTypeOf<decltype(zero)>,
                                         call->problem));
    });
  });
}

ffi::Error HandleBackward(gpu::Stream stream, ffi::RemainingArgs args,
                          ffi::RemainingRets rets, bool causal, float scale,
                          int64_t window) {
  return RunXlaHandler([&]() -> absl::Status {
    const absl::StatusOr<flash_attention::XlaBackward> call =
        flash_attention::DecodeBackward(args, rets, {causal, scale, window});
    if (!call.ok()) return call.status();
    return ForXlaFloatingPoint(
        "FlashAttentionGrad", call->type, [&](auto zero) {
          return gpu::LaunchStatus(
              "FlashAttentionGrad",
              flash_attention::LaunchBackward(
                  stream, gpu::kTypeOf<decltype(zero)>, call->problem));
        });
  });
}

// The arguments of a handler.
auto Binding() {
  return ffi::Ffi::Bind()
      .Ctx<ffi::PlatformStream<gpu::Stream>>()
      .RemainingArgs()
      .RemainingRets()
      .Attr<bool>("causal")
      .Attr<float>("scale")
      .Attr<int64_t>("window");
}

// They only launch kernels: XLA may record that in a CUDA graph.
XLA_FFI_DEFINE_HANDLER(kForwardHandler, HandleForward, Binding(),
                       {ffi::Traits::kCmdBufferCompatible});
XLA_FFI_DEFINE_HANDLER(kBackwardHandler, HandleBackward, Binding(),
                       {ffi::Traits::kCmdBufferCompatible});

template <typename Handler>
bool Register(const char* name, Handler handler) {
  const XlaCustomCall call = RegisterXlaCustomCall(name, kXlaCuda, handler);
  if (!call.registration.ok()) LOG(ERROR) << call.registration.message();
  return call.registration.ok();
}

const bool kRegistered =
    Register(flash_attention::kForwardCustomCall, kForwardHandler) &&
    Register(flash_attention::kBackwardCustomCall, kBackwardHandler);

}  // namespace
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS
