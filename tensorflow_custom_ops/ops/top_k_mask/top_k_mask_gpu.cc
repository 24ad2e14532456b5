// SPDX-License-Identifier: Apache-2.0
#include "tensorflow_custom_ops/ops/top_k_mask/top_k_mask_gpu.h"

#include <cstdint>

#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow_custom_ops/core/gpu/kernel.h"
#include "tensorflow_custom_ops/ops/top_k_mask/top_k_mask.h"

namespace tensorflow_custom_ops {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

template <typename T>
class TopKMaskGpuKernel : public OpKernel {
 public:
  explicit TopKMaskGpuKernel(OpKernelConstruction* context)
      : OpKernel(context) {
    float fill_value;
    OP_REQUIRES_OK(context, context->GetAttr("fill_value", &fill_value));
    fill_value_ = static_cast<T>(fill_value);
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    const Tensor& k_tensor = context->input(1);
    // Eager mode does not run the shape function.
    OP_REQUIRES_OK(context, CheckTopKMaskRanks(input.dims(), k_tensor.dims()));
    const int64_t n = input.dim_size(input.dims() - 1);
    const int64_t k = TopKMaskK(k_tensor);
    OP_REQUIRES_OK(context, CheckTopKMaskK(k, n));
    OP_REQUIRES_OK(context, CheckTopKMaskGpuRow(n));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->forward_input_or_allocate_output(
                                {0}, 0, input.shape(), &output));
    Tensor* mask = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(1, input.shape(), &mask));
    const gpu::Error error =
        LaunchTopKMask(gpu::StreamOf(context), gpu::kTypeOf<T>,
                       n == 0 ? 0 : input.NumElements() / n, n, k, &fill_value_,
                       input.data(), output->data(), mask->flat<bool>().data());
    OP_REQUIRES_OK(context, gpu::LaunchStatus(type_string(), error));
  }

 private:
  T fill_value_;
};

// The launch needs k.
#define REGISTER_TOP_K_MASK(T)                        \
  REGISTER_KERNEL_BUILDER(Name("TopKMask")            \
                              .Device(gpu::kDevice)   \
                              .TypeConstraint<T>("T") \
                              .HostMemory("k"),       \
                          TopKMaskGpuKernel<T>);
TF_CALL_half(REGISTER_TOP_K_MASK);
TF_CALL_bfloat16(REGISTER_TOP_K_MASK);
TF_CALL_float(REGISTER_TOP_K_MASK);
TF_CALL_double(REGISTER_TOP_K_MASK);
#undef REGISTER_TOP_K_MASK

}  // namespace
}  // namespace tensorflow_custom_ops
