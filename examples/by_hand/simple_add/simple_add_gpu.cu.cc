// SPDX-License-Identifier: Apache-2.0
#include "examples/by_hand/simple_add/simple_add_gpu.h"

#include <cstdint>

#include "tensorflow_custom_ops/core/gpu/device.h"
#include "tensorflow_custom_ops/core/gpu/elementwise.h"
#include "tensorflow_custom_ops/core/gpu/launch.h"

namespace tensorflow_custom_ops {
namespace {

struct Sum {
  template <typename T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

template <typename T>
gpu::Error Launch(gpu::Stream stream, int64_t n, const void* a, const void* b,
                  void* output) {
  return gpu::LaunchElementwise<Sum>(stream, n, static_cast<T*>(output),
                                     static_cast<const T*>(a),
                                     static_cast<const T*>(b));
}

}  // namespace

gpu::Error LaunchSimpleAdd(gpu::Stream stream, gpu::Type type, int64_t n,
                           const void* a, const void* b, void* output) {
  switch (type) {
    case gpu::Type::kHalf:
      return Launch<gpu::Half>(stream, n, a, b, output);
    case gpu::Type::kBFloat16:
      return Launch<gpu::BFloat16>(stream, n, a, b, output);
    case gpu::Type::kFloat:
      return Launch<float>(stream, n, a, b, output);
    case gpu::Type::kDouble:
      return Launch<double>(stream, n, a, b, output);
    case gpu::Type::kInt64:
      // Unsigned integers wrap around; what signed ones do is not defined.
      return Launch<uint64_t>(stream, n, a, b, output);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace tensorflow_custom_ops
