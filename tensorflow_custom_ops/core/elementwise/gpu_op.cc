// SPDX-License-Identifier: Apache-2.0
// Registers the GPU kernels of one op. ELEMENTWISE_OP is its functor and
// ELEMENTWISE_NAME its name, and ELEMENTWISE_HEADER declares it; see
// elementwise_op.bzl.
#include "tensorflow_custom_ops/core/elementwise/cpu_kernel.h"
#include "tensorflow_custom_ops/core/elementwise/cpu_op.h"
#include "tensorflow_custom_ops/core/elementwise/gpu.h"
#include "tensorflow_custom_ops/core/elementwise/gpu_kernel.h"
#include "tensorflow_custom_ops/core/elementwise/signature.h"
#include "tensorflow_custom_ops/core/elementwise/signature_of.h"
#include "tensorflow_custom_ops/core/gpu/kernel.h"
#include ELEMENTWISE_HEADER

namespace tensorflow_custom_ops {
namespace elementwise {

// In gpu_functions.cu.cc.
gpu::Error ELEMENTWISE_LAUNCH(const GpuArgs& args);

namespace {

constexpr GpuOp kOp = {SignatureOf<ELEMENTWISE_OP>(ELEMENTWISE_NAME),
                       ELEMENTWISE_LAUNCH};

// A template, so that an op without int32 needs no functions of the CPU.
template <typename F>
class Registrar {
 public:
  Registrar() {
    if constexpr (Contains(F::kTypes, Type::kInt32)) {
      RegisterHostKernels(kCpuOp<F>, Type::kInt32, gpu::kDevice);
    }
  }

 private:
  const GpuKernelRegistrar registrar_{kOp};
};

const Registrar<ELEMENTWISE_OP> kRegistrar;

}  // namespace
}  // namespace elementwise
}  // namespace tensorflow_custom_ops
