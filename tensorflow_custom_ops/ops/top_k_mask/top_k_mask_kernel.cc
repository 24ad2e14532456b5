// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow/core/util/work_sharder.h"
#include "tensorflow_custom_ops/ops/top_k_mask/top_k_mask.h"

namespace tensorflow_custom_ops {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

template <typename T>
class TopKMaskKernel : public OpKernel {
 public:
  explicit TopKMaskKernel(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("fill_value", &fill_value_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    const Tensor& k = context->input(1);
    // Eager mode does not run the shape function.
    OP_REQUIRES_OK(context, CheckTopKMaskRanks(input.dims(), k.dims()));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->forward_input_or_allocate_output(
                                {0}, 0, input.shape(), &output));
    Tensor* mask = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(1, input.shape(), &mask));

    const int64_t n = input.dim_size(input.dims() - 1);
    const int64_t rows = n == 0 ? 0 : input.NumElements() / n;
    const auto& threads = *context->device()->tensorflow_cpu_worker_threads();
    OP_REQUIRES_OK(
        context,
        // data(), for flat() ends the process where a tensor is not aligned.
        TopKMask<T>(static_cast<const T*>(input.data()), rows, n, TopKMaskK(k),
                    fill_value_, static_cast<T*>(output->data()),
                    mask->flat<bool>().data(),
                    [&](int64_t total, int64_t cycles,
                        absl::FunctionRef<void(int64_t, int64_t)> body) {
                      tensorflow::Shard(threads.num_threads, threads.workers,
                                        total, cycles, body);
                    }));
  }

 private:
  float fill_value_;
};

#define REGISTER_TOP_K_MASK(T)                                                \
  REGISTER_KERNEL_BUILDER(                                                    \
      Name("TopKMask").Device(tensorflow::DEVICE_CPU).TypeConstraint<T>("T"), \
      TopKMaskKernel<T>);
TF_CALL_half(REGISTER_TOP_K_MASK);
TF_CALL_bfloat16(REGISTER_TOP_K_MASK);
TF_CALL_float(REGISTER_TOP_K_MASK);
TF_CALL_double(REGISTER_TOP_K_MASK);
#undef REGISTER_TOP_K_MASK

}  // namespace
}  // namespace tensorflow_custom_ops
