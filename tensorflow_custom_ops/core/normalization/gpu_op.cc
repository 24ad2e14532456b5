// SPDX-License-Identifier: Apache-2.0
// Registers the GPU kernels of one op and of its gradient. NORMALIZATION is
// what it computes; see normalization_op.bzl.
#include <cstdint>

#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow_custom_ops/core/gpu/kernel.h"
#include "tensorflow_custom_ops/core/normalization/gpu.h"
#include "tensorflow_custom_ops/core/normalization/kernel.h"

namespace tensorflow_custom_ops {
namespace normalization {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;

constexpr Norm kNorm = Norm::NORMALIZATION;

class GpuKernel : public Kernel {
 public:
  explicit GpuKernel(OpKernelConstruction* context) : Kernel(context, kNorm) {}

 protected:
  absl::Status Run(OpKernelContext* context, const Forward& args) override {
    return gpu::LaunchStatus(
        type_string(), LaunchForward(gpu::StreamOf(context), type(), args));
  }

  absl::Status Run(OpKernelContext* context, const Backward& args,
                   void* sums) override {
    return gpu::LaunchStatus(
        type_string(),
        LaunchBackward(gpu::StreamOf(context), type(), args, sums));
  }

  int64_t NumSums(Norm norm, int64_t rows, int64_t n) const override {
    return NumGpuSums(norm, rows, n);
  }
};

// For all types that the op's definition allows.
REGISTER_KERNEL_BUILDER(Name(OpName(kNorm)).Device(gpu::kDevice), GpuKernel);
REGISTER_KERNEL_BUILDER(Name(OpName(kNorm, true)).Device(gpu::kDevice),
                        GpuKernel);

}  // namespace
}  // namespace normalization
}  // namespace tensorflow_custom_ops
