// SPDX-License-Identifier: Apache-2.0
// Registers the CPU kernels of one op. ELEMENTWISE_OP is its functor, and
// ELEMENTWISE_HEADER declares it; see elementwise_op.bzl.
#include "tensorflow_custom_ops/core/elementwise/cpu_op.h"

#include "tensorflow_custom_ops/core/elementwise/cpu_kernel.h"

namespace tensorflow_custom_ops {
namespace elementwise {
namespace {

const CpuKernelRegistrar kRegistrar(kCpuOp<ELEMENTWISE_OP>);

}  // namespace
}  // namespace elementwise
}  // namespace tensorflow_custom_ops
