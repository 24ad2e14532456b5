// SPDX-License-Identifier: Apache-2.0
// The CPU kernel of elementwise ops.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_CPU_KERNEL_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_CPU_KERNEL_H_

#include "tensorflow_custom_ops/core/elementwise/cpu.h"
#include "tensorflow_custom_ops/core/elementwise/signature.h"
#include "tensorflow_custom_ops/core/elementwise/trace.h"
#include "tensorflow_custom_ops/core/isa.h"

namespace tensorflow_custom_ops {
namespace elementwise {

// What the CPU kernels of an op are made of.
struct CpuOp {
  Signature signature;
  const CpuFunctions* functions[kNumIsas];
  // From which the kernel estimates how long an element takes.
  TraceFunction trace;
};

// Registers the kernels of an op and of its gradient, for all of its types.
// `op` must never be destroyed.
class CpuKernelRegistrar {
 public:
  explicit CpuKernelRegistrar(const CpuOp& op);
};

// Registers kernels that compute in host memory, for one type on any device.
void RegisterHostKernels(const CpuOp& op, Type type, const char* device);

}  // namespace elementwise
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_CPU_KERNEL_H_
