// SPDX-License-Identifier: Apache-2.0
// Stands in for an op's lowering in a build without XLA kernels, to say so.
// OP_NAME is the op's name. An op with a functor may have a gradient
// likewise; if not, its registration is without effect.
#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace tensorflow_custom_ops {
namespace {

class NoXlaKernel : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    context->SetStatus(absl::UnimplementedError(
        OP_NAME
        " cannot be compiled by XLA (jit_compile=True): this build of "
        "tensorflow_custom_ops has no XLA kernels. Build it with --xla=true."));
  }
};

// The names of tensorflow::DEVICE_CPU_XLA_JIT and DEVICE_GPU_XLA_JIT, which
// only XLA's headers declare.
REGISTER_KERNEL_BUILDER(Name(OP_NAME).Device("XLA_CPU_JIT"), NoXlaKernel);
REGISTER_KERNEL_BUILDER(Name(OP_NAME).Device("XLA_GPU_JIT"), NoXlaKernel);
#ifdef ELEMENTWISE_OP
REGISTER_KERNEL_BUILDER(Name(OP_NAME "Grad").Device("XLA_CPU_JIT"),
                        NoXlaKernel);
REGISTER_KERNEL_BUILDER(Name(OP_NAME "Grad").Device("XLA_GPU_JIT"),
                        NoXlaKernel);
#endif

}  // namespace
}  // namespace tensorflow_custom_ops
