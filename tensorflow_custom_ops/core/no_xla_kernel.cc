// SPDX-License-Identifier: Apache-2.0
// Stands in for an op's lowering in a build without XLA kernels, to say so.
// OP_NAME is the op's name. If it has a functor, ELEMENTWISE_OP, that is
// declared by ELEMENTWISE_HEADER, and says whether there is a gradient; with
// NORMALIZATION there is one.
#include "absl/status/status.h"
#include "tensorflow/core/framework/kernel_def_builder.h"
#include "tensorflow/core/framework/op_kernel.h"
#ifdef ELEMENTWISE_OP
#include ELEMENTWISE_HEADER
#endif

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

#ifdef ELEMENTWISE_OP
constexpr bool kHasGradient = ELEMENTWISE_OP::kOrder > 0;
#elif defined(NORMALIZATION)
constexpr bool kHasGradient = true;
#else
constexpr bool kHasGradient = false;
#endif

class Registrar {
 public:
  Registrar() {
    Register(OP_NAME);
    if (kHasGradient) Register(OP_NAME "Grad");
  }

 private:
  static void Register(const char* op) {
    // The names of tensorflow::DEVICE_CPU_XLA_JIT and DEVICE_GPU_XLA_JIT, which
    // only XLA's headers declare.
    for (const char* device : {"XLA_CPU_JIT", "XLA_GPU_JIT"}) {
      tensorflow::kernel_factory::OpKernelRegistrar(
          tensorflow::KernelDefBuilder(op).Device(device).Build(),
          "NoXlaKernel",
          [](tensorflow::OpKernelConstruction* context)
              -> tensorflow::OpKernel* { return new NoXlaKernel(context); });
    }
  }
};

const Registrar kRegistrar;

}  // namespace
}  // namespace tensorflow_custom_ops
