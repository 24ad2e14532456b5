// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/launch_error/fail.h"

#include "tensorflow_custom_ops/core/gpu/device.h"

namespace gpu = tensorflow_custom_ops::gpu;

namespace {

__global__ void FailKernel() {
  if (threadIdx.x == 0) __syncthreads();
}

}  // namespace

gpu::Error LaunchFail(gpu::Stream stream, int threads) {
  return gpu::Launch(FailKernel, 1, static_cast<unsigned>(threads), 0, stream);
}
