// SPDX-License-Identifier: Apache-2.0
// For *.cu.cc: kernels of elementwise functions of arrays of one type.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_GPU_ELEMENTWISE_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_GPU_ELEMENTWISE_H_

#include <cstdint>

#include "tensorflow_custom_ops/core/gpu/device.h"
#include "tensorflow_custom_ops/core/gpu/launch.h"
#include "tensorflow_custom_ops/core/gpu/vector.h"

namespace tensorflow_custom_ops {
namespace gpu {

// Computes in ComputeType<T>, and rounds once.
template <typename Functor, typename T, typename... Inputs>
__device__ inline T ApplyFunctor(const Functor& functor, Inputs... inputs) {
  return static_cast<T>(functor(static_cast<ComputeType<T>>(inputs)...));
}

// The first `vectors` vectors, and one by one the elements that follow. The
// output may be an input, so none of them is __restrict__.
template <typename Functor, typename T, typename... Inputs>
__global__ void __launch_bounds__(kThreads)
    ElementwiseKernel(int64_t vectors, int64_t n, T* output,
                      const Inputs*... inputs) {
  const Functor functor;
  // By value: each vector is loaded at once.
  const auto apply = [&](const Vector<Inputs, kVectorWidth<T>>... operands) {
    Vector<T, kVectorWidth<T>> result;
    for (int i = 0; i < kVectorWidth<T>; ++i) {
      result.values[i] =
          ApplyFunctor<Functor, T>(functor, operands.values[i]...);
    }
    return result;
  };
  for (int64_t i = GridThread(); i < vectors; i += GridThreads()) {
    reinterpret_cast<Vector<T, kVectorWidth<T>>*>(output)[i] = apply(
        reinterpret_cast<const Vector<Inputs, kVectorWidth<T>>*>(inputs)[i]...);
  }
  for (int64_t i = vectors * kVectorWidth<T> + GridThread(); i < n;
       i += GridThreads()) {
    output[i] = ApplyFunctor<Functor, T>(functor, inputs[i]...);
  }
}

// output[i] = functor(inputs[i]...) for n elements. Functor is default
// constructible, takes as many arguments of type ComputeType<T> as there are
// inputs, all of type T, and is __device__. The output may be an input.
template <typename Functor, typename T, typename... Inputs>
Error LaunchElementwise(Stream stream, int64_t n, T* output,
                        const Inputs*... inputs) {
  if (n == 0) return cudaSuccess;
  const bool aligned =
      (IsVectorAligned(output) && ... && IsVectorAligned(inputs));
  const int64_t vectors = aligned ? n / kVectorWidth<T> : 0;
  return Launch(ElementwiseKernel<Functor, T, Inputs...>,
                Blocks(vectors > 0 ? vectors : n), kThreads, 0, stream, vectors,
                n, output, inputs...);
}

}  // namespace gpu
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_GPU_ELEMENTWISE_H_
