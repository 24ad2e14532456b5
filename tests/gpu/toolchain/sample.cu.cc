// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/toolchain/sample.h"

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cassert>

namespace {

// nvcc puts a hash of the source's path into the name of what is in an unnamed
// namespace.
template <typename T>
__global__ void Double(int size, const T* input, T* output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(size >= 0);
  if (i < size) output[i] = input[i] + input[i];
}

}  // namespace

int LaunchDouble(CUstream_st* stream, int size, const __half* input,
                 __half* output) {
  Double<<<(size + 255) / 256, 256, 0, stream>>>(size, input, output);
  return cudaGetLastError();
}
