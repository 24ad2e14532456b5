// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/util/work_sharder.h"

namespace tensorflow_custom_ops {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

template <typename T>
class RowDistanceKernel : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& a = context->input(0);
    const Tensor& b = context->input(1);
    // Eager mode does not run the shape function.
    OP_REQUIRES(
        context, a.dims() > 0 && a.shape() == b.shape(),
        absl::InvalidArgumentError(absl::StrCat(
            "RowDistance: a and b must have one shape, of one "
            "dimension or more, but a has ",
            a.shape().DebugString(), " and b has ", b.shape().DebugString())));
    tensorflow::TensorShape shape = a.shape();
    shape.RemoveLastDims(1);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &output));

    const int64_t columns = a.dim_size(a.dims() - 1);
    // data(), for flat() ends the process where a tensor is not aligned.
    const T* const a_data = static_cast<const T*>(a.data());
    const T* const b_data = static_cast<const T*>(b.data());
    T* const output_data = static_cast<T*>(output->data());
    const auto rows = [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        T sum = 0;
        for (int64_t i = row * columns; i < (row + 1) * columns; ++i) {
          const T difference = a_data[i] - b_data[i];
          sum += difference * difference;
        }
        output_data[row] = sum;
      }
    };
    // About one cycle for each element.
    const auto& threads = *context->device()->tensorflow_cpu_worker_threads();
    tensorflow::Shard(threads.num_threads, threads.workers,
                      output->NumElements(), columns, rows);
  }
};

#define REGISTER_ROW_DISTANCE(T)                              \
  REGISTER_KERNEL_BUILDER(Name("RowDistance")                 \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<T>("T"),        \
                          RowDistanceKernel<T>);
REGISTER_ROW_DISTANCE(float);
REGISTER_ROW_DISTANCE(double);
#undef REGISTER_ROW_DISTANCE

}  // namespace
}  // namespace tensorflow_custom_ops
