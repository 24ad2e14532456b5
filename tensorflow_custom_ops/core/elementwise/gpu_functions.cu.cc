// SPDX-License-Identifier: Apache-2.0
// The GPU kernels of one op. ELEMENTWISE_OP is its functor, and
// ELEMENTWISE_HEADER declares it; see elementwise_op.bzl.
#include "tensorflow_custom_ops/core/elementwise/gpu.h"
#include "tensorflow_custom_ops/core/elementwise/gpu_launch.h"
#include ELEMENTWISE_HEADER

namespace tensorflow_custom_ops {
namespace elementwise {

gpu::Error ELEMENTWISE_LAUNCH(const GpuArgs& args) {
  return Launch<ELEMENTWISE_OP>(args);
}

}  // namespace elementwise
}  // namespace tensorflow_custom_ops
