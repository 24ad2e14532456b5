// SPDX-License-Identifier: Apache-2.0
// For *.cu.cc: tensor cores, by nvcuda::wmma, where the GPU has them.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_GPU_TENSOR_CORES_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_GPU_TENSOR_CORES_H_

#include <type_traits>

#include "tensorflow_custom_ops/core/gpu/device.h"

#ifdef __CUDACC__
#include <mma.h>
#else
#include "tools/cuda_emulator/wmma.h"
#endif

// Whether there is nvcuda::wmma at all. nvcc compiles a source once for each
// architecture, and CUDA's header is empty where there are no tensor cores.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
#define GPU_WMMA 1
#else
#define GPU_WMMA 0
#endif

namespace tensorflow_custom_ops {
namespace gpu {

// The first architecture, as in __CUDA_ARCH__, whose tensor cores multiply
// elements of type T and add up in float: 0 is none.
template <typename T>
constexpr int kTensorCoresFrom = 0;
template <>
inline constexpr int kTensorCoresFrom<Half> = 700;
template <>
inline constexpr int kTensorCoresFrom<BFloat16> = 800;

// In a kernel: calls function(std::true_type()) where the GPU's tensor cores
// are for T, otherwise function(std::false_type()).
template <typename T, typename Function>
__device__ inline void IfTensorCores(Function function) {
#if defined(__CUDA_ARCH__)
  function(std::bool_constant<(kTensorCoresFrom<T> > 0 &&
                               __CUDA_ARCH__ >= kTensorCoresFrom<T>)>());
#elif defined(__CUDACC__)
  // The code for the host, which calls no kernel.
  (void)function;
#else
  if constexpr (kTensorCoresFrom<T> > 0) {
    if (cuda_emulator::Architecture() >= kTensorCoresFrom<T>) {
      function(std::true_type());
      return;
    }
  }
  function(std::false_type());
#endif
}

}  // namespace gpu
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_GPU_TENSOR_CORES_H_
