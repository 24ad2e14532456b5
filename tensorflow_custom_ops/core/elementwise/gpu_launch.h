// SPDX-License-Identifier: Apache-2.0
// For *.cu.cc: the kernel of elementwise ops.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_GPU_LAUNCH_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_GPU_LAUNCH_H_

#include <cstdint>

#include "tensorflow_custom_ops/core/elementwise/apply.h"
#include "tensorflow_custom_ops/core/elementwise/complex.h"
#include "tensorflow_custom_ops/core/elementwise/gpu.h"
#include "tensorflow_custom_ops/core/elementwise/gpu_broadcast.h"
#include "tensorflow_custom_ops/core/elementwise/scalar.h"
#include "tensorflow_custom_ops/core/elementwise/signature.h"
#include "tensorflow_custom_ops/core/gpu/device.h"
#include "tensorflow_custom_ops/core/gpu/launch.h"
#include "tensorflow_custom_ops/core/gpu/vector.h"

namespace tensorflow_custom_ops {
namespace elementwise {

// What the kernel gets, for a Step that is a Value or a Gradient. An output may
// be an input, so no pointer is __restrict__.
template <typename Step, typename T>
struct KernelArgs {
  const T* inputs[Step::kInputs];
  T* outputs[Step::kOutputs];
  double attributes[Step::kAttributes + 1];  // there may be none
  int64_t n;
  // The first elements, so many vectors of them, are loaded and stored at once.
  int64_t vectors;
  Layout<Step::kInputs> layout;
};

// kWidth elements of each output, from element i.
template <int kWidth, typename Step, typename T>
__device__ inline void Compute(const KernelArgs<Step, T>& args, int64_t i) {
  using Elements = gpu::Vector<T, kWidth>;
  using V = fn::Scalar<gpu::ComputeType<T>>;
  int64_t elements[Step::kInputs];
  FindElements(args.layout, i, elements);
  Elements inputs[Step::kInputs];
  for (int k = 0; k < Step::kInputs; ++k) {
    const T* const from = args.inputs[k] + elements[k];
    if (args.layout.strides[k][args.layout.rank - 1] != 0) {
      inputs[k] = *reinterpret_cast<const Elements*>(from);
    } else {
      const T value = *from;
      for (int j = 0; j < kWidth; ++j) inputs[k].values[j] = value;
    }
  }
  Elements outputs[Step::kOutputs];
  // Or nvcc, which does not unroll a loop with a function as long as pow, would
  // keep the elements in memory.
#ifdef __CUDACC__
#pragma unroll
#endif
  for (int j = 0; j < kWidth; ++j) {
    V x[Step::kInputs];
    V y[Step::kOutputs];
    for (int k = 0; k < Step::kInputs; ++k) {
      x[k].value = static_cast<gpu::ComputeType<T>>(inputs[k].values[j]);
    }
    Step::Apply(x, args.attributes, y);
    for (int k = 0; k < Step::kOutputs; ++k) {
      outputs[k].values[j] = static_cast<T>(y[k].value);
    }
  }
  for (int k = 0; k < Step::kOutputs; ++k) {
    *reinterpret_cast<Elements*>(args.outputs[k] + i) = outputs[k];
  }
}

template <typename Step, typename T>
__global__ void __launch_bounds__(gpu::kThreads)
    ElementwiseKernel(const KernelArgs<Step, T> args) {
  constexpr int kWidth = gpu::kVectorWidth<T>;
  for (int64_t i = gpu::GridThread(); i < args.vectors;
       i += gpu::GridThreads()) {
    Compute<kWidth>(args, i * kWidth);
  }
  for (int64_t i = args.vectors * kWidth + gpu::GridThread(); i < args.n;
       i += gpu::GridThreads()) {
    Compute<1>(args, i);
  }
}

// How many vectors of T the elements make, as far as they can be loaded and
// stored so.
template <typename Step, typename T>
int64_t NumVectors(const GpuArgs& args, int64_t n) {
  constexpr int64_t kWidth = gpu::kVectorWidth<T>;
  for (int k = 0; k < Step::kInputs; ++k) {
    if (!IsVectorizable(args, k, kWidth)) return 0;
    if (args.strides[k][args.rank - 1] != 0 &&
        !gpu::IsVectorAligned(args.inputs[k])) {
      return 0;
    }
  }
  for (int k = 0; k < Step::kOutputs; ++k) {
    if (!gpu::IsVectorAligned(args.outputs[k])) return 0;
  }
  return n / kWidth;
}

template <typename Step, typename T>
gpu::Error LaunchStep(const GpuArgs& args) {
  KernelArgs<Step, T> kernel_args;
  kernel_args.n = 1;
  for (int d = 0; d < args.rank; ++d) kernel_args.n *= args.dims[d];
  if (kernel_args.n == 0) return cudaSuccess;
  for (int k = 0; k < Step::kInputs; ++k) {
    kernel_args.inputs[k] = static_cast<const T*>(args.inputs[k]);
  }
  for (int k = 0; k < Step::kOutputs; ++k) {
    kernel_args.outputs[k] = static_cast<T*>(args.outputs[k]);
  }
  for (int k = 0; k < Step::kAttributes; ++k) {
    kernel_args.attributes[k] = args.attributes[k];
  }
  kernel_args.vectors = NumVectors<Step, T>(args, kernel_args.n);
  kernel_args.layout = LayoutOf<Step::kInputs>(args);
  const int64_t units =
      kernel_args.vectors > 0 ? kernel_args.vectors : kernel_args.n;
  return gpu::Launch(ElementwiseKernel<Step, T>, gpu::Blocks(units),
                     gpu::kThreads, 0, args.stream, kernel_args);
}

template <typename F, typename T, int kDerivative = 0>
gpu::Error LaunchGradient(const GpuArgs& args) {
  if constexpr (kDerivative < NumDerivatives(F::kInputs, F::kOrder)) {
    if (args.derivative == kDerivative) {
      return LaunchStep<Gradient<F, kDerivative>, T>(args);
    }
    return LaunchGradient<F, T, kDerivative + 1>(args);
  } else {
    return cudaErrorInvalidValue;
  }
}

template <typename F, Type kType, typename T>
gpu::Error LaunchType(const GpuArgs& args) {
  if constexpr (Contains(F::kTypes, kType)) {
    if (args.is_gradient) return LaunchGradient<F, T>(args);
    return LaunchStep<Value<F>, T>(args);
  } else {
    return cudaErrorInvalidValue;
  }
}

// A LaunchFunction.
template <typename F>
gpu::Error Launch(const GpuArgs& args) {
  if (args.rank < 1 || args.rank > kMaxRank) return cudaErrorInvalidValue;
  switch (args.type) {
    case Type::kHalf:
      return LaunchType<F, Type::kHalf, gpu::Half>(args);
    case Type::kBFloat16:
      return LaunchType<F, Type::kBFloat16, gpu::BFloat16>(args);
    case Type::kFloat:
      return LaunchType<F, Type::kFloat, float>(args);
    case Type::kDouble:
      return LaunchType<F, Type::kDouble, double>(args);
    case Type::kInt32:
      // TensorFlow keeps it in host memory.
      return cudaErrorInvalidValue;
    case Type::kInt64:
      return LaunchType<F, Type::kInt64, int64_t>(args);
    case Type::kComplex64:
      return LaunchType<F, Type::kComplex64, fn::Complex<float>>(args);
    case Type::kComplex128:
      return LaunchType<F, Type::kComplex128, fn::Complex<double>>(args);
  }
  return cudaErrorInvalidValue;
}

}  // namespace elementwise
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_GPU_LAUNCH_H_
