// SPDX-License-Identifier: Apache-2.0
// What the GPU kernel asks of the code that nvcc compiles, without a header of
// TensorFlow or of CUDA.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_GPU_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_GPU_H_

#include <cstdint>

#include "tensorflow_custom_ops/core/elementwise/signature.h"
#include "tensorflow_custom_ops/core/gpu/launch.h"

namespace tensorflow_custom_ops {
namespace elementwise {

// The most dimensions of a broadcast, where those in which all inputs behave
// alike are one.
constexpr int kMaxRank = 8;

// What to compute. An output may be an input that is not broadcast.
struct GpuArgs {
  gpu::Stream stream;
  // Of all inputs and outputs.
  Type type;
  bool is_gradient;
  // Of a gradient: the number of the derivative that it continues.
  int derivative;
  const double* attributes;
  const void* inputs[kMaxInputs + 1];
  void* outputs[kMaxInputs];
  // The shape of the outputs, of one dimension at least.
  int rank;
  int64_t dims[kMaxRank];
  // For each input and dimension the distance of elements, 0 where one element
  // serves for all.
  int64_t strides[kMaxInputs + 1][kMaxRank];
};

// Launches the kernels of one op. What the op does not have is an invalid
// value, CUDA's error.
using LaunchFunction = gpu::Error (*)(const GpuArgs& args);

}  // namespace elementwise
}  // namespace tensorflow_custom_ops

// The name of the function of an op, where ELEMENTWISE_OP is the op's functor.
#define ELEMENTWISE_LAUNCH ELEMENTWISE_LAUNCH_OF(ELEMENTWISE_OP)
#define ELEMENTWISE_LAUNCH_OF(op) ELEMENTWISE_LAUNCH_OF_(op)
#define ELEMENTWISE_LAUNCH_OF_(op) Launch##op

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_GPU_H_
