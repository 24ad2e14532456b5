// SPDX-License-Identifier: Apache-2.0
#include "examples/by_hand/my_op/my_op_gpu.h"

#include <cstdint>

#include "tensorflow_custom_ops/core/gpu/device.h"
#include "tensorflow_custom_ops/core/gpu/elementwise.h"
#include "tensorflow_custom_ops/core/gpu/launch.h"

namespace tensorflow_custom_ops {
namespace {

struct Double {
  template <typename T>
  __device__ T operator()(T x) const {
    return x + x;
  }
};

template <typename T>
gpu::Error Launch(gpu::Stream stream, int64_t n, const void* input,
                  void* output) {
  return gpu::LaunchElementwise<Double>(stream, n, static_cast<T*>(output),
                                        static_cast<const T*>(input));
}

}  // namespace

gpu::Error LaunchMyOp(gpu::Stream stream, gpu::Type type, int64_t n,
                      const void* input, void* output) {
  switch (type) {
    case gpu::Type::kHalf:
      return Launch<gpu::Half>(stream, n, input, output);
    case gpu::Type::kBFloat16:
      return Launch<gpu::BFloat16>(stream, n, input, output);
    case gpu::Type::kFloat:
      return Launch<float>(stream, n, input, output);
    case gpu::Type::kDouble:
      return Launch<double>(stream, n, input, output);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace tensorflow_custom_ops
