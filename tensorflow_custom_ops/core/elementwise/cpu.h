// SPDX-License-Identifier: Apache-2.0
// What the CPU kernel asks of the code that is compiled once for each
// instruction set. Plain types only: that code shares no header with
// TensorFlow.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_CPU_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_CPU_H_

#include <cstdint>

#include "tensorflow_custom_ops/core/elementwise/signature.h"

namespace tensorflow_custom_ops {
namespace elementwise {

// n elements of each input and output, without gaps. An output may be an input.
struct Block {
  const void* inputs[kMaxInputs + 1];
  void* outputs[kMaxInputs];
  int64_t n;
  const double* attributes;
};
using BlockFunction = void (*)(const Block&);

// An op's functions for one instruction set, by type, or nullptr. The half
// types have none: the kernel converts them to float.
struct FunctionsByType {
  BlockFunction of[kNumTypes];
};
struct CpuFunctions {
  FunctionsByType value;
  FunctionsByType gradient[kMaxDerivatives];
};

// The conversions for one instruction set.
struct CpuConversions {
  void (*half_to_float)(const void* from, float* to, int64_t n);
  void (*float_to_half)(const float* from, void* to, int64_t n);
  void (*bfloat16_to_float)(const void* from, float* to, int64_t n);
  void (*float_to_bfloat16)(const float* from, void* to, int64_t n);
};

}  // namespace elementwise
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_CPU_H_
