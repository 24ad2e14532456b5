// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/fused_dense/fused_dense_gpu.h"

#include <cstdint>

#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow_custom_ops/core/gpu/kernel.h"
#include "tensorflow_custom_ops/core/gpu/matmul.h"
#include "tensorflow_custom_ops/ops/fused_dense/fused_dense_kernel.h"

namespace tensorflow_custom_ops {
namespace {

using fused_dense::Problem;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

template <typename T>
class FusedDenseGpuKernel : public FusedDenseKernel {
 public:
  using FusedDenseKernel::FusedDenseKernel;

 protected:
  absl::Status Run(OpKernelContext* context, const Problem& problem,
                   int64_t rows) override {
    // The sums of half types are kept in float until the activation is applied.
    constexpr bool kIsHalf = sizeof(T) < sizeof(float);
    Tensor sums;
    void* product = nullptr;
    if (problem.in > 0) {
      product = problem.output;
      absl::Status status;
      if constexpr (kIsHalf) {
        status = context->allocate_temp(tensorflow::DT_FLOAT,
                                        {rows, problem.units}, &sums);
        if (!status.ok()) return status;
        product = sums.data();
      }
      status = gpu::MatMul(context, gpu::kTypeOf<T>, rows, problem.units,
                           problem.in, problem.input, problem.weights, product);
      if (!status.ok()) return status;
    }
    return gpu::LaunchStatus(
        type_string(),
        LaunchBiasAndActivation(gpu::StreamOf(context), gpu::kTypeOf<T>,
                                problem.activation, rows, problem.units,
                                product, problem.bias, problem.output));
  }
};

#define REGISTER_FUSED_DENSE(T)                                       \
  REGISTER_KERNEL_BUILDER(                                            \
      Name("FusedDense").Device(gpu::kDevice).TypeConstraint<T>("T"), \
      FusedDenseGpuKernel<T>);
TF_CALL_half(REGISTER_FUSED_DENSE);
TF_CALL_bfloat16(REGISTER_FUSED_DENSE);
TF_CALL_float(REGISTER_FUSED_DENSE);
TF_CALL_double(REGISTER_FUSED_DENSE);
#undef REGISTER_FUSED_DENSE

}  // namespace
}  // namespace tensorflow_custom_ops
