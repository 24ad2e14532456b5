// SPDX-License-Identifier: Apache-2.0
// The custom call of top_k_mask_xla.cc, for a GPU.
#include <cstdint>

#include "absl/log/log.h"
#include "absl/status/status.h"
#include "tensorflow_custom_ops/core/gpu/kernel.h"
#include "tensorflow_custom_ops/core/xla_custom_call_handler.h"
#include "tensorflow_custom_ops/ops/top_k_mask/top_k_mask.h"
#include "tensorflow_custom_ops/ops/top_k_mask/top_k_mask_gpu.h"

#ifdef TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS

namespace tensorflow_custom_ops {
namespace {

namespace ffi = xla::ffi;

using MaskBuffer = ffi::ResultBuffer<ffi::PRED>;

template <typename T>
absl::Status Run(gpu::Stream stream, ffi::AnyBuffer input, int64_t k,
                 float fill_value, ffi::Result<ffi::AnyBuffer> output,
                 MaskBuffer mask) {
  const int64_t n = input.dimensions().back();
  absl::Status status = CheckTopKMaskGpuRow(n);
  if (!status.ok()) return status;
  const T fill = static_cast<T>(fill_value);
  return gpu::LaunchStatus(
      "TopKMask", LaunchTopKMask(stream, gpu::kTypeOf<T>,
                                 n == 0 ? 0 : input.element_count() / n, n, k,
                                 &fill, input.untyped_data(),
                                 output->untyped_data(), mask->typed_data()));
}

ffi::Error Handle(gpu::Stream stream, ffi::AnyBuffer input,
                  ffi::Result<ffi::AnyBuffer> output, MaskBuffer mask,
                  int64_t k, float fill_value) {
  return RunXlaHandler([&] {
    return ForXlaFloatingPoint(
        "TopKMask", input.element_type(), [&](auto zero) {
          return Run<decltype(zero)>(stream, input, k, fill_value, output,
                                     mask);
        });
  });
}

// It only launches a kernel: XLA may record that in a CUDA graph.
XLA_FFI_DEFINE_HANDLER(kHandler, Handle,
                       ffi::Ffi::Bind()
                           .Ctx<ffi::PlatformStream<gpu::Stream>>()
                           .Arg<ffi::AnyBuffer>()
                           .Ret<ffi::AnyBuffer>()
                           .Ret<ffi::Buffer<ffi::PRED>>()
                           .Attr<int64_t>("k")
                           .Attr<float>("fill_value"),
                       {ffi::Traits::kCmdBufferCompatible});

const bool kRegistered = [] {
  const XlaCustomCall call =
      RegisterXlaCustomCall(kTopKMaskCustomCall, kXlaCuda, kHandler);
  if (!call.registration.ok()) LOG(ERROR) << call.registration.message();
  return call.registration.ok();
}();

}  // namespace
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_XLA_CUSTOM_CALLS
