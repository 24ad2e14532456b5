// SPDX-License-Identifier: Apache-2.0
// CUDA, for GPU kernels: by nvcc for a GPU, and by any other compiler for the
// emulator, which runs the same source on the CPU.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_GPU_DEVICE_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_GPU_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "tensorflow_custom_ops/core/gpu/launch.h"

#ifdef __CUDACC__

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Declares `name`, a pointer to the shared memory that the launch asked for.
#define GPU_DYNAMIC_SHARED(T, name)                                     \
  extern __shared__ __align__(128) unsigned char gpu_dynamic_shared_[]; \
  T* const name = reinterpret_cast<T*>(gpu_dynamic_shared_)

// Before a loop over an array that is to be in registers, which have no index.
#define GPU_UNROLL _Pragma("unroll")

#else

#include "Eigen/Core"
#include "tools/cuda_emulator/cuda_emulator.h"

#define GPU_UNROLL

#endif

namespace tensorflow_custom_ops {

#ifdef __CUDACC__
template <>
inline constexpr Type kTypeOf<__half> = Type::kHalf;
template <>
inline constexpr Type kTypeOf<__nv_bfloat16> = Type::kBFloat16;
#endif

namespace gpu {

#ifdef __CUDACC__
using Half = __half;
using BFloat16 = __nv_bfloat16;
#else
using Half = Eigen::half;
using BFloat16 = Eigen::bfloat16;
#endif

// The type in which a kernel computes with elements of type T.
template <typename T>
struct ComputeTypeOf {
  using Type = T;
};
template <>
struct ComputeTypeOf<Half> {
  using Type = float;
};
template <>
struct ComputeTypeOf<BFloat16> {
  using Type = float;
};
template <typename T>
using ComputeType = typename ComputeTypeOf<T>::Type;

// Launches a kernel, whose parameters have the types Params, and returns CUDA's
// error. It is not left behind for others, who would take it for theirs: that
// is also why this does not ask cudaGetLastError, the only way after <<<>>>.
template <typename... Params, typename... Args>
Error Launch(void (*kernel)(Params...), dim3 grid, dim3 block,
             size_t shared_bytes, Stream stream, Args... args) {
#ifdef __CUDACC__
  std::tuple<Params...> values(args...);
  const Error error = std::apply(
      [&](Params&... value) {
        void* pointers[] = {&value...};
        return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid,
                                block, pointers, shared_bytes, stream);
      },
      values);
  if (error != cudaSuccess) (void)cudaGetLastError();
  return error;
#else
  GPU_LAUNCH(kernel, grid, block, shared_bytes, stream, args...);
  return cudaGetLastError();
#endif
}

// The threads of a block, and the most blocks of so many, of a kernel whose
// threads each take what is left in a loop. It is more than any GPU runs at a
// time.
constexpr int kThreads = 256;
constexpr int64_t kMostBlocks = 1 << 11;

// The blocks for so many units of work, of which there is one at least.
inline unsigned Blocks(int64_t units) {
  const int64_t blocks = (units - 1) / kThreads + 1;
  return static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
}

// In a kernel: the number of the thread in the grid, and how many there are.
__device__ inline int64_t GridThread() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline int64_t GridThreads() {
  return static_cast<int64_t>(gridDim.x) * blockDim.x;
}

}  // namespace gpu
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_GPU_DEVICE_H_
