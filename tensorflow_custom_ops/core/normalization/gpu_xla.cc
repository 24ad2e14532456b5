// SPDX-License-Identifier: Apache-2.0
// The custom calls of xla.cc, for a GPU.
#include "tensorflow_custom_ops/core/normalization/xla_call.h"

#ifdef TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS

#include <cstdint>
#include <optional>

#include "absl/log/log.h"
#include "absl/status/status.h"
#include "tensorflow_custom_ops/core/gpu/kernel.h"
#include "tensorflow_custom_ops/core/normalization/gpu.h"

namespace tensorflow_custom_ops {
namespace normalization {
namespace {

namespace ffi = xla::ffi;

ffi::Error HandleForward(gpu::Stream stream, ffi::RemainingArgs inputs,
                         ffi::RemainingRets outputs, int64_t norm,
                         float epsilon) {
  return RunXlaHandler([&] {
    const XlaCall call(inputs, outputs, norm, epsilon);
    return call.Run(&XlaCall::ForwardArgs, [&](Type type, const Forward& args) {
      return gpu::LaunchStatus(OpName(args.norm),
                               LaunchForward(stream, type, args));
    });
  });
}

ffi::Error HandleBackward(gpu::Stream stream, ffi::ScratchAllocator scratch,
                          ffi::RemainingArgs inputs, ffi::RemainingRets outputs,
                          int64_t norm, float epsilon) {
  return RunXlaHandler([&] {
    const XlaCall call(inputs, outputs, norm, epsilon);
    return call.Run(
        &XlaCall::BackwardArgs,
        [&](Type type, const Backward& args) -> absl::Status {
          // CUDA aligns what it allocates to as much.
          constexpr int64_t kAlignment = 256;
          const std::optional<void*> sums = scratch.Allocate(
              NumGpuSums(args.norm, args.rows, args.n) * BytesPerSum(type),
              kAlignment);
          if (!sums) {
            return absl::ResourceExhaustedError("no memory for sums over rows");
          }
          return gpu::LaunchStatus(OpName(args.norm, true),
                                   LaunchBackward(stream, type, args, *sums));
        });
  });
}

// It only launches a kernel: XLA may record that in a CUDA graph.
XLA_FFI_DEFINE_HANDLER(kForwardHandler, HandleForward,
                       ffi::Ffi::Bind()
                           .Ctx<ffi::PlatformStream<gpu::Stream>>()
                           .RemainingArgs()
                           .RemainingRets()
                           .Attr<int64_t>("norm")
                           .Attr<float>("epsilon"),
                       {ffi::Traits::kCmdBufferCompatible});
// It also allocates memory, which a graph cannot record.
XLA_FFI_DEFINE_HANDLER(kBackwardHandler, HandleBackward,
                       ffi::Ffi::Bind()
                           .Ctx<ffi::PlatformStream<gpu::Stream>>()
                           .Ctx<ffi::ScratchAllocator>()
                           .RemainingArgs()
                           .RemainingRets()
                           .Attr<int64_t>("norm")
                           .Attr<float>("epsilon"));

bool Register(const char* name, XLA_FFI_Handler* handler) {
  const XlaCustomCall call = RegisterXlaCustomCall(name, kXlaCuda, handler);
  if (!call.registration.ok()) LOG(ERROR) << call.registration.message();
  return call.registration.ok();
}

const bool kForwardRegistered = Register(kForwardCall, kForwardHandler);
const bool kBackwardRegistered = Register(kBackwardCall, kBackwardHandler);

}  // namespace
}  // namespace normalization
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS
