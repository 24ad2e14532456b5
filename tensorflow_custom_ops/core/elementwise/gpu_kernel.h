// SPDX-License-Identifier: Apache-2.0
// The GPU kernel of elementwise ops.
#ifndef TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_GPU_KERNEL_H_
#define TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_GPU_KERNEL_H_

#include "tensorflow_custom_ops/core/elementwise/gpu.h"
#include "tensorflow_custom_ops/core/elementwise/signature.h"

namespace tensorflow_custom_ops {
namespace elementwise {

// What the GPU kernels of an op are made of.
struct GpuOp {
  Signature signature;
  LaunchFunction launch;
};

// Registers the kernels of an op and of its gradient, for all of its types but
// int32, which TensorFlow keeps in host memory. `op` must never be destroyed.
class GpuKernelRegistrar {
 public:
  explicit GpuKernelRegistrar(const GpuOp& op);
};

}  // namespace elementwise
}  // namespace tensorflow_custom_ops

#endif  // TENSORFLOW_CUSTOM_OPS_CORE_ELEMENTWISE_GPU_KERNEL_H_
