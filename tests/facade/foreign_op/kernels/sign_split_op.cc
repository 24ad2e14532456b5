// SPDX-License-Identifier: Apache-2.0
#define EIGEN_USE_THREADS
#if GOOGLE_CUDA
#define EIGEN_USE_GPU
#endif

#include "tests/facade/foreign_op/kernels/sign_split_op.h"

#include <algorithm>
#include <atomic>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow/core/framework/types.pb.h"
#include "tensorflow/core/platform/logging.h"
#include "tensorflow/core/util/work_sharder.h"

namespace tensorflow {

using CPUDevice = Eigen::ThreadPoolDevice;
#if GOOGLE_CUDA
using GPUDevice = Eigen::GpuDevice;
#endif

namespace functor {

template <typename T>
struct SignSplit<CPUDevice, T> {
  void operator()(const CPUDevice& d, typename TTypes<T>::ConstFlat values,
                  typename TTypes<T>::Flat positive,
                  typename TTypes<T>::Flat negative) {
    positive.device(d) = values.cwiseMax(T(0));
    negative.device(d) = values.cwiseMin(T(0));
  }
};

#if GOOGLE_CUDA
extern template struct SignSplit<GPUDevice, float>;
extern template struct SignSplit<GPUDevice, double>;
#endif

}  // namespace functor

template <typename Device, typename T>
class SignSplitOp : public OpKernel {
 public:
  explicit SignSplitOp(OpKernelConstruction* context) : OpKernel(context) {}

  void Compute(OpKernelContext* context) override {
    const Tensor& values = context->input(0);
    Tensor* positive = nullptr;
    Tensor* negative = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, values.shape(), &positive));
    OP_REQUIRES_OK(context,
                   context->allocate_output(1, values.shape(), &negative));
    functor::SignSplit<Device, T>()(context->eigen_device<Device>(),
                                    values.flat<T>(), positive->flat<T>(),
                                    negative->flat<T>());
  }
};

class SignSplitCountOp : public OpKernel {
 public:
  explicit SignSplitCountOp(OpKernelConstruction* context)
      : OpKernel(context) {}

  void Compute(OpKernelContext* context) override {
    const auto values = context->input(0).flat<float>();
    OP_REQUIRES(context, values.size() > 0,
                absl::InvalidArgumentError(
                    absl::StrCat("no values of ", DataTypeString(DT_FLOAT))));
    std::atomic<int64_t> positive{0};
    const auto* workers = context->device()->tensorflow_cpu_worker_threads();
    Shard(workers->num_threads, workers->workers, values.size(), 10,
          [&](int64_t begin, int64_t end) {
            absl::flat_hash_map<bool, int64_t> counts;
            for (int64_t i = begin; i < end; ++i) ++counts[values(i) > 0];
            VLOG(2) << begin << " to " << end;
            positive += counts[true];
          });
    Tensor* count = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &count));
    count->scalar<int64_t>()() = positive;
  }
};

REGISTER_KERNEL_BUILDER(
    Name("SignSplit").Device(DEVICE_CPU).TypeConstraint<float>("T"),
    SignSplitOp<CPUDevice, float>);
REGISTER_KERNEL_BUILDER(
    Name("SignSplit").Device(DEVICE_CPU).TypeConstraint<double>("T"),
    SignSplitOp<CPUDevice, double>);
REGISTER_KERNEL_BUILDER(Name("SignSplitCount").Device(DEVICE_CPU),
                        SignSplitCountOp);

#if GOOGLE_CUDA
REGISTER_KERNEL_BUILDER(
    Name("SignSplit").Device(DEVICE_GPU).TypeConstraint<float>("T"),
    SignSplitOp<GPUDevice, float>);
REGISTER_KERNEL_BUILDER(
    Name("SignSplit").Device(DEVICE_GPU).TypeConstraint<double>("T"),
    SignSplitOp<GPUDevice, double>);
#endif

}  // namespace tensorflow
