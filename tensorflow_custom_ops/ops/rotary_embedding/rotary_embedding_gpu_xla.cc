// SPDX-License-Identifier: Apache-2.0
// The custom call of rotary_embedding_xla.cc, for a GPU.
#include <cstdint>

#include "absl/log/log.h"
#include "absl/status/status.h"
#include "tensorflow_custom_ops/core/gpu/kernel.h"
#include "tensorflow_custom_ops/core/xla_custom_call_handler.h"
#include "tensorflow_custom_ops/ops/rotary_embedding/rotary_embedding_gpu.h"
#include "tensorflow_custom_ops/ops/rotary_embedding/rotary_embedding_xla.h"

#ifdef TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS

namespace tensorflow_custom_ops {
namespace {

namespace ffi = xla::ffi;

ffi::Error Handle(gpu::Stream stream, ffi::RemainingArgs args,
                  ffi::Result<ffi::AnyBuffer> output, float base,
                  int64_t rotary_dim, bool interleaved, bool inverse) {
  return RunXlaHandler([&]() -> absl::Status {
    const auto call = rotary_embedding::DecodeXlaCall(
        args, output, {base, rotary_dim, interleaved, inverse});
    if (!call.ok()) return call.status();
    return ForXlaFloatingPoint("RotaryEmbedding", call->type, [&](auto zero) {
      return gpu::LaunchStatus(
          "RotaryEmbedding",
          rotary_embedding::LaunchRotaryEmbedding(
              stream, gpu::kTypeOf<decltype(zero)>, call->problem));
    });
  });
}

// It only launches a kernel: XLA may record that in a CUDA graph.
XLA_FFI_DEFINE_HANDLER(
    kHandler, Handle,
    rotary_embedding::BindXlaCall(
        ffi::Ffi::Bind().Ctx<ffi::PlatformStream<gpu::Stream>>()),
    {ffi::Traits::kCmdBufferCompatible});

const bool kRegistered = [] {
  const XlaCustomCall call =
      RegisterXlaCustomCall(rotary_embedding::kCustomCall, kXlaCuda, kHandler);
  if (!call.registration.ok()) LOG(ERROR) << call.registration.message();
  return call.registration.ok();
}();

}  // namespace
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS
